"""Searches by bandits and a quick model, for tests."""

import json
from dataclasses import replace

import numpy as np

import outcrop as oc
from outcrop.inference import Slice
from outcrop.kernels import Matern52
from outcrop.maximise import Maximiser
from outcrop.strategies import Method, strategy_for
from outcrop.strategies.initial import Sobol
from outcrop.surrogates import GP, CategoryMix
from outcrop.testing import view_of
from tests.strategies.spaces import EVERY_SPACE

TINY = Maximiser(spread=48, perturbations=24, resamples=8, starts=2, steps=8, rounds=1)
FAST = Method(
    surrogate=CategoryMix(),
    inference=Slice(chains=2, burn_in=1),
    initial=Sobol(size=4),
    maximiser=TINY,
)
STILL = replace(FAST, surrogate=GP(Matern52([0.5]), noise=1e-3))  # nothing to be inferred
MIXED = oc.Space(
    {"x": oc.Float(0, 1), "a": oc.Categorical(list("pqr")), "b": oc.Categorical(list("uvwxy"))}
)
WITH_CODES = [name for name, space in EVERY_SPACE.items() if any(c.is_code for c in space.columns)]


def example(space, seed=0, n=9, pending=2, failed=2, **more):
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((n + pending + failed, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    return view_of(space, X[:n], y[:n], X[n : n + pending], X[n + pending :], **more)


def value(optimizer, trial):
    x = optimizer.space.encode([trial.params]).X[0]
    return float(np.sin(3 * x.sum()) + 0.1 * x[0])


def run(space, method, n, seed=0, noise=False):
    optimizer = oc.Optimizer(space, method=method, seed=seed, noise=noise)
    for _ in range(n):
        trial = optimizer.ask()
        optimizer.tell(trial, value(optimizer, trial))
    return optimizer


class Loop:
    """Asks and tells without a study, so that warm states can be looked at."""

    def __init__(self, space, method, started, seed=3, noise=False):
        rng = np.random.default_rng(seed)
        X = space.from_uniform(rng.random((started, len(space.columns))))
        self.space, self.strategy, self.noise = space, strategy_for(method, space), noise
        self.X, self.y = list(X), list(np.sin(5 * X.sum(1)))
        self.pending, self.failed, self.warm = [], [], {}

    def view(self):
        width = len(self.space.columns)
        X, pending, failed = (
            np.array(rows).reshape(-1, width) for rows in (self.X, self.pending, self.failed)
        )
        return view_of(self.space, X, self.y, pending, failed, noise=self.noise, warm=self.warm)

    def ask(self, seed):
        found = self.strategy.propose(self.view(), np.random.default_rng(seed))
        self.warm = json.loads(json.dumps(found.warm))
        x = self.space.encode([found.params]).X[0]
        self.pending.append(x)
        return found, x

    def tell(self, x, y):
        self._end(x)
        self.X.append(x)
        self.y.append(y)

    def fail(self, x):
        self._end(x)
        self.failed.append(x)

    def _end(self, x):
        self.pending = [other for other in self.pending if other is not x]

    def weights(self):
        """The bandits' weights as the next suggestion would have them."""
        warm = self.strategy.propose(self.view(), np.random.default_rng(0)).warm
        return {name: np.array(state["logs"]) for name, state in warm["weights"].items()}
