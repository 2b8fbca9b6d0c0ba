"""Mistakes in objectives: which ones end a run, what they leave behind, what is said of them."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from outcrop.errors import AllTrialsFailed, ObjectiveError
from outcrop.space import Choice, Float, Int, Space
from outcrop.study import Study
from outcrop.study.running.evaluation import evaluate
from outcrop.study.running.objective_mistakes import wrong_value_text
from outcrop.study.trial import Trial
from tests.study.running.doubles import Diary, studied
from tests.study.running.objectives import Misspelt, bowl

MODELS = Space({"model": Choice({"linear": {}, "mlp": {"layers": Int(1, 9)}}), "x": Float(0, 1)})


class Unshowable:
    shape = property(lambda self: 1 / 0)

    def __repr__(self):
        raise ValueError


# What is returned


async def later(params):
    return 1.0


def yielding(params):
    yield 1.0


@pytest.mark.parametrize(
    ("returned", "remedy"),
    [
        (None, "does it end without `return`"),
        ((0.5, 0.25), "several objectives are not supported"),
        ([0.5, 0.25], "several objectives are not supported"),
        (np.zeros(3), "several objectives are not supported"),
        ((0.5,), "return its element"),
        (np.zeros((1, 1)), r"return value\.item\(\)"),
        ("0.5", r"return float\(…\)"),
        (True, r"write float\(…\)"),
        ({"loss": 0.5}, r"one of its values, as in result\['loss'\]"),
        (0.5j, "expected a number"),
        (Unshowable(), "<Unshowable instance at .*expected a number"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_what_is_no_number_ends_the_run_at_its_first_trial_which_is_given_back(returned, remedy):
    study = Diary()
    with pytest.raises(ObjectiveError, match=remedy) as caught:
        studied(lambda p: returned, 9, study=study)
    assert study.acts == [("ask", 0), ("release", 0)]
    assert caught.value.result.trials == ()
    assert 'set on_error to "record"' in str(caught.value)
    assert study.stopped[0].startswith("error: ObjectiveError: the objective returned ")


def test_an_objective_that_is_no_plain_function_is_recognised():
    coroutine, generator = later({}), yielding({})
    assert "asyncio.run" in wrong_value_text(coroutine)
    assert "`yield`" in wrong_value_text(generator)
    assert asyncio.run(coroutine) == next(generator) == 1.0


@pytest.mark.parametrize("value", [3, np.float32(0.5), np.array(0.5), Fraction(1, 2)])
def test_numbers_of_all_kinds_are_values(value):
    assert studied(lambda p: value, 2).best_value == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400])
def test_a_number_that_is_not_finite_is_a_failure_of_its_parameters(value):
    assert studied(lambda p: value, 7).n_failed == 7


def test_a_value_that_is_missing_late_ends_the_run_and_keeps_what_was_found():
    study = Diary()
    values = iter([1.0, 2.0, None])
    with pytest.raises(ObjectiveError, match="Trial 2 is given back") as caught:
        studied(lambda p: next(values), 9, study=study)
    assert [trial.value for trial in caught.value.result.trials] == [1.0, 2.0]


# What is raised


def lookup(params):
    return params["layers"]


def called_twice(params):
    return lookup(params)


def called_often(params):
    return (lambda p: called_twice(p))(params)


def deliberate(params):
    raise KeyError("not with these parameters")


def raised_again(params):
    try:
        return lookup(params)
    except KeyError:
        raise


def without_parameters():
    return 1.0


@pytest.mark.parametrize(
    ("objective", "kind", "mistake"),
    [
        (lookup, "KeyError", "likely"),
        (called_twice, "KeyError", "likely"),
        (partial(called_twice), "KeyError", "likely"),
        (lambda p: called_twice(p), "KeyError", "likely"),
        (called_often, "KeyError", ""),
        (raised_again, "KeyError", "likely"),
        (deliberate, "KeyError", ""),
        (lambda p: p.x, "AttributeError", "likely"),
        (lambda p: np.unknown, "AttributeError", "likely"),  # type: ignore[attr-defined]
        (lambda p: unknown, "NameError", "likely"),  # type: ignore[name-defined]  # noqa: F821
        (lambda p: p["x"] + "1", "TypeError", "likely"),
        (without_parameters, "TypeError", "likely"),
        (lambda p: __import__("nowhere"), "ModuleNotFoundError", "likely"),
        (lambda p: json.dumps(p.values()), "TypeError", ""),  # in a library
        (lambda p: 1 / 0, "ZeroDivisionError", ""),
        (lambda p: [][3], "IndexError", ""),
    ],
    ids=lambda given: getattr(given, "__name__", None),
)
def test_an_exception_of_python_in_the_first_frames_of_the_user_is_a_likely_mistake(
    objective, kind, mistake
):
    outcome = evaluate(objective, Trial(0, {"x": 0.5}, {"x": 0.5}))
    assert outcome.mistake == mistake
    assert outcome.place.startswith(kind)
    own = re.search(r" in (.*):(\d+)$", outcome.place)
    if own is None:
        assert (objective, outcome.traceback) == (without_parameters, "")
    else:
        assert own[1] == __file__, "the innermost frame of the user, not of the library"


def with_depth(params):
    return params["depth"] if params["model"] == "mlp" else params["x"]


def in_branches(*models):
    """A study whose first trials are of these models."""
    study = Study(MODELS, method="random", seed=0)
    for index, model in enumerate(models):
        layers = {"model.mlp.layers": 2} if model == "mlp" else {}
        study.enqueue({"model": model, "x": index / 20, **layers})
    return study


def test_a_likely_mistake_ends_the_run_in_a_branch_where_nothing_has_succeeded():
    study = in_branches("linear", "linear", "mlp", "linear")
    with pytest.raises(ObjectiveError, match="branch model=mlp yet") as caught:
        study.optimize(with_depth, 9)
    assert [trial.value for trial in study.trials] == [0.0, 0.05]
    assert 'return params["depth"] if' in str(caught.value), "the traceback is shown"
    assert study.replay().identical


def test_a_likely_mistake_is_recorded_where_something_has_succeeded_or_if_told_so(caplog):
    seen = []

    def later_wrong(params):
        seen.append(params)
        return 1.0 if len(seen) == 1 else params["depth"]

    result = in_branches("mlp", "mlp", "mlp").optimize(later_wrong, 3)
    assert [trial.state for trial in result.trials] == ["finished", "failed", "failed"]
    result = in_branches("linear", *["mlp"] * 11).optimize(with_depth, 12, on_error="record")
    assert result.n_failed == 11
    (branch,) = result.failed_branches
    assert (branch.name, branch.n_failed) == ("model=mlp", 11)
    assert branch.reason == result.trials[1].reason
    assert f"all 11 trials of model=mlp failed, most often: {branch.reason}" in repr(result)
    assert "all 11 trials of model=mlp failed" in caplog.text


def test_results_that_were_added_do_not_show_that_the_objective_works():
    study = in_branches("mlp")
    study.add({"model": "mlp", "model.mlp.layers": 3, "x": 0.5}, 1.0)
    with pytest.raises(ObjectiveError, match="'depth'"):
        study.optimize(with_depth, 3)


def test_an_objective_may_say_itself_that_it_is_broken():
    def objective(params):
        if len(study.trials) == 3:
            raise ObjectiveError("the licence has expired")
        return 1.0

    study = Diary()
    with pytest.raises(ObjectiveError, match=r"the licence has expired\. Trial 2 is given back"):
        studied(objective, 9, study=study)
    assert study.acts[-1] == ("release", 2)


def test_a_mistake_lets_other_trials_finish_and_keeps_them(caplog):
    both = threading.Barrier(2, timeout=60)
    told = threading.Event()

    def objective(params):
        if both.wait() == 0:
            return None
        assert told.wait(60)
        return 2.5

    class Heard(Diary):
        def release(self, trial):
            super().release(trial)
            told.set()

    study = Heard()
    with ThreadPoolExecutor(2) as executor, pytest.raises(ObjectiveError, match="returned None"):
        studied(objective, 9, study=study, executor=executor)
    assert [trial.value for trial in study.trials] == [2.5]
    assert (
        "the run ends when 1 running trials have ended: the objective returned None" in caplog.text
    )


@pytest.mark.usefixtures("main_is_interactive")
@pytest.mark.parametrize(("way", "message"), [("none", "returned None"), ("key", "'y' is unknown")])
def test_a_mistake_in_a_worker_process_ends_the_run_as_here(way, message):
    study = Diary()
    with pytest.raises(ObjectiveError, match=message) as caught:
        studied(Misspelt(way), 9, study=study, n_workers=2)
    assert study.trials == []
    assert ('params["y"]' in str(caught.value)) == (way == "key"), "the traceback travels"


# What is said


def failing(params):
    if params["x"] < 0:
        raise ValueError("below")
    raise RuntimeError("above")


def test_the_first_exception_of_each_kind_and_place_is_shown_and_the_others_are_counted(caplog):
    study = Diary()
    studied(bowl, 1, study=study)
    result = studied(failing, 12, study=study, on_error="record")
    shown = [each.message for each in caplog.records if " failed: " in each.message]
    assert len(shown) == 2
    for line, kind in (('raise ValueError("below")', "ValueError"), ("above", "RuntimeError")):
        (text,) = (text for text in shown if kind in text)
        assert line in text
    low = sum(trial.params["x"] < 0 for trial in result.trials[1:])
    counts = {place.split(" in ")[0]: count for place, count in result.raised.items()}
    assert counts == {"ValueError": low, "RuntimeError": 12 - low}
    assert all(__file__ in place for place in result.raised)
    assert f"{low} x ValueError in {__file__}" in caplog.records[-1].message


# When nothing succeeds


def raising_in(*numbers):
    """An objective that raises in the calls of these numbers, else returns NaN."""
    calls = []

    def objective(params):
        calls.append(params)
        if len(calls) - 1 in numbers:
            raise ValueError(f"call {len(calls)}")
        return float("nan")

    return objective


def test_five_raises_in_a_row_end_a_run_of_a_study_without_values():
    study = Diary()
    with pytest.raises(AllTrialsFailed, match="5 trials in a row raised") as caught:
        studied(raising_in(*range(20)), 20, study=study)
    assert "ValueError: call 1" in str(caught.value)
    assert len(caught.value.result.trials) == 5
    assert study.stopped[0].startswith("error: AllTrialsFailed: 5 trials in a row raised")
    assert len(studied(raising_in(0, 1, 2, 3), 4).trials) == 4, "a short run ends before"


@pytest.mark.parametrize("before", ["nothing", "an added value", "failures", "a value that is NaN"])
def test_they_need_not_be_the_first_of_the_study(before):
    study = Diary()
    numbers = range(20)
    if before == "an added value":
        study.optimizer.add({"x": 0.5}, 1.0)
    elif before == "failures":
        studied(raising_in(0, 1, 2), 3, study=study)
    elif before == "a value that is NaN":
        numbers = range(3, 20)
    asked = len(study.trials)
    with pytest.raises(AllTrialsFailed):
        studied(raising_in(*numbers), 20, study=study)
    assert len(study.trials) == asked + 5 + (3 if "NaN" in before else 0)


def test_a_run_goes_on_while_not_every_trial_raises():
    assert len(studied(raising_in(0, 1, 2, 3, 5, 6, 7, 8, 10), 12).trials) == 12


def test_a_study_with_values_takes_ten_raises_at_one_place_to_end_a_run():
    study = Diary()
    studied(bowl, 1, study=study)
    with pytest.raises(AllTrialsFailed, match=r"10 trials in a row .* none of this run"):
        studied(raising_in(*range(20)), 20, study=study)
    assert len(studied(failing, 20, study=study).trials) == 31, "at two places"


def test_a_branch_that_always_fails_does_not_show_that_all_do():
    def objective(params):
        raise ValueError(params["model"])

    one, both = in_branches(*["mlp"] * 12), in_branches(*["mlp"] * 7, "linear")
    assert one.optimize(objective, 12).n_failed == 12
    with pytest.raises(AllTrialsFailed, match="8 trials in a row raised"):
        both.optimize(objective, 12)


def test_a_run_may_record_failures_without_end():
    assert studied(raising_in(*range(12)), 12, on_error="record").n_failed == 12
