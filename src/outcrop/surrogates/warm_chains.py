"""Chains of hyperparameters that continue from one fit to the next.

A fit stores its draws by the names of their slots, as plain data, and the next fit starts from
them; new slots start from their priors.
"""

from __future__ import annotations

__all__ = ["LeafChains", "conditioned", "restored", "stored"]

import logging
from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple, TypeVar

import numpy as np

from outcrop.data import Observations
from outcrop.errors import NumericalError
from outcrop.inference import Draws
from outcrop.params import Layout
from outcrop.surrogates.partition import Partition
from outcrop.typing import Matrix, Vector

logger = logging.getLogger(__name__)

AT_ONCE = 8  # most leaves sampled in one fit, those with new observations first
DIGITS = 4  # decimals of stored leaf chains: far below their spread

P = TypeVar("P")


def conditioned(
    thetas: Sequence[Vector] | Sequence[tuple[Vector, ...]] | Matrix,
    weights: Vector,
    posterior: Callable[[Any], P],
) -> tuple[tuple[P, ...], Vector]:
    """The posterior at each draw, with its weight; draws that do not factorise are left out."""
    components, kept = [], []
    for theta, weight in zip(thetas, weights, strict=True):
        try:
            components.append(posterior(theta))
            kept.append(weight)
        except NumericalError as error:
            logger.warning("a hyperparameter draw was left out: %s", error)
    if not components:
        raise NumericalError(
            f"none of {len(weights)} hyperparameter draws gives a covariance that factorises"
        )
    return tuple(components), np.array(kept)


def stored(layout: Layout[Any], draws: Draws, data: Observations) -> dict[str, Any]:
    """The ends of chains by slot name, as plain data; latents also by their observations."""
    ends = slice(draws.chains)
    state: dict[str, Any] = {"thetas": [layout.split(theta) for theta in draws.thetas[ends]]}
    latents = {slot.name for slot in layout.slots if slot.latent}
    if latents:
        state["rows"] = data.fingerprints
    if draws.widths is not None:  # latents, moved by elliptical slice sampling, have none
        state["widths"] = [
            {name: part for name, part in layout.split(own).items() if name not in latents}
            for own in draws.widths[ends]
        ]
    return state


def restored(
    layout: Layout[Any], state: Mapping[str, Any] | None, data: Observations
) -> Draws | None:
    """The draws that `stored` wrote, in the present layout; new entries are NaN."""
    if not state or not state.get("thetas"):
        return None
    thetas = np.stack([layout.join(parts) for parts in state["thetas"]])
    for slot in layout.slots:
        if slot.latent:
            thetas[:, slot.part] = _realigned(slot.name, state, data)
    widths = None
    if "widths" in state:
        widths = np.stack([layout.join(parts) for parts in state["widths"]])
        widths[:, layout.gaussian] = 1.0
    return Draws.equal(thetas, np.full(len(thetas), np.nan), widths)


def _realigned(name: str, state: Mapping[str, Any], data: Observations) -> Matrix:
    """The latents in slot `name` of the present observations, NaN for new observations."""
    places = {row: i for i, row in enumerate(state.get("rows", []))}
    order = [places.get(row) for row in data.fingerprints]
    known = [parts.get(name) for parts in state["thetas"]]
    return np.array([[nan if i is None or own is None else own[i] for i in order] for own in known])


class LeafChains(NamedTuple):
    """Chains that belong to the leaves of a partition.

    A leaf takes over the chains of the leaf of the previous tree in which most of its observations
    were. All leaves are sampled: every new observation is in the root, which is an ancestor of each
    leaf, and changes the standardised values. Of many, those with new observations come first.
    """

    partition: Partition
    thetas: list[Matrix]  # of each leaf, (chains, dim)
    marks: list[int]  # of each leaf's observations
    ages: list[int]  # of each leaf: fits since it was sampled
    widths: Vector | None  # of every chain's steps, (dim,)

    def inherited(self, data: Observations, partition: Partition) -> LeafChains:
        """The chains given to the leaves of another partition, that of `data`."""
        before = self.partition.leaf_of(data.X)
        sources = [int(np.bincount(before[rows]).argmax()) for rows in partition.leaf_rows]
        return LeafChains(
            partition,
            [self.thetas[leaf] for leaf in sources],
            [self.marks[leaf] for leaf in sources],
            [self.ages[leaf] + 1 for leaf in sources],
            self.widths,
        )

    def due(self, marks: Sequence[int]) -> list[int]:
        """The leaves to sample: changed ones before others, of each the longest unsampled first."""
        is_same = np.array(self.marks) == np.array(marks)
        order = np.lexsort((-np.array(self.ages), is_same))
        return order[:AT_ONCE].tolist()

    def stored(self, layout: Layout[Any]) -> dict[str, Any]:
        state: dict[str, Any] = {
            "tree": self.partition.to_json(),
            "slots": _slots(layout),
            "thetas": [np.round(thetas, DIGITS).tolist() for thetas in self.thetas],
            "marks": self.marks,
            "ages": self.ages,
        }
        if self.widths is not None:
            state["widths"] = self.widths.tolist()
        return state

    @classmethod
    def restored(cls, layout: Layout[Any], state: Mapping[str, Any] | None) -> LeafChains | None:
        """The chains that `stored` wrote; None if the slots have changed since."""
        if not state or state.get("slots") != _slots(layout):
            return None
        return cls(
            Partition.from_json(state["tree"]),
            [np.array(thetas) for thetas in state["thetas"]],
            state["marks"],
            state["ages"],
            np.array(state["widths"]) if "widths" in state else None,
        )


def _slots(layout: Layout[Any]) -> list[list[Any]]:
    return [[slot.name, slot.size] for slot in layout.slots]
