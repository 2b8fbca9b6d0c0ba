"""Runs in this process: what is told, when a run ends, what it leaves behind."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from outcrop.errors import MethodError, NoBelief, ObjectiveError, StorageError
from outcrop.space import Choice, Int, Space
from outcrop.study.running import Target, loop, run, running_trials
from outcrop.study.running.progress import RunTally
from outcrop.study.running.workers import InProcess
from tests.study.running.doubles import Clock, Diary, studied
from tests.study.running.objectives import bowl


def test_a_run_tells_every_value_and_keeps_every_trial():
    study = Diary()
    result = studied(bowl, 60, study=study)
    assert len(result.trials) == 60
    assert result.best_value == bowl(result.best_params) == min(t.value for t in result.trials)
    assert result.best_value < 0.05
    assert result.best_trial in result.trials
    assert (result.n_failed, result.interrupted, result.reason) == (0, False, "n_trials done")
    assert study.stopped == ["n_trials done"]
    assert len(result.to_frame()) == 60
    assert "60 trials, 0 failed, n_trials done" in repr(result)
    assert result.study is study


def test_the_best_of_a_study_that_maximises_is_the_largest():
    result = studied(bowl, 10, study=Diary(direction="maximize"))
    assert result.best_value == max(trial.value for trial in result.trials)


def test_n_trials_counts_the_trials_of_one_call_failures_included():
    study = Diary()
    studied(bowl, 3, study=study)
    result = studied(lambda p: float("nan"), 4, study=study)
    assert [trial.state for trial in result.trials] == ["finished"] * 3 + ["failed"] * 4


def test_the_objective_gets_a_flat_dict_of_its_own():
    space = Space({"m": Choice({"b": {"k": Int(1, 9)}})})
    seen = []

    def objective(params):
        assert list(params) == ["m", "m.b.k"]
        seen.append(params.pop("m.b.k"))
        return 1.0

    result = studied(objective, 3, study=Diary(space))
    assert [trial.params["m.b.k"] for trial in result.trials] == seen


def test_an_objective_with_a_method_evaluate_gets_the_trial():
    class Evaluator:
        def evaluate(self, trial):
            return 10 * trial.number + (trial.state == "running")

    assert [trial.value for trial in studied(Evaluator(), 3).trials] == [1, 11, 21]


@pytest.mark.parametrize("objective", [3, None, "bowl"])
def test_an_objective_that_cannot_be_called_is_refused_before_anything_is_asked(objective):
    study = Diary()
    with pytest.raises(ObjectiveError, match="expected a function of a dict"):
        studied(objective, 3, study=study)
    assert (study.acts, study.stopped) == ([], [])


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (float("nan"), "the value is nan"),
        (float("-inf"), "the value is -inf"),
        (None, "returned None, expected a number: does it end without `return`?"),
        ("low", "returned 'low'"),
        ([1.0, 2.0], "several objectives"),
        (True, "returned True"),
    ],
)
def test_a_run_may_record_what_is_no_finite_number_as_a_failure(returned, reason, caplog):
    result = studied(lambda p: returned, 7, on_error="record")
    assert result.n_failed == 7
    assert all(reason in trial.reason for trial in result.trials)
    assert "nothing finished, 7 trials, 7 failed" in repr(result)
    assert "none of 7 trials gave a value" in caplog.text
    with pytest.raises(NoBelief):
        _ = result.best_trial


def test_an_objective_that_raises_fails_its_trial_with_type_message_and_traceback():
    def objective(params):
        if params["x"] > 0.5:
            raise ValueError("too high")
        return bowl(params)

    result = studied(objective, 30)
    failed = [trial for trial in result.trials if trial.state == "failed"]
    assert 0 < len(failed) == result.n_failed < 30
    assert all(trial.params["x"] > 0.5 for trial in failed)
    assert failed[0].reason == "ValueError: too high"
    assert 'raise ValueError("too high")' in failed[0].info["traceback"]


def test_an_exception_that_cannot_be_shown_is_a_failure_too():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    raised = iter([None, Mute(), RuntimeError(), None])

    def objective(params):
        if error := next(raised):
            raise error
        return 1.0

    assert [trial.reason for trial in studied(objective, 4).trials] == [
        "",
        "Mute",
        "RuntimeError",
        "",
    ]


def test_a_space_that_is_used_up_ends_the_run():
    study = Diary(Space({"n": Int(1, 4)}))
    result = studied(lambda p: p["n"], 50, study=study)
    assert sorted(trial.value for trial in result.trials) == [1, 2, 3, 4]
    assert not result.interrupted
    assert study.stopped == [result.reason] == ["space exhausted"]


def test_a_run_ends_by_its_timeout_and_starts_nothing_after_it(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(loop, "RunTally", partial(RunTally, clock=clock))

    def objective(params):
        clock.now += 30.0
        return 1.0

    result = studied(objective, timeout=50.0)
    assert [trial.state for trial in result.trials] == ["finished"] * 2
    assert result.reason == "timeout"


def test_a_run_needs_an_end():
    with pytest.raises(MethodError, match="a run needs a limit: pass n_trials="):
        studied(bowl)
    assert studied(lambda p: 2.0, stop=[Target(10.0)]).reason == "target 10 reached: 2"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trials": 0}, "n_trials must be a whole number"),
        ({"n_trials": 2.5}, "n_trials must be a whole number"),
        ({"timeout": -1}, "timeout must be a number of seconds above 0"),
        ({"timeout": "soon"}, "timeout must be a number of seconds above 0"),
        ({"n_workers": 0}, "n_workers must be a whole number"),
        ({"trial_timeout": float("nan")}, "trial_timeout must be a number of seconds"),
        ({"callbacks": [3]}, "callbacks must hold functions, got 3"),
        ({"callbacks": 3}, "callbacks must be a list of functions, got 3"),
        ({"stop": Target}, r"stop: Target is a class; write Target\("),
        ({"progress": "bar"}, "progress must be True, False or 'auto'"),
        ({"on_error": "ignore"}, "on_error must be 'stop' or 'record', got 'ignore'"),
        ({"executor": 3}, "executor=3: expected an object with a method submit"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_asked(options, message):
    study = Diary()
    with pytest.raises(MethodError, match=message):
        studied(bowl, **({"n_trials": 3, "study": study} | options))
    assert (study.acts, study.stopped) == ([], [])


def test_callbacks_see_the_study_and_every_trial_once_it_is_done():
    seen = []

    def callback(study, trial):
        assert isinstance(study, Diary)
        assert study.trials[-1] is trial
        seen.append((trial.number, trial.state))

    objective = lambda p: float("nan") if len(seen) == 1 else 1.0  # noqa: E731
    studied(objective, 3, callbacks=iter([callback]))
    assert seen == [(0, "finished"), (1, "failed"), (2, "finished")]


def test_an_exception_of_a_callback_ends_the_run_and_carries_the_trials_so_far():
    def callback(study, trial):
        if trial.number == 3:
            raise RuntimeError("enough")

    study = Diary()
    with pytest.raises(RuntimeError, match="enough") as caught:
        studied(bowl, 9, study=study, callbacks=callback)
    assert len(caught.value.result.trials) == 4
    assert "result" in caught.value.__notes__[0]
    assert study.stopped == ["error: RuntimeError: enough"]


def test_an_objective_that_exits_gives_its_trial_back():
    def objective(params):
        raise SystemExit(3)

    study = Diary()
    with pytest.raises(SystemExit):
        studied(objective, 3, study=study)
    assert study.acts == [("ask", 0), ("release", 0)]


def test_a_store_that_is_gone_is_what_the_user_hears_of(caplog):
    class Gone(Diary):
        def tell(self, *args, **kwargs):
            self.acts.append(("tell", -1))
            raise StorageError("the disk is full")

        release = stop = tell

    study = Gone()
    with pytest.raises(StorageError, match="the disk is full"):
        studied(lambda p: 2.5, 3, study=study)
    assert len(study.acts) == 3, "asked, told, told once more; each may take a minute to fail"
    assert "trial 0 is not told: value 2.5" in caplog.text


@pytest.mark.parametrize("end", ["release", "tell", "fail"])
def test_a_trial_that_somebody_else_ended_costs_nothing_but_itself(end, caplog):
    def objective(params):
        if study.acts[-1] == ("ask", 1):
            getattr(study.optimizer, end)(*((1, 7.0) if end == "tell" else (1,)))
        return 2.5

    study, seen = Diary(), []
    result = studied(objective, 4, study=study, callbacks=lambda _, trial: seen.append(trial))
    assert [trial.value for trial in seen] == [2.5, 2.5, 2.5]
    expected = {"release": [2.5, 2.5, 2.5], "tell": [2.5, 7.0, 2.5, 2.5]}
    values = [trial.value for trial in result.trials]
    assert values == expected.get(end, [2.5, None, 2.5, 2.5])
    assert "the outcome of a trial is not kept (value 2.5): trial 1 " in caplog.text


def test_workers_are_ended_though_nobody_can_be_shown_the_result(monkeypatch):
    class Broken:
        def update(self):
            raise BrokenPipeError

        close = update

    class Counted(InProcess):
        def stop(self):
            stopped.append(self)

    stopped = []
    monkeypatch.setattr(loop, "progress_view", lambda *_: Broken())
    monkeypatch.setattr(loop, "workers_for", lambda *given: Counted(given[0], given[-1]))
    study = Diary()
    with pytest.raises(BrokenPipeError):
        studied(bowl, 3, study=study)
    assert stopped
    assert study.acts == [("ask", 0), ("release", 0)]


# Leases


def test_trials_are_asked_with_a_lease_that_a_thread_renews_while_the_objective_runs(monkeypatch):
    monkeypatch.setattr(running_trials, "LEASE", 0.15)
    study = Diary()

    def objective(params):
        count = len(study.renewed)
        while len(study.renewed) < count + 2:
            time.sleep(0.01)
        return 1.0

    studied(objective, 2, study=study)
    assert study.leases == [0.15, 0.15]
    numbers = [renewed[0] for renewed in study.renewed]
    assert numbers.count([0]) >= 2
    assert numbers.count([1]) >= 2
    assert all(lease == 0.15 for _, lease, _ in study.renewed)
    assert {thread for *_, thread in study.renewed} == {"outcrop-heartbeat"}
    assert "outcrop-heartbeat" not in [thread.name for thread in threading.enumerate()]


def test_a_lease_that_cannot_be_renewed_is_logged_and_tried_again(monkeypatch, caplog):
    class Deaf(Diary):
        def renew(self, trials, lease):
            super().renew(trials, lease)
            raise StorageError("locked")

    monkeypatch.setattr(running_trials, "LEASE", 0.03)
    study = Deaf()

    def objective(params):
        while len(study.renewed) < 2:
            time.sleep(0.01)
        return 1.0

    assert studied(objective, 1, study=study).best_value == 1.0
    assert "the leases of trials [0] could not be renewed: locked" in caplog.text


def test_a_trial_that_is_offered_again_while_it_still_runs_is_told_twice():
    """Its lease ran out, as after a night in which the computer slept."""

    class Offering(Diary):
        def ask(self, *, lease=None, total=None, remaining=None, worker=None):
            if len(self.trials) == 1 and ("tell", 0) not in self.acts:
                self.acts.append(("ask", 0))
                return self.trials[0]
            return super().ask(lease=lease)

        def tell(self, trial, value, *, std=None, info=None):
            if trial.number == 0 and ("tell", 0) in self.acts:
                self.acts.append(("late", 0))
                return self.trials[0]
            return super().tell(trial, value, std=std, info=info)

    from concurrent.futures import ThreadPoolExecutor

    study = Offering()
    both = threading.Barrier(2, timeout=60)
    with ThreadPoolExecutor(2) as executor:
        run(study, lambda p: both.wait(), 2, executor=executor, progress=False)
    assert study.acts == [("ask", 0), ("ask", 0), ("tell", 0), ("late", 0)]
