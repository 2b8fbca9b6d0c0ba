"""Results from elsewhere, and data frames in both directions."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from outcrop.errors import MissingExtra, ParamsError, TrialError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Space
from outcrop.study import Optimizer
from tests.study.doubles import Roaming

SPACE = Space(
    {
        "x": Float(0, 4),
        "m": Choice({"a": {}, "b": {"k": Int(1, 3), "c": Categorical([None, True, 1, "s"])}}),
        "f": Fixed("adam"),
    }
)
ROWS: list[dict[str, Any]] = [
    {"x": 1.0, "m": "a", "f": "adam"},
    {"x": 2.0, "m": "b", "m.b.k": 2, "m.b.c": None, "f": "adam"},
    {"x": 3.0, "m": "b", "m.b.k": 3, "m.b.c": True, "f": "adam"},
]


@pytest.fixture
def optimizer():
    return Optimizer(SPACE, method=Roaming(SPACE), seed=0)


def flat(optimizer: Optimizer) -> list[dict[str, Any]]:
    return [dict(trial.params) for trial in optimizer.trials]


def refused(optimizer: Optimizer, error: type[Exception], message: str, *args, **kwargs) -> None:
    before = optimizer._state
    with pytest.raises(error, match=message):
        optimizer.add(*args, **kwargs)
    assert optimizer._state is before


def test_one_result_is_added_as_a_finished_trial(optimizer):
    trial = optimizer.add({"x": 2, "m": {"b": {"k": 2, "c": None}}}, 0.5, std=0.1)
    assert (trial.number, trial.state, trial.source) == (0, "finished", "added")
    assert (trial.value, trial.std, trial.started) == (0.5, 0.1, None)
    assert trial.finished is not None
    assert trial.params == ROWS[1]


def test_lists_of_results_are_added_in_order(optimizer):
    optimizer.ask()
    trials = optimizer.add(ROWS, np.array([1, 2, np.nan]), std=[0.1, None, 0.3])
    assert [trial.number for trial in trials] == [1, 2, 3]
    assert [trial.state for trial in trials] == ["finished", "finished", "failed"]
    assert [trial.std for trial in trials] == [0.1, None, None]
    assert optimizer.trials[1:] == trials
    assert optimizer.add([], []) == []


def test_results_are_added_all_or_none(optimizer):
    bad = [*ROWS[:2], {"x": 9.0, "m": "a"}]
    refused(optimizer, ParamsError, "result 2: 'x'", bad, [1, 2, 3])
    refused(optimizer, TrialError, "result 1: a value must be a number", ROWS, [1, "2", 3])
    refused(optimizer, TrialError, "result 0: std", ROWS, [1, 2, 3], std=[-1, 1, 1])
    refused(optimizer, TrialError, "as many values as configurations, 3, got 2", ROWS, [1, 2])
    refused(optimizer, TrialError, "as many std", ROWS, [1, 2, 3], std=[0.1])
    refused(optimizer, TrialError, "list of values", ROWS, 1.0)
    refused(optimizer, TrialError, "list of std", ROWS, [1, 2, 3], std=0.1)
    refused(optimizer, TrialError, "must be a number, got None", ROWS[0])
    refused(optimizer, ParamsError, "a list of trials, a data frame or the Path", "x", 1.0)
    refused(optimizer, ParamsError, "result 0: expected a dict", [1.0], [1.0])


def test_a_frame_is_added_row_by_row_and_empty_cells_are_inactive(optimizer):
    frame = pd.DataFrame(
        {
            "x": [1.0, 2.0, 3.0],
            "m": ["a", "b", "b"],
            "m.b.k": [np.nan, 2, 3],
            "m.b.c": pd.Series([None, None, True], dtype=object),
            "value": [0.5, np.inf, 1],
            "std": [np.nan, 0.1, 0.2],
        }
    )
    trials = optimizer.add(frame)
    assert flat(optimizer) == ROWS
    assert [trial.state for trial in trials] == ["finished", "failed", "finished"]
    assert [trial.std for trial in trials] == [None, None, 0.2]


def test_nullable_columns_of_a_frame_are_understood(optimizer):
    frame = pd.DataFrame({"x": [1.0, 2.0], "m": ["a", "b"], "m.b.c": ["s", "s"], "value": [1, 2]})
    frame["m.b.k"] = pd.array([None, 2], dtype="Int64")
    frame.loc[0, "m.b.c"] = None
    optimizer.add(frame)
    assert flat(optimizer)[1] == {"x": 2.0, "m": "b", "m.b.k": 2, "m.b.c": "s", "f": "adam"}


def test_a_frame_that_does_not_fit_is_refused(optimizer):
    frame = pd.DataFrame({"x": [1.0, 2.0], "m": ["a", "b"], "value": [1.0, 2.0]})
    refused(optimizer, ParamsError, "result 1: 'm.b.k' is missing", frame)
    refused(optimizer, TrialError, "needs a column 'value'", frame[["x", "m"]])
    refused(
        optimizer,
        ParamsError,
        "column 'xx' is unknown.*did you mean 'x'",
        frame.rename(columns={"x": "xx"}),
    )
    refused(optimizer, ParamsError, "two columns of the same name", frame[["x", "x", "m", "value"]])
    refused(optimizer, TrialError, "a value must be", frame.assign(value=["good", "bad"]).iloc[:1])


def test_trials_go_to_a_frame_and_come_back(optimizer):
    optimizer.add(ROWS, [1.0, 2.0, 3.0], std=[0.1, None, 0.2])
    optimizer.fail(optimizer.ask(), "burst")
    frame = optimizer.to_frame()
    assert list(frame["number"]) == [0, 1, 2, 3]
    assert list(frame["state"]) == ["finished"] * 3 + ["failed"]
    assert list(frame["reason"])[-1] == "burst"
    assert frame["finished"].notna().all()
    assert str(frame["finished"].dt.tz) == "UTC"
    assert frame["started"].isna().tolist() == [True, True, True, False]
    other = Optimizer(SPACE, method=Roaming(SPACE))
    other.add(frame.iloc[:3][[*SPACE.parameters, "value", "std"]])
    assert flat(other) == ROWS
    assert type(other.trials[2].params["m.b.c"]) is bool
    assert [t.value for t in other.trials] == [1.0, 2.0, 3.0]
    assert [t.std for t in other.trials] == [0.1, None, 0.2]


def test_parameters_named_like_columns_of_trials_are_told_apart():
    space = Space({"value": Float(0, 1), "state": Int(1, 3)})
    optimizer = Optimizer(space, method=Roaming(space))
    optimizer.add({"value": 0.5, "state": 2}, 7.0)
    frame = optimizer.to_frame()
    assert frame.loc[0, ["params.value", "params.state", "value"]].tolist() == [0.5, 2, 7.0]
    other = Optimizer(space, method=Roaming(space))
    other.add(frame[["params.value", "params.state", "value"]])
    assert flat(other) == flat(optimizer)


def test_an_optimizer_without_trials_has_an_empty_frame(optimizer):
    frame = optimizer.to_frame()
    assert len(frame) == 0
    assert set(SPACE.parameters) < set(frame.columns)


def test_without_pandas_a_frame_is_a_clear_hint(optimizer, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pip install 'outcrop\[plot\]'"):
        optimizer.to_frame()
