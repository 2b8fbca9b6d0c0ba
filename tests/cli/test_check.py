"""`outcrop check`: damage is found, and what is sound is saved."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from outcrop.errors import StorageError
from outcrop.study import Study, load_study
from outcrop.study.storage import open_storage
from outcrop.study.storage.postgresql import Postgresql
from outcrop.study.storage.watched_files import WatchedFiles
from tests.cli.specs import NU, write_spec
from tests.study.handles import SPACE

RESULTS = 60


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("stored") / "s.db"
    with closing(open_storage(f"sqlite:///{path}")) as store:
        study = Study(SPACE, "s", store, method="random", seed=1)
        for number in range(RESULTS):
            study.tell(study.ask(), float(number), info={"note": "x" * 500})
        Study(SPACE, "other", store, method="random", seed=2).add({"x": 0.5}, 1.0)
    return path


@pytest.fixture
def stored(template, tmp_path):
    """The file of a study that is not in use, beside a second study."""
    return Path(shutil.copy(template, tmp_path))


def execute(path, statement, *values):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def values(url, name="s"):
    return [trial.value for trial in load_study(name, url).trials if trial.value is not None]


def test_a_sound_study_is_found_sound_and_left_as_it_is(call, stored):
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    code, out, err = call("check", "s")
    assert (code, err) == (0, "")
    assert "SQLite finds no damage" in out
    assert f"study s: all {2 * RESULTS + 1} events are sound, with {RESULTS} results" in out
    assert f"replay: all {RESULTS} suggestions are identical" in out
    assert "other" not in out
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before
    assert "study other: all 2 events" in call("check", "--storage", "s.db", "--no-replay")[1]


def test_a_study_in_use_is_checked_with_what_is_in_its_log(call, stored):
    study = load_study("s", f"sqlite:///{stored}")
    study.tell(study.ask(), 0.5)
    code, out, _ = call("check", "s")
    assert code == 0
    assert f"{RESULTS + 1} results" in out
    study.tell(study.ask(), 0.5)


LOG = {
    "missing": ("DELETE FROM outcrop_events WHERE study = 1 AND position = 41", "is missing"),
    "not JSON": (
        "UPDATE outcrop_events SET record = '{' WHERE study = 1 AND position = 41",
        "JSON",
    ),
    "twice": (
        "UPDATE outcrop_events SET record = (SELECT record FROM outcrop_events WHERE position = 39 "
        "AND study = 1) WHERE study = 1 AND position = 41",
        "expected trial",
    ),
}


@pytest.mark.parametrize("damage", LOG)
def test_a_gap_in_a_log_is_found_and_what_is_before_it_is_saved(call, stored, damage):
    statement, words = LOG[damage]
    execute(stored, statement)
    code, out, _ = call("check", "s")
    assert code == 1
    assert "event 41 is" in out
    assert words in out
    assert "the first 41, with 20 results, are sound and can be saved" in out
    assert "--save" in out
    assert call("check", "s", "--save", "saved.db")[0] == 1
    assert values("sqlite:///saved.db") == [float(number) for number in range(20)]
    assert load_study("s", "sqlite:///saved.db").replay().identical
    code, _, err = call("check", "s", "--save", "saved.db")
    assert code == 2
    assert "already has a study 's'" in err


def test_suggestions_that_differ_are_told_apart_from_damage(call, stored):
    with closing(sqlite3.connect(stored)) as connection, connection:
        query = "SELECT record FROM outcrop_events WHERE study = 1 AND position = 41"
        record = json.loads(connection.execute(query).fetchone()[0])
        record["params"]["x"] = 0.123
        update = "UPDATE outcrop_events SET record = ? WHERE study = 1 AND position = 41"
        connection.execute(update, [json.dumps(record)])
    code, out, _ = call("check", "s")
    assert code == 3
    assert f"1 of {RESULTS} suggestions differ (trials 20)" in out
    assert call("check", "s", "--no-replay")[0] == 0


@pytest.mark.parametrize("kept", [0.95, 0.7, 0.5])
def test_a_shortened_file_is_found_damaged_and_its_beginning_saved(call, stored, kept):
    os.truncate(stored, int(os.path.getsize(stored) * kept))
    with pytest.raises(StorageError):
        values(f"sqlite:///{stored}")
    code, out, err = call("check", "s", "--save", "saved.db")
    assert code == 1, err
    assert "SQLite finds damage" in out
    saved = values("sqlite:///saved.db")
    assert 0 < len(saved) < RESULTS
    assert saved == [float(number) for number in range(len(saved))]


def test_a_page_that_was_overwritten_is_found(call, stored):
    content = bytearray(stored.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\x5a" * 4096
    stored.write_bytes(content)
    code, out, _ = call("check", "s")
    assert code == 1
    assert "SQLite finds damage" in out


def test_what_is_no_store_is_refused_or_called_damaged(call, stored):
    assert call("check", "nothing", "--storage", "missing.db")[0] == 2
    assert "does not exist" in call("check", "nothing", "--storage", "s.db")[2]
    Path("text.db").write_text("hello " * 1000)
    code, out, _ = call("check", "--storage", "text.db")
    assert code == 1
    assert "file is not a database" in out


def test_logs_of_other_databases_are_checked_as_well(call, stored, monkeypatch):
    monkeypatch.setattr("outcrop.study.storage.inspection.Sqlite", Postgresql)
    code, out, _ = call("check", "s", "--no-replay")
    assert code == 0
    assert "only logs are checked" in out
    assert f"all {2 * RESULTS + 1} events are sound" in out
    execute(stored, LOG["missing"][0])
    assert call("check", "s", "--no-replay")[0] == 1


@pytest.mark.parametrize("readable", [True, False])
def test_a_run_whose_store_is_lost_saves_what_it_knows(call, tmp_path, monkeypatch, readable):
    spec = f'name = "run"\nmethod = "random"\ncommand = ["true", "{{nu}}"]\n{NU}'
    write_spec(tmp_path, spec)

    def evaluate(program, trial):
        if trial.number == 3:
            os.unlink("run.db")
        return float(trial.number)

    monkeypatch.setattr("outcrop.cli.program.Program.evaluate", evaluate)
    if not readable:
        monkeypatch.setattr(WatchedFiles, "_copied", lambda self, connection: None)
    code, _, err = call("run", "spec.toml", "--trials", "9", "--quiet")
    assert code == 2
    assert "run.db was removed while it was in use" in err
    (saved,) = tmp_path.glob("run-lost-*.db" if readable else "run-saved.db")
    assert f"saved in {saved if readable else saved.name}" in err
    assert values(f"sqlite:///{saved}", "run") == [0.0, 1.0, 2.0]
