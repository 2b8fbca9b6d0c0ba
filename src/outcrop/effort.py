"""How much work one suggestion may take, and how a suggestion that was cut short is repeated.

Loops ask `Effort.is_spent` before each of their steps, and leave out the rest once it says yes. The
order of these questions depends on the data and the seed only, so a cut is described by the number
of the question that was answered with yes. A replay answers by those numbers and not by a clock.
"""

from __future__ import annotations

__all__ = ["UNLIMITED", "UNSTORED", "Effort"]

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import accumulate
from math import inf


class Effort:
    """The time from `start` to `end` on a clock, in which a part of a suggestion is made.

    >>> ticks = iter(range(100))
    >>> effort = Effort.within(3.0, clock=lambda: float(next(ticks)))
    >>> [effort.is_spent("steps") for _ in range(5)]
    [False, False, True, True, True]
    >>> effort.cuts, dict(effort.cut_short)
    ((2,), {'steps': 2})
    >>> again = Effort.recorded(effort.cuts)
    >>> [again.is_spent("steps") for _ in range(5)]
    [False, False, True, True, True]

    The clock is the processor time of the thread, so that a busy machine does not change what is
    suggested. It has state, unlike all else that is passed to a strategy: every question counts.
    """

    def __init__(self, start: float, end: float, questions: _Questions | None) -> None:
        self._start = start
        self._end = end
        self._questions = questions
        self._is_spent = False

    @classmethod
    def within(cls, seconds: float | None, clock: Callable[[], float] | None = None) -> Effort:
        """An effort of `seconds` from now; None is `UNLIMITED`."""
        if seconds is None:
            return UNLIMITED
        clock = clock or time.thread_time
        start = clock()
        return cls(start, start + seconds, _Questions(lambda end, _: clock() >= end))

    @classmethod
    def recorded(cls, cuts: Collection[int]) -> Effort:
        """The effort of a suggestion whose `cuts` were recorded."""
        known = frozenset(cuts)
        return cls(0.0, 0.0, _Questions(lambda _, number: number in known)) if known else UNLIMITED

    def is_spent(self, what: str) -> bool:
        """Whether the next step is left out; `what` names such steps, for explanations."""
        if self._questions is not None and not self._is_spent:
            self._is_spent = self._questions.answered(self._end, what)
        return self._is_spent

    def parts(self, *shares: float) -> tuple[Effort, ...]:
        """Efforts that follow each other; what one of them leaves is added to the next."""
        if self._questions is None:
            return (self,) * len(shares)
        unit = (self._end - self._start) / sum(shares)
        ends = [self._start + unit * end for end in accumulate(shares)]
        starts = [self._start, *ends[:-1]]
        return tuple(
            Effort(start, end, self._questions) for start, end in zip(starts, ends, strict=True)
        )

    @property
    def cuts(self) -> tuple[int, ...]:
        """The numbers of the questions that were answered with yes, in this and all other parts."""
        return () if self._questions is None else tuple(self._questions.cuts)

    @property
    def cut_short(self) -> Mapping[str, int]:
        """How many steps of each kind were made, for those kinds of which some were left out."""
        if self._questions is None:
            return {}
        return {what: self._questions.made[what] for what in self._questions.cut_short}


class _Questions:
    """The questions of all parts of one effort."""

    def __init__(self, is_out: Callable[[float, int], bool]) -> None:
        self.is_out = is_out  # by the end of the part that asks, and the number of the question
        self.made: Counter[str] = Counter()
        self.count = 0
        self.cuts: list[int] = []
        self.cut_short: dict[str, None] = {}  # a set in order

    def answered(self, end: float, what: str) -> bool:
        number = self.count
        self.count += 1
        if self.is_out(end, number):
            self.cuts.append(number)
            self.cut_short[what] = None
            return True
        self.made[what] += 1
        return False


UNLIMITED = Effort(0.0, inf, None)
UNSTORED = {"stored": False}  # metadata of a field that holds an effort: it is no part of a method
