"""Running trials that may be handed out again."""

from __future__ import annotations

__all__ = ["lease_key", "unfinished"]

from collections.abc import Mapping

from outcrop.study.process_identity import is_running
from outcrop.study.state import State
from outcrop.study.storage import LeaseStatus


def unfinished(
    state: State, held: Mapping[str, LeaseStatus], worker: str, owner: str
) -> int | None:
    """The number of a trial to hand out again to `worker`, or None; `owner` is its process.

    First comes a trial of a worker of the same name that has come back: its lease belongs to
    another process, which is not known to run. Then comes any trial whose lease has expired.
    """
    expired = None
    for record in state.running:
        number = record.trial.number
        lease = held.get(lease_key(number))
        if lease is None:
            continue  # it runs until it is told or released
        is_own = worker != "" and record.trial.worker == worker and lease.owner != owner
        if is_own and not is_running(lease.owner.rpartition(":")[0]):
            return number
        if lease.left <= 0 and expired is None:
            expired = number
    return expired


def lease_key(number: int) -> str:
    """The name of a trial's lease."""
    return f"trial {number}"
