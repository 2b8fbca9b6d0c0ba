"""Mixtures: posteriors with weights.

`k` components, `m` points. Nothing downstream depends on how a mixture was made.
"""

from __future__ import annotations

__all__ = ["Mixture"]

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from outcrop.errors import ModelError, ShapeError
from outcrop.surrogates.base import Posterior, drawing
from outcrop.surrogates.stack import LeafwiseStack, Stack, can_be_stacked
from outcrop.typing import Draw, Matrix, Points, Rng, Vector

FARTHEST = 100.0  # below the largest, on a log scale: smaller improvements count as this one

EachPull: TypeAlias = Callable[[Matrix, Matrix], Points]  # (mean_bar, var_bar) -> X_bar


@dataclass(frozen=True, eq=False)
class Mixture:
    """A weighted set of posteriors.

    The next fit starts from `state`: plain data, small enough to be stored.
    """

    components: tuple[Posterior, ...]
    weights: Vector
    state: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)  # probabilities of several kinds
    members: tuple[str, ...] = ()  # the kind of each component, if there are several
    balance: float = 0.0  # power of `balanced`

    def __repr__(self) -> str:
        kinds = Counter(type(part).__name__ for part in self.components)
        return f"Mixture({', '.join(f'{count} × {kind}' for kind, count in kinds.items())})"

    def __post_init__(self) -> None:
        weights = np.asarray(self.weights, dtype=float)
        if weights.shape != (len(self.components),) or not len(weights):
            raise ShapeError(
                f"expected one weight for each of {len(self.components)} components, "
                f"got {weights.shape}; a mixture has at least one"
            )
        if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
            raise ModelError(f"expected weights ≥ 0 with a positive sum, got {weights}")
        object.__setattr__(self, "weights", weights / weights.sum())

    @classmethod
    def single(cls, posterior: Posterior) -> Mixture:
        return cls((posterior,), np.ones(1))

    def __len__(self) -> int:
        return len(self.components)

    def predict_each(self, X: Points) -> tuple[Matrix, Matrix]:
        """Mean and variance under each component, both `(k, m)`."""
        parts = [group.predict(X) for group in self._groups]
        if len(parts) == 1:
            return parts[0]
        means, variances = zip(*parts, strict=True)
        return np.concatenate(means), np.concatenate(variances)

    def predict_each_with_pullback(self, X: Points) -> tuple[Matrix, Matrix, EachPull]:
        """The same, and how gradients in them, both `(k, m)`, travel back to `X`."""
        parts = [group.predict_with_pullback(X) for group in self._groups]
        if len(parts) == 1:
            return parts[0]
        means, variances, pulls = zip(*parts, strict=True)
        ends = np.cumsum([len(mean) for mean in means])

        def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
            bars = zip(np.split(mean_bar, ends[:-1]), np.split(var_bar, ends[:-1]), strict=True)
            X_bar = np.zeros_like(X)
            for pull, (own_mean_bar, own_var_bar) in zip(pulls, bars, strict=True):
                X_bar += pull(own_mean_bar, own_var_bar)
            return X_bar

        return np.concatenate(means), np.concatenate(variances), pull_back

    def moments(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and variance of the mixture itself: within components plus between them."""
        means, variances = self.predict_each(X)
        mean = self.weights @ means
        return mean, self.weights @ (variances + (means - mean) ** 2)

    def condition(self, X: Points, y: Vector | Matrix) -> Mixture:
        """Each component once `y`, `(n,)` or `(k, n)` for one each, is also believed at `X`."""
        each = np.broadcast_to(y, (len(self), len(X)))
        parts = zip(self.components, each, strict=True)
        return replace(self, components=tuple(part.condition(X, own) for part, own in parts))

    def balanced(self, log_improvements: Matrix) -> Mixture:
        """The same with each member's weight divided by a power of its largest improvement.

        `log_improvements` `(k, m)` are logarithms of the improvements that components expect at
        points that cover the space. Those of uncertain members are larger by orders of magnitude
        and would decide every trial, also with little weight.
        """
        if not self.balance:
            return self
        kinds, largest = np.array(self.members), np.empty(len(self))
        for kind in set(self.members):
            own = kinds == kind
            sums = np.logaddexp.reduce(log_improvements[own], axis=0)
            largest[own] = sums.max() - np.log(own.sum())
        top = max(largest.max(), np.finfo(float).min)  # also where nothing is expected at all
        behind = np.minimum(top - largest, FARTHEST)
        return replace(self, weights=self.weights * np.exp(self.balance * behind))

    def draw(self, rng: Rng, features: int = 512) -> Draw:
        """A function drawn from one component, itself drawn by weight."""
        part = self.components[rng.choice(len(self), p=self.weights)]
        return drawing(part).draw(rng, features)

    @cached_property
    def _groups(self) -> list[Stack | LeafwiseStack | _Single]:
        """The components, those that follow each other and differ in numbers only as arrays."""
        groups: list[list[Posterior]] = [[self.components[0]]]
        for part in self.components[1:]:
            if can_be_stacked(groups[-1][0], part):
                groups[-1].append(part)
            else:
                groups.append([part])
        found: list[Stack | LeafwiseStack | _Single] = []
        for group in groups:
            stack = Stack.of(group) or LeafwiseStack.of(group)
            found += [stack] if stack is not None else [_Single(part) for part in group]
        return found


@dataclass(frozen=True, eq=False)
class _Single:
    """A component by itself, with a leading axis of length 1."""

    posterior: Posterior

    def predict(self, X: Points) -> tuple[Matrix, Matrix]:
        mean, var = self.posterior.predict(X)
        return mean[None, :], var[None, :]

    def predict_with_pullback(self, X: Points) -> tuple[Matrix, Matrix, EachPull]:
        mean, var, pull = self.posterior.predict_with_pullback(X)
        return mean[None, :], var[None, :], lambda mean_bar, var_bar: pull(mean_bar[0], var_bar[0])
