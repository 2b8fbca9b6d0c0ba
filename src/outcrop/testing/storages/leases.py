"""Checks of leases: at most one owner holds a key, and only until the lease expires."""

from __future__ import annotations

__all__ = ["LEASE_CONTRACT"]

import math
import time
from concurrent.futures import ThreadPoolExecutor

from outcrop.study.storage import Lease, LeaseStatus, Storage
from outcrop.testing.storages.base import Check, created, refused, with_storage, with_study

LEASE_CONTRACT: list[Check] = []

LONG = 600.0  # seconds that no check takes
SHORT = 0.05  # seconds that a check can wait for


@with_study(LEASE_CONTRACT)
def a_free_lease_is_acquired_and_listed(storage: Storage, study: int) -> None:
    assert storage.acquire(study, Lease("ask", "me", LONG)) is True
    held = storage.leases(study)
    assert held.keys() == {"ask"}
    assert held["ask"].owner == "me"
    assert LONG - 60 < held["ask"].left <= LONG


@with_study(LEASE_CONTRACT)
def time_passes_for_a_lease(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("ask", "me", LONG))
    before = storage.leases(study)["ask"].left
    time.sleep(SHORT)
    assert storage.leases(study)["ask"].left <= before - SHORT / 2


@with_study(LEASE_CONTRACT)
def a_lease_that_another_holds_is_not_acquired(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("ask", "me", LONG))
    assert storage.acquire(study, Lease("ask", "you", LONG)) is False
    assert _owners(storage.leases(study)) == {"ask": "me"}


@with_study(LEASE_CONTRACT)
def ones_own_lease_is_acquired_again(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("ask", "me", 100.0))
    assert storage.acquire(study, Lease("ask", "me", LONG)) is True
    assert storage.leases(study)["ask"].left > 100
    assert storage.acquire(study, Lease("ask", "me", 100.0)) is True  # shorter, too
    assert storage.leases(study)["ask"].left <= 100


@with_study(LEASE_CONTRACT)
def an_expired_lease_is_listed_and_may_be_acquired(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("ask", "me", SHORT))
    _wait()
    assert storage.leases(study)["ask"].left <= 0
    assert storage.acquire(study, Lease("ask", "you", LONG)) is True
    assert _owners(storage.leases(study)) == {"ask": "you"}


@with_study(LEASE_CONTRACT)
def a_lease_of_no_time_expires_at_once(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("ask", "me", 0.0))
    assert storage.leases(study)["ask"].left <= 0
    assert storage.acquire(study, Lease("ask", "you", LONG)) is True


@with_study(LEASE_CONTRACT)
def a_lease_without_end_does_not_expire(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("trial 0", "me", math.inf))
    assert storage.leases(study) == {"trial 0": LeaseStatus("me", math.inf)}
    assert storage.acquire(study, Lease("trial 0", "you", LONG)) is False


@with_study(LEASE_CONTRACT)
def keys_and_owners_are_any_text(storage: Storage, study: int) -> None:
    owners = {"é": "日本", "e\u0301": "🪨", "É": "a'b\"%_", "trial 1": "ß", "trial 12": "SS"}
    for key, owner in owners.items():
        assert storage.acquire(study, Lease(key, owner, LONG))
    assert _owners(storage.leases(study)) == owners
    assert storage.renew(study, "SS", [*owners], LONG) == {"trial 12"}


@with_study(LEASE_CONTRACT)
def a_lease_that_cannot_be_one_is_refused(storage: Storage, study: int) -> None:
    refused(Lease, "", "me", LONG)
    refused(Lease, "ask", "", LONG)
    refused(Lease, "ask", "me", -1.0)
    refused(Lease, "ask", "me", math.nan)
    storage.acquire(study, Lease("ask", "me", LONG))
    refused(storage.renew, study, "me", ["ask"], math.nan)
    assert storage.leases(study)["ask"].left > LONG - 60


@with_storage(LEASE_CONTRACT)
def leases_of_two_studies_are_independent(storage: Storage) -> None:
    one, two = created(storage, "one"), created(storage, "two")
    assert storage.acquire(one, Lease("ask", "me", LONG))
    assert storage.acquire(two, Lease("ask", "you", LONG))
    storage.release(one, "me", ["ask"])
    assert storage.renew(two, "you", ["ask"], LONG) == {"ask"}
    assert storage.append(two, 1, [], drop=["other"])
    assert storage.leases(one) == {}
    assert _owners(storage.leases(two)) == {"ask": "you"}


@with_study(LEASE_CONTRACT)
def deleting_a_study_removes_its_leases(storage: Storage, study: int) -> None:
    other = created(storage, "other")
    storage.acquire(study, Lease("ask", "me", LONG))
    storage.acquire(other, Lease("ask", "me", LONG))
    storage.delete(study)
    refused(storage.leases, study)
    assert storage.leases(created(storage)) == {}
    assert _owners(storage.leases(other)) == {"ask": "me"}


@with_study(LEASE_CONTRACT)
def leases_of_a_study_that_does_not_exist_are_refused(storage: Storage, study: int) -> None:
    storage.delete(study)
    refused(storage.leases, study)
    refused(storage.acquire, study, Lease("ask", "me", LONG))
    refused(storage.renew, study, "me", ["ask"], LONG)
    refused(storage.append, study, 1, [], take=[Lease("ask", "me", LONG)])
    storage.release(study, "me", ["ask"])  # there is nothing that could still be held


@with_study(LEASE_CONTRACT)
def renewing_extends_what_is_held_and_creates_nothing(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("trial 1", "me", 10.0))
    storage.acquire(study, Lease("trial 2", "me", 10.0))
    storage.acquire(study, Lease("trial 3", "you", 10.0))
    keys = ["trial 1", "trial 3", "trial 4"]
    assert storage.renew(study, "me", keys, LONG) == {"trial 1"}
    left = {key: held.left > 10 for key, held in storage.leases(study).items()}
    assert left == {"trial 1": True, "trial 2": False, "trial 3": False}
    assert storage.renew(study, "me", [], LONG) == set()


@with_study(LEASE_CONTRACT)
def an_expired_lease_that_nobody_took_is_renewed(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("ask", "me", 0.0))
    assert storage.renew(study, "me", ["ask"], LONG) == {"ask"}
    assert storage.acquire(study, Lease("ask", "you", LONG)) is False


@with_study(LEASE_CONTRACT)
def a_lease_that_was_taken_over_is_not_renewed(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("ask", "me", 0.0))
    storage.acquire(study, Lease("ask", "you", 10.0))
    assert storage.renew(study, "me", ["ask"], LONG) == set()
    assert storage.leases(study)["ask"].left <= 10


@with_study(LEASE_CONTRACT)
def releasing_frees_what_is_held_and_nothing_else(storage: Storage, study: int) -> None:
    for key, owner in (("a", "me"), ("b", "me"), ("c", "you")):
        storage.acquire(study, Lease(key, owner, LONG))
    storage.release(study, "me", ["a", "c", "d"])
    assert _owners(storage.leases(study)) == {"b": "me", "c": "you"}
    assert storage.acquire(study, Lease("a", "you", LONG)) is True


@with_study(LEASE_CONTRACT)
def an_append_takes_leases_with_its_records(storage: Storage, study: int) -> None:
    taken = [Lease("trial 0", "me", LONG), Lease("trial 1", "me", math.inf)]
    assert storage.append(study, 1, ["asked 0", "asked 1"], take=taken) is True
    assert storage.read(study) == ["first", "asked 0", "asked 1"]
    assert _owners(storage.leases(study)) == {"trial 0": "me", "trial 1": "me"}


@with_study(LEASE_CONTRACT)
def an_append_is_refused_as_a_whole_by_one_foreign_lease(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("b", "you", LONG))
    storage.acquire(study, Lease("d", "you", LONG))
    wanted = [Lease("a", "me", LONG), Lease("b", "me", LONG), Lease("c", "me", LONG)]
    assert storage.append(study, 1, ["lost"], take=wanted, drop=["d"]) is False
    assert storage.read(study) == ["first"]
    assert _owners(storage.leases(study)) == {"b": "you", "d": "you"}


@with_study(LEASE_CONTRACT)
def an_append_at_the_wrong_position_leaves_leases_alone(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("held", "me", LONG))
    for position in (0, 2):
        wanted = [Lease("new", "me", LONG)]
        assert storage.append(study, position, ["x"], take=wanted, drop=["held"]) is False
    assert _owners(storage.leases(study)) == {"held": "me"}


@with_study(LEASE_CONTRACT)
def an_append_takes_expired_leases_and_its_own(storage: Storage, study: int) -> None:
    storage.acquire(study, Lease("expired", "you", 0.0))
    storage.acquire(study, Lease("own", "me", 10.0))
    wanted = [Lease("expired", "me", LONG), Lease("own", "me", LONG)]
    assert storage.append(study, 1, ["again"], take=wanted) is True
    assert _owners(storage.leases(study)) == {"expired": "me", "own": "me"}
    assert all(held.left > 10 for held in storage.leases(study).values())


@with_study(LEASE_CONTRACT)
def an_append_drops_keys_whoever_holds_them(storage: Storage, study: int) -> None:
    for key, owner in (("a", "me"), ("b", "you"), ("c", "you")):
        storage.acquire(study, Lease(key, owner, LONG))
    assert storage.append(study, 1, ["told"], drop=["a", "b", "unknown"]) is True
    assert _owners(storage.leases(study)) == {"c": "you"}
    assert storage.read(study) == ["first", "told"]


@with_study(LEASE_CONTRACT)
def a_key_that_is_taken_and_dropped_at_once_is_free(storage: Storage, study: int) -> None:
    assert storage.append(study, 1, [], take=[Lease("ask", "me", LONG)], drop=["ask"]) is True
    assert storage.leases(study) == {}


@with_study(LEASE_CONTRACT)
def threads_that_want_one_lease_get_it_once(storage: Storage, study: int) -> None:
    for key in ("one", "two", "three"):
        with ThreadPoolExecutor(5) as pool:
            wanted = [Lease(key, f"owner {thread}", LONG) for thread in range(5)]
            got = list(pool.map(lambda lease: storage.acquire(study, lease), wanted))
        assert got.count(True) == 1
        assert storage.leases(study)[key].owner == f"owner {got.index(True)}"


def _owners(leases: dict[str, LeaseStatus]) -> dict[str, str]:
    return {key: held.owner for key, held in leases.items()}


def _wait() -> None:
    """Wait until a short lease has expired by any clock."""
    time.sleep(2 * SHORT)
