"""Evaluation of one candidate on one fold: fit, score, and what failed.

A fit that raises is an outcome, with the estimator's `error_score`; a parameter that the estimator
does not have is a mistake, and raises.
"""

from __future__ import annotations

__all__ = ["Fold", "Task", "evaluated"]

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Number
from traceback import format_exc
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags  # both are documented for other libraries

from outcrop.typing import Configuration, Indices

SINGLE = "score"  # the name of the only metric


@dataclass(frozen=True)
class Fold:
    """The outcome of one candidate on one fold; scores by metric."""

    scores: dict[str, float]
    train_scores: dict[str, float] = field(default_factory=dict)
    fit_time: float = 0.0
    score_time: float = 0.0
    failure: str = ""  # the traceback of a fit that raised
    unscored: str = ""  # that of a scorer that raised


@dataclass(frozen=True)
class Task:
    """What all evaluations of a search share."""

    estimator: Any
    X: Any
    y: Any
    scorer: Any  # a callable that returns a number or a dict of numbers
    metrics: tuple[str, ...] | None  # None if the scorer's first call tells
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    error_score: Any
    with_train_scores: bool


def evaluated(task: Task, params: Configuration, train: Indices, test: Indices) -> Fold:
    """Fit a copy of the estimator with `params` to the rows `train`, and score it."""
    estimator = clone(task.estimator).set_params(**clone(params, safe=False))
    X_train, y_train = _rows(task, estimator, train, train)
    X_test, y_test = _rows(task, estimator, test, train)
    begun = time.perf_counter()
    try:
        fit_params = _params_of(task, task.fit_params, train)
        _with_labels(estimator.fit, X_train, y_train, fit_params)
    except Exception:
        if isinstance(task.error_score, str):
            raise
        failed = dict.fromkeys(task.metrics or (SINGLE,), float(task.error_score))
        spent = time.perf_counter() - begun
        own = dict(failed) if task.with_train_scores else {}
        return Fold(failed, own, fit_time=spent, failure=format_exc())
    fitted = time.perf_counter()
    scores, trouble = _scores(task, estimator, X_test, y_test, test)
    scored = time.perf_counter()
    train_scores: dict[str, float] = {}
    if task.with_train_scores:
        train_scores, _ = _scores(task, estimator, X_train, y_train, train)
    return Fold(scores, train_scores, fitted - begun, scored - fitted, unscored=trouble)


def _rows(task: Task, estimator: Any, rows: Indices, train: Indices) -> tuple[Any, Any]:
    """Data and labels of some rows; of a kernel matrix, their covariances with `train`."""
    y = None if task.y is None else _safe_indexing(task.y, rows)
    if not get_tags(estimator).input_tags.pairwise:
        return _safe_indexing(task.X, rows), y
    if not hasattr(task.X, "shape"):
        raise ValueError("a kernel or distance matrix must be an array or sparse matrix")
    if task.X.shape[0] != task.X.shape[1]:
        raise ValueError(f"a kernel or distance matrix must be square, got {task.X.shape}")
    return task.X[np.ix_(rows, train)], y


def _params_of(task: Task, params: Mapping[str, Any], rows: Indices) -> dict[str, Any]:
    """Parameters with one value for each sample are cut to `rows`."""
    samples = _length(task.X)
    return {
        name: _safe_indexing(value, rows) if _length(value) == samples else value
        for name, value in params.items()
    }


def _length(value: Any) -> int | None:
    if isinstance(value, str | bytes | Mapping):
        return None
    if hasattr(value, "shape"):
        return value.shape[0] if value.shape else None
    return len(value) if hasattr(value, "__len__") else None


def _with_labels(function: Any, X: Any, y: Any, params: Mapping[str, Any]) -> Any:
    return function(X, **params) if y is None else function(X, y, **params)


def _scores(
    task: Task, estimator: Any, X: Any, y: Any, rows: Indices
) -> tuple[dict[str, float], str]:
    """Scores by metric, and the traceback of a scorer that raised."""

    def scored(*data: Any, **params: Any) -> Any:
        return task.scorer(estimator, *data, **params)

    try:
        found = _with_labels(scored, X, y, _params_of(task, task.score_params, rows))
        failures = _tracebacks(task, found)
    except Exception:
        if isinstance(task.error_score, str):
            raise
        failures = dict.fromkeys(task.metrics or (SINGLE,), format_exc())
        found = failures
    for name, text in failures.items():
        warnings.warn(
            f"the scorer {name!r} failed, and the score is {task.error_score}:\n{text}",
            UserWarning,
            stacklevel=2,
        )
    scores = found if isinstance(found, Mapping) else {SINGLE: found}
    numbers = {
        name: float(task.error_score) if name in failures else _number(score, name)
        for name, score in scores.items()
    }
    return numbers, "\n".join(failures.values())


def _tracebacks(task: Task, found: Any) -> dict[str, str]:
    """Of several scorers of scikit-learn, those that raised: their score is a traceback."""
    if task.metrics is None or not isinstance(found, Mapping):
        return {}
    return {name: score for name, score in found.items() if isinstance(score, str)}


def _number(score: Any, name: str) -> float:
    if getattr(score, "shape", None) == () and hasattr(score, "item"):
        score = score.item()
    if not isinstance(score, Number) or isinstance(score, complex):
        raise ValueError(
            f"scoring: {name!r} must be a number, got {score!r} of type {type(score).__name__}"
        )
    return float(score)  # type: ignore[arg-type]
