"""The command `outcrop`: its subcommands, their options, and its exit codes.

An error is one line on standard error and exit code 2; Ctrl-C is exit code 130, another signal that
ends a run 128 plus its number.
"""

from __future__ import annotations

__all__ = ["app", "main"]

import logging
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from outcrop import __version__
from outcrop.cli import (
    add_command,
    copy_command,
    correction_commands,
    reading_commands,
    run_commands,
)
from outcrop.cli.arguments import NeededStudy, StorageUrl, say
from outcrop.cli.dashboard_command import dashboard
from outcrop.cli.migrate import migrate
from outcrop.cli.run_commands import interrupted
from outcrop.cli.terminal_text import EscapedLog, printable, printable_line
from outcrop.cli.worker_command import worker
from outcrop.errors import OutcropError
from outcrop.study.storage.url_masking import masked_in

WRONG = 2

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
        return interrupted(signal.SIGINT)
    except BrokenPipeError:  # the reader of a pipe, such as head, has ended
        sys.stderr.close()
        return 0
    return code if isinstance(code, int) else 0


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(EscapedLog())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def _refused(message: str) -> int:
    print(f"error: {printable(masked_in(message))}", file=sys.stderr)
    return WRONG


for command in (
    run_commands.demo,
    run_commands.run,
    worker,
    reading_commands.show,
    reading_commands.best,
    reading_commands.export,
    reading_commands.report,
    dashboard,
    reading_commands.check,
    add_command.add,
    correction_commands.amend,
    correction_commands.discard,
    migrate,
    copy_command.copy,
):
    app.command()(command)


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
