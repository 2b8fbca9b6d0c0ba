"""Treed Gaussian processes as a choice of surrogate, held against the process without a tree.

Leaves know nothing of each other, so that on a stationary objective a tree only costs precision.
Whether it is worth having is judged by predictions made before results were told: their density
under the tree against that under one process for all of the space is a Bayes factor [Dawid 1984].
"""

from __future__ import annotations

__all__ = ["Contested", "Treed", "TreedGP"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, pi, sqrt
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Inference, Slice
from outcrop.kernels import Kernel, Offset
from outcrop.params import free
from outcrop.priors import Normal
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.families import Family
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.partition import Partition
from outcrop.surrogates.treed_gp import LARGEST, LEAST, TreedGP, taken
from outcrop.surrogates.treed_posterior import TreedPosterior
from outcrop.typing import Rng, Vector

CHANCE = 0.1  # that a tree predicts better, before it has predicted anything
LOUDEST = 3.0  # by how much one result may change the logarithm of the odds
RESOLUTION = 1e-3  # of the values' spread: predictions are not told apart below it


@dataclass(frozen=True)
class Treed(Family):
    """Gaussian processes with hyperparameters of their own in the leaves of a regression tree.

        oc.Method(surrogate=oc.surrogates.Treed())
        oc.Method(surrogate=oc.surrogates.Treed(leaves=oc.surrogates.Warped()))
        oc.Method(surrogate=oc.surrogates.Treed(smallest=5, least=0.0, chance=1.0))  # the source's

    `smallest` counts the observations a leaf must hold, the shared ones included; None is 5 for
    every column, and more once there would be more than 64 leaves. `least` is the share of all
    squared error that a split must take away, unless more than 200 observations would stay in one
    leaf. The tree is cut along numbers that are always active.

    `chance` is the prior probability that the tree predicts better than one process without it.
    The space is cut once predictions have made that the more probable; with 1, whatever they say.
    """

    leaves: Family | None = None
    smallest: int | None = None
    least: float = LEAST
    chance: float = CHANCE
    label: ClassVar[str] = "treed GP"

    def __post_init__(self) -> None:
        if self.leaves is not None and not _changes_only_the_kernel(self.leaves):
            raise ModelError(
                f"Treed(leaves={self.leaves!r}): expected a family that changes nothing but the "
                "kernel of numbers, such as Warped(), or None for plain Gaussian processes"
            )
        if self.smallest is not None and (type(self.smallest) is not int or self.smallest < 2):
            raise ModelError(f"Treed(smallest={self.smallest!r}): expected an integer ≥ 2, or None")
        if not 0 <= self.least < 1:
            raise ModelError(f"Treed(least={self.least!r}): expected a share from 0 to below 1")
        if not 0 < self.chance <= 1:
            raise ModelError(
                f"Treed(chance={self.chance!r}): expected a probability above 0, 1 for a tree "
                "whatever it predicts"
            )

    def around(self, kernel: Kernel, dimension: int) -> Kernel:
        return kernel if self.leaves is None else self.leaves.around(kernel, dimension)

    def surrogate(self, model: GP, inference: Inference, columns: Sequence[int]) -> Surrogate:
        tree = TreedGP(leaf_model(model), inference, tuple(columns), self.smallest, self.least)
        if self.chance == 1:
            return tree
        return Contested(Inferred(model, inference), tree, log(self.chance / (1 - self.chance)))


def _changes_only_the_kernel(family: object) -> bool:
    """Whether everything that a family says is said by `around`."""
    kept = ("suits", "joined", "surrogate")
    return isinstance(family, Family) and all(
        getattr(type(family), name) is getattr(Family, name) for name in kept
    )


def leaf_model(model: GP) -> GP:
    """`model` with a level to be inferred where it has one that is integrated out.

    Integrated out it would be known from the leaf's few observations alone.
    """
    if not isinstance(model.kernel, Offset):
        return model
    level = free(Normal(0.0, sqrt(model.kernel.variance)))
    return GP(model.kernel.kernel, model.noise, level)


@dataclass(frozen=True, eq=False)
class Contested:
    """`tree` where it has predicted better than `whole`, and else `whole` as a tree of one leaf.

    Each result is predicted by both from what they made of those before it. The logarithm of the
    odds for the tree starts at `lead` and moves by the difference of the logarithms of both
    densities. Beyond 200 observations a process for all of them costs too much, and there is only
    the tree.
    """

    whole: Inferred
    tree: TreedGP
    lead: float = 0.0

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        """The belief given `observations`, started from an earlier mixture's `state`."""
        data, before = observations, previous or {}
        if len(data) > LARGEST:
            belief = self.tree.fit(data, rng, before.get("tree"))
            return replace(belief, state={"tree": belief.state})
        lead = self._lead(data, rng, before)
        belief = _as_tree(self.whole.fit(data, rng, before.get("whole")), data)
        state = {"lead": lead, "marks": _marks(data), "whole": belief.state}
        if len(self.tree.partition(data)) > 1:
            treed = self.tree.fit(data, rng, before.get("tree"))
            state["tree"] = treed.state
            belief = treed if lead > 0 else belief
        elif "tree" in before:
            state["tree"] = before["tree"]
        return replace(belief, state=state)

    def _lead(self, data: Observations, rng: Rng, before: Mapping[str, Any]) -> float:
        """The logarithm of the odds for the tree, now that results are known that were not."""
        lead = float(before.get("lead", self.lead))
        known = set(before.get("marks", ()))
        is_old = np.array([mark in known for mark in _marks(data)], dtype=np.bool_)
        if "tree" not in before or "whole" not in before or is_old.all() or not is_old.any():
            return lead
        old, new = taken(data, np.flatnonzero(is_old)), taken(data, np.flatnonzero(~is_old))
        if len(self.tree.partition(old)) == 1:
            return lead
        chains = len(before["whole"].get("thetas", "1"))
        still = Slice(chains=chains, burn_in=0, sweeps=0)
        whole = replace(self.whole, inference=still).fit(old, rng, before["whole"])
        tree = replace(self.tree, inference=still).fit(old, rng, before["tree"])
        gains = _log_densities(tree, new) - _log_densities(_as_tree(whole, old), new)
        return lead + float(np.clip(gains, -LOUDEST, LOUDEST).sum())


def _as_tree(belief: Mixture, data: Observations) -> Mixture:
    """The same belief, of a tree of one leaf."""
    alone = Partition.of(data.X, data.y, (), len(data))
    parts = [part for part in belief.components if isinstance(part, GPPosterior)]
    components = tuple(TreedPosterior(alone, (part,)) for part in parts)
    return Mixture(components, belief.weights, belief.state)


def _log_densities(belief: Mixture, data: Observations) -> Vector:
    """The log density of each value of `data`, noise included, under a belief without them."""
    mean, var = belief.predict_each(data.X)
    var = var + RESOLUTION**2 + (0.0 if data.noise is None else data.noise)
    var += [part.noise(data.X) for part in belief.components if isinstance(part, TreedPosterior)]
    logs = -0.5 * ((data.y - mean) ** 2 / var + np.log(2 * pi * var))
    return np.logaddexp.reduce(logs + np.log(belief.weights)[:, None], axis=0)


def _marks(data: Observations) -> list[int]:
    """A number for each point; points that were evaluated again are not told apart."""
    return [crc32(row.tobytes()) for row in data.X]
