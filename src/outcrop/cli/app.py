"""The command `outcrop`: its subcommands, their options, and its exit codes.

An error is one line on standard error and exit code 2; Ctrl-C is exit code 130, another signal that
ends a run 128 plus its number.
"""

from __future__ import annotations

__all__ = ["app", "main"]

import json
import logging
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from outcrop import __version__
from outcrop.cli import add_command, copy_command, correction_commands
from outcrop.cli.arguments import NeededStudy, StorageUrl, StudyName, say
from outcrop.cli.migrate import migrate
from outcrop.cli.terminal_text import EscapedLog, printable, printable_line
from outcrop.errors import OutcropError
from outcrop.study.storage.url_masking import masked_in

if TYPE_CHECKING:
    from outcrop.study import Result

WRONG = 2
WATCH = 2.0  # seconds between two updates of a page

# What typer raises for a wrong command line, whether it bundles click or imports it.
Refusal: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)

app = typer.Typer(
    name="outcrop",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"outcrop {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Bayesian optimisation of objectives that misbehave."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    _log_to_stderr()
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = app(args=given or ["--help"], standalone_mode=False)
    except Refusal as error:
        return _refused(error.format_message())
    except OutcropError as error:
        return _refused(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted(signal.SIGINT)
    except BrokenPipeError:  # the reader of a pipe, such as head, has ended
        sys.stderr.close()
        return 0
    return code if isinstance(code, int) else 0


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EscapedLog())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def _interrupted(number: int) -> int:
    print("interrupted", file=sys.stderr)
    return 128 + number


def _exit_if_interrupted(result: Result | None) -> None:
    if result is not None and result.interrupted:
        raise typer.Exit(_interrupted(result.signal or signal.SIGINT))


def _refused(message: str) -> int:
    print(f"error: {printable(masked_in(message))}", file=sys.stderr)
    return WRONG


@app.command()
def demo(
    trials: Annotated[int, typer.Option(min=12, help="Number of evaluations.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search.")] = 0,
    folder: Annotated[Path, typer.Option(help="Folder for the database and the picture.")] = Path(),
) -> None:
    """Minimise a rugged function with two worker processes and draw the search.

    \b
    Example:
      outcrop demo --trials 50
    """
    from outcrop.cli.demo import demo as play

    if not folder.is_dir():
        raise typer.BadParameter(f"--folder {folder} is not a folder; create it first")
    _exit_if_interrupted(play(folder, trials, seed, say))


@app.command()
def run(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A spec file, in TOML.")],
    workers: Annotated[
        int, typer.Option("--workers", "-w", min=1, help="Number of programs that run at once.")
    ] = 1,
    trials: Annotated[
        int, typer.Option("--trials", "-n", min=1, help="Total number of trials of the study.")
    ] = 100,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the study if it exists.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
    on_error: Annotated[
        Literal["stop", "record"],
        typer.Option(
            help="Whether a command that is not found (exit code 126 or 127) and failures from the "
            "start end the run, or are recorded as failures."
        ),
    ] = "stop",
) -> None:
    """Tune a program; SPEC declares its command and its parameters.

    \b
    Example:
      outcrop run spec.toml --workers 4 --trials 100

    \b
    A spec:
      name = "sim"
      command = ["./sim", "--nu={nu}", "--cells={cells}"]
      timeout = 600
      [objective]
      from = "last-line"
      [parameters.nu]
      type = "float"
      low = 1e-4
      high = 1.0
      log = true
      [parameters.cells]
      type = "int"
      low = 10
      high = 400

    Ctrl-C, SIGTERM or SIGHUP stops the search, ends its programs and keeps its trials; the same
    command with --resume continues it.
    """
    from outcrop.cli.tune import TuneOptions, tune

    options = TuneOptions(spec, workers, trials, resume, quiet, on_error)
    _exit_if_interrupted(tune(options, say))


@app.command()
def show(
    study: StudyName = None,
    storage: StorageUrl = None,
    last: Annotated[int, typer.Option("--last", min=1, help="Number of trials to show.")] = 20,
    everything: Annotated[bool, typer.Option("--all", help="Show all trials.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Update the page while the study runs.")
    ] = False,
) -> None:
    """Show a study: its trials, the best one, its failures, and the model's belief.

    \b
    Example:
      outcrop show spec.toml
      outcrop show sim --storage sqlite:///sim.db --watch
    """
    from outcrop.cli.study_lookup import study_of
    from outcrop.cli.study_page import console, study_page

    opened, page = study_of(study, storage), console()
    count = None if everything else last
    if not watch:
        page.print(study_page(opened, count, page.width))
        return
    from rich.live import Live

    with Live(study_page(opened, count, page.width), console=page, screen=page.is_terminal) as live:
        while True:
            time.sleep(WATCH)
            live.update(study_page(opened, count, page.width), refresh=True)


@app.command()
def best(
    study: StudyName = None,
    storage: StorageUrl = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """Print the best trial of a study.

    \b
    Example:
      outcrop best spec.toml --json
    """
    from outcrop.cli.study_lookup import study_of
    from outcrop.cli.study_page import best_line

    opened = study_of(study, storage)
    if not as_json:
        say(best_line(opened))
        return
    trial = opened.best_trial
    data: dict[str, object] = {"number": trial.number, "value": trial.value, "std": trial.std}
    say(json.dumps(data | {"params": dict(trial.params)}))


@app.command()
def export(
    study: StudyName = None,
    storage: StorageUrl = None,
    form: Annotated[
        Literal["csv", "json"] | None,
        typer.Option("--format", "-f", help="By default from the suffix of --output, or csv."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file; by default standard output.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the output file if it exists.")
    ] = False,
    escape_formulas: Annotated[
        bool,
        typer.Option("--escape-formulas", help="Put ' before text that a spreadsheet would run."),
    ] = False,
) -> None:
    """Write all trials as CSV or JSON.

    \b
    Example:
      outcrop export spec.toml --output trials.csv
    """
    from outcrop.cli.export import to_csv, to_json
    from outcrop.cli.output_file import check_output, write_output
    from outcrop.cli.study_lookup import study_of

    as_json = (form or (output.suffix[1:] if output else "csv")) == "json"
    if as_json and escape_formulas:
        raise typer.BadParameter("--escape-formulas is for CSV; JSON has no formulas")
    if output is not None:
        check_output(output, force=force)
    opened = study_of(study, storage)
    text = to_json(opened) if as_json else to_csv(opened, escape_formulas=escape_formulas)
    if output is None:
        shown = printable(text) if sys.stdout.isatty() else text
        sys.stdout.write(shown if shown.endswith("\n") else shown + "\n")
        return
    write_output(output, text)
    say(f"{len(opened.trials)} trials written to {output}")


@app.command()
def check(
    study: StudyName = None,
    storage: StorageUrl = None,
    replay: Annotated[
        bool, typer.Option("--replay/--no-replay", help="Make every suggestion again and compare.")
    ] = True,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="URL", help="Copy what is sound to another store."),
    ] = None,
) -> int:
    """Verify a study, or all studies of a store: its files, its log and its suggestions.

    \b
    Example:
      outcrop check sim --storage sqlite:///sim.db
      outcrop check sim --storage sqlite:///sim.db --save saved.db

    Exit codes: 0 all is well; 1 something is damaged; 3 all results are there, but some suggestions
    differ when they are made again.
    """
    from outcrop.cli.check import check as verify

    return verify(study, storage, replay=replay, save=save, say=say)


@app.command()
def release(
    study: NeededStudy,
    numbers: Annotated[
        list[int] | None,
        typer.Argument(metavar="[NUMBER]...", help="Trials; by default those without a lease."),
    ] = None,
    storage: StorageUrl = None,
    again: Annotated[
        bool, typer.Option("--again", help="Offer their configurations again.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Release trials with a valid lease, too.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Release without confirmation.")] = False,
) -> None:
    """Give back running trials that nobody works on any more.

    \b
    Example:
      outcrop release sim
      outcrop release sim 3 7 --again

    Without numbers, the running trials are listed, and those that have no lease or whose lease has
    expired are released after confirmation.
    """
    from outcrop.cli.release import release as give_back
    from outcrop.cli.study_lookup import study_of

    def agreed(question: str) -> bool:
        return yes or typer.confirm(question)

    opened = study_of(study, storage)
    give_back(opened, numbers or [], force=force, again=again, agreed=agreed, say=say)


app.command()(add_command.add)
app.command()(correction_commands.amend)
app.command()(correction_commands.discard)
app.command()(migrate)
app.command()(copy_command.copy)


@app.command()
def delete(
    study: NeededStudy,
    storage: StorageUrl = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without confirmation.")] = False,
) -> None:
    """Delete a study and all its trials, after confirmation.

    \b
    Example:
      outcrop delete sim --storage sqlite:///sim.db
    """
    from outcrop.cli.study_lookup import place_of
    from outcrop.study import delete_study, load_study

    name, store = place_of(study, storage)
    count = len(load_study(name, store).trials)
    if not yes and not typer.confirm(
        f"Delete study {printable_line(name)} and its {count} trials?"
    ):
        say("nothing was deleted")
        return
    delete_study(name, store)
    say(f"study {printable_line(name)} is deleted")


@app.command()
def problems() -> None:
    """List the test functions of `outcrop.problems`.

    \b
    Example:
      outcrop problems
    """
    from rich.table import Table

    from outcrop import problems as library
    from outcrop.cli.study_page import console
    from outcrop.cli.trial_table import short_text

    table = Table("problem", "parameters", "minimum", box=None, pad_edge=False)
    for name in library.names():
        problem = library.get(name)
        minimum = "" if problem.minimum is None else short_text(float(problem.minimum))
        table.add_row(name, str(len(problem.space.parameters)), minimum)
    console().print(table)


if __name__ == "__main__":
    sys.exit(main())
