"""`outcrop amend` and `outcrop discard`, and how `show` and `export` tell of them."""

from __future__ import annotations

import csv
import io
import json

import pytest

from outcrop.study import load_study
from tests.study.handles import opened


@pytest.fixture
def study(call):
    """Trial 0 has a value, 1 and 2 have failed, 3 is running."""
    study = opened("sqlite:///s.db")
    study.tell(study.ask(), 1.0)
    for trial in study.ask(2):
        study.fail(trial, "the disk was full")
    study.ask()
    return study


def states():
    return [trial.state for trial in load_study("s", "sqlite:///s.db").trials]


def test_a_value_is_amended(call, study):
    code, out, _ = call("amend", "s", "0", "--value", "-3.5", "--reason", "mistyped")
    assert code == 0
    assert "trial 0 is finished: value -3.5; it was 1.0: mistyped" in out
    assert study.best_value == -3.5
    assert call("amend", "s", "0", "--std", "0.5", "--at", "x=0.25", "--at-std", "x=0.1")[0] == 0
    trial = study.trials[0]
    assert (trial.value, trial.std, trial.at, trial.at_std) == (-3.5, 0.5, {"x": 0.25}, {"x": 0.1})
    assert "failed: the value is nan" in call("amend", "s", "0", "--value", "nan")[1]


def test_trials_are_discarded_all_or_none(call, study):
    code, _, err = call("discard", "s", "1", "3")
    assert code == 2
    assert "trial 3 is running" in err
    assert states() == ["finished", "failed", "failed", "running"]
    code, out, _ = call("discard", "s", "1", "2", "2", "--reason", "no disk")
    assert code == 0
    assert "discarded: 1, 2" in out
    assert states() == ["finished", "discarded", "discarded", "running"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["amend", "s", "0"], "nothing to amend in trial 0"),
        (["amend", "s", "9", "--value", "1"], "trial 9 is unknown"),
        (["amend", "s", "0", "--at", "x"], "--at x: expected --at NAME=VALUE"),
        (["amend", "s", "0", "--at", "x=wide"], "--at x=wide: expected a finite number"),
        (["amend", "s", "0", "--at", "y=1"], "'y' is unknown in this trial"),
        (["amend", "other", "0", "--value", "1"], "no file other.db"),
    ],
)
def test_what_is_wrong_is_one_line(call, study, arguments, words):
    code, out, err = call(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_pages_and_exports_tell_of_corrections(call, study):
    study.amend(0, value=2.0, reason="mistyped")
    study.discard(1, "no disk")
    _, page, _ = call("show", "s")
    assert "1 finished, 1 running, 1 failed, 1 discarded" in page
    assert "was 1.0: mistyped" in page
    assert "was failed: no disk" in page
    rows = list(csv.DictReader(io.StringIO(call("export", "s")[1])))
    assert [row["state"] for row in rows] == ["finished", "discarded", "failed", "running"]
    assert [row["corrections"] for row in rows[:3]] == [
        "was 1.0: mistyped",
        "was failed: no disk",
        "",
    ]
    first, second, *_ = json.loads(call("export", "s", "--format", "json")[1])["trials"]
    assert (first["value"], first["corrections"][0]["value"]) == (2.0, 1.0)
    assert second["corrections"][0]["failure"] == "the disk was full"
    assert study.to_frame()["corrections"].tolist()[0] == "was 1.0: mistyped"
