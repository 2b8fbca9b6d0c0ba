"""Runs on executors of the user's, of which only the common part is relied on."""

from __future__ import annotations

import multiprocessing
import signal
import threading
import time
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import AllTrialsFailed, MethodError, ObjectiveError
from outcrop.space import Int, Space
from outcrop.study.running import loop
from outcrop.study.running.progress import RunTally
from tests.study.running.doubles import Clock, Diary, studied
from tests.study.running.objectives import bowl


class Polled:
    """A future that is done when it has been looked at often enough, and can do no more."""

    def __init__(self, study, trial, looks, result):
        self.study, self.trial, self.looks, self.outcome = study, trial, looks, result

    def done(self):
        if self.looks == 0:
            self.study.acts.append(("done", self.trial.number))
        self.looks -= 1
        return self.looks < 0

    def result(self):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


class Submitting:
    """An executor with a method `submit` and nothing else."""

    def __init__(self, study, looks, failure=None):
        self.study, self.looks, self.failure = study, iter(looks), failure

    def submit(self, function, objective, trial, call):
        result = self.failure or function(objective, trial, call)
        return Polled(self.study, trial, next(self.looks, 0), result)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 4), max_size=8), st.integers(1, 5))
def test_every_ask_comes_after_all_that_had_arrived_was_told(looks, n_workers):
    study = Diary()
    studied(bowl, 8, study=study, executor=Submitting(study, looks), n_workers=n_workers)
    arrived: set[int] = set()
    told: set[int] = set()
    asked: set[int] = set()
    for act, number in study.acts:
        {"done": arrived, "tell": told, "ask": asked}[act].add(number)
        if act == "ask":
            assert arrived == told
            assert len(asked) - len(told) <= n_workers
    assert asked == told == set(range(8))


def test_what_arrives_during_a_callback_is_told_before_the_next_ask():
    study = Diary()
    executor = Submitting(study, [10, 10_000])
    futures = []
    submit = executor.submit
    executor.submit = lambda *arguments: futures.append(submit(*arguments)) or futures[-1]

    def callback(study, trial):
        if trial.number == 0:
            futures[1].looks = 0

    studied(bowl, 3, study=study, executor=executor, n_workers=2, callbacks=callback)
    acts = [act for act in study.acts if act[0] != "done"]
    assert acts == [("ask", 0), ("ask", 1), ("tell", 0), ("tell", 1), ("ask", 2), ("tell", 2)]


def test_threads_evaluate_as_many_trials_at_once_as_the_executor_has():
    together = threading.Barrier(3, timeout=60)  # broken unless three wait at once
    with ThreadPoolExecutor(3) as executor:
        result = studied(lambda p: together.wait(), 6, executor=executor)
        assert executor.submit(int, "3").result() == 3, "it still belongs to the user"
    assert sorted(trial.value for trial in result.trials) == [0, 0, 1, 1, 2, 2]


def test_n_workers_says_how_many_trials_an_executor_is_given_at_once():
    busy, most = set(), []

    def objective(params):
        busy.add(params["x"])
        most.append(len(busy))
        time.sleep(0.01)
        busy.remove(params["x"])
        return 1.0

    with ThreadPoolExecutor(8) as executor:
        studied(objective, 9, executor=executor, n_workers=2)
    assert max(most) <= 2


def test_an_executor_of_unknown_size_is_given_one_trial_at_a_time_and_that_is_said(caplog):
    study = Diary()
    studied(bowl, 4, study=study, executor=Submitting(study, []))
    assert [act for act, _ in study.acts] == ["ask", "done", "tell"] * 4
    assert "set their number with n_workers=" in caplog.text


def test_a_trial_timeout_is_refused_on_an_executor():
    with ThreadPoolExecutor(1) as executor, pytest.raises(MethodError, match=r"trial_timeout=2\.0"):
        studied(bowl, 3, executor=executor, trial_timeout=2.0)


def test_what_runs_when_the_time_is_over_is_finished(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(loop, "RunTally", partial(RunTally, clock=clock))
    together = threading.Barrier(2, timeout=60)

    def objective(params):
        together.wait()
        clock.now += 60.0  # while both run
        together.wait()
        return 1.0

    with ThreadPoolExecutor(2) as executor:
        result = studied(objective, 50, executor=executor, timeout=50.0)
    assert [trial.state for trial in result.trials] == ["finished"] * 2
    assert result.reason == "timeout"


def test_what_runs_when_the_space_is_used_up_is_finished():
    study = Diary(Space({"n": Int(1, 3)}))
    together = threading.Barrier(3, timeout=60)

    def objective(params):
        together.wait()
        return params["n"]

    with ThreadPoolExecutor(5) as executor:
        result = studied(objective, 50, study=study, executor=executor)
    assert sorted(trial.value for trial in result.trials) == [1, 2, 3]
    assert study.stopped == ["space exhausted"]


def test_a_stopping_rule_lets_what_runs_finish():
    together = threading.Barrier(2, timeout=60)

    def objective(params):
        together.wait()
        return 1.0

    def rule(study):
        return "enough" if any(trial.state == "finished" for trial in study.trials) else None

    with ThreadPoolExecutor(2) as executor:
        result = studied(objective, executor=executor, stop=rule)
    assert [trial.state for trial in result.trials] == ["finished"] * 2
    assert result.reason == "enough"


def test_an_exception_of_a_callback_gives_back_what_runs_on_an_executor():
    study = Diary()

    def callback(study, trial):
        raise RuntimeError("enough")

    looks = [10, 1000, 1000]  # so that all three run when the first is done
    with pytest.raises(RuntimeError, match="enough"):
        studied(
            bowl,
            9,
            study=study,
            executor=Cancelling(study, looks),
            n_workers=3,
            callbacks=[callback],
        )
    assert [trial.number for trial in study.trials] == [0]
    assert study.acts[-4:] == [("cancel", 1), ("cancel", 2), ("release", 1), ("release", 2)]


class Cancelling(Submitting):
    """An executor whose futures can be cancelled too."""

    def submit(self, function, objective, trial, call):
        future = super().submit(function, objective, trial, call)
        future.cancel = lambda: self.study.acts.append(("cancel", trial.number))
        return future


def test_ctrl_c_does_not_part_the_locks_of_a_pool_from_their_release():
    study = Diary()
    looked = []

    class Locked(Polled):
        def done(self):
            looked.append("locked")
            if len(looked) < 2:
                signal.raise_signal(signal.SIGINT)
            looked.append("released")
            return super().done()

    class Locking(Submitting):
        def submit(self, function, objective, trial, call):
            return Locked(self.study, trial, 3, None)

    executor = Locking(study, [])
    Locked.cancel = lambda future: study.acts.append(("cancel", future.trial.number))
    result = studied(bowl, 9, study=study, executor=executor, n_workers=1)
    assert result.interrupted
    assert looked[:4] == ["locked", "released"] * 2
    assert study.acts == [("ask", 0), ("cancel", 0), ("release", 0)]


def test_an_executor_that_takes_nothing_more_is_a_clear_error_and_the_trial_is_given_back():
    study = Diary()
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ObjectiveError, match=r"the executor accepts no trials .*after shutdown"):
        studied(bowl, 3, study=study, executor=executor)
    assert study.acts == [("ask", 0), ("release", 0)]


def test_an_objective_that_an_executor_cannot_send_is_refused_with_a_hint():
    study = Diary()
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as executor,
        pytest.raises(ObjectiveError, match="cannot send the objective to its workers") as caught,
    ):
        studied(lambda p: 1.0, 3, study=study, executor=executor)
    assert caught.value.__suppress_context__
    assert study.acts == [("ask", 0), ("release", 0)]


def test_errors_of_the_executor_are_failures_and_hopeless_if_there_is_nothing_else():
    study = Diary()
    executor = Submitting(study, [], failure=ConnectionError("worker lost"))
    with pytest.raises(AllTrialsFailed, match="worker lost"):
        studied(bowl, 9, study=study, executor=executor, n_workers=1)
    assert study.trials[0].reason == "ConnectionError: worker lost"


def test_a_broken_executor_is_known_by_its_error():
    study = Diary()
    executor = Submitting(study, [], failure=BrokenExecutor("gone"))
    with pytest.raises(ObjectiveError, match=r"broke \(BrokenExecutor: gone\)"):
        studied(bowl, 9, study=study, executor=executor, n_workers=1)
    assert study.acts[-1] == ("release", 0)
    assert study.trials == []


def test_a_trial_that_the_executor_cancels_is_given_back_and_another_takes_its_place():
    study = Diary()
    executor = Submitting(study, [])
    submit = executor.submit

    def cancelling(function, objective, trial, call):
        executor.failure = CancelledError() if trial.number == 1 else None
        return submit(function, objective, trial, call)

    executor.submit = cancelling
    result = studied(bowl, 4, study=study, executor=executor, n_workers=1)
    assert [trial.number for trial in result.trials] == [0, 2, 3, 4]
    assert {trial.state for trial in result.trials} == {"finished"}


def test_an_executor_that_cancels_everything_is_broken():
    study = Diary()
    executor = Submitting(study, [], failure=CancelledError())
    with pytest.raises(ObjectiveError, match=r"broke \(it cancelled 5 trials in a row\)"):
        studied(bowl, 99, study=study, executor=executor, n_workers=1)
    assert study.trials == []


def test_a_module_that_workers_lack_is_named_with_the_remedy():
    study = Diary()
    executor = Submitting(study, [], failure=ModuleNotFoundError("No module named 'sim'"))
    with pytest.raises(ObjectiveError, match=r"No module named 'sim'\); its module must be inst"):
        studied(bowl, 9, study=study, executor=executor, n_workers=1)
    assert study.acts[-1] == ("release", 0)


def test_every_call_of_an_executor_is_different_even_for_equal_trials():
    study, calls = Diary(), []
    executor = Submitting(study, [])
    submit = executor.submit
    executor.submit = lambda *arguments: calls.append(arguments[-1]) or submit(*arguments)
    studied(bowl, 6, study=study, executor=executor, n_workers=2)
    assert len(set(calls)) == 6
