"""Requests to end a run: by callbacks, objectives and threads."""

from __future__ import annotations

import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest

from outcrop.errors import StudyError
from outcrop.space import Float, Space
from outcrop.study import Study
from tests.study.running.doubles import Diary, studied
from tests.study.running.objectives import bowl
from tests.study.running.test_executors import Submitting


@pytest.fixture
def study():
    return Study(Space({"x": Float(-1, 1)}), method="random", seed=0)


def test_a_callback_ends_its_run_by_a_request(study):
    def callback(study, trial):
        if trial.number == 2:
            study.request_stop("good enough")

    result = study.optimize(bowl, 9, callbacks=callback)
    assert (len(result.trials), result.reason, result.interrupted) == (3, "good enough", False)
    assert study.stopped == "good enough"
    assert len(study.optimize(bowl, 2).trials) == 5, "the study can be continued"


@pytest.mark.parametrize(
    ("returned", "count"), [(True, 3), (None, 9), (1, 9), ("yes", 9), (False, 9)]
)
def test_a_callback_ends_its_run_by_returning_true_and_nothing_else(study, returned, count):
    result = study.optimize(bowl, 9, callbacks=lambda _, t: returned if t.number == 2 else None)
    assert len(result.trials) == count
    if returned is True:
        assert result.reason == study.stopped == "a callback returned True"


def test_stop_in_a_callback_or_an_objective_ends_the_run_as_in_optuna(study):
    result = study.optimize(bowl, 9, callbacks=lambda study, trial: study.stop())
    assert (len(result.trials), result.reason) == (1, "stop requested")

    def objective(params):
        study.stop("the budget is spent")
        return bowl(params)

    result = study.optimize(objective, 9)
    assert (len(result.trials), result.reason) == (2, "the budget is spent")
    assert result.trials[-1].state == "finished"


def test_outside_of_a_run_stop_records_and_a_request_is_refused(study):
    study.stop("for today")
    assert study.stopped == "for today"
    with pytest.raises(StudyError, match="no run of this object is under way"):
        study.request_stop()
    study.optimize(bowl, 1)
    study.stop("again")
    assert study.stopped == "again"


def test_a_request_of_another_thread_lets_what_runs_finish(study):
    together = threading.Barrier(2, timeout=60)

    def objective(params):
        if together.wait() == 0:
            study.request_stop("by a thread")
        together.wait()  # both still run
        return bowl(params)

    with ThreadPoolExecutor(2) as executor:
        result = study.optimize(objective, 9, executor=executor)
    assert [trial.state for trial in result.trials] == ["finished"] * 2
    assert result.reason == "by a thread"


def test_a_callback_ends_its_own_run_only(study):
    """Another thread runs the same study; its end is recorded, and is no request either."""
    ended = threading.Event()

    def other():
        study.optimize(bowl, 1, callbacks=lambda study, trial: study.stop("the other"))
        ended.set()

    def callback(_, trial):
        if trial.number == 0:
            threading.Thread(target=other).start()
            assert ended.wait(60)

    result = study.optimize(bowl, 5, callbacks=callback)
    assert (len(result.trials), result.reason) == (6, "n_trials done")


def test_a_run_that_fails_is_recorded_although_it_took_requests(study):
    def callback(study, trial):
        study.request_stop("enough")
        raise RuntimeError("too much")

    with pytest.raises(RuntimeError, match="too much"):
        study.optimize(bowl, 9, callbacks=callback)
    assert study.stopped == "error: RuntimeError: too much"


# Callbacks see every trial


def test_a_trial_that_was_told_when_ctrl_c_came_is_seen_by_all_callbacks():
    class Pressed(Diary):
        def tell(self, trial, value, *, std=None, info=None):
            if trial.number == 1:
                signal.raise_signal(signal.SIGINT)
            return super().tell(trial, value, std=std, info=info)

    seen = []
    see = [lambda _, t: seen.append(("a", t.number)), lambda _, t: seen.append(("b", t.number))]
    assert studied(bowl, 9, study=Pressed(), callbacks=see).interrupted
    assert seen == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


@pytest.mark.parametrize("ending", [KeyboardInterrupt, RuntimeError])
def test_trials_that_are_told_while_a_run_ends_are_seen_by_callbacks(ending, caplog):
    study, seen = Diary(), []
    executor = Submitting(study, [10, 20, 20])
    futures = []
    submit = executor.submit
    executor.submit = lambda *arguments: futures.append(submit(*arguments)) or futures[-1]

    def callback(study, trial):
        seen.append(trial.number)
        if trial.number == 0:
            for future in futures:
                future.looks, future.cancel = 0, lambda: None
            raise ending
        raise ValueError("logged")

    options = {"executor": executor, "n_workers": 3, "callbacks": callback}
    with nullcontext() if ending is KeyboardInterrupt else pytest.raises(ending):
        assert studied(bowl, 9, study=study, **options).interrupted
    assert seen == [0, 1, 2]
    assert [trial.state for trial in study.trials] == ["finished"] * 3
    assert caplog.text.count("a callback failed after the run: ValueError: logged") == 2


def test_a_queued_configuration_that_is_given_back_is_queued_again(study):
    study.enqueue({"x": 0.25})
    study.optimize(lambda p: signal.raise_signal(signal.SIGINT), 9)
    assert study.trials == []
    assert study.ask().params == {"x": 0.25}
