"""`outcrop amend` and `outcrop discard`: corrections of trials that have ended."""

from __future__ import annotations

__all__ = ["amend", "discard"]

from typing import Annotated

import typer

from outcrop.cli.arguments import NeededStudy, StorageUrl, numbers_by_name, say

Reason = Annotated[str, typer.Option("--reason", "-r", help="Why, to be kept with the trial.")]


def amend(
    study: NeededStudy,
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The trial.")],
    value: Annotated[
        float | None, typer.Option("--value", help="Its value; nan makes it a failed trial.")
    ] = None,
    std: Annotated[
        float | None, typer.Option("--std", help="The standard deviation of its value.")
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option("--at", metavar="NAME=VALUE", help="A number that differed from its plan."),
    ] = None,
    at_std: Annotated[
        list[str] | None,
        typer.Option("--at-std", metavar="NAME=VALUE", help="Its standard deviation."),
    ] = None,
    reason: Reason = "",
    storage: StorageUrl = None,
) -> None:
    """Correct the outcome of a finished, failed or discarded trial.

    \b
    Example:
      outcrop amend sim 12 --value 0.31 --reason "a mistyped value"

    What is not given stays as it was, and the former outcome is kept with the trial. A value brings
    a failed or discarded trial back.
    """
    from outcrop.cli.study_lookup import study_of

    places = numbers_by_name(at or [], "--at"), numbers_by_name(at_std or [], "--at-std")
    trial = study_of(study, storage).amend(
        number, value=value, std=std, at=places[0], at_std=places[1], reason=reason
    )
    outcome = trial.reason if trial.value is None else f"value {trial.value!r}"
    say(f"trial {trial.number} is {trial.state}: {outcome}; it {trial.corrections[-1]}")


def discard(
    study: NeededStudy,
    numbers: Annotated[list[int], typer.Argument(metavar="NUMBER...", help="The trials.")],
    reason: Reason = "",
    storage: StorageUrl = None,
) -> None:
    """Declare the outcomes of finished or failed trials void.

    \b
    Example:
      outcrop discard sim 3 4 7 --reason "the disk was full"

    The model forgets them, and their configurations may be proposed again. They stay in the study
    as discarded; `outcrop amend` with a value brings one back.
    """
    from outcrop.cli.study_lookup import study_of

    chosen = [*dict.fromkeys(numbers)]
    study_of(study, storage).discard(chosen, reason)
    say(f"discarded: {', '.join(map(str, chosen))}")
