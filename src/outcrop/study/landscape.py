"""What the trials say about the kind of landscape, from the records of suggestions.

A method that keeps several kinds of surrogate side by side records with every suggestion how
probable each kind is by its predictions so far.
"""

from __future__ import annotations

__all__ = ["MEANINGS", "Landscape", "landscape_of", "place_of"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from outcrop.errors import NoBelief
from outcrop.kernels import Kernel, LocalGlobal, Subspace
from outcrop.space import Space
from outcrop.study.trial import Trial
from outcrop.surrogates import GPPosterior, Mixture

MEANINGS = {  # of the objective, by the label of the kind of surrogate
    "GP": "varies alike everywhere",
    "warped GP": "varies faster towards one end of a parameter",
    "Spartan GP": "is rough in one region and smooth elsewhere",
    "latent GP": "has structure too fine to be modelled, or noise",
    "partly additive GP": "is mostly a sum of effects of single parameters",
}
ROUGH = "Spartan GP"
CLEAR = 2.0  # times the share that a kind has if all are equally probable
FEW = 24  # suggestions: with fewer, one kind or another is ahead by chance on simple functions
SURE = 0.15  # of the unit cube: a region whose centre is known less well has no place


@dataclass(frozen=True)
class Landscape:
    """How probable each kind of landscape is.

    `history` holds the probabilities at each suggestion of the model, by the number of its trial;
    `weights` are the newest. They are 1 in sum, but for rounding, and no kind falls to 0: one that
    predicts better from now on comes back. Results beyond the 200th change nothing.
    """

    history: Mapping[int, Mapping[str, float]]
    place: str = ""  # of the rough region, if there is one

    @property
    def weights(self) -> Mapping[str, float]:
        """The newest probabilities, highest first."""
        newest = self.history[max(self.history)]
        return dict(sorted(newest.items(), key=lambda item: -item[1]))

    @property
    def kinds(self) -> list[str]:
        """Every kind that was weighed, those of the newest suggestion first, by probability."""
        every = (label for number in sorted(self.history) for label in self.history[number])
        return list(dict.fromkeys([*self.weights, *every]))

    @property
    def leader(self) -> str:
        """The most probable kind; empty if none is clearly ahead."""
        label, weight = next(iter(self.weights.items()))
        return label if weight * len(self.weights) >= CLEAR else ""

    @property
    def since(self) -> int | None:
        """The number of the trial since which the leader was the most probable kind."""
        if not self.leader:
            return None
        first = None
        for number in sorted(self.history, reverse=True):
            kinds = self.history[number]
            if max(kinds, key=lambda label: kinds[label]) != self.leader:
                break
            first = number
        return first

    def __str__(self) -> str:
        even = 1 / len(self.weights)
        lines = []
        for label, weight in self.weights.items():
            place = self.place if label == ROUGH and weight >= even else ""
            lines.append(f"{weight:4.0%}  {label}: {_meaning(label)}{place}")
        if not self.leader:
            return "\n".join(["the trials so far do not tell what kind of landscape it is", *lines])
        is_likely = self.weights[self.leader] > 0.5 and len(self.history) >= FEW
        head = f"{'probably' if is_likely else 'perhaps'} the objective {_meaning(self.leader)}"
        return "\n".join([f"{head} (ahead since trial {self.since})", *lines])


def landscape_of(trials: Sequence[Trial]) -> Landscape:
    """The landscape by the records of `trials`, without a place."""
    history = {t.number: dict(t.why["evidence"]) for t in trials if t.why.get("evidence")}
    if history:
        return Landscape(history)
    alone = [trial.why["surrogate"] for trial in trials if "surrogate" in trial.why]
    if alone:
        found = f"suggestions come from one kind of surrogate alone, {alone[-1]!r}"
    else:
        found = "no trial was suggested by a model yet"
    raise NoBelief(
        f'{found}: no kinds of landscape are weighed. method="auto" weighs them after the initial '
        "design, on spaces with 1 to 19 numbers, without choices that open parameters and without "
        "input noise"
    )


def _meaning(label: str) -> str:
    return MEANINGS.get(label, f"is that of a {label}")


def place_of(space: Space, believed: Mixture) -> str:
    """Where the rough region is, such as " near lr ≈ 0.003", for numbers whose place is known."""
    every = tuple(range(len(space.columns)))
    found = [
        (columns, kernel.regions[0].centre, weight)
        for part, weight in zip(believed.components, believed.weights, strict=True)
        if isinstance(part, GPPosterior)
        for columns, kernel in _local_kernels(part.model.kernel, every)
    ]
    # A region without observations has its centre outside of the cube.
    found = [each for each in found if ((each[1] >= 0) & (each[1] <= 1)).all()]
    if not found:
        return ""
    columns, centres, weights = found[0][0], [c for _, c, _ in found], [w for _, _, w in found]
    middle = np.average(centres, axis=0, weights=weights)
    spread = np.sqrt(np.average((np.array(centres) - middle) ** 2, axis=0, weights=weights))
    point = np.full((1, len(space.columns)), 0.5)
    point[0, list(columns)] = middle
    params = space.unconstrained.decode(space.from_uniform(point))[0]
    known = [
        f"{space.columns[i].name} ≈ {params[space.columns[i].name]:.3g}"
        for i, s in zip(columns, spread, strict=True)
        if s < SURE and space.columns[i].name in params
    ]
    return f", near {', '.join(known)}" if known else ""


def _local_kernels(
    kernel: Kernel, columns: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], LocalGlobal]]:
    """Every kernel of regions inside `kernel`, with the columns that it sees."""
    if isinstance(kernel, LocalGlobal):
        yield columns, kernel
        return
    if isinstance(kernel, Subspace):
        columns = tuple(columns[i] for i in kernel.columns)
    for child in kernel.children():
        yield from _local_kernels(child, columns)
