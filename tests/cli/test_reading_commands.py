"""Commands that show, export or delete a study: what they print, and their exit codes."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from outcrop.space import Choice, Float, Int, Space
from outcrop.study import Study, list_studies, load_study


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A study with finished, failed and running trials of a conditional space."""
    monkeypatch.chdir(tmp_path)
    space = Space({"lr": Float(1e-4, 1, log=True), "m": Choice({"a": {}, "b": {"k": Int(1, 9)}})})
    study = Study(space, "digits", "sqlite:///digits.db", method="random", seed=0)
    study.add({"lr": 0.1, "m": "a"}, 0.1 + 0.2)
    study.add({"lr": 0.5, "m": "b", "m.b.k": 3}, 0.25, std=0.5)
    study.fail(study.ask(), "diverged, badly")
    study.ask()
    return study


def test_show_tells_trials_best_failures_and_model(call, stored):
    code, out, _ = call("show", "digits")
    assert code == 0
    assert "study digits: minimize, method random, seed 0" in out
    assert "4 (2 finished, 1 running, 1 failed)" in out
    assert "best value 0.25, trial 1: lr = 0.5, m = b, m.b.k = 3" in out
    assert "1 x diverged, badly" in out
    assert re.search(r"^ +0 +finished +0\.3 +0\.1 +a", out, re.MULTILINE)
    for others in (["spec"], []):
        assert call("show", *others, "--storage", "digits.db")[0] == (2 if others else 0)


@pytest.mark.parametrize(
    ("robust", "belief"), [(False, "mean "), (True, "average over input noise ")]
)
def test_show_says_what_the_model_believes(call, tmp_path, monkeypatch, robust, belief):
    monkeypatch.chdir(tmp_path)
    space = Space({"x": Float(0, 1, input_std=0.02)})
    study = Study(space, "gp", "sqlite:///gp.db", method="gp", seed=0, robust=robust)
    for _ in range(7):
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    out = call("show", "gp", "--last", "2")[1]
    assert "5 earlier trials are not shown" in out
    assert "model: GP, LogEI; expected improvement left" in out
    assert f"believed best: trial {study.recommend().trial.number}, {belief}" in out


def test_show_names_branches_in_which_every_trial_failed(call, stored):
    failed = {"lr": 0.5, "m": "b", "m.b.k": 3}
    stored.discard(1, "a wrong file")
    stored.add([failed, failed], [float("nan"), float("inf")])
    out = call("show", "digits")[1]
    assert "all 3 trials of m=b failed, most often: diverged, badly" in out


def test_show_of_an_empty_study_is_no_error(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Study(Space({"x": Float(0, 1)}), "new", "sqlite:///new.db")
    code, out, _ = call("show", "new")
    assert code == 0
    assert "no trial has finished yet" in out


def test_the_store_may_be_named_once_for_all(call, stored, monkeypatch):
    monkeypatch.setenv("OUTCROP_STORAGE", "sqlite:///digits.db")
    assert "study digits" in call("show")[1]


def test_best_as_text_and_as_json(call, stored):
    assert call("best", "digits")[1].startswith("best value 0.25, trial 1: lr = 0.5")
    assert json.loads(call("best", "digits", "--json")[1]) == {
        "number": 1,
        "value": 0.25,
        "std": 0.5,
        "params": {"lr": 0.5, "m": "b", "m.b.k": 3},
    }


def test_export_writes_every_trial_without_loss(call, stored, tmp_path):
    rows = list(csv.DictReader(io.StringIO(call("export", "digits")[1])))
    assert [row["state"] for row in rows] == ["finished", "finished", "failed", "running"]
    assert float(rows[0]["value"]) == 0.1 + 0.2
    assert rows[1]["m.b.k"] == "3"
    assert rows[0]["m.b.k"] == ""
    assert rows[2]["reason"] == "diverged, badly"
    assert call("export", "digits", "--output", "trials.json")[0] == 0
    data = json.loads((tmp_path / "trials.json").read_text())
    assert [trial["value"] for trial in data["trials"]] == [0.1 + 0.2, 0.25, None, None]
    assert Space.from_json(data["space"]) == stored.space
    code, _, err = call("export", "digits", "--output", "nowhere/trials.csv")
    assert code == 2
    assert "nowhere" in err


def test_delete_asks_first(call, stored, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert "nothing was deleted" in call("delete", "digits")[1]
    assert list_studies("sqlite:///digits.db") == ["digits"]
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert "is deleted" in call("delete", "digits")[1]
    assert list_studies("sqlite:///digits.db") == []


def test_problems_are_listed_with_their_minima(call):
    out = call("problems")[1]
    assert re.search(r"^branin +2 +0\.397887", out, re.MULTILINE)


def test_the_demo_runs_on_a_file_and_draws_a_picture(call, tmp_path):
    pytest.importorskip("matplotlib")
    code, out, err = call("demo", "--trials", "12", "--folder", str(tmp_path))
    assert code == 0
    assert "2 worker processes" in out
    assert "trial 12/12" in err
    assert (tmp_path / "outcrop-demo.png").read_bytes()[:4] == b"\x89PNG"
    url = f"sqlite:///{tmp_path / 'outcrop-demo.db'}"
    assert len(load_study("demo", url).trials) == 12
    call("demo", "--trials", "12", "--folder", str(tmp_path))
    assert list_studies(url) == ["demo", "demo-2"]
