"""A PostgreSQL server that goes away, and a network that cuts connections or goes silent."""

from __future__ import annotations

import logging
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from outcrop.errors import StorageError
from outcrop.study.events import Asked, Created, Told
from outcrop.study.storage import Lease
from outcrop.study.storage.sql import SqlStorage
from tests.study.handles import log_of, opened
from tests.study.storage.children import answer
from tests.study.storage.proxy import Proxy

CONNECTION = "outcrop.study.storage.postgresql_connection"


@pytest.fixture
def proxy(postgresql):
    with closing(Proxy(postgresql.port)) as proxy:
        yield proxy


@pytest.fixture
def url(postgresql_url):
    """The place of the tables, without a proxy."""
    return postgresql_url


@pytest.fixture
def by_proxy(url, postgresql, proxy):
    return url.replace(f":{postgresql.port}/", f":{proxy.port}/")


@pytest.fixture
def remote(by_proxy):
    """The store beyond the proxy."""
    with closing(SqlStorage(by_proxy)) as storage:
        yield storage


@pytest.fixture
def study(remote):
    return remote.create("study", "first")


@pytest.mark.parametrize("delivered", [True, False])
def test_an_append_whose_commit_is_cut_is_neither_lost_nor_doubled(
    delivered, remote, study, proxy, storage
):
    for position in range(1, 6):
        proxy.cut_at_commit(delivered=delivered)
        lease = Lease(f"trial {position}", "me", 60.0)
        assert remote.append(study, position, [f"told {position}"], take=[lease]) is True
    assert storage.read(study) == ["first", *(f"told {position}" for position in range(1, 6))]
    assert len(storage.leases(study)) == 5


@pytest.mark.parametrize("delivered", [True, False])
def test_an_append_whose_commit_is_cut_is_not_taken_for_that_of_another(
    delivered, remote, study, proxy, storage
):
    def append():
        assert storage.append(study, 2 if delivered else 1, ["by another"])

    proxy.cut_at_commit(delivered=delivered, meanwhile=append)
    assert remote.append(study, 1, ["told"]) is delivered
    expected = ["first", "told", "by another"] if delivered else ["first", "by another"]
    assert storage.read(study) == expected


@pytest.mark.parametrize("delivered", [True, False])
def test_a_study_whose_creation_is_cut_is_created_once(delivered, remote, study, proxy, storage):
    proxy.cut_at_commit(delivered=delivered)
    made = remote.create("other", "its first")
    assert storage.names() == ["study", "other"]
    assert storage.find("other") == made
    assert storage.read(made) == ["its first"]
    assert remote.create("other", "again") is None


@pytest.mark.parametrize("delivered", [True, False])
def test_asks_and_tells_whose_commits_are_cut_happen_once(delivered, by_proxy, proxy):
    study = opened(by_proxy)
    proxy.cut_at_commit(delivered=delivered)
    trial = study.ask(lease=60)
    proxy.cut_at_commit(delivered=delivered)
    assert study.tell(trial, 0.5).value == 0.5
    assert study.ask(lease=60).number == 1, "the turn to ask was given back"
    assert [type(event) for event in log_of(study)] == [Created, Asked, Told, Asked]


def test_a_silent_network_delays_a_tell_and_does_not_end_it(
    remote, study, proxy, storage, monkeypatch
):
    monkeypatch.setattr(f"{CONNECTION}.SILENCE", 0.2)
    proxy.silence()
    assert remote.append(study, 1, ["told"]) is True
    assert proxy.swallowed.is_set()
    assert storage.read(study) == ["first", "told"]


def test_a_silent_network_delays_neither_forks_nor_their_children(remote, study, proxy, storage):
    proxy.silence()
    with ThreadPoolExecutor(2) as threads:
        telling = threads.submit(remote.append, study, 1, ["told"])
        assert proxy.swallowed.wait(60)
        reading = threads.submit(remote.read, study)
        assert answer(lambda: remote.read(study)) == ["first"], "by a connection of its own"
        assert not telling.done()
        assert not reading.done()
        proxy.cut()
        assert telling.result(60) is True
        assert reading.result(60) in (["first"], ["first", "told"])
    assert storage.read(study) == ["first", "told"]


def test_a_child_leaves_the_connection_of_its_parent_alone(storage, study):
    def session(storage):
        with storage._transactions._engine.connect() as connection:
            return connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()

    before = session(storage)
    assert answer(lambda: session(storage)) != before
    assert answer(storage.close) is None
    assert session(storage) == before


def test_a_run_waits_for_a_server_that_is_restarted_and_goes_on(postgresql, url, caplog):
    ways = {2: signal.SIGINT, 4: signal.SIGQUIT}  # of the trial: fast, immediate
    starting = []

    def objective(params):
        how = ways.pop(len(study.trials), None)
        if how is not None:
            postgresql.stop(how)
            starting.append(threading.Timer(0.5, postgresql.start))
            starting[-1].start()
        return params["x"]

    study = opened(url)
    try:
        result = study.optimize(objective, n_trials=6)
    finally:
        for thread in starting:
            thread.join()
    assert len(starting) == 2
    assert [trial.state for trial in result.trials] == 6 * ["finished"]
    said = [record.getMessage() for record in caplog.records]
    assert sum("is away, waiting for it" in line for line in said) == 2
    assert sum("is back after" in line for line in said) == 2
    assert not any(postgresql.password in line for line in said)
    assert study.replay().identical


def test_a_server_that_does_not_come_back_is_given_up_after_the_patience(by_proxy, proxy, storage):
    with closing(SqlStorage(by_proxy, patience=0.3)) as hasty:
        study = hasty.create("study", "first")
        proxy.cut_at_commit(delivered=True, meanwhile=proxy.close)
        with pytest.raises(StorageError, match=r"tried for 0\.3 s.*stored is not known"):
            hasty.append(study, 1, ["told"])
        with pytest.raises(StorageError, match=r"tried for 0\.3 s.*nothing was written"):
            hasty.append(study, 1, ["told"])
        with pytest.raises(StorageError, match="cannot be reached"):
            hasty.read(study)
    assert storage.read(study) == ["first", "told"]


def test_a_connection_that_is_replaced_at_once_is_not_worth_a_warning(remote, study, proxy, caplog):
    caplog.set_level(logging.WARNING)
    proxy.cut()
    assert remote.append(study, 1, ["told"])
    assert caplog.records == []


def test_a_process_that_is_suspended_in_a_transaction_is_ended_by_the_server(
    storage, study, monkeypatch
):
    from outcrop.study.storage.postgresql_connection import connected  # it needs the driver

    settings = f"{CONNECTION}.SETTINGS"
    monkeypatch.setattr(settings, "SET idle_in_transaction_session_timeout = '200ms'")
    _, options = storage._transactions._engine.dialect.create_connect_args(storage._database._url)
    with closing(connected(options)) as suspended:
        suspended.execute("BEGIN; SELECT id FROM outcrop_studies FOR UPDATE")
        assert storage.append(study, 1, ["told"]) is True
    assert storage.read(study) == ["first", "told"]
