"""Functions to maximise whose maximum can be found by another road.

Points are encoded, `(n, D)`; a column of codes enters a wave like any number, so that every code
has a value of its own, and its gradient is reported as NaN, since nobody may use it.
"""

from __future__ import annotations

__all__ = ["Constant", "Counting", "Waves", "grid"]

from dataclasses import dataclass, field

import numpy as np

from outcrop.space import Space


@dataclass(frozen=True, eq=False)
class Waves:
    """A random sum of cosines."""

    frequencies: np.ndarray  # (waves, D)
    phases: np.ndarray
    heights: np.ndarray
    codes: list[int]

    @classmethod
    def on(cls, space: Space, seed: int, waves: int = 12, frequency: float = 6.0) -> Waves:
        rng = np.random.default_rng(seed)
        codes = [column.index for column in space.columns if column.is_code]
        frequencies = frequency * rng.standard_normal((waves, len(space.columns)))
        phases = rng.uniform(0, 2 * np.pi, waves)
        return cls(frequencies, phases, rng.standard_normal(waves), codes)

    def __call__(self, X):
        return np.cos(X @ self.frequencies.T + self.phases) @ self.heights

    def with_gradient(self, X):
        slopes = -np.sin(X @ self.frequencies.T + self.phases) * self.heights
        gradient = slopes @ self.frequencies
        gradient[:, self.codes] = np.nan
        return self(X), gradient


@dataclass(frozen=True)
class Constant:
    """The same value everywhere."""

    value: float

    def __call__(self, X):
        return np.full(len(X), self.value)

    def with_gradient(self, X):
        return self(X), np.zeros_like(X)


@dataclass
class Counting:
    """A function that notes how it is called."""

    function: object
    rows: int = 0
    calls: list[str] = field(default_factory=list)

    def __call__(self, X):
        self.calls.append("value")
        self.rows += len(X)
        return self.function(X)

    def with_gradient(self, X):
        self.calls.append("gradient")
        self.rows += len(X)
        return self.function.with_gradient(X)


def grid(n, dimension):
    """All points of a regular grid with `n` per axis, bounds included."""
    axes = np.meshgrid(*[np.linspace(0, 1, n)] * dimension, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)
