"""Leases while the clock of the machine is set to another time."""

from __future__ import annotations

import math
import sqlite3
import time
from contextlib import closing

import pytest

from outcrop.errors import StorageError
from outcrop.study.storage import Lease
from outcrop.study.storage.sql import SqlStorage
from tests.study.handles import opened

DAY = 86_400.0


@pytest.fixture
def clock(monkeypatch):
    """A clock whose time is set by hand."""

    class Clock:
        now = time.time()

    clock = Clock()
    monkeypatch.setattr("outcrop.study.storage.sqlite.time.time", lambda: clock.now)
    return clock


def test_a_lease_does_not_last_longer_than_agreed_since_the_clock_was_set_back(
    storage, study, clock
):
    storage.acquire(study, Lease("trial 0", "dead", 60.0))
    clock.now -= DAY
    assert storage.leases(study)["trial 0"].left <= 60
    clock.now += 61
    assert storage.leases(study)["trial 0"].left <= 0
    assert storage.acquire(study, Lease("trial 0", "me", 60.0)) is True


def test_a_lease_is_not_taken_from_its_holder_since_the_clock_was_set_back(storage, study, clock):
    storage.acquire(study, Lease("trial 0", "holder", 60.0))
    clock.now -= DAY
    assert storage.leases(study)["trial 0"].left > 0
    assert storage.acquire(study, Lease("trial 0", "me", 60.0)) is False
    clock.now += 30
    assert storage.renew(study, "holder", ["trial 0"], 60.0) == {"trial 0"}
    clock.now += 31
    assert storage.acquire(study, Lease("trial 0", "me", 60.0)) is False


def test_a_trial_of_a_dead_process_is_offered_again_though_the_clock_was_set_back(url, clock):
    study, other = opened(url), opened(url)
    first = study.ask(lease=60)
    clock.now -= DAY
    assert other.ask().number == 1
    clock.now += 61
    assert other.ask(lease=60).number == first.number


def test_a_lease_without_end_stays_without_end(storage, study, clock):
    storage.acquire(study, Lease("trial 0", "me", math.inf))
    clock.now -= DAY
    assert storage.leases(study)["trial 0"].left == math.inf


@pytest.fixture
def earlier(storage, study, path):
    """A store with the tables of version 1: leases have no durations, and events no ids."""
    storage.acquire(study, Lease("trial 0", "earlier", 60.0))
    storage.close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("ALTER TABLE outcrop_leases DROP COLUMN seconds")
        connection.execute("DROP INDEX outcrop_event_ids")
        connection.execute("ALTER TABLE outcrop_events DROP COLUMN id")
        connection.execute("UPDATE outcrop_schema SET version = 1")
    return study


def test_a_store_of_an_earlier_version_is_read_and_written(earlier, url, path):
    with closing(SqlStorage(f"{url}?mode=rw")) as reader, closing(SqlStorage(url)) as storage:
        assert 0 < reader.leases(earlier)["trial 0"].left <= 60
        assert storage.acquire(earlier, Lease("trial 0", "me", 60.0)) is False
        assert storage.acquire(earlier, Lease("trial 1", "me", 60.0)) is True
        for each in (reader, storage):
            assert each.leases(earlier).keys() == {"trial 0", "trial 1"}
        with closing(sqlite3.connect(path)) as connection:
            query = 'SELECT "key", seconds FROM outcrop_leases ORDER BY 1'
            assert connection.execute(query).fetchall() == [("trial 0", None), ("trial 1", 60.0)]


def test_a_store_that_is_only_read_shows_leases_within_their_bounds(storage, study, url, clock):
    storage.acquire(study, Lease("trial 0", "dead", 60.0))
    clock.now -= DAY
    with closing(SqlStorage(f"{url}?mode=ro")) as reader:
        assert reader.leases(study)["trial 0"].left <= 60
        with pytest.raises(StorageError, match="read-only"):
            reader.append(study, 1, ["no"])
