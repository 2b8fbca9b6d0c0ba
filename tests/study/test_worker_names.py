"""Names of workers: what is recorded, and who gets an unfinished trial."""

from __future__ import annotations

import os
import platform
import signal
import sys
import threading
from contextlib import closing

import pytest

from outcrop.errors import StorageError, StudyError
from outcrop.study import load_study
from outcrop.study.events import Asked, to_text
from outcrop.study.running.worker_names import worker_name
from outcrop.study.storage import Lease, open_storage
from outcrop.study.unfinished_trials import lease_key
from tests.study.handles import forget, log_of, opened
from tests.study.storage.children import answer, forked

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, nobody knows who lives")


def move_lease(storage, study, number, owner):
    """Let another process hold the lease of a trial."""
    key = lease_key(number)
    storage.release(study._id, storage.leases(study._id)[key].owner, [key])
    assert storage.acquire(study._id, Lease(key, owner, 60.0))


def test_the_name_of_a_worker_is_recorded_with_its_trials(storage):
    study = opened(storage)
    trial = study.ask(worker="gpu-3", lease=60)
    assert trial.worker == "gpu-3"
    assert study.tell(trial, 1.0).worker == "gpu-3"
    assert [t.worker for t in study.ask(2, worker="gpu-4")] == ["gpu-4"] * 2
    assert study.ask().worker == ""
    assert [t.worker for t in load_study("s", storage).trials] == ["gpu-3", "gpu-4", "gpu-4", ""]
    assert study.replay().identical


def test_an_ask_without_a_name_is_written_as_before():
    plain, named = Asked(0, {"x": 1.0}), Asked(0, {"x": 1.0}, worker="a")
    assert "worker" not in to_text(plain)
    assert '"version":1,' in to_text(plain)
    assert '"version":2,' in to_text(named), "earlier releases refuse what they do not know"


def test_a_trial_that_is_handed_out_again_is_its_new_workers(storage):
    study, other = opened(storage), opened(storage)
    study.ask(worker="a", lease=60)
    forget(study, 0)
    assert other.ask(worker="b", lease=60).worker == "b"
    assert [trial.worker for trial in study.trials] == ["b"]


@on_linux
def test_a_worker_that_comes_back_gets_its_own_unfinished_trial_first(tmp_path):
    study = opened(f"sqlite:///{tmp_path}/s.db")
    expired = study.ask(worker="b", lease=60)
    forget(study, expired.number)
    study.renew([expired], 60)
    mine = answer(lambda: study.ask(worker="a", lease=3600))  # of a process that has ended
    forget(study, expired.number)
    again = study.ask(worker="a", lease=60)
    assert (again.number, again.params, again.attempt) == (mine.number, mine.params, 2)
    assert study.ask(worker="a", lease=60).number == expired.number, "then what others left"
    assert study.ask(worker="a", lease=60).number == 2, "then new ones"
    assert study.tell(again, 1.0).worker == "a"


def test_a_worker_that_comes_back_on_another_machine_gets_its_trial(storage):
    check_return(storage)


def test_a_worker_comes_back_to_a_study_on_a_server(postgresql_url):
    with closing(open_storage(postgresql_url)) as storage:
        check_return(storage)


def check_return(storage):
    study = opened(storage)
    mine = study.ask(worker="a", lease=3600)
    move_lease(storage, study, mine.number, "other-boot/1/4711+1:token")
    assert study.ask(worker="b", lease=60).number == 1, "another name has no claim"
    assert study.ask(lease=60).number == 2
    assert study.ask(worker="a", lease=60).number == mine.number


@on_linux
def test_a_name_in_use_by_a_process_that_runs_takes_nothing_from_it(tmp_path):
    study = opened(f"sqlite:///{tmp_path}/s.db")

    def work(writing):
        study.ask(worker="a", lease=60)
        os.write(writing, b"x")
        signal.pause()

    child, reading = forked(work)
    try:
        assert os.read(reading, 1) == b"x"
        assert study.ask(worker="a", lease=60).number == 1
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert study.ask(worker="a", lease=60).number == 0


def test_a_worker_may_run_several_trials_at_once(storage):
    study = opened(storage)
    assert [trial.number for trial in study.ask(3, worker="a", lease=60)] == [0, 1, 2]


def test_a_trial_without_a_lease_is_not_taken_back(storage):
    study = opened(storage)
    study.ask(worker="alice")
    assert opened(storage).ask(worker="alice").number == 1


def test_a_trial_that_ends_its_worker_three_times_is_given_up(storage):
    study = opened(storage)
    for attempt in (1, 2, 3):
        trial = study.ask(worker="a", lease=60)
        assert (trial.number, trial.attempt) == (0, attempt)
        move_lease(storage, study, 0, f"elsewhere:{attempt}")
    assert study.ask(worker="a", lease=60).number == 1
    assert study.trials[0].reason == "handed out 3 times without an answer"


@pytest.mark.parametrize("wrong", ["", "x" * 201, "a\0b", 5])
def test_a_name_is_a_short_text(storage, wrong):
    study = opened(storage)
    with pytest.raises(StudyError, match="the name of a worker must"):
        study.ask(worker=wrong)
    with pytest.raises(StudyError, match="the name of a worker must"):
        study.optimize(lambda p: 1.0, 1, worker=wrong)
    assert study.trials == []


def test_a_log_with_a_worker_that_is_no_text_is_damaged(storage):
    study = opened(storage)
    storage.append(study._id, 1, [to_text(Asked(0, {"x": 0.5}, worker=7))])
    with pytest.raises(StorageError, match="worker 7, expected a text"):
        load_study("s", storage)


def test_a_run_records_its_name_or_one_of_machine_and_process(storage):
    study = opened(storage)
    study.optimize(lambda p: p["x"], 2, worker="lab", progress=False)
    study.optimize(lambda p: p["x"], 1, progress=False)
    *named, default = [event.worker for event in log_of(study) if isinstance(event, Asked)]
    assert named == ["lab"] * 2
    assert default.startswith(f"{platform.node()}-{os.getpid()}-")
    assert worker_name(None) != worker_name(None), "no two workers have one name by chance"


def test_names_do_not_disturb_a_replay_of_a_model(tmp_path):
    study = opened(f"sqlite:///{tmp_path}/s.db", method="gp")
    threads = [
        threading.Thread(
            target=lambda name=name: load_study("s", f"sqlite:///{tmp_path}/s.db").optimize(
                lambda p: p["x"] ** 2, 4, worker=name, progress=False
            )
        )
        for name in ("a", "b")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(trial.worker for trial in study.trials) == ["a"] * 4 + ["b"] * 4
    assert study.replay().identical
