"""Data sets of scikit-learn cut into fixed folds, and the loss of a model over them.

Folds depend on the instance alone, and inputs are standardised by the training part of each, so
that a configuration has one value. Losses: `log_loss` and `error` of classes, `ranking_loss` of two
classes (one less the area under the ROC curve), `rmse` of numbers in units of their deviation.
"""

from __future__ import annotations

__all__ = ["Fold", "error", "folds", "log_loss", "ranking_loss", "rmse"]

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from outcrop.typing import Matrix, Vector

FOLDS = 3
SIZES = {"digits": 600}  # of the 1,797 images; all of the other data sets are used
LEAST = 1e-6  # probability of a class, so that its logarithm is finite

Build: TypeAlias = Callable[[], Any]  # a model that is not fitted yet


class Fold(NamedTuple):
    train: Matrix
    y_train: Vector
    test: Matrix
    y_test: Vector


@lru_cache(maxsize=64)
def folds(data: str, instance: int) -> tuple[Fold, ...]:
    from sklearn import datasets
    from sklearn.model_selection import KFold, StratifiedKFold

    X, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[: SIZES.get(data)]
    X, y = X[chosen], y[chosen]
    kind = KFold if data == "diabetes" else StratifiedKFold
    if data == "diabetes":
        y = (y - y.mean()) / y.std()
    parts = kind(FOLDS, shuffle=True, random_state=instance).split(X, y)
    return tuple(_fold(X, y, train, test) for train, test in parts)


def _fold(X: Matrix, y: Vector, train: Any, test: Any) -> Fold:
    mean, scale = X[train].mean(0), X[train].std(0)
    Z = (X - mean) / np.where(scale > 0, scale, 1.0)
    return Fold(Z[train], y[train], Z[test], y[test])


def log_loss(build: Build, parts: tuple[Fold, ...]) -> float:
    return _mean(build, parts, _minus_log_probability)


def error(build: Build, parts: tuple[Fold, ...]) -> float:
    return _mean(build, parts, lambda model, fold: model.predict(fold.test) != fold.y_test)


def ranking_loss(build: Build, parts: tuple[Fold, ...]) -> float:
    return _mean(build, parts, _pairs_out_of_order)


def rmse(build: Build, parts: tuple[Fold, ...]) -> float:
    squares = _mean(build, parts, lambda model, f: (model.predict(f.test) - f.y_test) ** 2)
    return float(np.sqrt(squares))


def _mean(
    build: Build, parts: tuple[Fold, ...], losses: Callable[[Any, Fold], Vector | float]
) -> float:
    """The mean over the folds of the mean loss of a test case."""
    with _quiet():
        return float(np.mean([np.mean(losses(build().fit(f.train, f.y_train), f)) for f in parts]))


def _minus_log_probability(model: Any, fold: Fold) -> Vector:
    columns = np.searchsorted(model.classes_, fold.y_test)
    found = model.predict_proba(fold.test)[np.arange(len(columns)), columns]
    return -np.log(np.maximum(found, LEAST))


def _pairs_out_of_order(model: Any, fold: Fold) -> float:
    from sklearn.metrics import roc_auc_score

    score = (
        model.decision_function(fold.test)
        if hasattr(model, "decision_function")
        else model.predict_proba(fold.test)[:, 1]
    )
    return 1 - float(roc_auc_score(fold.y_test, score))


@contextmanager
def _quiet() -> Iterator[None]:
    """Networks stop after their epochs and bad settings overflow; both are part of the task."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
