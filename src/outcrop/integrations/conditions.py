"""Which parameters depend on which choices, learnt from the trials of a define-by-run objective.

A trial shows a parameter only if the objective asked for it. What a trial has proves something
however it ended; what it lacks proves something only if it ran to its end. Values are raw: numbers
as they are, categories by their place.
"""

from __future__ import annotations

__all__ = ["Chooser", "Condition", "Sighting", "conditions_of"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from outcrop.typing import Mask

Codes = npt.NDArray[np.int64]  # (n,), the place of each trial's value, ABSENT where it has none
ABSENT = -1


@dataclass(frozen=True)
class Sighting:
    """What one trial asked for, in its order."""

    values: Mapping[str, float]
    whole: bool = True  # whether it ran to its end, so that what is missing was not wanted


@dataclass(frozen=True)
class Chooser:
    """A parameter that others may depend on: its possible values, and whether order means much."""

    values: Sequence[float]
    ordered: bool = False


@dataclass(frozen=True)
class Condition:
    """That a parameter is asked for only while `parent` has one of `values`."""

    parent: str
    values: frozenset[float]


def conditions_of(
    names: Iterable[str], choosers: Mapping[str, Chooser], sightings: Sequence[Sighting]
) -> dict[str, Condition]:
    """The condition of each parameter that has one; the others belong to every trial.

    A parameter that some whole trial lacks depends on a chooser which every trial that has the
    parameter has too, and on those of its values that the parameter was seen with, if they leave
    others out. Of several choosers the one counts that leaves the fewest absences unexplained, then
    the one that was put to the test most often, then the one asked for last before the parameter.
    A value never seen opens nothing; in an ordered chooser it does as the nearest one seen does.

    >>> trials = [Sighting({"kind": 0, "depth": 3}), Sighting({"kind": 1}), Sighting({"kind": 1})]
    >>> conditions_of(["kind", "depth"], {"kind": Chooser([0, 1])}, trials)
    {'depth': Condition(parent='kind', values=frozenset({0}))}
    """
    whole = np.array([each.whole for each in sightings], dtype=bool)
    codes = {name: _codes(name, chooser, sightings) for name, chooser in choosers.items()}
    found = {}
    for name in names:
        here = np.array([name in each.values for each in sightings], dtype=bool)
        lacking = whole & ~here
        if not here.any() or not lacking.any():
            continue
        order = list(sightings[int(here.argmax())].values)
        before = {each: place for place, each in enumerate(order[: order.index(name)])}
        best: tuple[Any, ...] = ()
        for parent, chooser in choosers.items():
            opens = _opens(chooser, codes[parent], here) if parent != name else None
            if opens is None:
                continue
            apart = codes[parent][lacking]
            unexplained = opens[apart[apart != ABSENT]]
            if not unexplained.all():  # every parent has more trials than what depends on it
                rank = (-int(unexplained.sum()), _tests(codes[parent], whole | here))
                best = max(best, (*rank, before.get(parent, -1), parent))
        if best:
            parent = best[-1]
            opens = _completed(choosers[parent], codes[parent], here, whole)
            values = choosers[parent].values
            found[name] = Condition(
                parent, frozenset(values[int(i)] for i in np.flatnonzero(opens))
            )
    return found


def _codes(name: str, chooser: Chooser, sightings: Sequence[Sighting]) -> Codes:
    places = {value: place for place, value in enumerate(chooser.values)}
    return np.array(
        [places[each.values[name]] if name in each.values else ABSENT for each in sightings],
        dtype=np.int64,
    )


def _opens(chooser: Chooser, codes: Codes, here: Mask) -> Mask | None:
    """The values that go with a parameter, or None if it was also seen without the chooser."""
    with_it = codes[here]
    if (with_it == ABSENT).any():
        return None
    opens = np.zeros(len(chooser.values), dtype=bool)
    opens[with_it] = True
    if chooser.ordered:
        opens[with_it.min() : with_it.max() + 1] = True
    return opens


def _completed(chooser: Chooser, codes: Codes, here: Mask, whole: Mask) -> Mask:
    """`_opens` with values never seen decided as well."""
    opens = _opens(chooser, codes, here)
    assert opens is not None  # the chooser was chosen
    if not chooser.ordered:
        return opens
    seen = np.unique(codes[(here | whole) & (codes != ABSENT)])
    distances = np.abs(np.arange(len(opens))[:, None] - seen)
    return opens[seen[distances.argmin(axis=1)]]


def _tests(codes: Codes, counted: Mask) -> int:
    """How many trials had a value that an earlier one had, and so could have contradicted it."""
    there = codes[counted & (codes != ABSENT)]
    return len(there) - len(np.unique(there))
