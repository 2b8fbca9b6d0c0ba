"""A study is pickled by its address: another process opens the same one."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import make_url

import outcrop as oc
from outcrop.errors import StorageError, StudyError
from outcrop.study.storage.database import database_at
from tests.study.doubles import Roaming

SPACE = oc.Space({"x": oc.Float(0, 1)})


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return oc.Study(SPACE, "s", "sqlite:///s.db", method="random", seed=1, ask_seconds=2.5)


def again(thing):
    return pickle.loads(pickle.dumps(thing))


def one_more(study: oc.Study) -> int:
    trial = study.ask()
    study.tell(trial, trial.params["x"])
    return trial.number


def test_a_copy_is_the_same_study_wherever_it_is_opened(study, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    packed = pickle.dumps(study)
    monkeypatch.chdir(tmp_path / "elsewhere")
    other = pickle.loads(packed)
    assert one_more(other) == 0
    assert one_more(study) == 1
    assert other.trials == study.trials
    assert other._ask_seconds == 2.5
    assert other.replay().identical
    assert again(other).trials == copy.deepcopy(study).trials == study.trials


def test_other_processes_tell_the_study_that_they_were_sent(study):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(one_more, [study, study])) == [0, 1]
    assert [trial.state for trial in study.trials] == ["finished", "finished"]


def test_the_method_travels_if_it_cannot_be_stored(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = oc.Study(SPACE, "own", url, method=Roaming(SPACE), seed=1)
    with pytest.raises(oc.errors.MethodError):
        oc.load_study("own", url)
    assert (
        again(study).ask().params == oc.Optimizer(SPACE, method=Roaming(SPACE), seed=1).ask().params
    )


def test_a_result_is_pickled_with_its_study(study):
    result = study.optimize(lambda p: p["x"], n_trials=3)
    copied = again(result)
    assert copied.trials == result.trials
    assert copied.study.trials == study.trials
    assert again(study.best_trial) == study.best_trial


def test_what_is_in_memory_is_refused_with_the_remedy(tmp_path):
    for storage in (None, "sqlite://"):
        study = oc.Study(SPACE, "s", storage)
        with pytest.raises(StorageError, match="cannot be pickled or sent to another process"):
            pickle.dumps(study)
    stored = study.copy_to(f"sqlite:///{tmp_path / 'kept.db'}")
    assert again(stored).name == "s"


def test_a_study_that_was_deleted_is_not_created_anew(study):
    packed = pickle.dumps(study)
    oc.delete_study("s", "sqlite:///s.db")
    with pytest.raises(StudyError, match="'s' does not exist"):
        pickle.loads(packed)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=0x24F), min_size=1))
def test_a_password_travels_and_is_not_shown(password):
    url = make_url("postgresql://host:5432/db").set(username="me", password=password)
    database = database_at(url.render_as_string(hide_password=False))
    sent = make_url(database.address())
    assert (sent.username, sent.password, sent.host, sent.database) == (
        "me",
        password,
        "host",
        "db",
    )
    assert database.shown == "postgresql://me:***@host:5432/db"


def test_a_file_keeps_its_options_and_any_name(tmp_path):
    for name in ("a b%20c#d.db", "what?.db"):
        url = f"sqlite:///{(tmp_path / name).as_uri()}?uri=true"
        stored = oc.Study(SPACE, "s", url)
        stored.add({"x": 0.5}, 1.0)
        assert again(stored).trials == stored.trials
        sealed = oc.load_study("s", f"{url}&mode=ro")
        with pytest.raises(StorageError, match="read-only"):
            again(sealed).ask()
