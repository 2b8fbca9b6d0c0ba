"""Priors of the documents that the library does not use by itself."""

from __future__ import annotations

__all__ = ["TruncatedLogNormal"]

from dataclasses import dataclass
from functools import cached_property
from math import inf, log, pi

import numpy as np

from outcrop.priors import Prior
from outcrop.special import ndtr
from outcrop.typing import Rng, Vector


@dataclass(frozen=True)
class TruncatedLogNormal(Prior):
    """ln x ~ N(location, scale²) given that low < x < high."""

    location: float
    scale: float
    low: float = 0.0
    high: float = inf

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def log_density(self, x: Vector) -> Vector:
        z = (np.log(x) - self.location) / self.scale
        return -0.5 * z**2 - np.log(x) - log(self.scale * (2 * pi) ** 0.5 * self._share)

    def slope(self, x: Vector) -> Vector:
        return -(1 + (np.log(x) - self.location) / self.scale**2) / x

    def sample(self, rng: Rng, size: int) -> Vector:
        found = np.empty(0)
        while len(found) < size:
            x = np.exp(self.location + self.scale * rng.standard_normal(2 * size))
            found = np.append(found, x[(self.low < x) & (x < self.high)])
        return found[:size]

    @cached_property
    def _share(self) -> float:
        """Of the whole log-normal's mass, that between the bounds."""
        with np.errstate(divide="ignore"):
            z = (np.log(np.array([self.low, self.high])) - self.location) / self.scale
        below, above = ndtr(z)
        return float(above - below)
