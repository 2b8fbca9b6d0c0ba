"""Beliefs to evaluate acquisitions under."""

import numpy as np

from outcrop.data import Observations
from outcrop.kernels import RBF, Matern52, Scaled
from outcrop.surrogates import GP, Mixture

BEST = -0.7


def data(n=9, d=2):
    rng = np.random.default_rng(31)
    X = rng.random((n, d))
    return Observations(X, np.sin(5 * X[:, 0]) + 0.3 * rng.normal(size=n))


def single():
    return GP(Scaled(1.3, Matern52([0.4, 0.7])), noise=1e-4, mean=0.2).condition(data())


def mixture():
    """Three kinds of process with different weights; the last fits badly and believes little."""
    models = (
        GP(Scaled(1.3, Matern52([0.4, 0.7])), noise=1e-4, mean=0.2),
        GP(RBF(0.3), noise=1e-2),
        GP(Scaled(0.4, Matern52(1.5)), noise=0.2, mean=1.5),
    )
    return Mixture(tuple(model.condition(data()) for model in models), np.array([0.5, 0.3, 0.2]))


def chains():
    """One kind of process under several hyperparameters, as samplers give it."""
    return Mixture(
        tuple(
            GP(Scaled(scale, Matern52([scale, 0.5])), noise=1e-3, mean=0.1).condition(data())
            for scale in (0.3, 0.8, 1.6)
        ),
        np.array([0.2, 0.2, 0.6]),
    )
