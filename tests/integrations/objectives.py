"""Objectives and strategies that tests of the Optuna sampler share."""

from __future__ import annotations

from outcrop.strategies.base import Suggestion


def nested(trial):
    """Three levels of choices; its minimum is 0, at mlp, adam, decay, rate = 0.3."""
    scale = trial.suggest_float("scale", 0, 1)
    if trial.suggest_categorical("model", ["linear", "mlp"]) == "linear":
        return 1 + scale + trial.suggest_float("shrinkage", 0, 1)
    if trial.suggest_categorical("optimiser", ["sgd", "adam"]) == "sgd":
        return 0.5 + scale + trial.suggest_float("momentum", 0, 1)
    if trial.suggest_categorical("schedule", [None, "decay"]) is None:
        return 0.2 + scale
    return scale + (trial.suggest_float("rate", 0, 1) - 0.3) ** 2


class Spy:
    """A random method that keeps what it was shown."""

    def __init__(self):
        self.spaces, self.views = [], []

    def strategy(self, space):
        return Watching(self, space)

    @property
    def shown(self):
        """The decoded parts of the newest view."""
        space, view = self.spaces[-1], self.views[-1]
        told = list(zip(space.decode(view.X), view.y.tolist(), strict=True))
        return {
            "told": told,
            "pending": space.decode(view.pending),
            "failed": space.decode(view.failed),
        }


class Watching:
    def __init__(self, spy, space):
        self.spy, self.space = spy, space

    def propose(self, view, rng):
        self.spy.spaces.append(self.space)
        self.spy.views.append(view)
        return Suggestion(self.space.sample(rng), warm={"count": view.warm.get("count", 0) + 1})


def shrunk(trial):
    """A space without a value; Ray Tune stores it, so it is no local function."""
    trial.suggest_float("scale", 0, 1)
    if trial.suggest_categorical("model", ["linear", "mlp"]) == "linear":
        trial.suggest_float("shrinkage", 0, 1)
