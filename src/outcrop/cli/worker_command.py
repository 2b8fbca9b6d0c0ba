"""The command `outcrop worker`."""

from __future__ import annotations

__all__ = ["worker"]

from pathlib import Path
from typing import Annotated

import typer

from outcrop.cli.arguments import StorageUrl, say
from outcrop.cli.run_commands import OnErrorOption, exit_if_interrupted


def worker(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="A spec file, in TOML.")],
    storage: StorageUrl = None,
    name: Annotated[
        str | None,
        typer.Option(help="Name of this worker; by default its machine, process and four digits."),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", "-n", min=1, help="End once the study has so many trials."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
    on_error: OnErrorOption = "stop",
) -> None:
    """Evaluate trials of a study, one at a time, beside any number of other workers.

    \b
    Example:
      outcrop worker spec.toml --storage postgresql://me@db/lab --name gpu-3

    The study is created if it does not exist. What is run comes from the local file SPEC, never
    from the database. A worker that is started again under the name of one that has ended gets its
    unfinished trial first.

    SIGTERM lets the running program finish, and then the worker ends; a second SIGTERM or Ctrl-C
    ends the program at once and gives its trial back.
    """
    from outcrop.cli.work import WorkOptions, work

    exit_if_interrupted(work(WorkOptions(spec, storage, name, trials, quiet, on_error), say))
