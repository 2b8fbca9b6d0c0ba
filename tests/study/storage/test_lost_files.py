"""Files that are removed, replaced or shortened while a study uses them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from sqlalchemy import event

from outcrop.errors import StorageDamaged, StorageError
from outcrop.study import Study, load_study
from outcrop.study.storage import Lease
from tests.study.handles import SPACE, opened
from tests.study.storage.children import answer

TOLD = 12  # results before the files are lost


def shorten(path, share=0.5):
    os.truncate(path, int(os.path.getsize(path) * share) // 4096 * 4096)


def replace(path):
    shutil.copy(path, f"{path}.copy")
    os.replace(f"{path}.copy", path)


def remove_both(db):
    os.unlink(f"{db}-wal")
    os.unlink(f"{db}-shm")


LOSSES = {
    "log removed": lambda db: os.unlink(f"{db}-wal"),
    "index removed": lambda db: os.unlink(f"{db}-shm"),
    "log and index removed": remove_both,
    "log replaced": lambda db: replace(f"{db}-wal"),
    "log shortened": lambda db: shorten(f"{db}-wal"),
    "log wholly shortened": lambda db: shorten(f"{db}-wal", 0),
    "database removed": os.unlink,
    "database replaced": replace,
    "database shortened": shorten,
}
REMOVED_LOGS = [name for name in LOSSES if name.endswith("removed") and "database" not in name]


@pytest.fixture
def told(url):
    """A study with results, most of which are in the write-ahead log only."""
    study = opened(url)
    for number in range(TOLD):
        study.tell(study.ask(), float(number), info={"note": "x" * 3000})
        if number == TOLD // 2:
            checkpoint(study)
    return study


def checkpoint(study, how="PASSIVE"):
    with study._store._transactions._engine.connect() as connection:
        connection.exec_driver_sql(f"PRAGMA wal_checkpoint({how})")


def values(study):
    return [trial.value for trial in study.trials if trial.value is not None]


def values_for_another_process(url):
    return answer(lambda: values(load_study("s", url)))


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_is_acknowledged_after_files_were_lost(told, path, loss):
    trial = told.ask()
    LOSSES[loss](path)
    with pytest.raises(
        StorageDamaged, match=f"{loss.split()[-1]}.* while it was in use"
    ) as refused:
        told.tell(trial, 99.0)
    assert "outcrop check" in str(refused.value)
    assert "\n" not in str(refused.value)
    with pytest.raises(StorageDamaged):
        told.ask()


@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_is_acknowledged_if_files_are_lost_during_the_write(told, path, loss):
    trial = told.ask()
    event.listen(
        told._store._transactions._engine,
        "commit",
        lambda connection: os.path.exists(path) and LOSSES[loss](path),
        once=True,
    )
    with pytest.raises((StorageDamaged, StorageError)):
        told.tell(trial, 99.0)


@pytest.mark.parametrize("loss", REMOVED_LOGS)
def test_all_that_was_acknowledged_is_in_the_database_after_its_log_was_removed(
    told, url, path, loss
):
    trial = told.ask()
    LOSSES[loss](path)
    with pytest.raises(StorageDamaged, match="All that was acknowledged"):
        told.tell(trial, 99.0)
    assert values_for_another_process(url) == [float(n) for n in range(TOLD)]
    again = load_study("s", url)
    assert values(again) == [float(n) for n in range(TOLD)]
    assert again.tell(trial.number, 99.0).value == 99.0
    with pytest.raises(StorageDamaged, match="All that was acknowledged"):
        told.tell(trial, 99.0)
    assert values_for_another_process(url) == [*map(float, range(TOLD)), 99.0]


WRITER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
(count,) = connection.execute("SELECT count(*) FROM outcrop_events").fetchone()
record = '{"event":"Stopped","version":1,"reason":"another","at":0.0}'
insert = "INSERT INTO outcrop_events (study, position, record) VALUES (1, ?, ?)"
connection.execute(insert, [count, record])
print(count)
sys.stdout.flush()
if sys.argv[2] == "dies":
    os._exit(0)
connection.close()
"""


@pytest.mark.parametrize("ends", ["dies", "closes"])
def test_a_study_that_another_process_went_on_with_is_left_alone(told, url, path, ends):
    """The other one has a log of its own, so that the history of the study has two versions."""
    trial = told.ask()
    LOSSES["log and index removed"](path)
    command = [sys.executable, "-c", WRITER, path, ends]
    known = int(subprocess.run(command, check=True, capture_output=True).stdout)
    assert known < told._state.position
    with pytest.raises(StorageDamaged, match="is saved in ") as refused:
        told.tell(trial, 99.0)
    copy = load_study("s", f"sqlite:///{refused.value.copy}")
    assert values(copy) == [float(number) for number in range(TOLD)]
    told._store.close()
    with pytest.raises(StorageError, match="use it in a new process"):
        load_study("s", url)
    again = subprocess.run(command, check=True, capture_output=True).stdout
    assert int(again) == known + 1, "what the other one has written is still there"


def test_a_process_that_ends_leaves_a_copy_of_what_others_cannot_read(told, path, tmp_path):
    LOSSES["log and index removed"](path)
    subprocess.run([sys.executable, "-c", WRITER, path, "closes"], check=True, capture_output=True)
    told._store.close()
    (copy,) = tmp_path.glob("study-lost-*.db")
    assert values(load_study("s", f"sqlite:///{copy}")) == [float(n) for n in range(TOLD)]


@pytest.mark.parametrize("loss", [name for name in LOSSES if "removed" not in name])
def test_what_a_process_knows_is_saved_elsewhere(told, path, tmp_path, loss):
    told.fail(told.ask(), "diverged")
    trial = told.ask()
    before = told.trials[:-1]
    LOSSES[loss](path)
    with pytest.raises(StorageDamaged):
        told.tell(trial, 99.0)
    copy = told.copy_to(f"sqlite:///{tmp_path}/saved.db")
    assert [(t.params, t.value, t.reason, t.info) for t in copy.trials if t.state != "running"] == [
        (t.params, t.value, t.reason, t.info) for t in before
    ]
    assert copy.replay().identical
    assert copy.tell(copy.ask(), 1.0).value == 1.0


def test_a_copy_is_the_study_itself(told, tmp_path):
    copy = told.copy_to(f"sqlite:///{tmp_path}/copy.db", "other")
    assert copy.trials == told.trials
    assert copy.replay() == told.replay()
    assert load_study("other", f"sqlite:///{tmp_path}/copy.db").trials == told.trials
    with pytest.raises(ValueError, match="already has a study 'other'"):
        told.copy_to(f"sqlite:///{tmp_path}/copy.db", "other")


def test_known_results_are_copied_where_the_log_cannot_be_read():
    """Only what a process has in memory is left: everything but the record of suggestions."""
    from outcrop.study.copies import known_log
    from outcrop.study.state import fold

    study = Study(SPACE, method="random", seed=3)
    study.tell(study.ask(), 1.5, std=0.1, info={"a": {"b": 1}})
    study.fail(study.ask(), "diverged", info={"traceback": "…"})
    study.release(study.ask())
    study.ask()
    study.add({"x": 0.25}, 2.5)
    copy = fold(known_log(study._state))
    fields = ("params", "value", "std", "reason", "state", "info")
    ended = [trial for trial in study.trials if trial.state != "running"]
    assert [[getattr(t, f) for f in fields] for t in copy.trials] == [
        [getattr(t, f) for f in fields] for t in ended
    ]


def other_program(path, statement):
    with closing(sqlite3.connect(path)) as other:
        return other.execute(statement).fetchall()


def test_files_that_another_program_shortens_with_good_reason_are_no_harm(told, path):
    sizes = []
    for statement in (
        "PRAGMA wal_checkpoint(TRUNCATE)",
        "VACUUM",
        "PRAGMA wal_checkpoint(TRUNCATE)",
    ):
        told.add([{"x": 0.5}] * 50, [1.0] * 50)
        other_program(path, statement)
        sizes.append(os.path.getsize(f"{path}-wal"))
        told.add({"x": 0.5}, 1.0)
    assert 0 in sizes
    assert len(told.trials) == TOLD + 153


def test_a_database_that_another_program_compresses_is_no_harm(told, path):
    told._store.create("large", "x" * 1_000_000)
    told._store.delete(told._store.find("large"))
    checkpoint(told, "TRUNCATE")
    before = os.path.getsize(path)
    other_program(path, "VACUUM")
    checkpoint(told, "TRUNCATE")
    assert os.path.getsize(path) < before
    assert told.add({"x": 0.5}, 1.0).value == 1.0


def test_a_tell_looks_at_its_files_a_few_times(told, monkeypatch):
    trial, looks = told.ask(), []
    look = os.stat
    monkeypatch.setattr("os.stat", lambda path, **how: looks.append(path) or look(path, **how))
    told.tell(trial, 1.0)
    assert 6 <= len(looks) <= 12


def test_a_closed_and_forked_study_goes_on(told, url):
    assert answer(lambda: told.tell(told.ask(), 5.0).value) == 5.0
    assert told.tell(told.ask(), 6.0).value == 6.0
    assert values_for_another_process(url)[-2:] == [5.0, 6.0]
    told._store.acquire(told._id, Lease("x", "me", 1.0))
