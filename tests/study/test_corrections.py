"""Outcomes that are amended and discarded, beside studies in which they were right at first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop.effort import Effort
from outcrop.errors import NoBelief, StorageError, TrialError
from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.strategies import strategy_for
from outcrop.study import Optimizer, commands, events, load_study
from outcrop.study.copies import known_log
from outcrop.study.created_event import created_of
from outcrop.study.events import Amended, Discarded, Late, Told
from outcrop.study.replay import replayed
from outcrop.study.state import State, apply, fold
from tests.study.handles import forget, log_of, opened
from tests.study.optimizers import made, refused

SPACE = Space({"x": Float(0, 4, input_std=0.1), "m": Choice({"a": {}, "b": {"k": Int(1, 3)}})})
PARAMS = SPACE.sample(np.random.default_rng(4), 6)


@dataclass(frozen=True)
class Fate:
    """What should be known of one trial, in the plainest words."""

    state: str = "running"
    value: float | None = None
    std: float | None = None
    at: dict[str, float] | None = None


def ended(fate: Fate, value: float | None, std: float | None, at: Any) -> Fate:
    if value is None or not math.isfinite(value):
        return Fate("failed", at=at)
    return Fate("finished", value, std, at)


def after(fate: Fate, kind: str, value: float | None, std: float | None, at: Any) -> Fate | None:
    """The fate after a step; None if the step is refused."""
    if kind in ("tell", "fail"):
        if fate.state != "running":
            return None
        return Fate("failed") if kind == "fail" else ended(fate, value or 0.0, std, at)
    if fate.state == "running":
        return None
    if kind == "discard":
        return None if fate.state == "discarded" else Fate("discarded")
    if value is None and (fate.value is None or (std is None and at is None)):
        return None
    kept = fate.std if std is None else std
    return ended(fate, fate.value if value is None else value, kept, fate.at if at is None else at)


def take(optimizer: Optimizer, number: int, kind: str, value: Any, std: Any, at: Any) -> None:
    match kind:
        case "tell":
            optimizer.tell(number, value or 0.0, std=std, at=at)
        case "fail":
            optimizer.fail(number)
        case "amend":
            optimizer.amend(number, value=value, std=std, at=at)
        case "discard":
            optimizer.discard(number)


def asked_for() -> Optimizer:
    optimizer = made(SPACE)
    for params in PARAMS:
        optimizer.enqueue(params)
    optimizer.ask(len(PARAMS))
    return optimizer


values = st.none() | st.sampled_from([math.nan, math.inf]) | st.floats(-9, 9)
steps = st.tuples(
    st.integers(0, len(PARAMS) - 1),
    st.sampled_from(["tell", "tell", "fail", "amend", "amend", "discard"]),
    values,
    st.none() | st.floats(0, 2),
    st.none() | st.floats(0.5, 3.5).map(lambda x: {"x": x}),
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(steps, max_size=25))
def test_a_corrected_study_knows_what_it_would_if_the_last_outcomes_had_been_the_first(taken):
    corrected, fates = asked_for(), [Fate()] * len(PARAMS)
    for number, *step in taken:
        expected = after(fates[number], *step)
        if expected is None:
            with pytest.raises(TrialError):
                take(corrected, number, *step)
        else:
            take(corrected, number, *step)
            fates[number] = expected
    plain = asked_for()
    for number, fate in enumerate(fates):
        if fate.state == "finished":
            plain.tell(number, fate.value, std=fate.std, at=fate.at)
        elif fate.state == "failed":
            plain.tell(number, math.nan, at=fate.at)
        elif fate.state == "discarded":
            plain.release(number)
    assert [trial.state for trial in corrected.trials] == [fate.state for fate in fates]
    first, second = corrected._state.view, plain._state.view
    for name in ("number", "known", "noise", "seed", "sign"):
        assert getattr(first, name) == getattr(second, name)
    for name in ("X", "y", "std", "pending", "failed", "at", "input_cov"):
        one, other = getattr(first, name), getattr(second, name)
        assert (one is None) == (other is None)
        assert one is None or one.tobytes() == other.tobytes()


# Amending


def told(*outcomes: float) -> Optimizer:
    """Trials with these outcomes; NaN is a failure."""
    optimizer = made()
    for outcome in outcomes:
        optimizer.tell(optimizer.ask(), outcome)
    return optimizer


def test_an_amended_value_takes_the_place_of_the_old_one():
    optimizer = told(3.0, -900.0, 2.0)
    trial = optimizer.amend(1, value=9.0, reason="mistyped")
    assert (trial.state, trial.value) == ("finished", 9.0)
    assert optimizer.best_trial.number == 2
    assert optimizer.recommend().trial.number in (0, 1, 2)
    (before,) = trial.corrections
    assert (before.state, before.value, before.reason) == ("finished", -900.0, "mistyped")
    assert "was -900.0: mistyped" in repr(trial)
    assert "corrected: was -900.0: mistyped" in str(optimizer.explain(1))


def test_a_finite_value_makes_a_failed_trial_a_finished_one_and_back():
    optimizer = told(3.0, math.nan)
    trial = optimizer.amend(1, value=1.0, std=0.5)
    assert (trial.state, trial.value, trial.std, trial.reason) == ("finished", 1.0, 0.5, "")
    assert len(optimizer._state.view.failed) == 0
    trial = optimizer.amend(trial, value=math.inf)
    assert (trial.state, trial.value, trial.std) == ("failed", None, None)
    assert trial.reason == "the value is inf"
    assert optimizer.amend(1, value=math.nan, reason="it burst").reason == "it burst"
    assert [each.state for each in optimizer.trials[1].corrections] == [
        "failed",
        "finished",
        "failed",
    ]


def test_what_is_not_given_stays():
    optimizer = made(SPACE)
    trial = optimizer.tell(optimizer.ask(), 1.0, std=0.1, at={"x": 1.5})
    trial = optimizer.amend(trial, std=0.3)
    assert (trial.value, trial.std, trial.at) == (1.0, 0.3, {"x": 1.5})
    trial = optimizer.amend(trial, at={"x": 2.0}, at_std={"x": 0.25})
    assert (trial.value, trial.std, trial.at, trial.at_std) == (1.0, 0.3, {"x": 2.0}, {"x": 0.25})
    trial = optimizer.amend(trial, value=4.0)
    assert (trial.value, trial.std, trial.at, trial.at_std) == (4.0, 0.3, {"x": 2.0}, {"x": 0.25})
    assert optimizer.amend(trial, at={}, at_std={}).at == {}
    assert optimizer._state.view.at is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda o: o.amend(0), "nothing to amend in trial 0"),
        (lambda o: o.amend(1, std=0.1), "trial 1 is failed .the value is nan. and has no value"),
        (lambda o: o.amend(2, value=1.0), "trial 2 is running.*tell, fail or release it"),
        (lambda o: o.discard(2), "trial 2 is running.*tell, fail or release it"),
        (lambda o: o.discard([0, 2]), "trial 2 is running"),
        (lambda o: o.discard([0, 0]), "trial 0 is discarded already"),
        (lambda o: o.amend(3, value=1.0), "trial 3 was released"),
        (lambda o: o.amend(4, value=1.0), "trial 4 is unknown"),
        (lambda o: o.amend(0, value="low"), "a value must be a number, got 'low'"),
        (lambda o: o.amend(0, std=-1.0), "std must be"),
        (lambda o: o.discard("first"), "expected a trial or its number, got 'f'"),
    ],
)
def test_what_cannot_be_corrected_is_refused_and_nothing_changes(call, words):
    optimizer = told(3.0, math.nan)
    optimizer.release(optimizer.ask(2)[1])
    refused(optimizer, TrialError, words, lambda: call(optimizer))


# Discarding


def test_a_discarded_configuration_may_be_proposed_again():
    optimizer = Optimizer(Space({"n": Int(1, 3)}), method="random", seed=0, noise=False)
    for trial in optimizer.ask(3):
        optimizer.tell(trial, float(trial.params["n"]))
    with pytest.raises(oc.errors.SpaceExhausted):
        optimizer.ask()
    discarded = optimizer.discard(optimizer.best_trial, "the wrong machine")
    assert (discarded.state, discarded.value) == ("discarded", None)
    assert optimizer.best_value == 2.0
    again = optimizer.ask()
    assert again.params == discarded.params
    assert again.number == 3
    assert "discarded: the wrong machine" in str(optimizer.explain(discarded))


def test_discarding_everything_leaves_nothing_to_recommend():
    optimizer = told(3.0, 2.0)
    optimizer.discard(optimizer.trials, "all wrong")
    with pytest.raises(NoBelief):
        _ = optimizer.best_trial
    with pytest.raises(NoBelief):
        optimizer.recommend()
    assert optimizer._state.view.started == 0
    optimizer.amend(0, value=3.5)
    assert optimizer.best_trial.number == 0


def test_a_discarded_trial_takes_no_value_by_tell():
    optimizer = told(3.0)
    optimizer.discard(0)
    refused(optimizer, TrialError, "was discarded; amend it", lambda: optimizer.tell(0, 1.0))
    refused(optimizer, TrialError, "was discarded; amend it", lambda: optimizer.release(0))


def test_a_stopping_rule_does_not_count_what_was_discarded():
    optimizer = told(1.0, 2.0, 3.0)
    assert oc.stop.NoImprovement(2)(optimizer)
    assert oc.stop.MaxTrials(3)(optimizer)
    optimizer.discard(2)
    assert not oc.stop.NoImprovement(2)(optimizer)
    assert not oc.stop.MaxTrials(3)(optimizer)


# Warm state


def test_the_suggestion_after_a_correction_starts_cold():
    optimizer = told(3.0, 2.0)
    assert optimizer._state.warm["step"] == 2
    optimizer.amend(0, value=1.0)
    assert not optimizer._state.warm
    optimizer.ask()
    assert optimizer._state.warm["step"] == 1


def test_a_suggestion_that_had_not_seen_a_correction_leaves_no_state():
    optimizer = told(3.0, 2.0)
    state, strategy = optimizer._state, optimizer._strategies.for_space(optimizer.space)
    late = commands.asked(state, strategy, at=0.0)
    state = apply(apply(state, Discarded(1)), late)
    assert late.warm
    assert not state.warm
    state = apply(state, commands.asked(state, strategy, at=0.0))
    assert state.warm["step"] == 1, "it saw the correction"


MIXED = Space({"x": Float(0, 1), "c": Categorical(["a", "b"]), "m": Choice({"u": {}, "v": {}})})


@pytest.mark.parametrize("method", ["gp", "cocabo", "tree"])
def test_a_search_with_corrections_replays_also_if_asks_overlapped_them(method):
    log: list[events.Event] = [created_of(MIXED, method, "minimize", 3, None)]
    strategy = strategy_for(method, MIXED)

    def asked(state: State) -> events.Asked:
        return commands.asked(state, strategy, 0.0, Effort.within(0.1))

    def happened(state: State, *those: events.Event) -> State:
        log.extend(those)
        for event in those:
            state = apply(state, event)
        return state

    state = fold(log)
    for number in range(9):
        next_one = asked(state)
        state = happened(state, next_one, Told(number, next_one.params["x"] + (number == 2)))
    early = asked(state)
    state = happened(state, Discarded(1), early, Told(9, 0.3), Amended(2, 0.1, reason="so it is"))
    state = happened(state, asked(state))
    state = happened(state, Discarded(9), Amended(1, 0.7))
    happened(state, asked(state))
    stored = [events.from_text(events.to_text(event)) for event in log]
    replay = replayed(stored, strategy)
    assert replay.asks == 12
    assert replay.identical


# In a store


def test_a_correction_is_an_event_that_other_processes_read(storage):
    study = opened(storage)
    study.tell(study.ask(), 1.0)
    study.fail(study.ask(), "the disk was full")
    other = load_study("s", storage)
    study.discard(1, "the disk was full")
    assert [trial.state for trial in other.trials] == ["finished", "discarded"]
    other.amend(0, value=2.0)
    assert study.best_value == 2.0
    assert isinstance(log_of(study)[-1], Amended)
    study.ask()
    assert study.replay().identical


def test_a_log_without_corrections_is_readable_by_older_programs(storage, monkeypatch):
    study = opened(storage)
    study.tell(study.ask(), 1.0)
    monkeypatch.setattr(events, "VERSION", 1)
    assert load_study("s", storage).best_value == 1.0
    study.discard(0)
    with pytest.raises(StorageError, match="has version 2, but this release reads versions up to"):
        load_study("s", storage)


def test_late_results_of_corrected_trials_are_logged_and_ignored(storage, caplog):
    study = opened(storage)
    trial = study.ask(lease=9.0)
    for _ in range(2):
        forget(study, 0)
        study.ask(lease=9.0)
    forget(study, 0)
    study.ask()  # the trial of the third lease has failed
    assert study.trials[0].state == "failed"
    study.discard(0, "the machine was off")
    assert study.tell(trial, 5.0).state == "discarded"
    assert isinstance(log_of(study)[-1], Late)
    assert "this late one was logged and ignored" in caplog.text
    study.amend(0, value=4.0)
    assert study.tell(trial, 5.0).value == 4.0


def test_a_released_trial_that_may_still_be_told_cannot_be_corrected(storage):
    study = opened(storage)
    trial = study.ask(lease=9.0)
    forget(study, 0)
    study.release(study.ask())
    with pytest.raises(TrialError, match="was released"):
        study.discard(0)
    assert study.tell(trial, 1.0).state == "finished"
    assert study.discard(0).state == "discarded"


def test_a_copy_of_known_results_has_their_corrections():
    optimizer = told(3.0, 2.0, math.nan, 1.0)
    optimizer.discard(1, "wrong")
    optimizer.amend(2, value=0.5, reason="read from the log")
    optimizer.discard(3)
    optimizer.amend(3, value=0.25)
    trials = fold(known_log(optimizer._state)).trials
    assert [(t.state, t.value, t.reason, t.corrections) for t in trials] == [
        (t.state, t.value, t.reason, t.corrections) for t in optimizer.trials
    ]


# The poisoned search

LEVELS = {"a": 1.0, "b": 0.8, "best": 0.0, "d": 1.2}
POISONED = Space({"c": Categorical([*LEVELS]), "x": Float(0, 1)})


def loss(params: Any) -> float:
    return LEVELS[params["c"]] + (params["x"] - 0.3) ** 2


@pytest.mark.parametrize("seed", range(5))
def test_a_search_returns_to_the_category_whose_failures_were_bogus(seed):
    optimizer = Optimizer(POISONED, method="gp", seed=seed)
    others = [p for p in POISONED.sample(np.random.default_rng(seed), 40) if p["c"] != "best"][:10]
    optimizer.add(others, [loss(params) for params in others])
    for x in (0.1, 0.3, 0.5, 0.7, 0.9):
        optimizer.add({"c": "best", "x": x}, math.nan)

    def tried(count: int) -> list[str]:
        return [
            optimizer.tell(trial, loss(trial.params)).params["c"]
            for trial in (optimizer.ask() for _ in range(count))
        ]

    assert "best" not in tried(4), "the failures keep the search out of the category"
    failed = [trial for trial in optimizer.trials if trial.state == "failed"]
    optimizer.discard(failed, "the disk was full")
    assert "best" in tried(4)
    assert optimizer.best_params["c"] == "best"
