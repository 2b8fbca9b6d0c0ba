"""Candidates of a search: their folds, how a study stores them, and `cv_results_`.

Notation: n candidates on K folds. A candidate of a race may have been evaluated on the first few
folds only; its scores on the others are NaN.
"""

from __future__ import annotations

__all__ = [
    "Candidate",
    "cv_results",
    "fold_scores",
    "metrics_of",
    "origin_of",
    "report_failures",
    "stored_candidate",
]

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import joblib
import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning

from outcrop.integrations.sklearn_folds import SINGLE, Fold
from outcrop.integrations.sklearn_space import without_addresses
from outcrop.study.trial import Trial
from outcrop.typing import Configuration, JsonDict, JsonObject, Matrix, Params

KEY = "cross-validation"  # in a trial's info


@dataclass(frozen=True)
class Candidate:
    """A configuration of the estimator and its outcomes on the first folds."""

    params: Configuration  # as `set_params` takes them
    folds: tuple[Fold, ...]
    configuration: Params = field(default_factory=dict)  # in the study's space, once it is told

    @property
    def has_failed(self) -> bool:
        """Whether a fit or a scorer raised."""
        return any(fold.failure or fold.unscored for fold in self.folds)

    def info(self, origin: JsonObject) -> JsonDict:
        """What a study stores with the trial; `origin` tells from which data."""
        return {
            KEY: {
                "of": origin,
                "scores": [fold.scores for fold in self.folds],
                "train_scores": [fold.train_scores for fold in self.folds],
                "fit_times": [fold.fit_time for fold in self.folds],
                "score_times": [fold.score_time for fold in self.folds],
                "failures": [fold.failure for fold in self.folds],
                "unscored": [fold.unscored for fold in self.folds],
            }
        }


def stored_candidate(trial: Trial, params: Configuration) -> tuple[Candidate, JsonObject] | None:
    """The candidate of a trial and its origin, or None if it is not from a cross-validation."""
    record: Any = trial.info.get(KEY)
    if record is None or not trial.has_outcome or trial.aside:
        return None
    columns = ("scores", "train_scores", "fit_times", "score_times", "failures", "unscored")
    folds = zip(*(record[name] for name in columns), strict=True)
    found = tuple(Fold(*fold) for fold in folds)
    return Candidate(params, found, trial.params), record["of"]


def origin_of(parts: Mapping[str, Any]) -> JsonDict:
    """A hash of each part that scores depend on, the same in every process."""
    return {
        name: joblib.hash(part if name in ("data", "folds") else without_addresses(part))
        for name, part in parts.items()
    }


def metrics_of(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The metrics of the first fold that was fitted and scored, or else of the first."""
    folds = [fold for candidate in candidates for fold in candidate.folds]
    good = [fold for fold in folds if not (fold.failure or fold.unscored)]
    return tuple((good or folds)[0].scores) if folds else (SINGLE,)


def fold_scores(candidate: Candidate, metric: str, missing: float) -> list[float]:
    """The scores by fold; `missing` where a fit failed before the metrics were known."""
    return [fold.scores.get(metric, missing) for fold in candidate.folds]


def cv_results(
    candidates: Sequence[Candidate],
    n_splits: int,
    metrics: Sequence[str],
    *,
    with_train_scores: bool,
    error_score: float,
) -> dict[str, Any]:
    """The `cv_results_` of scikit-learn's searches."""
    folds = [candidate.folds for candidate in candidates]
    results: dict[str, Any] = {}

    def store(name: str, rows: Sequence[Sequence[float]], *, by_fold: bool = True) -> None:
        table = _table(rows, n_splits)
        if by_fold:
            results.update({f"split{k}_{name}": table[:, k] for k in range(n_splits)})
            with np.errstate(invalid="ignore"):  # of infinite scores
                results[f"mean_{name}"], results[f"std_{name}"] = table.mean(1), table.std(1)
        else:  # times are averaged over the folds that were run
            run = np.ma.masked_invalid(table)
            results[f"mean_{name}"] = run.mean(1).filled(0.0)
            results[f"std_{name}"] = run.std(1).filled(0.0)

    store("fit_time", [[fold.fit_time for fold in each] for each in folds], by_fold=False)
    store("score_time", [[fold.score_time for fold in each] for each in folds], by_fold=False)
    results |= _parameter_columns([candidate.params for candidate in candidates])
    results["params"] = [candidate.params for candidate in candidates]
    for metric in metrics:
        store(f"test_{metric}", [fold_scores(each, metric, error_score) for each in candidates])
        results[f"rank_test_{metric}"] = _ranks(results[f"mean_test_{metric}"])
        if with_train_scores:
            train = [[f.train_scores.get(metric, error_score) for f in each] for each in folds]
            store(f"train_{metric}", train)
    return results


def report_failures(candidates: Sequence[Candidate], error_score: Any) -> None:
    """Raise if every fit failed, warn if some did or scores are not finite."""
    folds = [fold for candidate in candidates for fold in candidate.folds]
    failures = Counter(fold.failure for fold in folds if fold.failure)
    if failures:
        failed = failures.total()
        listed = "\n".join(f"{count} times:\n{text}" for text, count in failures.most_common())
        if failed == len(folds):
            raise ValueError(
                f"all {failed} fits failed, so there is no best candidate; error_score='raise' "
                f"stops at the first error. The errors were:\n{listed}"
            )
        warnings.warn(
            f"{failed} of {len(folds)} fits failed and got the score {error_score}; "
            f"error_score='raise' stops at the first error. The errors were:\n{listed}",
            FitFailedWarning,
            stacklevel=4,
        )
    fitted = [score for fold in folds if not fold.failure for score in fold.scores.values()]
    if bad := int(np.sum(~np.isfinite(fitted))):
        warnings.warn(f"{bad} scores are not finite", UserWarning, stacklevel=4)


def _table(rows: Sequence[Sequence[float]], n_splits: int) -> Matrix:
    """Rows of at most `n_splits` numbers `(n, K)`, with NaN at the end of shorter ones."""
    table = np.full((len(rows), n_splits), np.nan)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def _ranks(means: Any) -> Any:
    """1 for the best; a mean that is NaN ranks after all others, as if it were the worst."""
    known = means[~np.isnan(means)]
    worst = known.min() - 1 if len(known) else 0.0
    return rankdata(-np.where(np.isnan(means), worst, means), method="min").astype(np.int32)


def _parameter_columns(params: Sequence[Configuration]) -> dict[str, Any]:
    """A masked array for each parameter; it is masked where the parameter is inactive."""
    columns = {}
    for name in dict.fromkeys(name for each in params for name in each):
        held = {i: each[name] for i, each in enumerate(params) if name in each}
        column = np.ma.MaskedArray(np.empty(len(params), dtype=_dtype([*held.values()])), mask=True)
        for i, value in held.items():
            column[i] = value
        columns[f"param_{name}"] = column
    return columns


def _dtype(values: Sequence[Any]) -> Any:
    """That of numbers or booleans; object for anything else and for mixtures."""
    if all(isinstance(value, bool | np.bool_) for value in values):
        return np.dtype(bool)
    if all(isinstance(value, int | float | np.number) for value in values) and not any(
        isinstance(value, bool) for value in values
    ):
        return np.result_type(*(np.asarray(value).dtype for value in values))
    return np.dtype(object)
