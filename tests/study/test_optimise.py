"""`minimize` and `maximize`."""

from __future__ import annotations

import inspect
import logging
import subprocess
import sys

import pytest

from outcrop.errors import MethodError, NoBelief, ObjectiveError
from outcrop.space import Float, Int, Space
from outcrop.study import Study, maximize, minimize
from outcrop.study.running import loop
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


def test_an_objective_that_returns_no_number_is_refused_unless_it_is_to_be_recorded():
    with pytest.raises(ObjectiveError, match="does it end without `return`"):
        run(lambda p: None, 7)
    result = run(lambda p: None, 7, on_error="record")
    assert "nothing finished, 7 trials, 7 failed" in repr(result)
    with pytest.raises(NoBelief):
        _ = result.best_trial


def test_every_option_of_a_run_is_written_out_in_each_signature():
    def options(function):
        found = inspect.signature(function).parameters.values()
        return {each.name: each for each in found if each.name != "requested"}

    of_run = {name: each for name, each in options(loop.run).items() if name != "study"}
    of_study = options(Study.optimize)
    assert of_study.pop("self")
    assert of_study == of_run
    assert options(minimize) == options(maximize)
    shared = options(Study.__init__) | of_run
    for name, each in options(minimize).items():
        assert each.kind is not inspect.Parameter.VAR_KEYWORD
        if name != "n_trials":  # which has a default here
            assert each == shared[name]
    of_shared_studies = {"worker", "drain"}
    assert of_run.keys() - of_shared_studies <= options(minimize).keys()


@pytest.mark.parametrize("given", [["minimize", "maximize"], ("minimize", "minimize")])
def test_several_objectives_are_refused_before_the_first_trial(given):
    with pytest.raises(MethodError, match="several objectives are not supported"):
        Study(SPACE, direction=given)
    with pytest.raises(TypeError, match="directions"):
        Study(SPACE, directions=given)
    calls = []
    with pytest.raises(ObjectiveError, match="several objectives are not supported"):
        run(lambda p: calls.append(p) or (1.0, 2.0), 9)
    assert len(calls) == 1


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


def test_progress_is_silent_where_there_is_no_terminal(capsys):
    run(bowl)
    assert capsys.readouterr() == ("", "")


def test_progress_that_is_wanted_writes_a_line_for_every_tenth(capsys):
    run(lambda p: float("nan") if p["x"] < -0.5 else 2.5, 40, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 10
    assert err.splitlines()[-1].startswith("trial 40/40, best 2.5, ")


def test_a_run_needs_no_standard_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert len(run(bowl, 3, progress=True).trials) == 3


def test_importing_a_study_loads_neither_pandas_nor_scipy_stats():
    code = "import sys, outcrop.study; print({'pandas', 'scipy.stats'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
