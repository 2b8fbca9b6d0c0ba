"""Commands that read a study: `outcrop show`, `best`, `export`, `report` and `check`."""

from __future__ import annotations

__all__ = ["best", "check", "export", "report", "show"]

import json
import sys
import time
from pathlib import Path
from typing import Annotated, Literal

import typer

from outcrop.cli.arguments import StorageUrl, StudyName, say
from outcrop.cli.terminal_text import printable

WATCH = 2.0  # seconds between two updates of a page


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


def report(
    study: StudyName = None,
    storage: StorageUrl = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write to this file.")] = Path(
        "report.html"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that exists.")] = False,
) -> None:
    """Write a study as one HTML file: pictures, a table of trials, importances, failures.

    \b
    Example:
      outcrop report spec.toml -o report.html
    """
    from outcrop.cli.output_file import check_output, write_output
    from outcrop.cli.study_lookup import study_of
    from outcrop.reports import report as made_of

    check_output(output, force=force)
    made = made_of(study_of(study, storage))
    write_output(output, made.html)
    say(f"{output}: {len(made.html.encode()) / 1e6:.1f} MB")


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
