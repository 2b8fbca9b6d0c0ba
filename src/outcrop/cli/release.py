"""`outcrop release`: give back running trials that nobody works on any more."""

from __future__ import annotations

__all__ = ["release"]

from collections.abc import Callable, Sequence

from outcrop.errors import TrialError
from outcrop.study import Study

Say = Callable[[str], object]


def release(
    study: Study,
    numbers: Sequence[int],
    *,
    force: bool,
    again: bool,
    agreed: Callable[[str], bool],
    say: Say,
) -> None:
    """Release trials by their numbers, or all that have no valid lease once it is `agreed`.

    With `again`, their configurations are queued, so that the next asks return them.
    """
    leases = study.leases()
    if numbers:
        chosen = _checked(study, [*dict.fromkeys(numbers)], leases, force)
    else:
        for number, left in leases.items():
            say(f"trial {number}: {_described(left)}")
        chosen = [number for number, left in leases.items() if left is None or left <= 0]
        if not chosen:
            say("no trial to release: every running trial has a valid lease")
            return
        if not agreed(
            f"Release {len(chosen)} trials? Values that arrive for them may then be refused."
        ):
            say("nothing was released")
            return
    params = {trial.number: trial.params for trial in study.trials}
    for number in chosen:
        study.release(number)
        if again:
            study.enqueue(params[number])
    after = "; their configurations are offered again" if again else ""
    say(f"released: {', '.join(map(str, chosen))}{after}")


def _checked(
    study: Study, numbers: list[int], leases: dict[int, float | None], force: bool
) -> list[int]:
    """The numbers, if all are those of running trials that may be released."""
    ended = {trial.number: trial for trial in study.trials if trial.state != "running"}
    for number in numbers:
        if number in ended:
            raise TrialError(f"trial {number} is {ended[number].state} already")
        if number not in leases:
            raise TrialError(f"trial {number} is unknown, or was released before")
        left = leases[number]
        if left is not None and left > 0 and not force:
            raise TrialError(
                f"trial {number} is {_described(left)}, so that its process is probably alive; "
                "wait, or add --force"
            )
    return numbers


def _described(left: float | None) -> str:
    if left is None:
        return "no lease, so that it runs until it is told or released"
    if left <= 0:
        return "its lease has expired, so that the next ask hands it out again"
    return f"leased for another {left:.0f} s"
