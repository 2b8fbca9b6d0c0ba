"""Ask and tell in memory."""

from __future__ import annotations

import math
import time
from decimal import Decimal

import numpy as np
import pytest

from outcrop.errors import (
    MethodError,
    ParamsError,
    SpaceError,
    SpaceExhausted,
    TrialError,
)
from outcrop.space import Categorical, Float, Int, Space
from outcrop.strategies.base import Suggestion
from outcrop.study import Optimizer, Study, load_study
from tests.study.doubles import Roaming
from tests.study.optimizers import SPACE, made, refused

TINY = Space({"n": Int(1, 3), "c": Categorical(["u", "v"])})


@pytest.fixture
def optimizer():
    return made()


# Ask and tell


def test_ask_gives_a_running_trial_with_flat_and_nested_params(optimizer):
    optimizer.enqueue({"x": 1, "m": {"b": {"k": 2}}})
    before = time.time()
    trial = optimizer.ask()
    assert (trial.number, trial.state, trial.source, trial.attempt) == (0, "running", "asked", 1)
    assert trial.params == {"x": 1.0, "m": "b", "m.b.k": 2}
    assert trial.nested == {"x": 1.0, "m": {"b": {"k": 2}}}
    assert before <= trial.started <= time.time()
    assert trial.finished is None
    assert optimizer.trials == [trial]


@pytest.mark.parametrize("by_number", [False, True])
def test_tell_returns_the_finished_trial_and_leaves_the_old_one(optimizer, by_number):
    asked = optimizer.ask()
    told = optimizer.tell(
        asked.number if by_number else asked, 0.25, std=0.5, info={"epochs": (3, np.float64(0.5))}
    )
    assert (told.number, told.state, told.value, told.std) == (0, "finished", 0.25, 0.5)
    assert told.info == {"epochs": (3, 0.5)}
    assert told.finished >= told.started == asked.started
    assert asked.state == "running"
    assert optimizer.trials == [told]


def test_trials_may_be_told_in_any_order(optimizer):
    asked = optimizer.ask(4)
    for trial in reversed(asked):
        optimizer.tell(np.int64(trial.number), trial.number)
    assert [trial.value for trial in optimizer.trials] == [0.0, 1.0, 2.0, 3.0]
    assert type(optimizer.trials[0].value) is float


@pytest.mark.parametrize("value", [3, np.float32(3), np.int8(3), np.array(3.0), 3.0])
def test_numbers_of_every_make_are_values(optimizer, value):
    trial = optimizer.tell(optimizer.ask(), value)
    assert trial.value == 3.0
    assert type(trial.value) is float


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_telling_no_finite_number_is_a_failure_with_that_reason(optimizer, value):
    trial = optimizer.tell(optimizer.ask(), value, info={"note": "odd"})
    assert (trial.state, trial.value) == ("failed", None)
    assert trial.reason == f"the value is {float(value)}"
    assert trial.info == {"note": "odd"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "must be a number, got None; record a failed evaluation with fail"),
        ("0.3", "must be a number, got '0.3'"),
        (1j, "must be a number"),
        (np.complex128(1), "must be a number"),
        (True, "must be a number, got True"),
        (np.bool_(False), "must be a number"),
        (Decimal("0.1"), "must be a number"),
        ({"loss": 1.0}, "must be a number"),
        ([0.1, 0.2], r"got \[0.1, 0.2\]; several objectives are not supported"),
        ((0.1,), "several objectives"),
        (np.array([0.1]), "several objectives"),
        (10**400, "must fit a float"),
    ],
)
def test_a_value_that_is_not_a_number_is_refused(optimizer, value, message):
    trial = optimizer.ask()
    refused(optimizer, TrialError, message, lambda: optimizer.tell(trial, value))


@pytest.mark.parametrize("std", [-0.1, math.nan, math.inf, "0.1", True, [0.1]])
def test_a_std_that_is_not_one_is_refused(optimizer, std):
    trial = optimizer.ask()
    refused(optimizer, TrialError, "std must be", lambda: optimizer.tell(trial, 1.0, std=std))
    params = trial.params
    refused(optimizer, TrialError, "std must be", lambda: optimizer.add(params, 1.0, std=std))


def test_info_that_json_cannot_hold_is_refused(optimizer):
    trial = optimizer.ask()
    endless: dict[str, object] = {}
    endless["me"] = endless
    for info, message in [
        ({"model": object()}, r"info\['model'\] is of type object"),
        ({1: 2}, "text keys"),
        ("note", "must be a dict"),
        (endless, "contains itself"),
    ]:
        refused(
            optimizer, TrialError, message, lambda info=info: optimizer.tell(trial, 1, info=info)
        )


def test_info_is_a_copy(optimizer):
    info = {"curve": [1.0]}
    trial = optimizer.tell(optimizer.ask(), 1.0, info=info)
    info["curve"].append(2.0)
    assert trial.info == {"curve": [1.0]}


def test_a_trial_is_told_once(optimizer):
    finished, failed, released = optimizer.ask(3)
    optimizer.tell(finished, 0.5)
    optimizer.fail(failed, "burst")
    optimizer.release(released)
    for trial, message in [
        (finished, "trial 0 is finished already, with value 0.5"),
        (failed, "trial 1 has failed already: burst"),
        (released, "trial 2 was released"),
    ]:
        for call in (
            lambda trial=trial: optimizer.tell(trial, 1.0),
            lambda trial=trial: optimizer.fail(trial),
            lambda trial=trial: optimizer.release(trial.number),
        ):
            refused(optimizer, TrialError, message, call)


def test_an_unknown_trial_is_refused(optimizer):
    refused(optimizer, TrialError, "none was asked for yet", lambda: optimizer.tell(0, 1.0))
    optimizer.ask(3)
    for number in (3, -1):
        refused(
            optimizer,
            TrialError,
            f"trial {number} is unknown: numbers go from 0 to 2",
            lambda number=number: optimizer.tell(number, 1.0),
        )
    for odd in ("0", None, True, 0.0, {"x": 1.0}):
        refused(
            optimizer,
            TrialError,
            "expected a trial or its number",
            lambda odd=odd: optimizer.tell(odd, 1.0),
        )


def test_a_trial_of_another_optimizer_is_refused(optimizer):
    optimizer.ask()
    other = made(seed=6).ask()
    refused(
        optimizer,
        TrialError,
        "trial 0 of this study has .* another study",
        lambda: optimizer.fail(other),
    )


def test_a_failure_keeps_its_reason(optimizer):
    trial = optimizer.fail(optimizer.ask(), "diverged")
    assert (trial.state, trial.reason, trial.value) == ("failed", "diverged", None)
    assert len(optimizer._state.view.failed) == 1


def test_a_released_trial_teaches_nothing_and_its_number_is_not_used_again(optimizer):
    first = optimizer.ask()
    assert optimizer.release(first) is None
    assert optimizer.trials == []
    assert optimizer.ask().number == 1


def test_an_enqueued_configuration_comes_next_even_if_known(optimizer):
    optimizer.add({"x": 2.0, "m": "a"}, 1.0)
    for x in (2.0, 3.0):
        optimizer.enqueue({"x": x, "m": "a"})
    assert [trial.params["x"] for trial in optimizer.ask(2)] == [2.0, 3.0]
    assert optimizer.explain().source == "queue"
    assert optimizer.ask().why["source"] == "model"


def test_an_illegal_configuration_is_refused_at_once(optimizer):
    params = {"x": 9.0, "m": "a"}
    refused(optimizer, ParamsError, "'x'", lambda: optimizer.enqueue(params))
    refused(optimizer, ParamsError, "'x'", lambda: optimizer.add(params, 1.0))


# Exhaustion


def test_a_list_of_asks_is_cut_when_the_space_runs_out():
    optimizer = made(TINY)
    trials = optimizer.ask(10)
    assert len({TINY.key(trial.params) for trial in trials}) == len(trials) == 6
    for call in (optimizer.ask, lambda: optimizer.ask(2)):
        refused(optimizer, SpaceExhausted, "known", call)
    optimizer.release(trials[2])
    assert optimizer.ask().params == trials[2].params


def test_a_noisy_objective_does_not_exhaust_its_space():
    assert len(made(TINY, noise=True).ask(10)) == 10


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True])
def test_a_number_of_asks_that_is_not_one_is_refused(optimizer, n):
    refused(optimizer, MethodError, "n must be a whole number", lambda: optimizer.ask(n))


def test_a_strategy_that_breaks_half_way_changes_nothing(optimizer):
    class Breaking(Roaming):
        def propose(self, view, rng):
            if view.number == 2:
                raise ZeroDivisionError("half way")
            return super().propose(view, rng)

    optimizer = made(method=Breaking(SPACE))
    refused(optimizer, ZeroDivisionError, "half way", lambda: optimizer.ask(3))


def test_a_strategy_that_proposes_an_illegal_point_is_refused():
    class Straying(Roaming):
        def propose(self, view, rng):
            return Suggestion({"x": 9.0, "m": "a"})

    optimizer = made(method=Straying(SPACE))
    refused(optimizer, ParamsError, "'x'", optimizer.ask)


# Options


@pytest.mark.parametrize("direction", ["min", "Minimize", None, 1])
def test_an_unknown_direction_is_refused_with_the_known_ones(direction):
    with pytest.raises(MethodError, match=f"{direction!r}.*'minimize' or 'maximize'"):
        made(direction=direction)


def test_several_directions_are_not_in_this_version():
    with pytest.raises(MethodError, match="several objectives are not supported"):
        made(direction=["minimize", "maximize"])


@pytest.mark.parametrize("noise", [-1.0, math.nan, math.inf, "yes", [0.1]])
def test_noise_that_is_not_one_is_refused(noise):
    with pytest.raises(MethodError, match="noise must be"):
        made(noise=noise)


@pytest.mark.parametrize("noise", [None, True, False, 0.5, 0, np.bool_(True), np.float32(0.5)])
def test_noise_reaches_the_strategy(noise):
    seen = made(noise=noise)._state.view.noise
    assert seen == noise
    assert type(seen) in (bool, float, type(None))


@pytest.mark.parametrize("seed", [-1, 0.5, "1", True])
def test_a_seed_that_is_not_one_is_refused(seed):
    with pytest.raises(MethodError, match="seed must be"):
        made(seed=seed)


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(MethodError, match=r"'grid'.*random"):
        made(method="grid")


def test_what_is_not_a_space_is_refused():
    with pytest.raises(SpaceError, match="expected a Space"):
        Optimizer({"x": Float(0, 1)})  # type: ignore[arg-type]


# Checks


@pytest.fixture
def checked(monkeypatch):
    """The configurations that the space was asked to check."""
    from outcrop.space import space

    given: list[object] = []
    check = space.checked

    def counted(roots, params):
        given.append(params)
        return check(roots, params)

    monkeypatch.setattr(space, "checked", counted)
    return given


def test_one_call_checks_its_parameters_once(checked):
    optimizer = Optimizer(SPACE, method="random", seed=3)
    optimizer.ask()
    assert len(checked) == 1
    optimizer.enqueue({"x": 1.0, "m": "a"})
    assert len(checked) == 2
    optimizer.ask()  # from the queue
    assert len(checked) == 2
    optimizer.add({"x": 2.0, "m": "a"}, 0.5)
    assert len(checked) == 3


def test_one_stored_event_is_checked_once(checked, tmp_path):
    study = Study(SPACE, "s", f"sqlite:///{tmp_path}/s.db", method="random", seed=3)
    study.ask(4)
    checked.clear()
    assert len(load_study("s", f"sqlite:///{tmp_path}/s.db").trials) == len(checked) == 4
