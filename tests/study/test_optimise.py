"""`minimize` and `maximize`."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

from outcrop.errors import AllTrialsFailed, MethodError, NoBelief, ObjectiveError
from outcrop.space import Choice, Float, Int, Space
from outcrop.study import Study, maximize, minimize
from tests.study.doubles import Roaming

SPACE = Space({"x": Float(-1, 1)})


def bowl(params):
    return (params["x"] - 0.3) ** 2


def run(objective, n_trials=20, search=minimize, space=SPACE, **options):
    return search(objective, space, n_trials, **({"method": Roaming(space), "seed": 1} | options))


def test_minimize_finds_low_values_and_keeps_every_trial():
    result = run(bowl, 60)
    assert len(result.trials) == 60
    assert result.best_value == bowl(result.best_params) == min(t.value for t in result.trials)
    assert result.best_value < 0.05
    assert result.best_trial in result.trials
    assert (result.n_failed, result.interrupted) == (0, False)
    assert len(result.to_frame()) == 60
    assert "60 trials, 0 failed" in repr(result)


def test_maximize_mirrors_minimize():
    low = run(bowl)
    high = run(lambda p: -bowl(p), search=maximize)
    assert [t.params for t in low.trials] == [t.params for t in high.trials]
    assert low.best_value == -high.best_value


def test_the_objective_gets_a_plain_flat_dict_of_its_own():
    space = Space({"m": Choice({"b": {"k": Int(1, 9)}})})
    seen = []

    def objective(params):
        assert type(params) is dict
        seen.append(params.pop("m.b.k"))
        return 1.0

    result = run(objective, 3, space=space)
    assert [trial.params["m.b.k"] for trial in result.trials] == seen


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (float("nan"), "the value is nan"),
        (float("-inf"), "the value is -inf"),
        (None, "a value must be a number, got None"),
        ("low", "got 'low'"),
        ([1.0, 2.0], "several objectives"),
        (True, "got True"),
    ],
)
def test_an_objective_that_returns_no_finite_number_fails_its_trial(returned, reason):
    result = run(lambda p: returned, 7)
    assert result.n_failed == 7
    assert all(reason in trial.reason for trial in result.trials)
    assert "nothing finished, 7 trials, 7 failed" in repr(result)
    with pytest.raises(NoBelief):
        _ = result.best_trial


def test_an_objective_that_raises_fails_its_trial_with_type_message_and_traceback():
    def objective(params):
        if params["x"] > 0.5:
            raise ValueError("too high")
        return bowl(params)

    result = run(objective, 30)
    failed = [trial for trial in result.trials if trial.state == "failed"]
    assert 0 < len(failed) == result.n_failed < 30
    assert all(trial.params["x"] > 0.5 for trial in failed)
    assert failed[0].reason == "ValueError: too high"
    assert 'raise ValueError("too high")' in failed[0].info["traceback"]


def test_an_exception_that_cannot_be_shown_is_a_failure_too():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 2:
            raise Mute
        if len(calls) == 3:
            raise RuntimeError
        return 1.0

    reasons = [trial.reason for trial in run(objective, 4).trials]
    assert reasons == ["", "Mute", "RuntimeError", ""]


def test_five_raises_from_the_start_stop_the_run_with_the_first_traceback():
    calls = []

    def objective(params):
        calls.append(params)
        raise KeyError(f"call {len(calls)}")

    with pytest.raises(AllTrialsFailed, match="first 5 trials all raised") as caught:
        run(objective)
    assert len(calls) == 5
    assert "KeyError: 'call 1'" in str(caught.value)
    assert len(run(objective, 4).trials) == 4, "a short run ends before it is hopeless"


@pytest.mark.parametrize("good", range(5))
def test_a_run_goes_on_if_one_of_the_first_five_did_not_raise(good):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) != good + 1:
            raise ValueError
        return float("nan") if good == 4 else 1.0

    assert len(run(objective, 12).trials) == 12


def test_a_space_that_is_used_up_ends_the_run():
    space = Space({"n": Int(1, 4)})
    result = run(lambda p: p["n"], 50, space=space)
    assert sorted(trial.value for trial in result.trials) == [1, 2, 3, 4]
    assert not result.interrupted


def test_ctrl_c_gives_the_running_trial_back_and_keeps_the_rest(caplog):
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return bowl(params)

    with caplog.at_level(logging.WARNING):
        result = run(objective)
    assert result.interrupted
    assert [trial.state for trial in result.trials] == ["finished"] * 3
    assert "trial 3 is given back" in caplog.text
    assert "3 trials are kept" in caplog.text
    assert "interrupted" in repr(result)
    assert result.study.ask().number == 4


def test_ctrl_c_between_evaluations_keeps_every_trial():
    class Interrupted(Roaming):
        def propose(self, view, rng):
            if view.number == 2:
                raise KeyboardInterrupt
            return super().propose(view, rng)

    def callback(study, trial):
        raise KeyboardInterrupt

    assert len(run(bowl, method=Interrupted(SPACE)).trials) == 2
    assert len(run(bowl, callbacks=[callback]).trials) == 1


def test_callbacks_see_the_optimizer_and_every_trial_once_it_is_done():
    seen = []

    def callback(study, trial):
        assert isinstance(study, Study)
        assert study.trials[-1] is trial
        seen.append((trial.number, trial.state))

    run(lambda p: float("nan") if len(seen) == 1 else 1.0, 3, callbacks=iter([callback]))
    assert seen == [(0, "finished"), (1, "failed"), (2, "finished")]


@pytest.mark.parametrize("n_trials", [0, -1, 2.5, "3"])
def test_a_number_of_trials_that_is_not_one_is_refused(n_trials):
    with pytest.raises(MethodError, match="n_trials must be a whole number"):
        run(bowl, n_trials)


def test_progress_is_silent_where_there_is_no_terminal(capsys):
    run(bowl)
    assert capsys.readouterr() == ("", "")


def test_progress_that_is_wanted_writes_a_line_for_every_tenth(capsys):
    run(lambda p: float("nan") if p["x"] < -0.5 else 2.5, 40, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 10
    assert err.splitlines()[-1].startswith("trial 40/40, best 2.5, ")


def test_progress_of_another_kind_is_refused():
    with pytest.raises(MethodError, match="progress must be True, False or 'auto'"):
        run(bowl, progress="bar")


def test_a_run_needs_no_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert len(run(bowl, 3, progress=True).trials) == 3


def test_importing_a_study_loads_neither_pandas_nor_scipy_stats():
    code = "import sys, outcrop.study; print({'pandas', 'scipy.stats'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_an_exception_of_a_callback_carries_the_trials_so_far():
    def stop(optimizer, trial):
        if trial.number == 3:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError) as caught:
        minimize(lambda p: p["x"], SPACE, 9, method="random", seed=0, callbacks=[stop])
    assert len(caught.value.result.trials) == 4
    assert "result" in caught.value.__notes__[0]


def test_an_objective_that_never_returns_a_number_is_warned_of(caplog):
    result = minimize(lambda p: None, SPACE, 7, method="random", seed=0)
    assert result.n_failed == 7
    assert "none of 7 trials gave a value" in caplog.text


def test_an_objective_that_cannot_be_called_is_refused():
    with pytest.raises(ObjectiveError, match="expected a function"):
        minimize(3, SPACE, 3)
