"""Data and kernels that tests of noisy-input models share."""

import numpy as np

from outcrop.data import Observations
from outcrop.kernels import RBF, Conditional, Matern52, Offset, Overlap, Scaled, Subspace

ARD = Offset(0.4, Scaled(1.3, RBF([0.3, 0.6])))
MATERN = Offset(0.4, Scaled(1.3, Matern52([0.3, 0.6])))
MIXED = Conditional(
    ((1, ((2, 0),), False),),
    Scaled(1.3, Subspace((0, 1), RBF([0.3, 0.6])) * Subspace((2,), Overlap([0.8]))),
)
FULL = np.array([[0.003, 0.001], [0.001, 0.002]])
KINDS = ["shared", "rows", "full"]


def observations(rng, n=12, kind="shared", noise=False):
    X = rng.random((n, 2))
    y = np.sin(5 * X[:, 0]) + X[:, 1]
    own = rng.random(n) * 1e-2 if noise else None
    cov = {
        "shared": None,
        "rows": rng.random((n, 2)) * 0.004,
        "full": FULL * rng.uniform(0.5, 1.5, (n, 1, 1)),
    }[kind]
    return Observations(X, y, own, cov)


def decaying_sine(rng):
    """A data set of Alvi 2019, section 3.6, on the unit interval, and its input noise there."""
    n, std = int(rng.integers(10, 101)), float(rng.choice([0.05, 0.1]))
    x = rng.uniform(-1, 1, n)
    t = 2.5 * (x + std * rng.standard_normal(n) + 1)
    y = t * np.sin(3 * t) * np.exp(-t) + 1e-3 * rng.standard_normal(n)
    return Observations((x[:, None] + 1) / 2, (y - y.mean()) / y.std()), std / 2
