"""The importance of parameters: which share of the objective's variation each of them causes."""

from __future__ import annotations

__all__ = ["Importance", "Share"]

from collections.abc import Mapping
from dataclasses import dataclass

from outcrop.html_tables import Html, folded, page, table
from outcrop.short_repr import short_repr

PAIRS = 5  # that are written
SMALLEST = 0.01  # share of a pair that is written
REGIONS = {"all": "the whole space", "best": "the best quarter of the space"}


@dataclass(frozen=True)
class Share:
    """A share of the variation, and its standard deviation under the belief."""

    mean: float
    std: float

    def __str__(self) -> str:
        return f"{round(self.mean, 2) + 0.0:.2f} ± {self.std:.2f}"  # never -0.00


@dataclass(frozen=True)
class Importance:
    """Sobol indices of the parameters, under what a study believes of its objective.

    `first` is the share of the variation that a parameter causes alone, `total` its share together
    with all interactions it takes part in, and `pairs` the share of the interaction of two. The
    `first` and `pairs` of all parameters add up to 1 at most, the `total` to 1 at least. A share is
    an estimate: it may be a little below 0.

    `unknown` is the share of the variation that the belief does not know: the shares are those of
    what it knows, and the objective's own may differ by as much.

        importance = study.importance()
        importance.ranked[0], importance.total["lr"].mean
    """

    region: str  # "all" or "best"
    first: Mapping[str, Share]
    total: Mapping[str, Share]
    pairs: Mapping[tuple[str, str], Share]
    unknown: float
    branch: Mapping[str, str]  # the options of choices that are held; empty for the whole space
    branches: tuple[Importance, ...] = ()  # of a conditional space, those with most trials first

    __repr__ = short_repr

    @property
    def ranked(self) -> list[str]:
        """Parameters by their total share, the largest first."""
        return sorted(self.total, key=lambda name: -self.total[name].mean)

    @property
    def ranked_pairs(self) -> list[tuple[str, str]]:
        """Pairs by the share of their interaction, the largest first."""
        return sorted(self.pairs, key=lambda pair: -self.pairs[pair].mean)

    def __str__(self) -> str:
        width = max(len("parameter"), *map(len, self.total)) if self.total else 0
        lines = [f"{self._title}:"]
        if self.total:
            lines.append(f"  {'parameter':{width}}  {'total':11}  alone")
        lines += [
            f"  {name:{width}}  {self.total[name]!s:11}  {self.first[name]}" for name in self.ranked
        ]
        lines += [f"  {' × '.join(pair)}: {self.pairs[pair]}" for pair in self._noted_pairs]
        lines.append(f"  {self._unknown}")
        return "\n".join([*lines, *map(str, self.branches)])

    def _repr_html_(self) -> str:
        return page(self._title[0].upper() + self._title[1:], *self._parts())

    def _parts(self) -> list[str]:
        """A table of the parameters, one of the pairs, and the branches, folded."""
        rows = [[name, str(self.total[name]), str(self.first[name])] for name in self.ranked]
        pairs = [[" × ".join(pair), str(self.pairs[pair])] for pair in self._noted_pairs]
        parts: list[str] = [table(["parameter", "total", "alone"], rows)] if rows else []
        if pairs:
            parts.append(table(["interaction", "share"], pairs))
        parts.append(self._unknown)
        parts += [folded(each._title, Html("".join(each._parts()))) for each in self.branches]
        return parts

    @property
    def _title(self) -> str:
        held = ", ".join(f"{choice} = {option}" for choice, option in self.branch.items())
        return f"importance over {REGIONS[self.region]}{f', {held}' if held else ''}"

    @property
    def _noted_pairs(self) -> list[tuple[str, str]]:
        noted = [pair for pair in self.ranked_pairs if self.pairs[pair].mean >= SMALLEST]
        return noted[:PAIRS]

    @property
    def _unknown(self) -> str:
        return f"{self.unknown:.0%} of the variation is unknown to the belief"
