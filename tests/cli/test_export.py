"""`outcrop export`: it overwrites nothing by mistake, and its cells are what they seem."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from outcrop.errors import StorageError
from outcrop.space import Categorical, Float, Space
from outcrop.study import Study, load_study
from outcrop.study.storage import open_storage

FORMULAS = ["=1+2", "+1", "-1", "@x", "\t=1", "\r=1", "plain"]


@pytest.fixture
def store(tmp_path):
    """A store with a study of which half is in the write-ahead log only."""
    space = Space({"x": Float(-1, 1), "c": Categorical(FORMULAS)})
    with closing(open_storage(f"sqlite:///{tmp_path}/s.db")) as store:
        study = Study(space, "s", store, method="random", seed=0)
        for number, choice in enumerate(FORMULAS):
            study.add({"x": -0.5, "c": choice}, -float(number))
        yield store


def content(*names):
    return {name: Path(name).read_bytes() for name in names}


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["", "forced"])
@pytest.mark.parametrize("name", ["s.db", "s.db-wal", "s.db-shm", "link.csv", "other.db"])
def test_a_database_is_never_written_over(call, store, name, force):
    os.symlink("s.db", "link.csv")
    with closing(open_storage("sqlite:///other.db")) as other:
        other.create("other", "first")
    before = content(name)
    code, out, err = call("export", "s", "--output", name, *force)
    assert (code, out) == (2, "")
    assert "database" in err
    assert content(name) == before
    assert len(load_study("s", store).trials) == len(FORMULAS)


def test_a_file_is_written_over_only_by_force(call, store):
    Path("trials.csv").write_text("precious")
    os.chmod("trials.csv", 0o640)
    code, _, err = call("export", "s", "--output", "trials.csv")
    assert code == 2
    assert "--force" in err
    assert Path("trials.csv").read_text() == "precious"
    assert call("export", "s", "--output", "trials.csv", "--force")[0] == 0
    assert Path("trials.csv").read_text().startswith("number,state,value")
    assert stat.S_IMODE(os.stat("trials.csv").st_mode) == 0o640


def test_a_new_file_has_the_usual_permissions(call, store):
    call("export", "s", "--output", "trials.csv")
    Path("usual").touch()
    assert os.stat("trials.csv").st_mode == os.stat("usual").st_mode


def test_a_file_is_whole_or_not_there(call, store, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    before = sorted(os.listdir())
    monkeypatch.setattr("os.replace", full)
    code, _, err = call("export", "s", "--output", "trials.csv")
    assert code == 2
    assert "No space left" in err
    assert sorted(os.listdir()) == before


def test_a_device_is_written_to_and_not_replaced(call, store):
    assert call("export", "s", "--output", "/dev/null")[0] == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_formulas_are_escaped_on_request_and_numbers_stay_numbers(call, store):
    plain = list(csv.DictReader(io.StringIO(call("export", "s")[1], newline="")))
    assert [row["c"] for row in plain] == FORMULAS
    safe = call("export", "s", "--escape-formulas")[1]
    rows = list(csv.DictReader(io.StringIO(safe, newline="")))
    assert [row["c"] for row in rows] == [f"'{text}" for text in FORMULAS[:-1]] + ["plain"]
    assert [float(row["value"]) for row in rows] == [-float(n) for n in range(len(FORMULAS))]
    code, _, err = call("export", "s", "--escape-formulas", "--format", "json")
    assert code == 2
    assert "CSV" in err


def test_names_of_columns_are_escaped_too(call, tmp_path):
    space = Space({"=cmd": Float(0, 1)})
    Study(space, "n", f"sqlite:///{tmp_path}/n.db", method="random").add({"=cmd": 0.5}, 1.0)
    header = call("export", "n", "--escape-formulas")[1].splitlines()[0]
    assert "'=cmd" in header.split(",")


def test_json_keeps_every_text(call, store):
    data = json.loads(call("export", "s", "--format", "json")[1])
    assert [trial["params"]["c"] for trial in data["trials"]] == FORMULAS


def test_an_output_is_refused_before_the_study_is_opened(call):
    Path("trials.csv").touch()
    code, _, err = call("export", "nothing", "--output", "trials.csv")
    assert code == 2
    assert "--force" in err
    with pytest.raises(StorageError):
        open_storage("sqlite:///trials.csv?mode=x")
