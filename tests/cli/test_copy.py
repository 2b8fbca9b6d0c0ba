"""`outcrop copy`: studies move between files and servers, and are copied while they are in use."""

from __future__ import annotations

import threading

import pytest

import outcrop as oc
from outcrop.study import load_study
from tests.study.handles import log_of, opened


@pytest.fixture
def study(call):
    """Two finished trials, and one that runs."""
    study = opened("sqlite:///s.db")
    for value in (1.0, 0.5):
        study.tell(study.ask(), value)
    study.ask(lease=600)
    return study


def test_a_study_goes_to_a_server_and_back(call, study, postgresql, postgresql_url):
    code, out, err = call("copy", "s", "--to", postgresql_url)
    assert (code, err) == (0, "")
    assert "6 events, 3 trials" in out
    assert "run without a lease there: 1" in out
    assert postgresql.password not in out
    moved = load_study("s", postgresql_url)
    assert log_of(moved) == log_of(study)
    moved.release(2)
    moved.tell(moved.ask(), 0.25)

    assert call("copy", "s", "--storage", postgresql_url, "--to", "back.db")[0] == 0
    back = load_study("s", "sqlite:///back.db")
    assert log_of(back) == log_of(moved)
    assert (back.best_value, back.replay().identical) == (0.25, True)


def test_a_copy_may_have_another_name_and_be_in_the_same_store(call, study):
    assert call("copy", "s", "--to", "s.db", "--name", "t")[0] == 0
    assert oc.list_studies("sqlite:///s.db") == ["s", "t"]
    assert log_of(load_study("t", "sqlite:///s.db")) == log_of(study)


def test_a_backup_is_brought_up_to_date(call, study):
    for _ in range(3):
        assert call("copy", "s", "--to", "backup.db", "--update")[0] == 0
        assert log_of(load_study("s", "sqlite:///backup.db")) == log_of(study)
        study.tell(study.ask(), 2.0)


def test_a_name_that_is_taken_is_refused_in_one_line(call, study):
    opened("sqlite:///other.db").enqueue({"x": 0.5})
    code, _, err = call("copy", "s", "--to", "other.db")
    assert (code, err.count("\n")) == (2, 1)
    assert "already has a study 's'; choose another name or store" in err
    code, _, err = call("copy", "s", "--to", "other.db", "--update")
    assert (code, err.count("\n")) == (2, 1)
    assert "is not an earlier copy" in err
    assert len(log_of(load_study("s", "sqlite:///other.db"))) == 2


def test_a_study_that_is_not_there_and_a_place_that_is_not_one_are_refused(call, study):
    code, _, err = call("copy", "t", "--storage", "s.db", "--to", "other.db")
    assert code == 2
    assert "'t' does not exist" in err
    code, _, err = call("copy", "s", "--to", "oracle://me:sesame@host/db")
    assert (code, err.count("\n")) == (2, 1)
    assert "sesame" not in err


def test_copies_of_a_study_in_use_are_whole(call, study):
    done = threading.Event()

    def use():
        own = load_study("s", "sqlite:///s.db")
        while not done.is_set():
            own.tell(own.ask(), 1.0)

    using = threading.Thread(target=use)
    using.start()
    try:
        for number in range(3):
            assert call("copy", "s", "--to", f"{number}.db")[0] == 0
    finally:
        done.set()
        using.join()
    whole = log_of(study)
    for number in range(3):
        copied = log_of(load_study("s", f"sqlite:///{number}.db"))
        assert len(copied) >= 6
        assert copied == whole[: len(copied)]
