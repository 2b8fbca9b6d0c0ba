"""Records of trials, and blocks of them as the arrays that a view needs.

`x` is an encoded point, `(D,)`.
"""

from __future__ import annotations

__all__ = ["Block", "Record", "block_of", "frozen", "joined", "points_of"]

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from outcrop.study.trial import Trial, TrialState
from outcrop.typing import Points, Vector


@dataclass(frozen=True, eq=False)
class Record:
    """A trial, its point in the encoded space, and when it ran as positions in the log."""

    trial: Trial
    x: Vector
    key: str
    began: int  # how many events its suggestion had seen; its own event is at or after that
    ended: int | None = None  # the position of its outcome; None while it runs
    expired: bool = False  # failed since its leases expired; a value that arrives still counts
    original: Trial | None = None  # as it was asked for, if the space has changed since
    epoch: int = 0  # how often the space had changed when it was asked for

    @property
    def asked(self) -> Trial:
        """The trial with the parameters that it was asked for or added with."""
        return self.trial if self.original is None else self.original


@dataclass(frozen=True, eq=False)
class Block:
    """Trials of consecutive numbers that fit the space, as the arrays that a view needs.

    A new state shares all blocks but the changed one with the state before it, so that the time of
    an ask hardly grows with the number of trials.
    """

    records: Mapping[TrialState, Sequence[Record]]
    points: Mapping[TrialState, Vector]  # of those records, one after the other
    values: Vector  # in the user's sign
    stds: Vector  # NaN where none was given
    keys: Sequence[str]  # of all but discarded trials
    moved: Sequence[tuple[int, Trial]]  # finished trials with `at` or `at_std`, and their rows
    aside: Sequence[Record] = ()  # those that do not fit


def block_of(records: Sequence[Record]) -> Block:
    """The block of some records."""
    by_state: dict[TrialState, list[Record]] = {name: [] for name in get_args(TrialState)}
    aside = [record for record in records if record.trial.aside]
    records = [record for record in records if not record.trial.aside] if aside else records
    for record in records:
        by_state[record.trial.state].append(record)
    finished = [record.trial for record in by_state["finished"]]
    return Block(
        by_state,
        {
            name: np.concatenate([np.empty(0), *(record.x for record in some)])
            for name, some in by_state.items()
        },
        np.array([trial.value for trial in finished], dtype=np.float64),
        np.array([math.nan if t.std is None else t.std for t in finished], dtype=np.float64),
        [record.key for record in records if record.trial.state != "discarded"],
        [
            (row, trial)
            for row, trial in enumerate(finished)
            if trial.at is not None or trial.at_std is not None
        ],
        aside,
    )


def joined(parts: Iterable[Vector]) -> Vector:
    """The parts one after the other, as an array that cannot be changed."""
    return frozen(np.concatenate([np.empty(0), *parts]))


def points_of(blocks: Sequence[Block], name: TrialState, columns: int) -> Points:
    """Encoded points of the trials in a state, by number."""
    count = sum(len(block.records[name]) for block in blocks)
    return joined(block.points[name] for block in blocks).reshape(count, columns)


def frozen(array: Vector) -> Vector:
    """The array itself, which cannot be changed any more."""
    array.flags.writeable = False
    return array
