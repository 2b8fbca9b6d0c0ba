"""`outcrop run` and `outcrop demo`, and what ends every command that evaluates trials."""

from __future__ import annotations

__all__ = ["OnErrorOption", "demo", "exit_if_interrupted", "interrupted", "run"]

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from outcrop.cli.arguments import say

if TYPE_CHECKING:
    from outcrop.study import Result

OnErrorOption = Annotated[
    Literal["stop", "record"],
    typer.Option(
        help="Whether a command that is not found (exit code 126 or 127) and failures from the "
        "start end the run, or are recorded as failures."
    ),
]


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
    exit_if_interrupted(play(folder, trials, seed, say))


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
    on_error: OnErrorOption = "stop",
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
    exit_if_interrupted(tune(options, say))


def interrupted(number: int) -> int:
    """Say that a signal has ended the command; the exit code."""
    print("interrupted", file=sys.stderr)
    return 128 + number


def exit_if_interrupted(result: Result | None) -> None:
    """Exit with the code of the signal that has ended a run."""
    if result is not None and result.interrupted:
        raise typer.Exit(interrupted(result.signal or signal.SIGINT))
