"""Estimators whose scores are known in advance, and searches that take no time."""

import numpy as np
from sklearn.base import BaseEstimator

from outcrop.integrations.sklearn import OutcropSearchCV

LEVELS = np.repeat([0.0, 1.0, 2.0, 3.0, 4.0], 4)  # y of five folds of four samples
X = np.arange(20.0)[:, None]


class Bowl(BaseEstimator):  # type: ignore[misc]
    """Scores −(x − 0.3)² plus the mean of y, which is the effect of a fold."""

    def __init__(self, x=0.0, fails_above=np.inf, calls=None):
        self.x = x
        self.fails_above = fails_above
        self.calls = calls

    def __sklearn_clone__(self):
        return Bowl(self.x, self.fails_above, self.calls)  # `calls` is shared, to be counted

    def fit(self, X, y=None, sample_weight=None):
        if self.calls is not None:
            self.calls.append(self.x)
        if self.x > self.fails_above:
            raise RuntimeError("out of range")
        self.fitted_ = len(X)
        self.weight_ = None if sample_weight is None else float(np.sum(sample_weight))
        return self

    def predict(self, X):
        return np.full(len(X), self.x)

    def score(self, X, y=None):
        return -((self.x - 0.3) ** 2) + (0.0 if y is None else float(np.mean(y)))


class Interrupted(Bowl):
    """Behaves as if Ctrl-C was pressed in the given fit."""

    def __init__(self, x=0.0, at=0, calls=None):
        super().__init__(x, calls=calls)
        self.at = at

    def __sklearn_clone__(self):
        return Interrupted(self.x, self.at, self.calls)

    def fit(self, X, y=None):
        super().fit(X, y)
        if len(self.calls) == self.at:
            raise KeyboardInterrupt
        return self


def searched(estimator, space, *, n_iter=4, method="random", random_state=0, **options):
    return OutcropSearchCV(
        estimator, space, n_iter=n_iter, method=method, random_state=random_state, **options
    )
