"""`outcrop add`: results from a CSV file."""

from __future__ import annotations

__all__ = ["add"]

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from outcrop.cli.arguments import NeededStudy, StorageUrl, say

if TYPE_CHECKING:
    from outcrop.study import Study


def add(
    study: NeededStudy,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A CSV file with a header, or - for the input.")
    ],
    snap: Annotated[
        bool, typer.Option("--snap", help="Move numbers off a grid to the nearest legal ones.")
    ] = False,
    storage: StorageUrl = None,
) -> None:
    """Add results from a CSV file, as `outcrop export` or a spreadsheet writes it; all or none.

    \b
    Example:
      outcrop add sim results.csv
      outcrop export old | outcrop add sim - --snap

    \b
    A file:
      nu,cells,value
      0.01,100,0.31
      0.02,200,

    A row without a value is skipped. A column `state` decides, if there is one: running and
    discarded rows are skipped, failed ones are added as failures with their `reason`. A study of a
    spec file that does not exist yet is created; outcrop run SPEC --resume then goes on from it.
    """
    from outcrop.study.external_results import naming

    data = _content(file)
    opened = _opened(study, storage)
    with naming("-" if file == "-" else file):
        trials = opened.add(data, snap=snap)
    failed = sum(trial.state == "failed" for trial in trials)
    numbers = f", from trial {trials[0].number} on" if trials else ""
    say(f"results added to study {opened.name}: {len(trials)}, {failed} of them failures{numbers}")


def _content(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from None


def _opened(study: str, storage: str | None) -> Study:
    """The study; that of a spec file is created if it does not exist."""
    from outcrop.cli.program_run import study_of_spec
    from outcrop.cli.spec import read_spec
    from outcrop.cli.study_lookup import place_of
    from outcrop.study import load_study

    name, store = place_of(study, storage)
    if study.endswith(".toml") and store.find(name) is None:
        store.names()  # refuses a copy of a database without its log
        return study_of_spec(read_spec(study), store)
    return load_study(name, store)
