"""Hyperparameters of scikit-learn's models, trained at every call: CoCaBO's real tasks.

Splits and networks have a fixed seed, so that a configuration has one value. Where a task of the
document needs software that is not at hand, what stands in is said.
"""

from __future__ import annotations

__all__ = ["boosting_digits", "nn_yacht", "svm_boston"]

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.datasets import boston_housing, yacht_hydrodynamics
from outcrop.problems import Problem
from outcrop.space import Categorical, Float, Int, Space
from outcrop.typing import Matrix, Params, Vector

DIGITS = 600  # images of the 1,797 that boosting is trained and tested on
TREES, LEAVES = 20, 16
EPOCHS = 20
TEST = 0.3


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
    """Negative test log likelihood of a network of one hidden layer; 3 categories, 3 numbers.

    The document's network has dropout, which scikit-learn's has not: a weight decay of the same
    levels takes its place, and the predictive variance is 1/tau.
    """
    space = Space(
        {
            "activation": Categorical(["relu", "tanh", "logistic"]),
            "solver": Categorical(["sgd", "adam", "lbfgs"]),
            "decay": Categorical([0.001, 0.005, 0.01, 0.05, 0.1, 0.5]),
            "learning_rate": Float(1e-5, 1e-1, log=True),
            "neurons": Int(16, 128, log=True),
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
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    train, test, y_train, y_test = _split("yacht")
    model = MLPRegressor(
        hidden_layer_sizes=(params["neurons"],),
        activation=params["activation"],
        solver=params["solver"],
        alpha=params["decay"],
        learning_rate_init=params["learning_rate"],
        batch_size=128,
        max_iter=EPOCHS,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs are given
        model.fit(train, y_train)
    tau = params["tau"]
    squares = (model.predict(test) - y_test) ** 2
    return float(np.mean(0.5 * tau * squares + 0.5 * np.log(2 * np.pi / tau)))


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
    """Training and test inputs, then targets; inputs, and real targets of networks, standardised.

    Support vectors see house prices as they are, since the error is in their units.
    """
    from sklearn.model_selection import train_test_split

    X, y = _data(name)
    stratify = y if name == "digits" else None
    parts: list[Any] = train_test_split(
        X, y, test_size=TEST, random_state=0, stratify=stratify, shuffle=True
    )
    train, test, y_train, y_test = parts
    mean, scale = train.mean(0), np.maximum(train.std(0), 1e-12)
    if name == "yacht":
        level, spread = y_train.mean(), y_train.std()
        y_train, y_test = (y_train - level) / spread, (y_test - level) / spread
    return (train - mean) / scale, (test - mean) / scale, y_train, y_test


def _data(name: str) -> tuple[Matrix, Vector]:
    if name == "boston":
        return boston_housing()
    if name == "yacht":
        return yacht_hydrodynamics()
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:DIGITS], y[:DIGITS]
