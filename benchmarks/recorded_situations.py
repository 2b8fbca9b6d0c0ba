"""Spaces, objectives and schedules of the searches that `recorded` records.

A situation is a space with an objective on it: what was evaluated before, what is known of the
noise, what fails, and where evaluations really happened. Every search keeps some trials running.
"""

from __future__ import annotations

__all__ = ["LONG", "SITUATIONS", "Situation", "searched"]

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import outcrop as oc

LARGEST_DESIGN = 16  # of the spaces here; a method without a model takes no end

Row = tuple[int, Any, Any]  # number of a trial, its parameters, why it was suggested

BOX = {
    "x": oc.Float(-2.0, 3.0),
    "lr": oc.Float(1e-4, 1.0, log=True),
    "k": oc.Int(1, 9),
}
PLANE = {"x": oc.Float(-2.0, 3.0), "y": oc.Float(0.0, 1.0)}
MIXED = {
    "x": oc.Float(-2.0, 3.0),
    "k": oc.Int(1, 64, log=True),
    "share": oc.Float(0.0, 1.0, step=0.05),
    "kind": oc.Categorical(["a", "b", "c", "d"]),
    "flag": oc.Categorical([False, True]),
    "size": oc.Ordinal(["s", "m", "l"]),
    "fixed": oc.Fixed(3),
}
CONDITIONAL = {
    "lr": oc.Float(1e-4, 1.0, log=True),
    "model": oc.Choice(
        {
            "linear": {},
            "mlp": {
                "layers": oc.Int(1, 4),
                "opt": oc.Choice({"sgd": {"momentum": oc.Float(0.0, 1.0)}, "adam": {}}),
            },
            "trees": {"depth": oc.Int(1, 8), "act": oc.Categorical(["p", "q", "r"])},
        }
    ),
}
NOISY_INPUTS = {
    "x": oc.Float(-2.0, 3.0, input_std=0.2),
    "y": oc.Float(0.0, 1.0, input_std=0.04),
}
NOISY_MIXED = {
    "x": oc.Float(-2.0, 3.0, input_std=0.2),
    "lr": oc.Float(1e-3, 1.0, log=True, input_std=0.2),
    "kind": oc.Categorical(["a", "b", "c"]),
    "way": oc.Choice({"plain": {}, "bent": {"z": oc.Float(0.0, 1.0, input_std=0.05)}}),
}
NOISY_TOGETHER = {"x": oc.Float(-2.0, 3.0), "y": oc.Float(0.0, 1.0), "k": oc.Int(1, 9)}
SMALL = {"kind": oc.Categorical(["a", "b", "c"]), "size": oc.Ordinal(["s", "m", "l"])}


@dataclass(frozen=True, eq=False)
class Situation:
    """What a search meets with."""

    declared: Mapping[str, Any]
    before: int = 9  # configurations that are added first
    noise: bool | float | None = None
    spread: float = 0.0  # of values around the objective
    repeats: int = 0  # configurations that are added twice
    stds: bool = False  # whether standard deviations are told with some values
    fails: Callable[[Mapping[str, Any]], bool] = field(default=lambda params: False)
    moves: bool = False  # whether some evaluations happen elsewhere than they were meant to
    covariance: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)  # of the optimizer

    def space(self) -> oc.Space:
        return oc.Space(self.declared, input_covariance=self.covariance)

    def value(self, params: Mapping[str, Any], number: int) -> float:
        """The oscillating objective, and noise that depends on `number` alone."""
        return oscillating(params) + self.spread * math.sin(12.9898 * (number + 1) ** 2)


SITUATIONS = {
    "box": Situation(BOX, noise=False),
    "plane": Situation(PLANE, before=7),
    "maximize": Situation(MIXED, before=11, options={"direction": "maximize"}),
    "mixed": Situation(MIXED, before=11),
    "conditional": Situation(CONDITIONAL, before=12),
    "noisy": Situation(PLANE, noise=True, spread=0.3),
    "noisy-conditional": Situation(CONDITIONAL, before=12, noise=True, spread=0.3),
    "replicates": Situation(BOX, spread=0.2, repeats=3),
    "known-noise": Situation(PLANE, noise=0.1, spread=0.1, stds=True),
    "failing": Situation(BOX, before=12, fails=lambda params: params["x"] > 1.5),
    "failing-mixed": Situation(MIXED, before=14, fails=lambda params: params["kind"] == "b"),
    "failing-conditional": Situation(
        CONDITIONAL, before=14, fails=lambda params: params.get("model.trees.depth", 0) > 3
    ),
    "noisy-inputs": Situation(NOISY_INPUTS, moves=True, spread=0.05),
    "noisy-inputs-mixed": Situation(NOISY_MIXED, before=12, moves=True, spread=0.05),
    "noisy-inputs-together": Situation(
        NOISY_TOGETHER, covariance={("x", "y"): [[0.04, 0.004], [0.004, 0.0016]]}, noise=False
    ),
    "robust": Situation(NOISY_INPUTS, moves=True, options={"robust": True}),
    "robust-mixed": Situation(NOISY_MIXED, before=12, options={"robust": True}, noise=False),
    "many": Situation(BOX, before=58, noise=False),
    "many-conditional": Situation(CONDITIONAL, before=58, noise=False),
    "exhausted": Situation(SMALL, before=4, noise=False),
    "from-nothing": Situation(PLANE, before=0),
    "from-nothing-mixed": Situation(MIXED, before=0),
    "from-nothing-conditional": Situation(CONDITIONAL, before=0),
}
LONG = frozenset(["box", "mixed", "maximize", "noisy-inputs-mixed"])  # searched a little longer


def oscillating(params: Mapping[str, Any]) -> float:
    """Waves along every parameter, categories included, on a slope."""
    total = 0.0
    for i, (name, value) in enumerate(sorted(params.items())):
        u = _as_number(value)
        total += math.cos(2.0 * i + (3 + len(name) % 4) * u) + 0.3 * u
    return total


def _as_number(value: object) -> float:
    if isinstance(value, str):
        return sum(map(ord, value)) % 13 / 6
    assert isinstance(value, int | float)
    return math.log10(value) if 0 < value < 1 else math.atan(value)


def searched(situation: Situation, method: Any, seed: int, is_long: bool) -> Iterator[Row]:
    """Every suggestion of a search with running trials, and what is believed at its end."""
    space = situation.space()
    options = {"noise": situation.noise, **situation.options}
    search = _Search(situation, oc.Optimizer(space, method=method, seed=seed, **options))
    _add_before(situation, search.optimizer, space)
    yield from search.steps(is_long)
    yield from _believed(search.optimizer, space)


class _Search:
    """Asks and tells by a schedule."""

    def __init__(self, situation: Situation, optimizer: oc.Optimizer) -> None:
        self.situation = situation
        self.optimizer = optimizer

    def steps(self, is_long: bool) -> Iterator[Row]:
        if not self.situation.before:
            for trial in self.optimizer.ask(4):
                yield _row(trial)
                self.end(trial)
            for _ in range(LARGEST_DESIGN - 4):
                trial = self.optimizer.ask()
                yield _row(trial)
                self.end(trial)
                if trial.why.get("source") != "initial":
                    break
        first = self.optimizer.ask()
        yield _row(first)
        self.end(first)
        second, third = self.optimizer.ask(2)
        yield from map(_row, (second, third))
        self.end(third)
        fourth = self.optimizer.ask()  # while one is running
        yield _row(fourth)
        if is_long:
            fifth = self.optimizer.ask()  # while two are running
            yield _row(fifth)
            self.end(fourth)
            self.optimizer.release(fifth)
            yield from map(_row, self.optimizer.ask(2))
            self.end(second)
            yield _row(self.optimizer.ask())  # while two others are running

    def end(self, trial: oc.Trial) -> None:
        """Tell of a trial, or of its failure."""
        situation, params = self.situation, dict(trial.params)
        if situation.fails(params):
            self.optimizer.fail(trial, "out of reach")
            return
        more: dict[str, Any] = {}
        if situation.stds and trial.number % 2:
            more["std"] = 0.05 + 0.01 * (trial.number % 3)
        if situation.moves and trial.number % 2:
            more["at"] = {"x": min(max(params["x"] + 0.05, -2.0), 3.0)}
            if trial.number % 4 == 1:
                more["at_std"] = {"x": 0.03}
        self.optimizer.tell(trial, situation.value(params, trial.number), **more)


def _add_before(situation: Situation, optimizer: oc.Optimizer, space: oc.Space) -> None:
    if not situation.before:
        return
    past = space.sample(np.random.default_rng(situation.before), situation.before)
    past += past[: situation.repeats]
    values = [
        math.nan if situation.fails(params) else situation.value(params, number)
        for number, params in enumerate(past)
    ]
    optimizer.add(past, values)


def _believed(optimizer: oc.Optimizer, space: oc.Space) -> Iterator[Row]:
    """Predictions at a few configurations, and the one that is recommended, as further rows."""
    number = len(optimizer.trials)
    mean, std = optimizer.belief.predict(space.sample(np.random.default_rng(1), 3))
    yield number, {"mean": mean.tolist(), "std": std.tolist()}, {"belief": True}
    best = optimizer.recommend()
    facts = {"mean": best.mean, "std": best.std, "probability": best.probability}
    yield number, dict(best.params) | facts, {"recommended": True}


def _row(trial: oc.Trial) -> Row:
    return trial.number, dict(trial.params), dict(trial.why)
