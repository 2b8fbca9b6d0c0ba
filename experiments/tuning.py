"""Hyperparameters of models that are trained at every call: CoCaBO's real tasks.

Splits and networks have a fixed seed, so that a configuration has one value. Where a task of the
document needs software that is not at hand, what stands in is said.
"""

from __future__ import annotations

__all__ = ["boosting_digits", "nn_yacht", "svm_boston", "yacht_split"]

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.datasets import boston_housing, yacht_hydrodynamics
from experiments.dropout_network import ACTIVATIONS, OPTIMISERS, DropoutNetwork
from outcrop.problems import Problem
from outcrop.space import Categorical, Float, Int, Space
from outcrop.typing import Indices, Matrix, Params, Vector

DIGITS = 600  # images of the 1,797 that boosting is trained and tested on
TREES, LEAVES = 20, 16
TEST = 0.3
YACHT_TRAINED = 0.9
DIVERGED = 1000.0  # nats per point; a constant prediction loses about a tenth of that


def svm_boston() -> Problem:
    """Test error of ν-support vector regression of house prices; 3 categories, 3 numbers.

    The document's C = 0 and ν = 0 are not allowed, so both begin at 0.001.
    """
    space = Space(
        {
            "kernel": Categorical(["linear", "poly", "rbf", "sigmoid"]),
            "gamma": Categorical(["scale", "auto"]),
            "shrinking": Categorical([True, False]),
            "C": Float(1e-3, 10.0),
            "tol": Float(1e-6, 1.0, log=True),
            "nu": Float(1e-3, 1.0),
        }
    )
    return _tuning("svm-boston", space, _svm_error)


def nn_yacht() -> Problem:
    """Negative test log likelihood of a network with dropout; 3 categories, 3 numbers.

    The document maximises what it calls the negative log likelihood; here the negative of the log
    likelihood is minimised. Its "aleatoric variance" is taken for the precision tau of the
    reference, whose grid has the same range. A network whose training diverges has the largest
    loss, `DIVERGED`.
    """
    space = Space(
        {
            "activation": Categorical(list(ACTIVATIONS)),
            "optimiser": Categorical(list(OPTIMISERS)),
            "dropout": Categorical([0.001, 0.005, 0.01, 0.05, 0.1, 0.5]),
            "learning_rate": Float(1e-5, 1e-1, log=True),
            "units": Int(16, 128, log=True),
            "tau": Float(0.2, 0.8),
        }
    )
    return _tuning("nn-yacht", space, _yacht_loss)


def boosting_digits() -> Problem:
    """Test error of gradient boosting on images of digits; 3 categories, 5 numbers.

    It stands in for XGBoost on MNIST: the categories are those that scikit-learn's boosting has.
    """
    space = Space(
        {
            "growth": Categorical(["by depth", "best first"]),
            "max_features": Categorical(["sqrt", "log2"]),
            "init": Categorical(["prior", "zero"]),
            "learning_rate": Float(1e-3, 1.0),
            "max_depth": Int(1, 10),
            "min_impurity_decrease": Float(0.0, 0.05),
            "subsample": Float(0.05, 1.0),
            "ccp_alpha": Float(0.0, 0.005),
        }
    )
    return _tuning("boosting-digits", space, _digits_error)


def _tuning(name: str, space: Space, loss: Callable[[Params], float]) -> Problem:
    source = "Alvi's thesis, Table 5.2"
    return Problem(name=name, space=space, function=loss, tags=("mixed", "tuning"), source=source)


def _svm_error(params: Params) -> float:
    from sklearn.svm import NuSVR

    train, test, y_train, y_test = _split("boston")
    model = NuSVR(**params).fit(train, y_train)
    return float(np.mean((model.predict(test) - y_test) ** 2))


def _yacht_loss(params: Params) -> float:
    X, y = yacht_hydrodynamics()
    train, test = yacht_split(len(y))
    mean, scale = X[train].mean(0), X[train].std(0)
    level, spread = y[train].mean(), y[train].std()
    network, rng = DropoutNetwork(**params), np.random.default_rng(0)
    with np.errstate(over="ignore", invalid="ignore"):  # of a training that diverges
        weights = network.fitted((X[train] - mean) / scale, (y[train] - level) / spread, rng)
        draws = level + spread * network.draws(weights, (X[test] - mean) / scale, rng)
        loss = -network.log_density(draws, y[test])
    return min(loss, DIVERGED) if np.isfinite(loss) else DIVERGED


def yacht_split(n: int) -> tuple[Indices, Indices]:
    """Rows to train and to test on: the first split of the reference, by its own generator."""
    order = np.random.RandomState(1).choice(range(n), n, replace=False)
    trained = round(YACHT_TRAINED * n)
    return order[:trained], order[trained:]


def _digits_error(params: Params) -> float:
    from sklearn.ensemble import GradientBoostingClassifier

    settings = dict(params)
    settings["init"] = "zero" if settings["init"] == "zero" else None
    best_first = settings.pop("growth") == "best first"
    settings["max_leaf_nodes"] = LEAVES if best_first else None
    train, test, y_train, y_test = _split("digits")
    model = GradientBoostingClassifier(n_estimators=TREES, random_state=0, **settings)
    return float(np.mean(model.fit(train, y_train).predict(test) != y_test))


@lru_cache
def _split(name: str) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Training and test inputs, standardised, then targets as they are."""
    from sklearn.model_selection import train_test_split

    X, y = _data(name)
    stratify = y if name == "digits" else None
    parts: list[Any] = train_test_split(
        X, y, test_size=TEST, random_state=0, stratify=stratify, shuffle=True
    )
    train, test, y_train, y_test = parts
    if name == "boston":  # not to unit variance, with which two levels of `gamma` are the same
        origin, scale = train.min(0), np.ptp(train, axis=0)
    else:
        origin, scale = train.mean(0), np.maximum(train.std(0), 1e-12)
    return (train - origin) / scale, (test - origin) / scale, y_train, y_test


def _data(name: str) -> tuple[Matrix, Vector]:
    if name == "boston":
        return boston_housing()
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:DIGITS], y[:DIGITS]
