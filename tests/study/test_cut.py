"""Suggestions whose time ran out: legal, explained, and the same when they are replayed."""

from __future__ import annotations

import json

import numpy as np
import pytest

import outcrop as oc
from outcrop.effort import Effort
from outcrop.errors import MethodError, StorageError
from outcrop.inference import MAP, Laplace
from outcrop.strategies import CoCaBO, Hierarchical, Method, Perturbed, TopBranches, strategy_for
from outcrop.study import commands, load_study
from outcrop.study.created_event import created_of
from outcrop.study.events import Asked, Failed, Told, from_text, to_text
from outcrop.study.replay import replayed
from outcrop.study.state import apply, fold
from tests.clocks import Ticking

SPACE = oc.Space(
    {
        "x": oc.Float(0, 1),
        "n": oc.Int(1, 90),
        "c": oc.Categorical(["a", "b"]),
        "m": oc.Choice({"p": {}, "q": {"y": oc.Float(0, 1)}}),
    }
)
QUICK = {"initial": oc.initial.LatinHypercube(size=3)}
GP = Method(**QUICK)
KINDS = {
    "spartan": oc.surrogates.Spartan(),
    "treed": oc.surrogates.Treed(),
    "latent": oc.surrogates.Latent(),
    "tree": oc.surrogates.TreeStructured(),
    "one-hot": oc.baselines.OneHot(),
}
METHODS = {
    "gp": GP,
    **{name: Method(surrogate=kind, **QUICK) for name, kind in KINDS.items()},
    "branches": Method(
        surrogate=oc.surrogates.TreeStructured(chance=1.0),
        acquisition=TopBranches(exact_up_to=0),
        **QUICK,
    ),
    "map": Method(inference=MAP(starts=1), **QUICK),
    "laplace": Method(inference=Laplace(starts=1), **QUICK),
    "cocabo": CoCaBO(Method(surrogate=oc.surrogates.CategoryMix(), **QUICK)),
    "hierarchical": Hierarchical(GP, GP, trials=2),
    "pooled": Hierarchical(GP, GP, trials=2, pooled=True),
    "perturbed": Perturbed(GP),
}


def log_of(method, seconds, n=6):
    """A short search with a failure and a running trial, each suggestion within `seconds`."""
    log = [created_of(SPACE, method, "minimize", 3, None, False)]
    state, strategy = fold(log), strategy_for(method, SPACE)
    for number in range(n):
        asked = commands.asked(state, strategy, 0.0, Effort.within(seconds, Ticking()))
        log.append(asked)
        if number == 2:
            log.append(Failed(number))
        elif number != 4:
            log.append(Told(number, (asked.params["x"] - 0.3) ** 2 + asked.params["n"] / 90))
        state = fold(log)
    return log


@pytest.mark.parametrize(
    ("name", "seconds"),
    [*((name, 40.0) for name in METHODS), ("gp", 0.5), ("gp", 300.0), ("tree", 2.0)],
)
def test_what_was_cut_is_replayed_from_the_log_alone(name, seconds):
    log = log_of(METHODS[name], seconds, n=5 if name in ("tree", "branches") else 7)
    again = [from_text(to_text(event)) for event in log]
    assert replayed(again, strategy_for(METHODS[name], SPACE)).identical
    cut = [event for event in log if isinstance(event, Asked) and event.cuts]
    assert cut
    for event in cut:
        assert SPACE.validate(event.params) == event.params
        assert event.why["source"] in ("model", "fallback")
        assert event.why["cut"]


def test_the_cut_and_not_the_clock_decides_a_replay():
    log = log_of(GP, 40.0)
    last = max(i for i, event in enumerate(log) if isinstance(event, Asked) and event.cuts)
    state, strategy = fold(log[:last]), strategy_for(GP, SPACE)
    for cuts in ((), log[last].cuts[:1], (0,)):
        other = commands.asked(state, strategy, 0.0, Effort.recorded(cuts))
        assert other.warm != log[last].warm or other.cuts != log[last].cuts


def test_a_suggestion_in_time_is_that_without_a_limit_and_is_stored_as_it_always_was():
    timed, free = log_of(GP, 1e9), log_of(GP, None)
    assert [to_text(event) for event in timed[1:]] == [to_text(event) for event in free[1:]]
    asked = json.loads(to_text(timed[-2]))
    assert "cuts" not in asked
    assert "cut" not in asked["why"]


def test_with_more_time_more_is_done():
    state, strategy = fold(log_of(GP, None, n=3)), strategy_for(GP, SPACE)
    ends = [
        commands.asked(state, strategy, 0.0, Effort.within(seconds, Ticking())).cuts[-1]
        for seconds in (5.0, 50.0, 200.0)
    ]
    assert ends[0] < ends[1] < ends[2]


def test_an_explanation_says_what_was_left_out(monkeypatch):
    monkeypatch.setattr("time.thread_time", Ticking())
    optimizer = oc.Optimizer(SPACE, method="gp", seed=0, ask_seconds=300)
    optimizer.add(SPACE.sample(np.random.default_rng(5), 12), [i / 7 for i in range(12)])
    optimizer.ask()
    explained = optimizer.explain()
    assert explained.cut["updates of single hyperparameters"] > 0
    assert "cut: out of time after" in str(explained)
    assert "updates of single hyperparameters" in str(explained)
    assert "further ones were left out" in str(explained)
    unlimited = oc.Optimizer(SPACE, method="gp", seed=0, ask_seconds=None)
    unlimited.add(SPACE.sample(np.random.default_rng(5), 12), [i / 7 for i in range(12)])
    unlimited.ask()
    assert "cut" not in str(unlimited.explain())


def test_a_study_that_was_cut_replays_and_goes_on_in_another_process(monkeypatch, tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    monkeypatch.setattr("time.thread_time", Ticking())
    study = oc.Study(SPACE, "s", url, method="gp", seed=0, ask_seconds=30)
    study.add(SPACE.sample(np.random.default_rng(5), 12), [i / 7 for i in range(12)])
    for trial in study.ask(3):
        study.tell(trial, 0.5)
    again = load_study("s", url, ask_seconds=None)
    again.ask()
    assert [bool(trial.why.get("cut")) for trial in again.trials[12:]] == [True] * 3 + [False]
    assert again.replay().identical
    assert study.replay().identical


@pytest.mark.parametrize("seconds", [0, -1.0, "x", True, float("nan")])
def test_a_time_that_cannot_be_is_refused(seconds):
    for make in (oc.Optimizer, oc.Study):
        with pytest.raises(MethodError, match="ask_seconds must be a number of seconds above 0"):
            make(SPACE, ask_seconds=seconds)


@pytest.mark.parametrize("cuts", [3, "a", ["a"], (1.5,)])
def test_cuts_that_cannot_be_are_damage(cuts):
    asked = Asked(0, {"x": 0.5, "n": 1, "c": "a", "m": "p"}, cuts=cuts)
    state = fold([created_of(SPACE, "gp", "minimize", 3, None, False)])
    with pytest.raises((oc.errors.TrialError, StorageError), match="cuts"):
        apply(state, asked)
