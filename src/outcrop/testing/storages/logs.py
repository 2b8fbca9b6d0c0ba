"""Checks of names and logs: what was written is read back once, in order, and nothing else."""

from __future__ import annotations

__all__ = ["LOG_CONTRACT"]

import json
import math
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from outcrop.study.events import Told, from_json
from outcrop.study.storage import Storage
from outcrop.study.storage.base import MAX_NAME
from outcrop.testing.storages.base import Check, created, refused, with_storage, with_study

LOG_CONTRACT: list[Check] = []

UNKNOWN = 987_654  # an id that no study has
WORDS = (
    "é",
    "e\u0301",
    "日本",
    "🪨",
    "ß",
    "SS",
    "\u202emirrored",
    "a'b\"c;--%_\\",
    "\n\t ",
    "NULL",
)


@with_storage(LOG_CONTRACT)
def a_new_store_is_empty(storage: Storage) -> None:
    assert storage.names() == []
    assert storage.find("anything") is None


@with_storage(LOG_CONTRACT)
def a_created_study_has_exactly_its_first_record(storage: Storage) -> None:
    study = storage.create("study", "first")
    assert isinstance(study, int)
    assert storage.read(study) == ["first"]
    assert storage.leases(study) == {}


@with_storage(LOG_CONTRACT)
def a_study_is_found_by_its_name(storage: Storage) -> None:
    studies = {name: storage.create(name, name) for name in ("one", "two", "three")}
    assert len({*studies.values()}) == 3
    assert {name: storage.find(name) for name in studies} == studies
    assert storage.find("four") is None


@with_storage(LOG_CONTRACT)
def names_are_listed_by_creation(storage: Storage) -> None:
    names = ["z", "a", "m", "B", "0"]
    for name in names:
        storage.create(name, "")
    assert storage.names() == names


@with_study(LOG_CONTRACT)
def a_taken_name_gives_none_and_changes_nothing(storage: Storage, study: int) -> None:
    assert storage.append(study, 1, ["second"])
    assert storage.create("study", "other") is None
    assert storage.names() == ["study"]
    assert storage.read(study) == ["first", "second"]


@with_storage(LOG_CONTRACT)
def names_are_any_text_and_differ_if_a_character_does(storage: Storage) -> None:
    names = [*WORDS, "study", "Study", "study ", " study", "1", "01", "1.0", "x" * MAX_NAME]
    studies = [storage.create(name, f"of {name}") for name in names]
    assert None not in studies
    assert [storage.find(name) for name in names] == studies
    assert storage.names() == names
    for name, study in zip(names, studies, strict=True):
        assert study is not None
        assert storage.read(study) == [f"of {name}"]


@with_storage(LOG_CONTRACT)
def a_name_that_cannot_be_one_is_refused(storage: Storage) -> None:
    for name in ("", "x" * (MAX_NAME + 1), "nul\0", "\ud800", None, 3, b"bytes"):
        refused(storage.create, name, "first")
        refused(storage.find, name)
    assert storage.names() == []


@with_study(LOG_CONTRACT)
def a_record_that_is_not_text_is_refused_and_nothing_is_written(
    storage: Storage, study: int
) -> None:
    for record in (None, 3, b"bytes", "nul\0", "\udfff"):
        refused(storage.create, "other", record)
        refused(storage.append, study, 1, ["good", record])
    assert storage.names() == ["study"]
    assert storage.read(study) == ["first"]


@with_storage(LOG_CONTRACT)
def a_study_that_does_not_exist_is_refused(storage: Storage) -> None:
    for _ in range(2):  # before and after something was stored
        refused(storage.read, UNKNOWN)
        refused(storage.read, UNKNOWN, 7)
        refused(storage.append, UNKNOWN, 0, ["record"])
        refused(storage.append, UNKNOWN, 0, [])
        refused(storage.delete, UNKNOWN)
        storage.create("study", "first")
    assert storage.names() == ["study"]


@with_storage(LOG_CONTRACT)
def a_deleted_study_is_gone(storage: Storage) -> None:
    kept, deleted = created(storage, "kept"), created(storage, "deleted")
    storage.append(deleted, 1, ["second"])
    storage.delete(deleted)
    assert storage.names() == ["kept"]
    assert storage.find("deleted") is None
    refused(storage.read, deleted)
    refused(storage.append, deleted, 2, ["third"])
    refused(storage.delete, deleted)
    assert storage.read(kept) == ["first"]


@with_storage(LOG_CONTRACT)
def ids_are_not_used_again(storage: Storage) -> None:
    seen = set()
    for _ in range(4):
        study = created(storage)
        assert study not in seen
        assert storage.read(study) == ["first"]
        seen.add(study)
        storage.delete(study)


@with_storage(LOG_CONTRACT)
def a_study_keeps_its_id_when_others_go(storage: Storage) -> None:
    studies = [created(storage, name) for name in "abc"]
    storage.delete(studies[0])
    assert [storage.find(name) for name in "abc"] == [None, *studies[1:]]
    assert storage.names() == ["b", "c"]


@with_study(LOG_CONTRACT)
def appended_records_are_read_in_order(storage: Storage, study: int) -> None:
    expected = ["first"]
    while len(expected) < 500:
        batch = [f"record {len(expected) + k}" for k in range(1 + len(expected) % 40)]
        assert storage.append(study, len(expected), batch)
        expected += batch
    assert storage.read(study) == expected


@with_storage(LOG_CONTRACT)
def logs_of_two_studies_are_independent(storage: Storage) -> None:
    one, two = created(storage, "one"), created(storage, "two")
    assert storage.append(one, 1, ["of one"])
    assert storage.append(two, 1, ["of two", "again"])
    assert storage.read(one) == ["first", "of one"]
    assert storage.read(two) == ["first", "of two", "again"]


@with_study(LOG_CONTRACT)
def reading_since_a_position_gives_the_rest(storage: Storage, study: int) -> None:
    storage.append(study, 1, ["b", "c"])
    expected = ["first", "b", "c"]
    assert [storage.read(study, since) for since in range(3)] == [
        expected[since:] for since in range(3)
    ]
    assert storage.read(study, -1) == expected


@with_study(LOG_CONTRACT)
def reading_at_or_beyond_the_end_gives_nothing(storage: Storage, study: int) -> None:
    assert storage.read(study, 1) == []
    assert storage.read(study, 1000) == []


@with_study(LOG_CONTRACT)
def appending_elsewhere_than_at_the_end_writes_nothing(storage: Storage, study: int) -> None:
    storage.append(study, 1, ["b"])
    for position in (-1, 0, 1, 3, 100):
        assert storage.append(study, position, ["lost", "too"]) is False
    assert storage.read(study) == ["first", "b"]
    assert storage.append(study, 2, ["c"]) is True


@with_study(LOG_CONTRACT)
def appending_nothing_asks_for_the_length(storage: Storage, study: int) -> None:
    assert storage.append(study, 1, []) is True
    assert storage.append(study, 0, []) is False
    assert storage.read(study) == ["first"]


@with_study(LOG_CONTRACT)
def records_are_kept_as_they_are(storage: Storage, study: int) -> None:
    texts = [
        *WORDS,
        "",
        " ",
        "\r\n",
        json.dumps({"nul": "\0", "half": "\ud800"}),
        "[1, 2.0]",
        "1e5",
    ]
    assert storage.append(study, 1, texts)
    assert storage.read(study, 1) == texts


@with_storage(LOG_CONTRACT)
def large_records_are_kept(storage: Storage) -> None:
    texts = ["é" * 1_000_000, "x" * 1_000_000, "🪨"]
    study = storage.create("large", texts[0])
    assert study is not None
    assert storage.append(study, 1, texts[1:])
    assert storage.read(study) == texts


@with_study(LOG_CONTRACT)
def every_float_survives(storage: Storage, study: int) -> None:
    tiny = 5e-324
    largest = sys.float_info.max
    floats = [0.0, -0.0, tiny, -tiny, largest, -largest, 0.1, 1 / 3, math.inf, -math.inf, math.nan]
    told = [Told(number, value) for number, value in enumerate(floats)]
    assert storage.append(study, 1, [json.dumps(event.to_json()) for event in told])
    read = [from_json(json.loads(record)) for record in storage.read(study, 1)]
    values = [event.value for event in read if isinstance(event, Told)]
    assert _bits(values) == _bits(floats)


@with_storage(LOG_CONTRACT)
def many_studies_are_kept_apart(storage: Storage) -> None:
    studies = [created(storage, f"study {k}") for k in range(50)]
    for k, study in enumerate(studies):
        assert storage.append(study, 1, [f"of {k}"])
    assert storage.names() == [f"study {k}" for k in range(50)]
    for k, study in enumerate(studies):
        assert storage.read(study) == ["first", f"of {k}"]


@with_study(LOG_CONTRACT)
def threads_that_append_optimistically_lose_nothing(storage: Storage, study: int) -> None:
    def write(thread: int) -> None:
        for count in range(10):
            while not storage.append(study, len(storage.read(study)), [f"{thread} {count}"]):
                pass

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    log = storage.read(study, 1)
    for thread in range(4):
        mine = [record for record in log if record.startswith(f"{thread} ")]
        assert mine == [f"{thread} {count}" for count in range(10)]
    assert len(log) == 40


@with_storage(LOG_CONTRACT)
def threads_that_create_one_study_make_one(storage: Storage) -> None:
    together = threading.Barrier(6)

    def create(thread: int) -> int | None:
        together.wait()
        return storage.create("study", f"by {thread}")

    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(create, range(6)))
    ((winner, study),) = [(k, study) for k, study in enumerate(made) if study is not None]
    assert storage.find("study") == study
    assert storage.read(study) == [f"by {winner}"]


@with_study(LOG_CONTRACT)
def readers_see_whole_appends_only(storage: Storage, study: int) -> None:
    batches = [[f"{batch} {k}" for k in range(5)] for batch in range(12)]
    expected = ["first", *(record for batch in batches for record in batch)]
    done = threading.Event()

    def watch() -> list[list[str]]:
        seen = [storage.read(study)]
        while not done.is_set():
            seen.append(storage.read(study))
        return seen

    with ThreadPoolExecutor(2) as pool:
        watching = [pool.submit(watch) for _ in range(2)]
        try:
            for batch, records in enumerate(batches):
                assert storage.append(study, 1 + 5 * batch, records)
        finally:
            done.set()
    for watched in watching:
        for seen in watched.result():
            assert seen == expected[: len(seen)]
            assert len(seen) % 5 == 1


def _bits(values: list[float]) -> list[bytes]:
    return [struct.pack("d", value) for value in values]
