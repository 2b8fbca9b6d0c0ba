"""Ctrl-C at any moment of a run."""

from __future__ import annotations

import logging
import signal

import pytest

from tests.study.doubles import Roaming
from tests.study.running.doubles import SPACE, Diary, studied
from tests.study.running.objectives import bowl


def test_ctrl_c_gives_the_running_trial_back_and_keeps_the_rest(caplog):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return bowl(params)

    study = Diary()
    with caplog.at_level(logging.WARNING):
        result = studied(objective, 20, study=study)
    assert result.interrupted
    assert [trial.state for trial in result.trials] == ["finished"] * 3
    assert "interrupted: trial 3 is given back, {'x'" in caplog.text
    assert "3 trials are kept" in caplog.text
    assert "interrupted" in repr(result)
    assert study.stopped == [result.reason] == ["interrupted"]
    assert study.ask().number == 4


def test_ctrl_c_between_evaluations_keeps_every_trial():
    class Interrupted(Roaming):
        def propose(self, view, rng):
            if view.number == 2:
                raise KeyboardInterrupt
            return super().propose(view, rng)

    def callback(study, trial):
        raise KeyboardInterrupt

    assert len(studied(bowl, 9, study=Diary(method=Interrupted(SPACE))).trials) == 2
    assert len(studied(bowl, 9, callbacks=[callback]).trials) == 1


@pytest.mark.parametrize("moment", ["ask", "tell"])
def test_ctrl_c_while_the_study_writes_waits_until_it_has_written(moment):
    class Pressed(Diary):
        def ask(self, *, lease=None, total=None, remaining=None, worker=None):
            if moment == "ask" and len(self.trials) == 2:
                signal.raise_signal(signal.SIGINT)
            return super().ask(lease=lease)

        def tell(self, trial, value, *, std=None, info=None):
            if moment == "tell" and trial.number == 2:
                signal.raise_signal(signal.SIGINT)
            return super().tell(trial, value, std=std, info=info)

    study = Pressed()
    result = studied(bowl, 9, study=study)
    assert result.interrupted
    assert study.acts[-2:] == [("ask", 2), ("release" if moment == "ask" else "tell", 2)]
    assert len(result.trials) == (2 if moment == "ask" else 3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_during_the_cleanup_changes_nothing():
    class Pressed(Diary):
        def release(self, trial):
            signal.raise_signal(signal.SIGINT)
            super().release(trial)

    def objective(params):
        if len(study.trials) == 3:
            signal.raise_signal(signal.SIGINT)
        return 1.0

    study = Pressed()
    result = studied(objective, 9, study=study)
    assert result.interrupted
    assert [trial.state for trial in study.trials] == ["finished"] * 2
    assert study.stopped == ["interrupted"]


def test_the_third_ctrl_c_is_raised_wherever_it_comes():
    class Stuck(Diary):
        def ask(self, *, lease=None, total=None, remaining=None, worker=None):
            for count in range(1, 9):
                presses.append(count)
                signal.raise_signal(signal.SIGINT)
            raise AssertionError("it went on")

    presses = []
    assert studied(bowl, 3, study=Stuck()).interrupted
    assert presses == [1, 2, 3]


def test_ctrl_c_when_all_is_done_is_reported_with_all_that_was_done():
    class Pressed(Diary):
        def stop(self, reason):
            super().stop(reason)
            signal.raise_signal(signal.SIGINT)

    result = studied(bowl, 3, study=Pressed())
    assert (len(result.trials), result.interrupted, result.reason) == (3, True, "n_trials done")


def test_a_handler_of_the_users_own_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))
    try:
        result = studied(lambda p: signal.raise_signal(signal.SIGINT) or 1.0, 3)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(heard) == len(result.trials) == 3


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_end_is_treated_like_ctrl_c(name, caplog):
    number = getattr(signal, name)

    def objective(params):
        if len(study.trials) == 3:
            signal.raise_signal(number)
        return bowl(params)

    study = Diary()
    with caplog.at_level(logging.WARNING):
        result = studied(objective, 9, study=study)
    assert (result.interrupted, result.signal) == (True, number)
    assert study.acts[-2:] == [("ask", 2), ("release", 2)]
    assert study.stopped == [result.reason] == [f"interrupted by {name}"]
    assert f"interrupted by {name}: 2 trials are kept" in caplog.text
    assert signal.getsignal(number) is signal.SIG_DFL


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda number, frame: None])
def test_a_signal_that_is_ignored_or_handled_by_the_user_is_left_alone(handler):
    before = signal.signal(signal.SIGTERM, handler)
    try:
        result = studied(lambda p: signal.raise_signal(signal.SIGTERM) or 1.0, 3)
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (len(result.trials), result.interrupted, result.signal) == (3, False, None)
