import os
import shutil
import sqlite3
import tempfile
import threading
from contextlib import closing

import pytest

from outcrop.errors import StorageDamaged, StorageError
from outcrop.study.storage import Lease
from outcrop.study.storage.sql import SqlStorage
from tests.study.storage.children import answer

NOBODY = 65534  # the user without rights


def test_a_file_is_written_ahead_and_synchronised(storage, study, path):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with storage._transactions._engine.connect() as connection:
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
    assert statements[:2] == ["PRAGMA synchronous=FULL", "BEGIN IMMEDIATE"]
    assert statements[-1] == "COMMIT"
    assert sum(statement.startswith(("BEGIN", "COMMIT")) for statement in statements) == 2


def test_only_a_lease_may_be_forgotten_by_a_power_cut(storage, study):
    statements = []
    with storage._transactions._engine.connect() as connection:
        connection.connection.dbapi_connection.set_trace_callback(statements.append)
    lease = Lease("ask", "me", 60.0)
    for act in (
        lambda: storage.acquire(study, lease),
        lambda: storage.renew(study, "me", ["ask"], 60.0),
        lambda: storage.release(study, "me", ["ask"]),
    ):
        act()
    levels = [each for each in statements if each.startswith("PRAGMA")]
    assert levels == ["PRAGMA synchronous=NORMAL"] * 3
    assert storage.append(study, 1, ["told"])
    assert "PRAGMA synchronous=FULL" in statements[-8:]


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


def test_a_full_disk_is_told(storage, study):
    with storage._transactions._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StorageError, match="disk is full"):
        storage.append(study, 1, ["x" * 100_000])
    assert storage.read(study) == ["first"]
