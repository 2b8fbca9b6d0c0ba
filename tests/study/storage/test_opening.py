import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from outcrop.errors import StorageError
from outcrop.study.storage import Memory, open_storage
from outcrop.study.storage.schema import VERSION
from outcrop.study.storage.sql import SqlStorage


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def filled(url="sqlite:///study.db", records=0):
    storage = SqlStorage(url)
    study = storage.create("study", "first")
    assert storage.append(study, 1, [f"record {count} " + "x" * 1000 for count in range(records)])
    storage.close()
    return study


def execute(path, statement):
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def refusal(url):
    with pytest.raises(StorageError) as refused:
        open_storage(url)
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_none_is_a_new_memory():
    one, two = open_storage(None), open_storage(None)
    assert isinstance(one, Memory)
    assert one is not two


def test_a_storage_is_itself():
    memory = Memory()
    assert open_storage(memory) is memory


def test_a_url_is_a_database(folder):
    assert repr(open_storage("sqlite:///study.db")) == "SqlStorage('sqlite:///study.db')"


def test_sqlalchemy_is_loaded_with_the_first_database_only():
    script = """
import sys
import outcrop.testing
from outcrop.study.storage import open_storage
open_storage(None)
assert "sqlalchemy" not in sys.modules
open_storage("sqlite://")
assert "sqlalchemy" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("thing", [3, Path("study.db"), object(), b"sqlite://"], ids=repr)
def test_anything_else_is_refused(thing):
    assert "sqlite:///study.db" in refusal(thing)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("study.db", ["'study.db'", "'sqlite:///study.db'"]),
        ("/data/study.db", ["'sqlite:////data/study.db'"]),
        ("sqlite:study.db", ["'sqlite:///study.db'"]),
        ("sqlite://study.db", ["sqlite://study.db", "'sqlite:///study.db'"]),
        ("", ["'sqlite:///study.db'"]),
        ("oracle://host/db", ["oracle://host/db", "'oracle'", "'sqlite:///study.db'"]),
        ("sqlite+pysqlcipher:///study.db", ["sqlite+pysqlcipher"]),
        ("nonsense://", ["nonsense", "'sqlite:///study.db'"]),
        ("sqlite:///missing/study.db", ["sqlite:///missing/study.db", "no folder", "create it"]),
        ("sqlite:///.", ["is a folder"]),
        ("sqlite:///study.db?mode=ro", ["study.db", "no file", "'mode'"]),
        ("sqlite:///study.db?mode=rw", ["study.db", "no file", "'mode'"]),
        ("sqlite:///study.db?mode=x", ["'mode'", "mode=ro"]),
        ("sqlite:///study.db?cache=shared", ["'cache'", "mode=ro"]),
    ],
)
def test_a_url_that_cannot_be_opened_is_refused_with_the_remedy(url, words, folder):
    message = refusal(url)
    for word in words:
        assert word in message
    assert os.listdir(folder) == []


@pytest.mark.parametrize(
    "url",
    [
        "postgres://me:secret@host/db",
        "postgresql:me:secret@host/db",
        "postgresql://me:sec:ret@host:port/db",
        "postgresql://me:sec/ret@host:port/db",
        "sqlite://me:secret@host/db",
        "mysql://me:secret@host/db?password=secret",
        "sqlite:///host.db?password=secret",
    ],
)
def test_no_message_holds_a_password(url):
    message = refusal(url)
    assert "host" in message
    assert "sec" not in message
    assert "ret" not in message


def test_a_missing_driver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    message = refusal("postgresql://me:secret@host/db")
    assert "postgresql://me:***@host/db" in message
    assert "pip install" in message
    assert "psycopg" in message


def test_patience_must_be_a_duration():
    for patience in (-1.0, float("nan")):
        with pytest.raises(StorageError, match="patience must be at least 0"):
            SqlStorage("sqlite://", patience)


def test_nothing_is_created_before_the_first_study(folder):
    storage = SqlStorage("sqlite:///study.db")
    assert storage.names() == []
    assert os.listdir(folder) == []
    storage.create("study", "first")
    assert "study.db" in os.listdir(folder)


def test_a_store_that_another_made_meanwhile_is_seen(folder):
    early = SqlStorage("sqlite:///study.db")
    assert early.find("study") is None
    study = filled()
    assert early.find("study") == study
    assert early.read(study) == ["first"]


def test_an_empty_file_becomes_a_store(folder):
    Path("study.db").touch()
    study = filled()
    assert SqlStorage("sqlite:///study.db").read(study) == ["first"]


def test_a_relative_path_is_resolved_once(folder, monkeypatch):
    early = SqlStorage("sqlite:///early.db")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    study = early.create("study", "first")
    early.close()
    assert os.listdir() == []
    assert SqlStorage(f"sqlite:///{folder}/early.db").read(study) == ["first"]


@pytest.mark.parametrize("name", ["a b.db", "é.db", "50%.db", "a#b.db", "a'b.db"])
def test_a_file_may_have_any_name(name, folder):
    study = filled(f"sqlite:///{folder}/{name}")
    assert os.listdir(folder) == [name]
    assert filled(f"sqlite:///file:other-{study}.db?uri=true") == study
    assert f"other-{study}.db" in os.listdir(folder)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///"])
def test_a_store_in_memory_is_its_own(url, folder):
    one, two = SqlStorage(url), SqlStorage(url)
    one.create("study", "first")
    assert two.names() == []
    assert os.listdir(folder) == []


def test_a_foreign_database_is_refused_and_left_alone(folder):
    execute("other.db", "CREATE TABLE other (x)")
    before = Path("other.db").read_bytes()
    message = refusal("sqlite:///other.db")
    assert "'other'" in message
    assert "another file" in message
    assert Path("other.db").read_bytes() == before
    assert os.listdir(folder) == ["other.db"]


@pytest.mark.parametrize("content", [b"a note", b"a text that is no database\n" * 1000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(content, folder):
    Path("notes.txt").write_bytes(content)
    message = refusal("sqlite:///notes.txt")
    assert "not a SQLite database" in message
    assert Path("notes.txt").read_bytes() == content
    assert os.listdir(folder) == ["notes.txt"]


def test_a_newer_schema_is_refused_with_both_versions(folder):
    filled()
    execute("study.db", f"UPDATE outcrop_schema SET version = {VERSION + 6}")
    message = refusal("sqlite:///study.db")
    assert f"version {VERSION + 6}" in message
    assert f"up to {VERSION}" in message
    assert "upgrade" in message


def test_a_newer_schema_is_named_even_if_its_tables_differ(folder):
    filled()
    execute("study.db", f"UPDATE outcrop_schema SET version = {VERSION + 1}")
    execute("study.db", "ALTER TABLE outcrop_events RENAME TO outcrop_history")
    assert f"version {VERSION + 1}" in refusal("sqlite:///study.db")


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE outcrop_events",
        "DROP TABLE outcrop_schema",
        "DELETE FROM outcrop_schema",
        "INSERT INTO outcrop_schema VALUES (1)",
    ],
)
def test_a_store_that_lacks_something_is_refused(damage, folder):
    filled()
    execute("study.db", damage)
    assert "damaged" in refusal("sqlite:///study.db")


@pytest.mark.parametrize("kept", [0.999, 0.99, 0.5, 0.1, 0.001])
def test_a_truncated_file_is_refused(kept, folder):
    filled(records=200)
    content = Path("study.db").read_bytes()
    Path("study.db").write_bytes(content[: int(kept * len(content))])
    message = refusal("sqlite:///study.db")
    assert "damaged" in message or "not a SQLite database" in message
    assert "choose another file" in message


def test_damage_inside_is_told_when_it_is_met(folder):
    study = filled(records=200)
    content = bytearray(Path("study.db").read_bytes())
    content[8192:] = os.urandom(len(content) - 8192)  # the first pages hold the tables' names
    Path("study.db").write_bytes(content)
    with pytest.raises(StorageError, match=r"study\.db"):
        SqlStorage("sqlite:///study.db").read(study)
