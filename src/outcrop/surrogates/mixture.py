"""Mixtures: posteriors with weights.

`k` components, `m` points. Nothing downstream depends on how a mixture was made.
"""

from __future__ import annotations

__all__ = ["Mixture"]

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from outcrop.errors import ModelError, ShapeError
from outcrop.surrogates.base import Posterior, drawing
from outcrop.surrogates.stack import LeafwiseStack, Stack
from outcrop.typing import Draw, Matrix, Points, Rng, Vector

EachPull: TypeAlias = Callable[[Matrix, Matrix], Points]  # (mean_bar, var_bar) -> X_bar


@dataclass(frozen=True, eq=False)
class Mixture:
    """A weighted set of posteriors.

    The next fit starts from `state`: plain data, small enough to be stored.
    """

    components: tuple[Posterior, ...]
    weights: Vector
    state: Mapping[str, Any] = field(default_factory=dict)

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
        if self._stack is not None:
            return self._stack.predict(X)
        means, variances = zip(*(part.predict(X) for part in self.components), strict=True)
        return np.stack(means), np.stack(variances)

    def predict_each_with_pullback(self, X: Points) -> tuple[Matrix, Matrix, EachPull]:
        """The same, and how gradients in them, both `(k, m)`, travel back to `X`."""
        if self._stack is not None:
            return self._stack.predict_with_pullback(X)
        parts = [part.predict_with_pullback(X) for part in self.components]
        means, variances, pulls = zip(*parts, strict=True)

        def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
            X_bar = pulls[0](mean_bar[0], var_bar[0])
            for i in range(1, len(pulls)):
                X_bar = X_bar + pulls[i](mean_bar[i], var_bar[i])
            return X_bar

        return np.stack(means), np.stack(variances), pull_back

    def moments(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and variance of the mixture itself: within components plus between them."""
        means, variances = self.predict_each(X)
        mean = self.weights @ means
        return mean, self.weights @ (variances + (means - mean) ** 2)

    def condition(self, X: Points, y: Vector | Matrix) -> Mixture:
        """Each component once `y`, `(n,)` or `(k, n)` for one each, is also believed at `X`."""
        each = np.broadcast_to(y, (len(self), len(X)))
        parts = zip(self.components, each, strict=True)
        return Mixture(
            tuple(part.condition(X, own) for part, own in parts), self.weights, self.state
        )

    def draw(self, rng: Rng, features: int = 512) -> Draw:
        """A function drawn from one component, itself drawn by weight."""
        part = self.components[rng.choice(len(self), p=self.weights)]
        return drawing(part).draw(rng, features)

    @cached_property
    def _stack(self) -> Stack | LeafwiseStack | None:
        """The components as arrays, if they differ in numbers only."""
        return Stack.of(self.components) or LeafwiseStack.of(self.components)
