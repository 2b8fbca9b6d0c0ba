"""`outcrop add`: results from CSV files and from other commands."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.study import Study, load_study
from tests.cli.specs import NU, spec_of

MODEL = Choice({"a": {}, "b": {"k": Int(1, 9, step=2)}})
SPACE = Space({"x": Float(0, 1), "m": MODEL, "c": Categorical([1, "1"])})


@pytest.fixture
def study(tmp_path):
    return Study(SPACE, "s", f"sqlite:///{tmp_path}/s.db", method="random", seed=0)


def outcomes(study: Study):
    return [(dict(t.params), t.state, t.value, t.std, t.reason) for t in study.trials]


def test_an_export_is_added_to_another_study(call, study, tmp_path, caplog):
    for trial in study.ask(6):
        study.tell(trial, trial.params["x"], std=0.5)
    study.fail(study.ask(), "diverged")
    study.ask()
    other = Study(SPACE, "t", f"sqlite:///{tmp_path}/t.db", method="random", seed=0)
    assert call("export", "s", "--output", "results.csv")[0] == 0
    code, out, err = call("add", "t", "results.csv")
    assert (code, err) == (0, "")
    assert out == "results added to study t: 7, 1 of them failures, from trial 0 on\n"
    assert "skipped 1 running" in caplog.text
    assert outcomes(other) == outcomes(study)[:-1]


def test_results_are_read_from_the_input(call, study, monkeypatch):
    data = io.TextIOWrapper(io.BytesIO(b"x;m;c;value\n0,5;a;1;2,5\n"))
    monkeypatch.setattr(sys, "stdin", data)
    assert call("add", "s", "-")[0] == 0
    assert study.best_value == 2.5


def test_numbers_off_the_grid_are_moved_on_request(call, study):
    Path("results.csv").write_text("x,m,m.b.k,c,value\n0.5,b,4,1,2\n")
    code, _, err = call("add", "s", "results.csv")
    assert code == 2
    assert "results.csv: row 2: 'm.b.k' is 4, off the grid" in err
    assert study.trials == []
    assert call("add", "s", "results.csv", "--snap")[0] == 0
    assert study.trials[0].params["k"] in (3, 5)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "x,m,c,value\n0.5,a,1,1\n2,a,1,1\n",
            "results.csv: row 3: 'x' is 2, above its upper",
        ),
        (
            "x,m,c,value\n0.5,a,1,fast\n",
            "row 2: a value must be a number, got 'fast' in",
        ),
        ("x,m,c\n0.5,a,1\n", "results.csv: the table needs a column 'value', got 'x', 'm', 'c'"),
        ("x,m,c,vlaue\n0.5,a,1,1\n", "needs a column 'value'"),
        ('{"trials": []}', "needs a column 'value'"),
        ("", "needs a column 'value'"),
    ],
)
def test_a_wrong_file_adds_nothing_and_says_where_it_is_wrong(call, study, content, words):
    Path("results.csv").write_text(content)
    code, out, err = call("add", "s", "results.csv")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert words in err
    assert study.trials == []


def test_a_missing_file_and_a_missing_study_are_errors_of_one_line(call, study):
    code, _, err = call("add", "s", "nothing.csv")
    assert (code, err) == (2, "error: Invalid value: nothing.csv: No such file or directory\n")
    Path("results.csv").write_text("x,m,c,value\n0.5,a,1,1\n")
    code, _, err = call("add", "t", "results.csv")
    assert code == 2
    assert "t.db" in err


def test_a_study_of_a_spec_begins_with_what_is_known(call, tmp_path):
    spec_of(tmp_path, 'command = ["{python}", "-c", "print(1.0)", "{nu}"]\nmethod = "random"', NU)
    Path("results.csv").write_text("nu,value\n0.25,3\n0.5,2\n")
    for _ in range(2):
        assert call("add", "spec.toml", "results.csv")[0] == 0
    trials = load_study("study", "sqlite:///study.db").trials
    assert [trial.value for trial in trials] == [3.0, 2.0, 3.0, 2.0]
    assert call("run", "spec.toml", "--trials", "5", "--resume", "--quiet")[0] == 0
    assert load_study("study", "sqlite:///study.db").best_value == 1.0
