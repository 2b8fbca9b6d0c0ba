"""Results go out as frames, files and trials, and come back as they were."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.cli.export import to_csv
from outcrop.errors import ParamsError, TrialError
from outcrop.space import Categorical, Choice, Float, Int, Ordinal, Space
from outcrop.space.plain import mark
from outcrop.study import Study
from outcrop.study.trial import Trial
from tests.space.strategies import configurations, spaces

SPACE = Space(
    {
        "x": Float(0, 4),
        "m": Choice(
            {"a": {}, "b": {"k": Int(1, 3), "c": Categorical([None, True, 1, "s", (1, 2)])}}
        ),
    }
)

outcomes = st.one_of(
    st.tuples(st.just("finished"), st.floats(-1e9, 1e9), st.none() | st.floats(0, 9)),
    st.tuples(st.just("failed"), st.sampled_from(["", "diverged; =1", 'a,"b"\nc']), st.none()),
    st.tuples(st.sampled_from(["running", "discarded"]), st.none(), st.none()),
)


def study_of(space: Space = SPACE) -> Study:
    return Study(space, method="random", seed=0)


def filled(data) -> Study:
    study = study_of(data.draw(spaces(depth=2)))
    for _ in range(data.draw(st.integers(0, 3))):
        study.enqueue(data.draw(configurations(study.space)))
        trial = study.ask()
        state, value, std = data.draw(outcomes)
        if state == "finished":
            study.tell(trial, value, std=std)
        elif state == "failed":
            study.fail(trial, value)
        elif state == "discarded":
            study.tell(trial, 1.0)
            study.discard(trial)
    return study


def outcome(trial: Trial) -> tuple[Any, ...]:
    params = {name: mark(value) for name, value in trial.params.items()}
    return params, trial.state, trial.value, trial.std, trial.reason, trial.at, trial.at_std


def kept(study: Study) -> list[tuple[Any, ...]]:
    return [outcome(trial) for trial in study.trials if trial.has_outcome]


def added(given: Any, space: Space = SPACE, **options: Any) -> list[tuple[Any, ...]]:
    other = study_of(space)
    trials = other.add(given, **options)
    assert trials == other.trials
    assert all(trial.source == "added" for trial in trials)
    return [outcome(trial) for trial in trials]


def csv(*lines: str) -> bytes:
    return "\n".join(lines).encode()


def values(given: Any, space: Space = SPACE, **options: Any) -> list[Any]:
    """The outcomes, as values and reasons of failures."""
    return [
        value if state == "finished" else reason
        for _, state, value, _, reason, _, _ in added(given, space, **options)
    ]


# Round trips


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_every_table_of_trials_brings_them_back(data):
    study = filled(data)
    text = to_csv(study, escape_formulas=data.draw(st.booleans()))
    for form in (study.trials, study.to_frame(), text.encode()):
        assert added(form, study.space) == kept(study)


def test_inputs_that_differed_come_back():
    study = study_of(Space({"x": Float(0, 4), "k": Int(1, 9)}))
    for at, at_std in [({"x": 1.25}, None), (None, {"x": 0.5}), ({"x": 2.0, "k": 2.5}, {"k": 0.1})]:
        study.tell(study.ask(), 1.0, std=0.5, at=at, at_std=at_std)
    for form in (study.trials, study.to_frame(), to_csv(study).encode()):
        assert added(form, study.space) == kept(study)


def test_trials_bring_their_notes():
    study = study_of()
    study.tell(study.ask(), 1.0, info={"epochs": 3})
    study.fail(study.ask(), "no", info={"traceback": "…"})
    other = study_of()
    other.add(study.trials)
    assert [dict(trial.info) for trial in other.trials] == [{"epochs": 3}, {"traceback": "…"}]
    other.add(study.trials[0])
    assert other.trials[-1].value == 1.0


def test_what_pandas_reads_from_an_export_is_understood():
    study = study_of()
    rows = [{"x": 1, "m": "a"}] + [
        {"x": 2, "m": {"b": {"k": 2, "c": c}}} for c in (None, True, 1, "s", (1, 2))
    ]
    study.add(rows, range(6))
    frame = pd.read_csv(io.StringIO(to_csv(study)))
    assert added(frame) == kept(study)


def test_a_large_integer_keeps_its_digits_in_a_frame():
    space = Space({"m": Choice({"a": {}, "b": {"k": Int(2**60, 2**60 + 9)}})})
    study = study_of(space)
    study.add([{"m": "a"}, {"m": {"b": {"k": 2**60 + 1}}}], [1, 2])
    assert added(study.to_frame(), space) == kept(study)


# What a spreadsheet writes


@pytest.mark.parametrize(
    "data",
    [
        csv("x,m,m.b.k,m.b.c,value", "0.5,b,2,TRUE,1.25", "1,a,,,2"),
        csv("x;m;m.b.k;m.b.c;value", "0,5;b;2,0;True;1,25", "1;a;;;2"),
        csv("x\tm\tm.b.k\tm.b.c\tvalue", "0,5\tb\t2\ttrue\t1,25", "1\ta\t\t\t2"),
        b"\xef\xbb\xbf"
        + csv('"x","m","m.b.k","m.b.c","value"', '"0.5","b","2.0","TRUE","1.25"', '1,"a",,,2'),
        "x\tm\tm.b.k\tm.b.c\tvalue\r\n0.5\tb\t2\tTRUE\t1.25\r\n1\ta\t\t\t2\r\n".encode("utf-16"),
        csv("sep=;", "x;m;m.b.k;m.b.c;value;;", " 0.5 ; b ;2;TRUE;1.25;;", "1;a;;;2", ";;;;;;", ""),
        csv("value,m.b.c,m.b.k,m,x", "1.25,True,2,b,5.0E-01", "2,nan,NA,a,1"),
    ],
    ids=["plain", "semicolons", "tabs", "quoted", "utf-16", "declared", "reordered"],
)
def test_the_same_table_is_read_from_every_dialect(data):
    expected = [
        ({"x": 0.5, "m": "b", "m.b.k": 2, "m.b.c": True}, 1.25),
        ({"x": 1.0, "m": "a"}, 2.0),
    ]
    found = added(data)
    assert [(each[0], each[2]) for each in found] == [
        ({name: mark(cell) for name, cell in params.items()}, value) for params, value in expected
    ]


def test_a_file_is_read_by_its_path(tmp_path):
    file = tmp_path / "results.csv"
    file.write_bytes(csv("x,m,value", "1,a,3"))
    assert values(file) == [3.0]
    file.write_bytes(csv("x,m,value", "1,a,3", "9,a,3"))
    with pytest.raises(ParamsError, match=r"results\.csv: row 3: 'x' is 9"):
        study_of().add(file)
    with pytest.raises(FileNotFoundError):
        study_of().add(Path("nothing.csv"))


@pytest.mark.parametrize(
    "choices",
    [["1", 1, 1.0, True, "True"], [None, "", "None"], [(1, "a"), "(1, 'a')"], ["'1'", "1", 1]],
)
def test_categories_that_look_alike_are_told_apart(choices):
    space = Space({"c": Categorical(choices)})
    study = study_of(space)
    study.add([{"c": choice} for choice in choices], range(len(choices)))
    assert added(to_csv(study).encode(), space) == kept(study)


def test_ordered_numbers_and_strange_letters_are_read():
    space = Space({"size": Ordinal([0.5, 1, 2]), "c": Categorical(["é", "ü"])})
    data = "size;c;value\n0,5;é;1\n2,0;ü;2\n".encode("cp1252")
    assert [each[0]["size"] for each in added(data, space)] == [("float", 0.5), ("int", 2)]


# What a row is


def test_a_state_decides_what_a_row_is(caplog):
    data = csv(
        "x,m,state,value,reason,notes",
        "1,a,finished,1,,fine",
        "1,a,Failed,,diverged,",
        "1,a,failed,,,",
        "1,a,running,,,",
        ",,discarded,3,,",
        "1,a,,4,,",
        "1,a,,,,",
        "1,a,,-inf,,",
    )
    assert values(data) == [1.0, "diverged", "", 4.0, "the value is -inf"]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.message == (
        "add: skipped 1 running, 1 discarded, 1 without a value; ignored the columns 'notes'"
    )


def test_without_a_state_an_empty_value_is_not_measured_and_an_infinite_one_a_failure(caplog):
    frame = pd.DataFrame(
        {"x": [1.0, 2, 3, 4], "m": ["a"] * 4, "value": [1, np.nan, np.inf, np.nan]}
    )
    assert values(frame) == [1.0, "the value is inf"]
    assert "skipped 2 without a value" in caplog.text


def test_nothing_is_said_where_all_is_taken(caplog):
    study = study_of()
    study.add({"x": 1, "m": "a"}, 1.0)
    added(study.to_frame())
    assert not caplog.records


def test_trials_that_are_set_aside_are_skipped_unless_they_fit(caplog):
    old, new = Space({"x": Float(0, 4)}), Space({"x": Float(0, 1)})
    study = study_of(old)
    study.add([{"x": 0.5}, {"x": 3}], [1, 2])
    study.change_space(new)
    for form in (study.trials, study.to_frame(), to_csv(study).encode()):
        assert values(form, new) == [1.0]
        assert caplog.messages[-1] == "add: skipped 1 set aside"
    assert values(study.trials, old) == [1.0, 2.0]


def test_a_table_that_is_added_twice_is_noticed(caplog):
    study = study_of()
    data = csv("x,m,value", "1,a,3", "2,a,3")
    study.add(data)
    assert not caplog.records
    study.add({"x": 1, "m": "a"}, 3.0)
    study.add(csv("x,m,value", "1,a,4"))
    assert not caplog.records
    study.add(data)
    assert caplog.messages == ["add: 2 results equal earlier ones, such as trial 2"]


# What is refused


@pytest.mark.parametrize(
    ("lines", "error", "words"),
    [
        (["x,m,value", "1,a,good"], TrialError, "row 2: a value must be a number, got 'good' in"),
        (["x,m,value", "1,a,1", "z,a,1"], ParamsError, "row 3: 'x' is 'z', not a finite number"),
        (["x,m,value", "1,a,1,2"], ParamsError, "row 2 has 4 cells, but the first row names 3"),
        (["x,m,value,value", "1,a,1,2"], ParamsError, "two columns of the same name"),
        (["x,m", "1,a"], TrialError, "needs a column 'value'"),
        ([""], TrialError, "needs a column 'value'"),
        (["x,m,value,sd", "1,a,1,1"], ParamsError, "'sd' is unknown.*did you mean 'std'"),
        (["x,m,k,value", "1,b,2,1"], ParamsError, r"'k' is unknown.*did you mean 'm\.b\.k'"),
        (["x,m,value,at.y", "1,a,1,1"], ParamsError, r"column 'at\.y' is unknown"),
        (["x,m,value,state", "1,a,1,done"], TrialError, "row 2: the column 'state' is 'done', exp"),
        (["x,m,value,state", "1,a,,finished"], TrialError, "row 2: the state is 'finished', but"),
        (["x,m,value", '1,a,"1,234"'], ParamsError, "'1,234' may have a decimal comma or"),
        (["x;m;value", "0,5;a;1.5"], ParamsError, "with a comma, '0,5', and with a point, '1.5'"),
        (["x,m,m.b.k,m.b.c,value", "1,b,2.5,s,1"], ParamsError, "row 2: 'm.b.k' is 2.5, not a"),
        (["x,m,m.b.k,m.b.c,value", "1,b,2,t,1"], ParamsError, "row 2: 'm.b.c' is 't', not among"),
        (["x,m,m.b.k,m.b.c,value", "1,a,2,,1"], ParamsError, "row 2: 'm.b.k' .= 2. is inactive"),
        (["x,m,value", "1,b,1"], ParamsError, "row 2: 'm.b.k' is missing"),
        (["x,m,value,std", "1,a,1,-1"], TrialError, "row 2: std must be"),
    ],
)
def test_a_wrong_cell_is_named_and_nothing_is_added(lines, error, words):
    study = study_of()
    with pytest.raises(error, match=words):
        study.add(csv(*lines))
    assert study.trials == []


def test_values_are_not_given_twice():
    study = study_of()
    for form in (study.to_frame(), [study.ask()], b"x,m,value\n"):
        with pytest.raises(TrialError, match="pass no further arguments"):
            study.add(form, [1.0])
    with pytest.raises(ParamsError, match="result 1: expected a trial as the others"):
        study.add([study.ask(), {"x": 1, "m": "a"}])


def test_a_parameter_named_state_has_a_column_of_its_own():
    space = Space({"state": Int(1, 3)})
    with pytest.raises(TrialError, match=r"the column of the parameter 'state' is 'params\.state'"):
        study_of(space).add(csv("state,value", "1,1"))
    assert values(csv("params.state,value", "1,1"), space) == [1.0]


# Snapping


def test_rounded_history_is_snapped_on_request(caplog):
    space = Space(
        {"x": Float(0, 1, step=0.25), "k": Int(10, 50, step=10), "c": Categorical([1, 2])}
    )
    data = csv("x,k,c,value", "0.3,44,1,1", "0.5,50,2,2", "1.1,9,1,3")
    with pytest.raises(ParamsError, match=r"row 2: 'x' is 0\.3, off the grid"):
        study_of(space).add(data)
    study = study_of(space)
    study.add(data, snap=True)
    assert [dict(trial.params) for trial in study.trials] == [
        {"x": 0.25, "k": 40, "c": 1},
        {"x": 0.5, "k": 50, "c": 2},
        {"x": 1.0, "k": 10, "c": 1},
    ]
    assert [dict(trial.info) for trial in study.trials] == [
        {"snapped": {"x": 0.3, "k": 44}},
        {},
        {"snapped": {"x": 1.1, "k": 9}},
    ]
    assert "moved to the nearest legal configuration: 2" in caplog.text
    trial = study.add({"x": 0.3, "k": 12, "c": 1}, 1.0, snap=True)
    assert trial.params == {"x": 0.25, "k": 10, "c": 1}
    with pytest.raises(ParamsError, match="above its upper bound"):
        study.add({"x": 2.0, "k": 12, "c": 1}, 1.0, snap=True)


# The log


def test_only_results_that_need_it_are_events_of_a_newer_version(tmp_path):
    store = f"sqlite:///{tmp_path}/s.db"
    study = Study(SPACE, "s", store, method="random", seed=0)
    study.add(csv("x,m,state,value,reason,at.x", "1,a,,2,,", "1,a,failed,,no,", "1,a,,2,,1.5"))
    texts = study._store.read(study._id)[1:]
    assert ['"version":1' in text for text in texts] == [True, False, False]
    assert not any(name in texts[0] for name in ("reason", "where", "info"))
    again = Study(SPACE, "s", store, method="random", seed=0)
    assert [outcome(trial) for trial in again.trials] == [outcome(trial) for trial in study.trials]
    assert again.trials[1].reason == "no"
    assert again.trials[2].at == {"x": 1.5}
    study.ask()
    assert study.replay().identical
