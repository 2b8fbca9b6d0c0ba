"""Checks of names and logs: what was written is read back once, in order, and nothing else."""

from __future__ import annotations

__all__ = ["LOG_CONTRACT"]

import json
import math
import struct
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

from outcrop.study.events import Told, from_json
from outcrop.study.storage.base import MAX_NAME
from outcrop.testing.storages.base import Open, created, refused

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


def a_new_store_is_empty(connect: Open) -> None:
    with closing(connect()) as storage:
        assert storage.names() == []
        assert storage.find("anything") is None


def a_created_study_has_exactly_its_first_record(connect: Open) -> None:
    with closing(connect()) as storage:
        study = storage.create("study", "first")
        assert isinstance(study, int)
        assert storage.read(study) == ["first"]
        assert storage.leases(study) == {}


def a_study_is_found_by_its_name(connect: Open) -> None:
    with closing(connect()) as storage:
        studies = {name: storage.create(name, name) for name in ("one", "two", "three")}
        assert len({*studies.values()}) == 3
        assert {name: storage.find(name) for name in studies} == studies
        assert storage.find("four") is None


def names_are_listed_by_creation(connect: Open) -> None:
    with closing(connect()) as storage:
        names = ["z", "a", "m", "B", "0"]
        for name in names:
            storage.create(name, "")
        assert storage.names() == names


def a_taken_name_gives_none_and_changes_nothing(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        assert storage.append(study, 1, ["second"])
        assert storage.create("study", "other") is None
        assert storage.names() == ["study"]
        assert storage.read(study) == ["first", "second"]


def names_are_any_text_and_differ_if_a_character_does(connect: Open) -> None:
    names = [*WORDS, "study", "Study", "study ", " study", "1", "01", "1.0", "x" * MAX_NAME]
    with closing(connect()) as storage:
        studies = [storage.create(name, f"of {name}") for name in names]
        assert None not in studies
        assert [storage.find(name) for name in names] == studies
        assert storage.names() == names
        for name, study in zip(names, studies, strict=True):
            assert study is not None
            assert storage.read(study) == [f"of {name}"]


def a_name_that_cannot_be_one_is_refused(connect: Open) -> None:
    with closing(connect()) as storage:
        for name in ("", "x" * (MAX_NAME + 1), "nul\0", "\ud800", None, 3, b"bytes"):
            refused(storage.create, name, "first")
            refused(storage.find, name)
        assert storage.names() == []


def a_record_that_is_not_text_is_refused_and_nothing_is_written(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        for record in (None, 3, b"bytes", "nul\0", "\udfff"):
            refused(storage.create, "other", record)
            refused(storage.append, study, 1, ["good", record])
        assert storage.names() == ["study"]
        assert storage.read(study) == ["first"]


def a_study_that_does_not_exist_is_refused(connect: Open) -> None:
    with closing(connect()) as storage:
        for _ in range(2):  # before and after something was stored
            refused(storage.read, UNKNOWN)
            refused(storage.read, UNKNOWN, 7)
            refused(storage.append, UNKNOWN, 0, ["record"])
            refused(storage.append, UNKNOWN, 0, [])
            refused(storage.delete, UNKNOWN)
            storage.create("study", "first")
        assert storage.names() == ["study"]


def a_deleted_study_is_gone(connect: Open) -> None:
    with closing(connect()) as storage:
        kept, deleted = created(storage, "kept"), created(storage, "deleted")
        storage.append(deleted, 1, ["second"])
        storage.delete(deleted)
        assert storage.names() == ["kept"]
        assert storage.find("deleted") is None
        refused(storage.read, deleted)
        refused(storage.append, deleted, 2, ["third"])
        refused(storage.delete, deleted)
        assert storage.read(kept) == ["first"]


def ids_are_not_used_again(connect: Open) -> None:
    with closing(connect()) as storage:
        seen = set()
        for _ in range(4):
            study = created(storage)
            assert study not in seen
            assert storage.read(study) == ["first"]
            seen.add(study)
            storage.delete(study)


def a_study_keeps_its_id_when_others_go(connect: Open) -> None:
    with closing(connect()) as storage:
        studies = [created(storage, name) for name in "abc"]
        storage.delete(studies[0])
        assert [storage.find(name) for name in "abc"] == [None, *studies[1:]]
        assert storage.names() == ["b", "c"]


def appended_records_are_read_in_order(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        expected = ["first"]
        while len(expected) < 500:
            batch = [f"record {len(expected) + k}" for k in range(1 + len(expected) % 40)]
            assert storage.append(study, len(expected), batch)
            expected += batch
        assert storage.read(study) == expected


def logs_of_two_studies_are_independent(connect: Open) -> None:
    with closing(connect()) as storage:
        one, two = created(storage, "one"), created(storage, "two")
        assert storage.append(one, 1, ["of one"])
        assert storage.append(two, 1, ["of two", "again"])
        assert storage.read(one) == ["first", "of one"]
        assert storage.read(two) == ["first", "of two", "again"]


def reading_since_a_position_gives_the_rest(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        storage.append(study, 1, ["b", "c"])
        expected = ["first", "b", "c"]
        assert [storage.read(study, since) for since in range(3)] == [
            expected[since:] for since in range(3)
        ]
        assert storage.read(study, -1) == expected


def reading_at_or_beyond_the_end_gives_nothing(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        assert storage.read(study, 1) == []
        assert storage.read(study, 1000) == []


def appending_elsewhere_than_at_the_end_writes_nothing(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        storage.append(study, 1, ["b"])
        for position in (-1, 0, 1, 3, 100):
            assert storage.append(study, position, ["lost", "too"]) is False
        assert storage.read(study) == ["first", "b"]
        assert storage.append(study, 2, ["c"]) is True


def appending_nothing_asks_for_the_length(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
        assert storage.append(study, 1, []) is True
        assert storage.append(study, 0, []) is False
        assert storage.read(study) == ["first"]


def records_are_kept_as_they_are(connect: Open) -> None:
    texts = [
        *WORDS,
        "",
        " ",
        "\r\n",
        json.dumps({"nul": "\0", "half": "\ud800"}),
        "[1, 2.0]",
        "1e5",
    ]
    with closing(connect()) as storage:
        study = created(storage)
        assert storage.append(study, 1, texts)
        assert storage.read(study, 1) == texts


def large_records_are_kept(connect: Open) -> None:
    texts = ["é" * 1_000_000, "x" * 1_000_000, "🪨"]
    with closing(connect()) as storage:
        study = storage.create("large", texts[0])
        assert study is not None
        assert storage.append(study, 1, texts[1:])
        assert storage.read(study) == texts


def every_float_survives(connect: Open) -> None:
    tiny = 5e-324
    largest = sys.float_info.max
    floats = [0.0, -0.0, tiny, -tiny, largest, -largest, 0.1, 1 / 3, math.inf, -math.inf, math.nan]
    with closing(connect()) as storage:
        study = created(storage)
        told = [Told(number, value) for number, value in enumerate(floats)]
        assert storage.append(study, 1, [json.dumps(event.to_json()) for event in told])
        read = [from_json(json.loads(record)) for record in storage.read(study, 1)]
        values = [event.value for event in read if isinstance(event, Told)]
        assert _bits(values) == _bits(floats)


def many_studies_are_kept_apart(connect: Open) -> None:
    with closing(connect()) as storage:
        studies = [created(storage, f"study {k}") for k in range(50)]
        for k, study in enumerate(studies):
            assert storage.append(study, 1, [f"of {k}"])
        assert storage.names() == [f"study {k}" for k in range(50)]
        for k, study in enumerate(studies):
            assert storage.read(study) == ["first", f"of {k}"]


def threads_that_append_optimistically_lose_nothing(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)

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


def threads_that_create_one_study_make_one(connect: Open) -> None:
    with closing(connect()) as storage:
        together = threading.Barrier(6)

        def create(thread: int) -> int | None:
            together.wait()
            return storage.create("study", f"by {thread}")

        with ThreadPoolExecutor(6) as pool:
            made = list(pool.map(create, range(6)))
        ((winner, study),) = [(k, study) for k, study in enumerate(made) if study is not None]
        assert storage.find("study") == study
        assert storage.read(study) == [f"by {winner}"]


def readers_see_whole_appends_only(connect: Open) -> None:
    with closing(connect()) as storage:
        study = created(storage)
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


LOG_CONTRACT = (
    a_new_store_is_empty,
    a_created_study_has_exactly_its_first_record,
    a_study_is_found_by_its_name,
    names_are_listed_by_creation,
    a_taken_name_gives_none_and_changes_nothing,
    names_are_any_text_and_differ_if_a_character_does,
    a_name_that_cannot_be_one_is_refused,
    a_record_that_is_not_text_is_refused_and_nothing_is_written,
    a_study_that_does_not_exist_is_refused,
    a_deleted_study_is_gone,
    ids_are_not_used_again,
    a_study_keeps_its_id_when_others_go,
    appended_records_are_read_in_order,
    logs_of_two_studies_are_independent,
    reading_since_a_position_gives_the_rest,
    reading_at_or_beyond_the_end_gives_nothing,
    appending_elsewhere_than_at_the_end_writes_nothing,
    appending_nothing_asks_for_the_length,
    records_are_kept_as_they_are,
    large_records_are_kept,
    every_float_survives,
    many_studies_are_kept_apart,
    threads_that_append_optimistically_lose_nothing,
    threads_that_create_one_study_make_one,
    readers_see_whole_appends_only,
)


def _bits(values: list[float]) -> list[bytes]:
    return [struct.pack("d", value) for value in values]
