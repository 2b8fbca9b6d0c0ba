"""Random calls in random order, on random spaces, with every method and with strange values.

A case is determined by its number and the seed. What must hold: every suggestion lies in its space;
a call raises nothing but the exceptions that it may raise; no warning is issued (warnings are
errors here); values that were told are those of the trials at the end; replay is identical. Each
call's processor time is measured.
"""

from __future__ import annotations

__all__ = ["attack", "case"]

import json
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np

import outcrop as oc
from benchmarks.attack.call_report import Answered, Report
from benchmarks.attack.guarded import outcomes
from benchmarks.attack.random_spaces import is_inside, random_space
from benchmarks.attack.strange import STRANGE, VALUES, finite
from benchmarks.recorded_methods import ACQUISITIONS, KINDS, NAMES, PENDING
from benchmarks.recorded_parts import made
from outcrop.errors import (
    MethodError,
    NoBelief,
    ParamsError,
    SpaceError,
    SpaceExhausted,
    TrialError,
)

DEADLINE = 300.0  # seconds of a case, after which it counts as a hang
ACTIONS = 12
MOST_ASKS = 3
TRIES = 20  # declarations of a space until one is right
PARTS = (
    *(f"quick(acquisition=acquisition.{each})" for each in ACQUISITIONS),
    *(f"quick(pending=pending.{each})" for each in PENDING),
    *(f"quick({each})" for each in KINDS),
    "strategies.Perturbed('gp')",
    "strategies.Perturbed(quick(), c=0.2, gamma=0.5, until=2)",
    "strategies.CoCaBO(quick(), batch=2)",
    "strategies.Hierarchical(quick(), quick(), trials=3)",
    "quick(initial=initial.Sobol(6))",
    "quick(initial=initial.LatinHypercube(5))",
    "quick(maximiser=maximise.DeltaCover(spread=100, boxes=2, boxed=10, halvings=1))",
)
NUMBERS: tuple[Any, ...] = (-1, 10**9, 10**30, "0", None, 1.5, float("nan"), True, [], object())
T = TypeVar("T")


def case(index: int, seed: int = 0) -> dict[str, Any]:
    """Run a case; its report as JSON."""
    chance, report = Random(f"{seed} {index}"), Report()
    method = NAMES[index % len(NAMES)] if chance.random() < 0.7 else chance.choice(PARTS)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("error")
        try:
            space = _space(chance, report)
            study = _study(chance, report, space, method, Path(folder))
            Calls(chance, report, space, study).go()
        except Answered:
            pass
    return {
        "case": index,
        "method": method,
        "calls": report.calls,
        "suggestions": report.suggestions,
        "refused": dict(report.refused),
        "problems": report.problems,
        "slow": report.slow,
        "longest": report.longest,
    }


def _space(chance: Random, report: Report) -> oc.Space:
    """A space that is accepted; declarations are counted as calls."""
    for _ in range(TRIES):
        try:
            with report.calling("Space", (SpaceError,)):
                return random_space(chance)
        except Answered:
            continue
    raise Answered


def _study(
    chance: Random, report: Report, space: oc.Space, method: str, folder: Path
) -> oc.Optimizer | oc.Study:
    with report.calling("input noise"):
        noisy = space.has_input_noise
    options: dict[str, Any] = {
        "method": _made(method),
        "direction": chance.choice(["minimize", "maximize"]),
        "seed": chance.randrange(10**6),
        "noise": chance.choice([None, None, True, False, 0.0, 1e-300, 0.1, 1e300]),
        "robust": noisy and chance.random() < 0.5,
    }
    if chance.random() < 0.02:
        options[chance.choice([*options])] = chance.choice(STRANGE)
    roll = chance.random()
    with report.calling(f"Study of {method}", (MethodError,)):
        if roll < 0.5:
            return oc.Optimizer(space, **options)
        if roll < 0.9:
            return oc.Study(space, **options)
        return oc.Study(space, "fuzz", f"sqlite:///{folder / 'fuzz.db'}", **options)


def _made(method: str) -> Any:
    """A method; some expressions use former names, which still work but warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return made(method)


@dataclass
class Calls:
    """Calls of one study or optimizer."""

    chance: Random
    report: Report
    space: oc.Space
    study: oc.Optimizer | oc.Study
    running: list[oc.Trial] = field(default_factory=list)
    handed_out: list[oc.Trial] = field(default_factory=list)
    told: dict[int, float] = field(default_factory=dict)  # values by trial number
    asks: int = 0

    def go(self) -> None:
        self.values = self.chance.choice(VALUES)
        self.rng = np.random.default_rng(self.chance.randrange(2**32))
        self._attempt(self.add_first)
        actions = (
            [self.ask] * 6
            + [self.tell] * 5
            + [self.tell_strange] * 2
            + [
                self.tell_wrong,
                self.fail,
                self.release,
                self.correct,
                self.enqueue,
                self.add,
                self.recommend,
                self.predict,
                self.look,
                self.round_trip,
            ]
        )
        for action in self.chance.choices(actions, k=ACTIONS):
            self._attempt(action)
        if self.chance.random() < 0.3:
            self._attempt(self.replay)
        self._attempt(self.compare)

    def _attempt(self, action: Callable[[], None]) -> None:
        with suppress(Answered):
            action()

    def call(self, name: str, function: Callable[[], T], *may: type[Exception]) -> T:
        with self.report.calling(name, may):
            return function()
        raise Answered

    def sampled(self) -> dict[str, Any]:
        return dict(self.call("sample", lambda: self.space.sample(self.rng)))

    def value(self) -> float:
        return finite(self.values, self.chance)

    # Asks

    def ask(self) -> None:
        if self.asks >= MOST_ASKS:
            return
        self.asks += 1
        if self.chance.random() < 0.1:
            n = self.chance.choice([1, 2, 3, *NUMBERS[3:], 0, -1])
            trials = self.call("ask(n)", lambda: self.study.ask(n), SpaceExhausted, MethodError)
        elif self.chance.random() < 0.1 and isinstance(self.study, oc.Study):
            lease: Any = self.chance.choice([60.0, 1e-9, 1e-9, *NUMBERS[3:]])
            ask = partial(self.study.ask, lease=lease)
            trials = self.call(f"ask(lease={lease!r:.40})", ask, SpaceExhausted, MethodError)
        else:
            trials = self.call("ask", self.study.ask, SpaceExhausted)
        for trial in trials if isinstance(trials, list) else [trials]:
            self.report.suggestions += 1
            self.running.append(trial)
            self.handed_out.append(trial)
            if not is_inside(self.space, trial.params):
                self.report.problem("outside", "ask", f"{dict(trial.params)} in {self.space!r}")

    # Outcomes

    def _taken(self) -> oc.Trial:
        if not self.running:
            raise Answered
        return self.running.pop(self.chance.randrange(len(self.running)))

    def tell(self) -> None:
        trial, value = self._taken(), self.value()
        std = self.chance.choice([None, None, 0.0, 0.1, 1e-300, 1e300])
        may = () if self._is_mine(trial) else (TrialError,)
        told = self.call(
            "tell", lambda: self.study.tell(trial, value, std=std, **self._where(trial)), *may
        )
        if told.value != value and self._is_mine(trial):
            self.report.problem("lost", "tell", f"{value}, but the trial has {told.value}")
        if told.value is not None:
            self.told[told.number] = told.value
        if self.chance.random() < 0.2:
            self.call("tell twice", lambda: self.study.tell(trial, value), TrialError)

    def _is_mine(self, trial: oc.Trial) -> bool:
        """Whether a trial was handed out once; another holder may have told or released it."""
        numbers = [each.number for each in self.handed_out]
        return numbers.count(trial.number) == 1

    def _where(self, trial: oc.Trial) -> dict[str, Any]:
        """Rarely, where the trial was really evaluated: at one of its own numbers."""
        names = [
            name
            for name in trial.params
            if isinstance(self.space.parameters[name], oc.Float | oc.Int)
        ]
        if not names or self.chance.random() < 0.8:
            return {}
        name = self.chance.choice(names)
        stds = self.chance.choice([{}, {"at_std": {name: 0.0}}])
        return {"at": {name: trial.params[name]}, **stds}

    def tell_strange(self) -> None:
        trial, given = self._taken(), self.chance.choice(STRANGE)
        key = self.chance.choice(["value", "value", "std", "info", "at", "at_std"])
        arguments: dict[str, Any] = {"value": self.value(), key: given}
        try:
            told = self.call(
                f"tell({key}={given!r:.40})",
                lambda: self.study.tell(trial, **arguments),
                TrialError,
                ParamsError,
            )
        except Answered:
            self.running.append(trial)
            raise
        if told.value is not None:
            self.told[told.number] = told.value

    def tell_wrong(self) -> None:
        number = self.chance.choice(NUMBERS)
        name = self.chance.choice(["tell", "fail", "release", "explain"])
        arguments = {"tell": (number, 1.0), "fail": (number, "x")}.get(name, (number,))
        before = len(self.study.trials)
        self.call(
            f"{name}({number!r:.40})",
            lambda: getattr(self.study, name)(*arguments),
            TrialError,
            NoBelief,
        )
        # A boolean is the number of a trial to Python.
        if name != "explain" and number is not True and before == len(self.study.trials):
            self.report.problem("accepted", f"{name}({number!r:.40})")

    def fail(self) -> None:
        trial = self._taken()
        reason: Any = self.chance.choice(["diverged", "", "\0", "é" * 1000, None, 3, "\ud800"])
        self.call(f"fail({reason!r:.20})", lambda: self.study.fail(trial, reason), TrialError)

    def release(self) -> None:
        trial = self._taken()
        may = () if self._is_mine(trial) else (TrialError,)
        self.call("release", lambda: self.study.release(trial), *may)
        self.call("release twice", lambda: self.study.release(trial), TrialError)

    def correct(self) -> None:
        known = {trial.number: trial for trial in self.study.trials}
        if not known:
            return
        trial = known[self.chance.choice([*known])]
        may = (TrialError,) if trial.state in ("running", "discarded") else ()
        if self.chance.random() < 0.5:
            self.call("discard", lambda: self.study.discard(trial, "fuzz"), *may)
            self.told.pop(trial.number, None)
            self.call("discard twice", lambda: self.study.discard(trial), TrialError)
            return
        value, std = self.value(), self.chance.choice([None, 0.5])
        may = (TrialError,) if trial.state == "running" else ()
        self.call("amend", lambda: self.study.amend(trial.number, value=value, std=std), *may)
        self.told[trial.number] = value

    # Other configurations

    def add_first(self) -> None:
        count = self.chance.choice([0, 1, 3, 8, 12])
        params = [self.sampled() for _ in range(count)]
        values = [self.value() for _ in params]
        added = self.call("add", lambda: self.study.add(params, values))
        self.told.update({trial.number: value for trial, value in zip(added, values, strict=True)})
        failing = [self.sampled() for _ in range(self.chance.choice([0, 0, 2]))]
        self.call("add", lambda: self.study.add(failing, [float("nan")] * len(failing)))

    def add(self) -> None:
        params, value = self._changed(self.sampled()), self.chance.choice(STRANGE)
        if self.chance.random() < 0.5:
            value = self.value()
        self.call("add of anything", lambda: self.study.add(params, value), ParamsError, TrialError)

    def enqueue(self) -> None:
        params = self.sampled()
        if self.chance.random() < 0.5:
            self.call("enqueue", lambda: self.study.enqueue(params))
        else:
            changed = self._changed(params)
            self.call("enqueue of anything", lambda: self.study.enqueue(changed), ParamsError)

    def _changed(self, params: Any) -> Any:
        """Parameters with something wrong about them, or something else."""
        chance = self.chance
        match chance.randrange(5):
            case 0:
                return chance.choice(STRANGE)
            case 1:
                params.pop(chance.choice([*params]))
            case 2:
                params[chance.choice(["new", "", 3, None, "x.y", *params])] = chance.choice(STRANGE)
            case 3:
                params = {name: chance.choice(STRANGE) for name in params}
        return params

    # Questions

    def recommend(self) -> None:
        wanted = self.chance.choice([None, None, None, True, False, "no", 1])
        may = (NoBelief,) if wanted is None else (NoBelief, MethodError)
        best = self.call(
            f"recommend(robust={wanted!r})", lambda: self.study.recommend(robust=wanted), *may
        )
        if not (best.mean == best.mean and best.std >= 0 and 0 <= best.probability <= 1):
            self.report.problem("numbers", "recommend", repr(best))

    def predict(self) -> None:
        belief = self.call("belief", lambda: self.study.belief, NoBelief)
        params = [self.sampled() for _ in range(3)]
        mean, std = self.call("predict", lambda: belief.predict(params))
        if np.isnan(mean).any() or not (std >= 0).all():  # values near 1e308 may give inf
            self.report.problem("numbers", "predict", f"{mean} {std}")

    def look(self) -> None:
        self.call("explain", lambda: str(self.study.explain()), NoBelief, TrialError)
        self.call("repr", lambda: repr(self.study))
        self.call("frame", lambda: self.study.to_frame())
        self.call("best", lambda: self.study.best_trial, NoBelief)

    def round_trip(self) -> None:
        def same() -> bool:
            text = json.dumps(self.space.to_json())
            read = oc.Space.from_json(text)
            return read == self.space == pickle.loads(pickle.dumps(self.space))

        if not self.call("JSON of the space", same):
            self.report.problem("round trip", "JSON of the space", repr(self.space))

    def replay(self) -> None:
        if isinstance(self.study, oc.Study):
            replay = self.call("replay", self.study.replay)
            if not replay.identical:
                self.report.problem("replay", "replay", f"trials {replay.different}")

    def compare(self) -> None:
        values = {trial.number: trial.value for trial in self.study.trials}
        for number, value in self.told.items():
            if values.get(number) != value:
                self.report.problem("lost", "tell", f"{number}: {value}, now {values.get(number)}")


def attack(first: int, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """The reports of `count` cases from `first` on."""
    for index, outcome in outcomes(partial(case, seed=seed), range(first, first + count), DEADLINE):
        if isinstance(outcome, str):
            problem = {"kind": "hang", "call": "case", "text": outcome}
            yield {"case": index, "method": NAMES[index % len(NAMES)], "problems": [problem]}
        else:
            yield outcome
