"""Suggestions that are made again: what must be the same, and what may differ."""

from dataclasses import replace

import pytest

from outcrop.space import Float, Space
from outcrop.strategies import strategy_for
from outcrop.study import commands
from outcrop.study.created_event import created_of
from outcrop.study.events import Told
from outcrop.study.replay import replayed
from outcrop.study.state import apply, fold

SPACE = Space({"x": Float(0, 1)})


def log_of(method, n=5):
    """The events of a short search."""
    log = [created_of(SPACE, method, "minimize", 3, None, False)]
    state, strategy = fold(log), strategy_for(method, SPACE)
    for number in range(n):
        asked = commands.asked(state, strategy, 0.0)
        told = Told(number, asked.params["x"], at=0.0)
        state = apply(apply(state, asked), told)
        log += [asked, told]
    return log


def differing(log, **changed):
    """The trials that differ once the last suggestion of `log` was another one."""
    last = replace(log[-2], **changed)
    return replayed([*log[:-2], last, log[-1]], strategy_for("gp", SPACE)).different


@pytest.fixture(scope="module")
def log():
    return log_of("gp")


def test_a_log_replays(log):
    replay = replayed(log, strategy_for("gp", SPACE))
    assert replay.identical
    assert replay.asks == 5


def test_parameters_and_states_are_compared_to_the_last_bit(log):
    asked = log[-2]
    assert differing(log, params={"x": asked.params["x"] + 1e-15}) == (4,)
    assert differing(log, warm={}) == (4,)


def test_numbers_of_a_reason_may_differ_by_rounding_only(log):
    why = log[-2].why
    assert differing(log, why={**why, "mean": why["mean"] * (1 + 1e-12)}) == ()
    assert differing(log, why={**why, "mean": why["mean"] * 1.001}) == (4,)
    assert differing(log, why={**why, "more": 1.0}) == (4,)


def test_a_reason_may_name_a_class_as_earlier_versions_did():
    log = log_of("random", 2)
    assert log[-2].why["design"] == "RandomDesign"
    earlier = [
        replace(event, why={**event.why, "design": "Uniform"}) if hasattr(event, "why") else event
        for event in log
    ]
    assert replayed(earlier, strategy_for("random", SPACE)).identical
    other = [
        replace(event, why={**event.why, "design": "Sobol"}) if hasattr(event, "why") else event
        for event in log
    ]
    assert not replayed(other, strategy_for("random", SPACE)).identical
