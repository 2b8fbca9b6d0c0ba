"""Conditions of parameters, inferred from the trials of a define-by-run objective.

A trial has a parameter only if the objective requested it. The presence of a parameter is evidence
in every trial; its absence only in a trial that was completed. Values are raw: numbers, and indices
of categories.
"""

from __future__ import annotations

__all__ = ["Chooser", "Condition", "Sighting", "conditions_of"]

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from outcrop.typing import Mask

Codes = npt.NDArray[np.int64]  # (n,), the index of each trial's value, ABSENT if it has none
ABSENT = -1


@dataclass(frozen=True)
class Sighting:
    """The parameters that one trial requested, in order, with their values."""

    values: Mapping[str, float]
    whole: bool = True  # whether it was completed, so that absent parameters were not requested


@dataclass(frozen=True)
class Chooser:
    """A parameter that others may depend on: its possible values, and whether they are ordered."""

    values: Sequence[float]
    ordered: bool = False


@dataclass(frozen=True)
class Condition:
    """A parameter is active only if `parent` has one of `values`."""

    parent: str
    values: frozenset[float]


def conditions_of(
    names: Iterable[str], choosers: Mapping[str, Chooser], sightings: Sequence[Sighting]
) -> dict[str, Condition]:
    """The condition of each parameter that has one; the others are active in every trial.

    A parameter that is absent from a completed trial depends on a chooser that is present in every
    trial with the parameter, and is active for those of its values that occurred together with it;
    these must not be all values. Of several such choosers, the one that leaves the fewest absences
    unexplained is taken, then the one with the most repeated values, then the one requested last
    before the parameter. A value that never occurred activates nothing; in an ordered chooser, it
    is treated like the nearest value that occurred.

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
        opened: dict[tuple[int, int, int, str], Mask] = {}  # by rank, of each possible parent
        for parent, chooser in choosers.items():
            opens = _opens(chooser, codes[parent], here) if parent != name else None
            if opens is None:
                continue
            apart = codes[parent][lacking]
            unexplained = opens[apart[apart != ABSENT]]
            if not unexplained.all():  # a parent is in more trials than what depends on it
                tests = _tests(codes[parent], whole | here)
                rank = (-int(unexplained.sum()), tests, before.get(parent, -1), parent)
                opened[rank] = opens
        if opened:
            rank = max(opened)
            parent = rank[-1]
            opens = _completed(choosers[parent], codes[parent], opened[rank], whole | here)
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
    """The values that occurred with a parameter; None if it also occurred without the chooser."""
    with_it = codes[here]
    if (with_it == ABSENT).any():
        return None
    opens = np.zeros(len(chooser.values), dtype=bool)
    opens[with_it] = True
    if chooser.ordered:
        opens[with_it.min() : with_it.max() + 1] = True
    return opens


def _completed(chooser: Chooser, codes: Codes, opens: Mask, counted: Mask) -> Mask:
    """`opens`, also for values that never occurred."""
    if not chooser.ordered:
        return opens
    seen = np.unique(codes[counted & (codes != ABSENT)])
    distances = np.abs(np.arange(len(opens))[:, None] - seen)
    return opens[seen[distances.argmin(axis=1)]]


def _tests(codes: Codes, counted: Mask) -> int:
    """How many trials repeat a value of an earlier one, and so could have contradicted it."""
    there = codes[counted & (codes != ABSENT)]
    return len(there) - len(np.unique(there))
