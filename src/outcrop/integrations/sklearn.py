"""Search of an estimator's parameters in the place of `RandomizedSearchCV` (extra `sklearn`)."""

from __future__ import annotations

__all__ = ["OutcropSearchCV"]

import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from copy import deepcopy
from numbers import Integral, Real
from typing import Any, Self

import numpy as np

from outcrop.errors import MethodError, MissingExtra, SpaceExhausted, StudyError
from outcrop.strategies.registry import MethodLike
from outcrop.study import Optimizer, Study
from outcrop.study.argument_checks import checked_count, checked_seconds
from outcrop.study.storage import Storage

try:
    from joblib import effective_n_jobs
    from sklearn.base import clone, is_classifier
    from sklearn.metrics import check_scoring
    from sklearn.model_selection import check_cv
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state, get_tags, indexable
    from sklearn.utils.parallel import Parallel
except ImportError:
    raise MissingExtra(
        "the search for scikit-learn needs scikit-learn 1.6: pip install 'outcrop[sklearn]'"
    ) from None

from outcrop.integrations.sklearn_candidates import (
    Candidate,
    cv_results,
    metrics_of,
    origin_of,
    report_failures,
)
from outcrop.integrations.sklearn_folds import SINGLE, Task
from outcrop.integrations.sklearn_search import FIRST, CandidateSearch, batch_size
from outcrop.integrations.sklearn_space import SearchSpace, search_space


class OutcropSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Bayesian optimisation of an estimator's parameters by cross-validation.

    >>> from sklearn.datasets import load_wine
    >>> from sklearn.svm import SVC
    >>> from outcrop.space import Float
    >>> space = {"C": Float(1e-2, 1e3, log=True), "gamma": Float(1e-6, 1e-1, log=True)}
    >>> search = OutcropSearchCV(SVC(), space, n_iter=12, random_state=0)
    >>> bool(search.fit(*load_wine(return_X_y=True)).best_score_ > 0.9)
    True

    Parameters are those of `RandomizedSearchCV`, and:

    `param_distributions` maps the estimator's parameters to Outcrop's, to distributions of SciPy or
    to lists; it may be a list of such dicts, or a `Space`. `estimators` says which objects the
    options of a `Choice` stand for, as in `{"clf": {"svc": SVC(), "forest": …}}`; parameters below
    such an option are those of the object.

    `method` is that of a `Study`. With `storage` and `study_name`, candidates are stored, and a
    further `fit` to the same data goes on until there are `n_iter` in all. With `racing`, folds are
    evaluated one after another, and a candidate that will hardly become the best is abandoned.
    After `timeout` seconds no more candidates are begun.

    `study_` is the study, an `Optimizer` if it is not stored. It maximises the mean score, that of
    the metric `refit` where there are several, or else of the first one.
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        estimators: Mapping[str, Mapping[str, Any]] | None = None,
        method: MethodLike = "auto",
        storage: str | Storage | None = None,
        study_name: str | None = None,
        racing: bool = False,
        timeout: float | None = None,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.random_state = random_state
        self.estimators = estimators
        self.method = method
        self.storage = storage
        self.study_name = study_name
        self.racing = racing
        self.timeout = timeout

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, and fit the best candidate to all data unless `refit` is False."""
        self._check_arguments()
        self._check_labels(y)
        scorer, self.scorer_, metrics = self._scorers()
        X, y = indexable(X, y)
        routed = self._get_routed_params_for_fit(params)
        splits = self._splits(X, y, routed.splitter.split)
        self.n_splits_ = len(splits)
        task = Task(
            estimator=clone(self.estimator),
            X=X,
            y=y,
            scorer=scorer,
            metrics=metrics,
            fit_params=routed.estimator.fit,
            score_params=routed.scorer.score,
            error_score=self.error_score,
            with_train_scores=self.return_train_score,
        )
        current = self.estimator.get_params(deep=True)
        parameters = search_space(self.param_distributions, self.estimators, current)
        self.study_ = self._study(parameters)
        origin = {}
        if self.storage is not None:
            origin = origin_of(
                {
                    "data": [X, y, dict(params)],
                    "folds": splits,
                    "estimator": sorted((name, repr(value)) for name, value in current.items()),
                    "scoring": self.scoring,
                    "distributions": parameters.meanings,
                }
            )
        candidates = self._searched(task, parameters, splits, origin)
        self._conclude(candidates, metrics)
        if self.refit:
            self._refit(task)
        return self

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Refused: the search does not call callbacks of scikit-learn."""
        raise NotImplementedError(
            "OutcropSearchCV calls no callbacks; follow the search by verbose=1 or by its study"
        )

    def __sklearn_tags__(self) -> Any:
        """Those of other searches, and whether the estimator predicts several outputs."""
        tags = super().__sklearn_tags__()
        tags.target_tags = deepcopy(get_tags(self.estimator).target_tags)
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Without a stored study, whose store may not be there where the pickle is read."""
        state: dict[str, Any] = super().__getstate__()
        return {k: v for k, v in state.items() if k != "study_" or isinstance(v, Optimizer)}

    # Before the search

    def _check_arguments(self) -> None:
        checked_count(self.n_iter, "n_iter")
        if self.timeout is not None:
            checked_seconds(self.timeout, "timeout")
        if not isinstance(self.racing, bool | np.bool_):
            raise MethodError(f"racing must be True or False, got {self.racing!r}")
        if self.error_score != "raise" and not isinstance(self.error_score, Real):
            raise MethodError(
                f"error_score must be 'raise' or a number such as numpy.nan, got "
                f"{self.error_score!r}"
            )
        if self.storage is not None and self.study_name is None:
            raise StudyError("a stored search needs a name: pass study_name='…'")
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator must have a method fit, got {self.estimator!r}")

    def _check_labels(self, y: Any) -> None:
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError(  # in the words that scikit-learn's checks look for
                f"{type(self.estimator).__name__} requires y to be passed, but the target y is None"
            )

    def _scorers(self) -> tuple[Any, Any, tuple[str, ...] | None]:
        """What scores an estimator, the same as an attribute, and the names of the metrics."""
        if callable(self.scoring):
            return self.scoring, self.scoring, None
        if self.scoring is None or isinstance(self.scoring, str):
            scorer = check_scoring(self.estimator, self.scoring)
            return scorer, scorer, (SINGLE,)
        raises = isinstance(self.error_score, str)
        scorer = check_scoring(self.estimator, self.scoring, raise_exc=raises)
        by_name = self.scoring
        if not isinstance(by_name, Mapping):
            by_name = {name: name for name in self.scoring}
        scorers = {name: check_scoring(self.estimator, each) for name, each in by_name.items()}
        self._check_refit_metric(tuple(scorers))
        return scorer, scorers, tuple(scorers)

    def _check_refit_metric(self, metrics: Sequence[str]) -> None:
        if not (self.refit is False or callable(self.refit) or self.refit in metrics):
            raise ValueError(
                f"refit={self.refit!r} does not say which of the metrics {', '.join(metrics)} "
                "decides; give one of these names, a callable that takes cv_results_ and returns "
                "an index, or False"
            )

    def _splits(self, X: Any, y: Any, params: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """The folds, listed once: all candidates are scored on the same."""
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(cv.split(X, y, **params))
        announced = cv.get_n_splits(X, y, **params)
        if len(splits) != announced:
            raise ValueError(
                f"cv is inconsistent: get_n_splits announced {announced} folds, and split made "
                f"{len(splits)}"
            )
        if not splits:
            raise ValueError(f"cv={self.cv!r} makes no folds, so nothing can be scored")
        return splits

    def _study(self, parameters: SearchSpace) -> Optimizer | Study:
        seed = None
        if isinstance(self.random_state, Integral):
            seed = int(self.random_state)
        elif self.random_state is not None and self.storage is None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        options: dict[str, Any] = {"method": self.method, "direction": "maximize", "seed": seed}
        if self.storage is None:
            return Optimizer(parameters.space, **options)
        return Study(parameters.space, self.study_name, self.storage, **options)

    # The search

    def _searched(
        self,
        task: Task,
        parameters: SearchSpace,
        splits: Sequence[tuple[Any, Any]],
        origin: dict[str, Any],
    ) -> list[Candidate]:
        """All candidates, once there are `n_iter`, the time is over or Ctrl-C was pressed."""
        begun = time.monotonic()
        workers = effective_n_jobs(self.n_jobs)
        batch = workers if self.racing else batch_size(workers, len(splits))
        with Parallel(n_jobs=self.n_jobs, pre_dispatch=self.pre_dispatch) as parallel:
            search = CandidateSearch(
                study=self.study_,
                parameters=parameters,
                task=task,
                splits=splits,
                objective=self._objective,
                origin=origin,
                parallel=parallel,
                racing=bool(self.racing),
                worker=f"search on {platform.node()}",
            )
            count = len(search.candidates)
            try:
                while count < self.n_iter:
                    if count and self.timeout and time.monotonic() - begun >= self.timeout:
                        break
                    size = batch if count >= FIRST else max(batch, FIRST - count)
                    found = search.step(min(size, self.n_iter - count))
                    count += len(found)
                    if self.verbose > 0:
                        print(f"[OutcropSearchCV] {count} of {self.n_iter} candidates")
            except SpaceExhausted:
                warnings.warn(
                    f"the search has {count} configurations, fewer than n_iter={self.n_iter}; all "
                    "of them were tried (for a range of numbers write oc.Float(low, high))",
                    UserWarning,
                    stacklevel=3,
                )
            except KeyboardInterrupt:
                if not any(not each.has_failed for each in search.candidates):
                    raise
                warnings.warn(
                    f"the search was interrupted; its result is the best of {count} candidates",
                    UserWarning,
                    stacklevel=3,
                )
            return search.candidates

    def _objective(self, candidates: Sequence[Candidate]) -> str:
        """The metric that the study maximises."""
        metrics = metrics_of(candidates)
        return self.refit if isinstance(self.refit, str) and self.refit in metrics else metrics[0]

    # After the search

    def _conclude(self, candidates: Sequence[Candidate], metrics: tuple[str, ...] | None) -> None:
        """Set `cv_results_` and `best_…`, and warn of failures."""
        report_failures(candidates, self.error_score)
        if metrics is None:
            metrics = metrics_of(candidates)
            if metrics != (SINGLE,):
                self._check_refit_metric(metrics)
        self.multimetric_ = metrics != (SINGLE,)
        results = cv_results(
            candidates,
            self.n_splits_,
            metrics,
            with_train_scores=self.return_train_score,
            error_score=np.nan if isinstance(self.error_score, str) else float(self.error_score),
        )
        if self.racing:
            results["n_folds"] = np.array([len(each.folds) for each in candidates])
        self.cv_results_ = results
        if not self.refit and self.multimetric_:
            return
        metric = self.refit if isinstance(self.refit, str) and self.multimetric_ else SINGLE
        if callable(self.refit):
            self.best_index_ = _checked_index(self.refit(results), len(candidates))
        else:
            best = np.flatnonzero(results[f"rank_test_{metric}"] == 1).tolist()
            self.best_index_ = best[self._believed_best([candidates[i] for i in best])]
            self.best_score_ = results[f"mean_test_{metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _believed_best(self, equals: Sequence[Candidate]) -> int:
        """Of candidates with equal means, the one with the best expected mean under the model."""
        if len(equals) == 1 or not self.study_.has_model or equals[0].has_failed:
            return 0
        means, _ = self.study_.belief.predict([each.configuration for each in equals])
        return int(np.argmax(means))

    def _refit(self, task: Task) -> None:
        chosen = clone(self.best_params_, safe=False)  # it may hold estimators
        self.best_estimator_ = clone(task.estimator).set_params(**chosen)
        begun = time.perf_counter()
        labels = () if task.y is None else (task.y,)
        self.best_estimator_.fit(task.X, *labels, **task.fit_params)
        self.refit_time_ = time.perf_counter() - begun
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _checked_index(index: Any, count: int) -> int:
    if not isinstance(index, Integral):
        raise TypeError(f"refit returned {index!r}; expected the index of a candidate")
    if not 0 <= int(index) < count:
        raise IndexError(f"refit returned the index {index}, but there are {count} candidates")
    return int(index)
