"""Nine numbers of a small network, trained at every call: two real tasks of modulated surrogates.

They are the real parameters of scikit-optimize's benchmark of scikit-learn's networks; categories
keep scikit-learn's defaults, with which `momentum` and `power_t` have no effect. Split and network
have a fixed seed, so that a configuration has one value.
"""

from __future__ import annotations

__all__ = ["nn_boston", "nn_climate"]

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.datasets import boston_housing, climate_crashes
from outcrop.problems import Problem
from outcrop.space import Float, Space
from outcrop.typing import Matrix, Params, Vector

TEST = 0.3
WORST = 5.0  # values are cut there, and failed trainings have it


def nn_boston() -> Problem:
    """Minus R² of the median house prices of held-out suburbs."""
    return _tuning("nn-boston", _boston_loss)


def nn_climate() -> Problem:
    """Log loss of whether held-out climate simulations crash.

    The inputs include the study and run numbers, as in the benchmark.
    """
    return _tuning("nn-climate", _climate_loss)


def _tuning(name: str, loss: Callable[[Params], float]) -> Problem:
    """All parameters are numbers on a plain scale, those with a base in `_settings` exponents."""
    space = Space(
        {
            "hidden_layer_sizes": Float(1.0, 10.0),
            "alpha": Float(-5.0, -1.0),
            "batch_size": Float(5.0, 10.0),
            "max_iter": Float(5.0, 8.0),
            "learning_rate_init": Float(-5.0, -1.0),
            "power_t": Float(0.01, 0.99),
            "momentum": Float(0.1, 0.98),
            "beta_1": Float(0.1, 0.98),
            "beta_2": Float(0.1, 0.9999999),
        }
    )
    source = "scikit-optimize's bench_ml; modulated surrogates, Table 1"
    return Problem(name=name, space=space, function=loss, tags=("tuning",), source=source)


def _settings(params: Params, rows: int) -> dict[str, Any]:
    """The arguments of a network that is trained on so many rows."""
    return {
        **params,
        "hidden_layer_sizes": (int(2 ** params["hidden_layer_sizes"]),),
        "alpha": 10 ** params["alpha"],
        "batch_size": min(int(2 ** params["batch_size"]), rows),
        "max_iter": int(2 ** params["max_iter"]),
        "learning_rate_init": 10 ** params["learning_rate_init"],
        "random_state": 0,
    }


def _boston_loss(params: Params) -> float:
    from sklearn.neural_network import MLPRegressor

    train, test, y_train, y_test = _split("boston")
    model = _trained(MLPRegressor(**_settings(params, len(train))), train, y_train)
    return WORST if model is None else _cut(-model.score(test, y_test))


def _climate_loss(params: Params) -> float:
    from sklearn.metrics import log_loss
    from sklearn.neural_network import MLPClassifier

    train, test, y_train, y_test = _split("climate")
    model = _trained(MLPClassifier(**_settings(params, len(train))), train, y_train)
    return WORST if model is None else _cut(log_loss(y_test, model.predict_proba(test)))


def _trained(model: Any, X: Matrix, y: Vector) -> Any | None:
    """The trained model, or None if the training broke down."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs are given
        warnings.simplefilter("ignore", RuntimeWarning)  # of trainings that break down
        try:
            return model.fit(X, y)
        except ValueError:  # of weights that are not finite
            return None


def _cut(loss: float) -> float:
    return min(float(loss), WORST) if np.isfinite(loss) else WORST


@lru_cache
def _split(name: str) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Training and test inputs, standardised by the training part, then targets as they are."""
    from sklearn.model_selection import train_test_split

    X, y = boston_housing() if name == "boston" else climate_crashes(bookkeeping=True)
    parts: list[Any] = train_test_split(X, y, test_size=TEST, random_state=0)
    train, test, y_train, y_test = parts
    mean, scale = train.mean(0), np.maximum(train.std(0), 1e-12)
    return (train - mean) / scale, (test - mean) / scale, y_train, y_test
