import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing

import pytest
from sqlalchemy.exc import DBAPIError

from outcrop.errors import StorageDamaged, StorageError
from outcrop.study import load_study
from outcrop.study.storage import Lease
from outcrop.study.storage.sql import SqlStorage
from outcrop.study.storage.sqlite import Sqlite
from tests.study.storage.children import answer

NOBODY = 65534  # the user without rights


def test_a_file_is_written_ahead(storage, study, path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_cannot_be_written_ahead_is_synchronised_by_sqlite(url, monkeypatch):
    monkeypatch.setattr(Sqlite, "before_writing", lambda self, connection: None)
    with closing(SqlStorage(url)) as storage:
        study = storage.create("study", "first")
        assert storage.append(study, 1, ["second"])
        with storage._transactions._engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "delete"
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL


def test_a_file_in_another_journal_mode_is_written_ahead_again(storage, study, url, path):
    storage.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode=DELETE").fetchone() == ("delete",)
    with closing(SqlStorage(url)) as again:
        assert again.append(study, 1, ["second"])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_an_append_is_one_transaction_that_locks_first(storage, study):
    statements = []
    with storage._transactions._engine.connect() as connection:
        connection.connection.dbapi_connection.set_trace_callback(statements.append)
    assert storage.append(study, 1, ["b", "c"], take=[Lease("trial 1", "me", 60.0)], drop=["ask"])
    assert statements[0] == "BEGIN IMMEDIATE"
    assert statements[-1] == "COMMIT"
    assert sum(statement.startswith(("BEGIN", "COMMIT")) for statement in statements) == 2


def test_only_a_lease_may_be_forgotten_by_a_power_cut(storage, study, path, monkeypatch):
    storage.append(study, 1, ["the log is in its folder from here on"])
    flushed = []
    monkeypatch.setattr("os.fsync", lambda handle: flushed.append(os.fstat(handle).st_ino))
    lease = Lease("ask", "me", 60.0)
    for act in (
        lambda: storage.acquire(study, lease),
        lambda: storage.renew(study, "me", ["ask"], 60.0),
        lambda: storage.release(study, "me", ["ask"]),
    ):
        act()
    assert flushed == []
    assert storage.append(study, 2, ["told"])
    assert flushed == [os.stat(f"{path}-wal").st_ino]


def test_others_can_write_while_a_result_is_flushed_to_the_disk(storage, study, path, monkeypatch):
    storage.append(study, 1, ["the log is in its folder from here on"])
    seen = []
    with closing(sqlite3.connect(path, isolation_level=None)) as other:

        def slow(handle):
            other.execute("BEGIN IMMEDIATE")  # at once, or it raises
            seen.extend(other.execute("SELECT record FROM outcrop_events WHERE position = 2"))
            other.execute("ROLLBACK")

        other.execute("PRAGMA busy_timeout=0")
        monkeypatch.setattr("os.fsync", slow)
        assert storage.append(study, 2, ["told"])
        level = storage._database._connection.execute("PRAGMA synchronous").fetchone()
    assert seen == [("told",)]
    assert level == (1,), "NORMAL: SQLite itself flushes a log only before it is copied"


def test_a_disk_that_does_not_take_what_was_written_is_told(storage, study, monkeypatch):
    def broken(handle):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(StorageError, match="could not be flushed to the disk"):
        storage.append(study, 1, ["told"])


def test_reading_is_one_statement(storage, study):
    statements = []
    with storage._transactions._engine.connect() as connection:
        connection.connection.dbapi_connection.set_trace_callback(statements.append)
    assert storage.read(study, 1) == []
    assert len(statements) == 1


def test_deleting_leaves_nothing_behind(storage, study, path):
    storage.append(study, 1, ["second"], take=[Lease("ask", "me", 60.0)])
    storage.delete(study)
    with closing(sqlite3.connect(path)) as connection:
        for table in ("outcrop_studies", "outcrop_events", "outcrop_leases"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


def test_a_closed_storage_says_so(storage, study):
    storage.close()
    storage.close()
    with pytest.raises(StorageError, match="closed"):
        storage.read(study)
    with pytest.raises(StorageError, match="closed"):
        storage.append(study, 1, ["second"])


@pytest.mark.parametrize("operation", ["create", "append", "acquire", "renew", "release", "delete"])
def test_a_locked_database_gives_up_after_its_patience_and_writes_nothing(
    operation, storage, study, url, path
):
    storage.acquire(study, Lease("ask", "me", 600.0))
    arguments = {
        "create": ("other", "first"),
        "append": (study, 1, ["lost"]),
        "acquire": (study, Lease("tell", "me", 60.0)),
        "renew": (study, "me", ["ask"], 6000.0),
        "release": (study, "me", ["ask"]),
        "delete": (study,),
    }[operation]
    with closing(SqlStorage(url, patience=0.2)) as hasty, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match=r"locked by another program, tried for 0\.2 s"):
            getattr(hasty, operation)(*arguments)
        assert hasty.read(study) == ["first"]  # reading waits for nobody
        other.execute("ROLLBACK")
        assert hasty.names() == ["study"]
        assert hasty.read(study) == ["first"]
        assert hasty.leases(study).keys() == {"ask"}
        assert hasty.leases(study)["ask"].left <= 600
        assert getattr(hasty, operation)(*arguments) is not False


def test_a_locked_database_that_is_not_ours_yet_gives_up_too(url, path):
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageError, match="locked by another program"):
            SqlStorage(url, patience=0.2)
    with closing(SqlStorage(url)) as storage:
        assert storage.names() == []


def test_a_lock_that_is_released_in_time_only_delays(storage, study, path):
    with closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        releasing = threading.Timer(0.3, other.rollback)
        releasing.start()
        assert storage.append(study, 1, ["second"]) is True
        releasing.join()
    assert storage.read(study) == ["first", "second"]


def test_a_thread_that_waits_for_a_lock_does_not_keep_others_from_reading(storage, study, path):
    with closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        waiting = threading.Thread(target=storage.append, args=(study, 1, ["second"]))
        waiting.start()
        try:
            for _ in range(3):
                assert storage.read(study) == ["first"]
            assert waiting.is_alive()
        finally:
            other.rollback()
            waiting.join()
    assert storage.read(study) == ["first", "second"]


def test_a_file_opened_to_read_is_read_and_not_written(storage, study, url):
    with closing(SqlStorage(f"{url}?mode=ro")) as reader:
        assert storage.append(study, 1, ["second"])
        assert reader.read(study) == ["first", "second"]
        assert reader.names() == ["study"]
        for write in (
            lambda: reader.append(study, 2, ["third"]),
            lambda: reader.create("other", "first"),
            lambda: reader.acquire(study, Lease("ask", "me", 60.0)),
            lambda: reader.delete(study),
        ):
            with pytest.raises(StorageError, match=r"is read-only.*mode=ro"):
                write()
    assert storage.read(study) == ["first", "second"]
    assert storage.names() == ["study"]


def unprivileged(work):
    """What `work` returns in a child whom permissions concern, as they do not concern root."""

    def run():
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        return work()

    return answer(run)


@pytest.fixture
def public():
    """A folder that every user can reach, which is not so for `tmp_path`."""
    folder = tempfile.mkdtemp()
    yield folder
    os.chmod(folder, 0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("mode", [0o555, 0o777], ids=oct)
def test_a_file_without_permission_to_write_is_read_and_not_written(mode, public):
    url = f"sqlite:///{public}/study.db"
    with closing(SqlStorage(url)) as storage:
        study = storage.create("study", "first")
    os.chmod(f"{public}/study.db", 0o444)
    os.chmod(public, mode)

    assert unprivileged(lambda: SqlStorage(url).read(study)) == ["first"]
    refused = unprivileged(lambda: SqlStorage(url).append(study, 1, ["second"]))
    assert isinstance(refused, StorageError)
    assert "is read-only" in str(refused)
    assert unprivileged(lambda: SqlStorage(url).read(study)) == ["first"]


def test_a_file_that_may_not_be_read_is_refused(public):
    os.chmod(public, 0o755)
    url = f"sqlite:///{public}/study.db"
    with closing(SqlStorage(url)) as storage:
        storage.create("study", "first")
    os.chmod(f"{public}/study.db", 0)
    refused = unprivileged(lambda: SqlStorage(url))
    assert isinstance(refused, StorageError)
    assert "cannot be opened" in str(refused)


def test_a_file_that_cannot_be_created_is_refused(public):
    os.chmod(public, 0o555)
    refused = unprivileged(lambda: SqlStorage(f"sqlite:///{public}/a.db").create("study", "first"))
    assert isinstance(refused, StorageError)
    assert "cannot be created" in str(refused)
    assert os.listdir(public) == []


def test_a_file_that_is_removed_meanwhile_is_missed(storage, study, path):
    path.unlink()
    with pytest.raises(StorageDamaged, match=r"study\.db was removed while it was in use"):
        storage.append(study, 1, ["second"])
    assert not path.exists()
    path.touch()
    with pytest.raises(StorageDamaged, match=r"study\.db was replaced while it was in use"):
        storage.read(study)


def limited(work, size):
    """What `work` returns in a child that may write files of `size` bytes at most."""

    def run():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return work()

    return answer(run)


def test_a_limit_of_the_size_of_files_is_named(storage, study, url):
    def write():
        writer = SqlStorage(url)
        for position in range(1, 1000):
            writer.append(study, position, ["x" * 1000])

    refused = limited(write, 200_000)
    assert isinstance(refused, StorageError)
    assert "may write files of 200000 bytes at most" in str(refused)
    assert "ulimit -f" in str(refused)
    records = storage.read(study)
    assert len(records) > 10
    assert storage.append(study, len(records), ["more"])


@pytest.mark.parametrize(("free", "words"), [(0, "the disk is full"), (10**9, "its quota")])
def test_an_error_of_the_disk_is_explained_as_far_as_possible(storage, monkeypatch, free, words):
    usage = type(shutil.disk_usage("/"))(10**9, 10**9 - free, free)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
    refused = storage._database.explained(DBAPIError("", {}, error))
    assert words in str(refused)


SUSPENDED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not os.path.exists("/proc/locks"), reason="only Linux tells who has locks")
def test_who_keeps_a_database_locked_is_told(storage, study, url, path):
    command = [sys.executable, "-c", SUSPENDED, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as other, closing(SqlStorage(url, 0.05)) as hasty:
        assert other.stdout.readline() == b"locked\n"
        with pytest.raises(StorageError, match=rf"process {other.pid} \(\w+"):
            hasty.append(study, 1, ["second"])
        os.kill(other.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, other.pid, os.WSTOPPED)
        with pytest.raises(
            StorageError, match=f"suspended: continue it with kill -CONT {other.pid}"
        ):
            hasty.append(study, 1, ["second"])
        assert hasty.read(study) == ["first"], "reading waits for nobody"
        os.kill(other.pid, signal.SIGCONT)
        other.stdin.close()
        other.wait()
        assert hasty.append(study, 1, ["second"])


@pytest.mark.parametrize("closed", [False, True])
def test_a_copy_without_its_log_says_what_is_missing(
    storage, study, path, tmp_path, monkeypatch, closed
):
    monkeypatch.setattr("outcrop.study.storage.sql.CREATION", 0.1)
    if closed:
        storage.close()
    copy = shutil.copy(path, tmp_path / "copy.db")
    with closing(SqlStorage(f"sqlite:///{copy}")) as copied:
        if closed:
            assert copied.names() == ["study"]
            return
        with pytest.raises(StorageError, match=r"copy\.db-wal, is not beside it"):
            copied.names()
        with pytest.raises(StorageError, match=r"copy\.db-wal, is not beside it"):
            load_study("study", copied)
        assert copied.find("study") is None
        assert copied.create("new", "first") is not None
        assert copied.names() == ["new"]


def test_a_database_that_is_being_created_is_no_copy(path, url, tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("PRAGMA journal_mode=WAL")
    shutil.copy(tmp_path / "other.db", path)
    with closing(SqlStorage(url)) as storage, closing(SqlStorage(url)) as creating:
        creation = threading.Timer(0.1, creating.create, ("study", "first"))
        creation.start()
        assert storage.names() in ([], ["study"])
        creation.join()
        assert storage.names() == ["study"]


def test_a_full_disk_is_told(storage, study):
    with storage._transactions._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StorageError, match="disk is full"):
        storage.append(study, 1, ["x" * 100_000])
    assert storage.read(study) == ["first"]
