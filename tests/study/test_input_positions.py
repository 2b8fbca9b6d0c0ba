"""Where evaluations really happened: what may be told, what is kept, and what a strategy sees."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest

from outcrop.cli.export import to_csv, to_json
from outcrop.errors import ParamsError, StudyError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Space
from outcrop.study import Optimizer, Study, load_study
from outcrop.study.events import Told, from_text, to_text
from tests.study.handles import forget, log_of

SPACE = Space(
    {
        "x": Float(0, 10, input_std=0.5),
        "y": Float(0.1, 10, log=True),
        "n": Int(0, 20, input_std=1.0),
        "c": Categorical(["u", "v"]),
        "m": Choice({"a": {}, "b": {"z": Float(0, 1, input_std=0.1)}}),
        "f": Fixed(3),
    }
)
PARAMS = {"x": 4.0, "y": 1.0, "n": 8, "c": "v", "m": "b", "m.b.z": 0.25}


def asked(space=SPACE, params=PARAMS, **options):
    optimizer = Optimizer(space, method="random", seed=0, **options)
    optimizer.enqueue(params)
    return optimizer, optimizer.ask()


def test_a_trial_keeps_the_places_that_were_told():
    optimizer, trial = asked()
    assert (trial.at, trial.at_std) == (None, None)
    told = optimizer.tell(trial, 1.5, at={"x": 4.2, "n": 8.5}, at_std={"x": 0.1})
    assert told.at == {"x": 4.2, "n": 8.5}
    assert told.at_std == {"x": 0.1}
    assert dict(told.params) == SPACE.validate(PARAMS)
    with pytest.raises(TypeError, match="cannot be changed"):
        told.at["x"] = 1.0  # type: ignore[index]


def test_a_whole_configuration_may_be_told_in_either_form():
    nested = {**PARAMS, "x": 4.1, "m": {"b": {"z": 0.3}}}
    del nested["m.b.z"]
    for at in ({**PARAMS, "x": 4.1, "m.b.z": 0.3, "f": 3}, nested):
        optimizer, trial = asked()
        told = optimizer.tell(trial, 0.0, at=at)
        assert told.at == {"x": 4.1, "y": 1.0, "n": 8.0, "m.b.z": 0.3}


def test_a_strategy_sees_places_and_their_variances_and_knows_what_was_asked():
    optimizer, trial = asked()
    optimizer.tell(trial, 1.5, at={"x": 10.4, "n": 8.5}, at_std={"x": 0.1, "y": 0.23})
    view = optimizer._state.view
    asked_for = SPACE.encode([PARAMS]).X
    np.testing.assert_array_equal(view.X, asked_for)
    names = [column.name for column in SPACE.columns]
    expected = asked_for.copy()
    expected[0, [names.index("x"), names.index("n")]] = 1.04, 8.5 / 20
    np.testing.assert_allclose(view.places, expected)
    variances = dict(zip(names, np.sqrt(view.input_cov[0]), strict=True))  # type: ignore[index]
    assert variances == pytest.approx(
        {"x": 0.01, "y": 0.23 / math.log(100), "n": 0.0, "c": 0.0, "m": 0.0, "m.b.z": 0.1}
    )
    assert view.known == {SPACE.key(PARAMS)}


def test_what_was_not_told_has_the_noise_of_the_space_unless_it_is_inactive():
    optimizer, trial = asked(params={"x": 1.0, "y": 1.0, "n": 2, "c": "u", "m": "a"})
    optimizer.tell(trial, 1.0)
    view = optimizer._state.view
    assert view.at is None
    assert view.places is view.X
    np.testing.assert_allclose(np.sqrt(view.input_cov), [[0.05, 0.0, 0.05, 0.0, 0.0, 0.0]])  # type: ignore[arg-type]


def test_noise_that_is_shared_is_told_of_by_a_matrix():
    cov = {("a", "b"): [[0.04, 0.01], [0.01, 0.09]]}
    space = Space({"a": Float(0, 2), "b": Float(0, 1)}, input_covariance=cov)
    optimizer = Optimizer(space, method="random", seed=0)
    plain, moved = optimizer.ask(2)
    optimizer.tell(plain, 1.0)
    optimizer.tell(moved, 2.0, at_std={"a": 0.5})
    view = optimizer._state.view
    np.testing.assert_allclose(
        view.input_cov, [[[0.01, 0.005], [0.005, 0.09]], [[0.0625, 0.0], [0.0, 0.09]]]
    )
    assert view.at is None


def test_without_noise_and_places_a_view_is_as_it_always_was():
    space = Space({"x": Float(0, 1)})
    optimizer, trial = asked(space, {"x": 0.5})
    optimizer.tell(trial, 1.0)
    view = optimizer._state.view
    assert (view.at, view.input_cov, view.robust) == (None, None, False)
    optimizer.tell(optimizer.ask(), 2.0, at={"x": 0.75})
    view = optimizer._state.view
    assert view.at is not None
    assert view.at[1, 0] == 0.75
    assert view.input_cov is not None  # places are known to be exact, which is more than nothing
    assert not view.input_cov.any()


@pytest.mark.parametrize(
    ("told", "fragments"),
    [
        ({"at": 3.0}, ["at must be a dict", "3.0"]),
        ({"at": {"w": 1.0}}, ["'w'", "unknown", "'x'"]),
        ({"at": {"x": "a"}}, ["'x'", "'a'", "finite number"]),
        ({"at": {"x": math.nan}}, ["'x'", "nan"]),
        ({"at": {"x": 12.6}}, ["'x'", "12.6", "5 standard deviations", "-2.5 to 12.5"]),
        ({"at": {"x": 10.8}, "at_std": {"x": 0.1}}, ["10.8", "10.5"]),
        ({"at": {"y": 10.1}}, ["'y'", "no input noise", "input_std", "at_std={'y'"]),
        ({"at": {"y": -1.0}, "at_std": {"y": 0.2}}, ["'y'", "-1.0", "outside"]),
        ({"at": {"c": "u"}}, ["'c'", "'u'", "'v' was asked for", "add(params, value)"]),
        ({"at": {"c": "w"}}, ["'c'", "'w'", "not among its values"]),
        ({"at_std": {"c": 0.1}}, ["'c'", "only Float and Int"]),
        ({"at_std": {"x": -0.1}}, ["'x'", "-0.1", "at least 0"]),
        ({"at_std": {"x": 11.0}}, ["'x'", "11.0", "wider than the range"]),
        ({"at_std": [0.1]}, ["at_std must be a dict"]),
    ],
)
def test_what_cannot_be_a_place_is_refused_and_nothing_is_written(told, fragments):
    optimizer, trial = asked()
    with pytest.raises(ParamsError) as caught:
        optimizer.tell(trial, 1.0, **told)
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert optimizer.trials[0].state == "running"


def test_a_place_of_an_inactive_parameter_is_refused():
    optimizer, trial = asked(params={"x": 1.0, "y": 1.0, "n": 2, "c": "u", "m": "a"})
    with pytest.raises(ParamsError, match=r"'m\.b\.z' is inactive in this trial"):
        optimizer.tell(trial, 1.0, at={"m.b.z": 0.3})


def test_noise_explains_places_beyond_the_bounds():
    optimizer, trial = asked()
    assert optimizer.tell(trial, 1.0, at={"x": 12.4, "n": -4.5}).at == {"x": 12.4, "n": -4.5}
    optimizer, trial = asked()
    assert optimizer.tell(trial, 1.0, at={"y": 13.0}, at_std={"y": 0.1}).at == {"y": 13.0}


def test_a_range_wider_than_the_largest_float_has_places():
    optimizer = Optimizer(Space({"x": Float(-1e308, 1e308)}), seed=0)
    trial = optimizer.tell(optimizer.ask(), 1.0, at={"x": -3e307})
    assert trial.at == {"x": -3e307}


def test_a_stored_study_remembers_places(storage):
    study = Study(SPACE, "s", storage, method="random", seed=1)
    study.enqueue(PARAMS)
    study.tell(study.ask(), 1.5, at={"x": 4.2}, at_std={"x": 0.1})
    again = load_study("s", storage)
    assert again.trials == study.trials
    assert again.trials[0].at == {"x": 4.2}
    np.testing.assert_array_equal(again._state.view.at, study._state.view.at)  # type: ignore[arg-type]


def test_a_place_that_comes_late_is_kept_in_the_log(storage, caplog):
    study = Study(SPACE, "s", storage, method="random", seed=1)
    trial = study.ask(lease=100.0)
    forget(study, trial.number)
    again = study.ask(lease=100.0)
    assert again.number == trial.number
    study.tell(again, 1.0)
    study.tell(trial, 2.0, at={"x": 1.0}, at_std={"x": 0.1})
    late = log_of(study)[-1]
    assert (late.where, late.where_std) == ({"x": 1.0}, {"x": 0.1})  # type: ignore[attr-defined]
    assert study.trials[0].at is None


def test_events_without_places_are_written_as_they_always_were():
    old = '{"event":"Told","version":1,"number":0,"value":0.5,"std":null,"info":{},"at":4.0}'
    assert to_text(Told(0, 0.5, at=4.0)) == old
    assert from_text(old) == Told(0, 0.5, at=4.0)
    new = Told(0, 0.5, at=4.0, where={"x": 1.0}, where_std={"x": 0.5})
    assert from_text(to_text(new)) == new


def test_tables_have_columns_for_places_that_were_told():
    study = Study(SPACE, method="random", seed=1)
    for _ in range(2):
        study.enqueue(PARAMS)
    study.tell(study.ask(), 1.5)
    assert not [name for name in study.to_frame().columns if name.startswith(("at.", "at_"))]
    study.tell(study.ask(), 2.5, at={"x": 4.2}, at_std={"n": 0.5})
    frame = study.to_frame()
    assert math.isnan(frame["at.x"][0])
    assert frame["at.x"][1] == 4.2
    assert frame["at_std.n"][1] == 0.5
    assert "at.y" not in frame.columns
    rows = list(csv.DictReader(io.StringIO(to_csv(study))))
    assert [row["at.x"] for row in rows] == ["", "4.2"]
    trials = json.loads(to_json(study))["trials"]
    assert [trial["at"] for trial in trials] == [None, {"x": 4.2}]


def test_a_study_with_other_noise_is_another_one(storage):
    Study(SPACE, "s", storage, method="random", seed=1)
    other = Space({**SPACE.declared, "x": Float(0, 10, input_std=0.4)})
    with pytest.raises(StudyError, match=r"x: Float\(0\.0, 10\.0, input_std=0\.5\) in this space"):
        Study(other, "s", storage, method="random", seed=1)
