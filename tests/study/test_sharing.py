"""Several processes on one study, one of them killed, and a store that does not answer."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import threading
import time
from contextlib import closing, nullcontext
from unittest.mock import patch

import pytest

from outcrop.errors import NumericalError, SpaceExhausted, StorageError
from outcrop.space import Choice, Int, Space
from outcrop.strategies import Method
from outcrop.study import Study, load_study
from outcrop.study.events import Told
from outcrop.study.running import running_trials
from outcrop.study.state import State
from outcrop.study.storage.sql import SqlStorage
from tests.study.doubles import Roaming
from tests.study.handles import SPACE, log_of, opened
from tests.study.storage.children import answer, forked


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/study.db"


@pytest.fixture
def locked(tmp_path):
    """A way to keep the database from everybody else for the length of a block."""

    class Lock:
        def __enter__(self):
            self.connection = sqlite3.connect(tmp_path / "study.db")
            self.connection.execute("BEGIN EXCLUSIVE")

        def __exit__(self, *raised):
            self.connection.rollback()
            self.connection.close()

    return Lock()


def test_processes_that_share_a_small_space_try_every_point_once(url):
    space = Space({"n": Int(1, 5), "m": Choice({"a": {}, "b": {"k": Int(1, 3)}})})
    Study(space, "small", url, method="random", seed=2, noise=False)

    def work():
        study, numbers = load_study("small", url), []
        while True:
            try:
                trial = study.ask(lease=60)
            except SpaceExhausted:
                return numbers
            study.tell(trial, trial.params["n"])
            numbers.append(trial.number)

    def run(writing):
        os.write(writing, json.dumps(work()).encode())

    children = [forked(run) for _ in range(4)]
    shares = []
    for child, reading in children:
        with os.fdopen(reading) as pipe:
            shares.append(json.load(pipe))
        assert os.waitpid(child, 0)[1] == 0
    assert sorted(number for share in shares for number in share) == list(range(20))
    study = load_study("small", url)
    assert {trial.state for trial in study.trials} == {"finished"}
    assert len({space.key(trial.params) for trial in study.trials}) == 20
    assert study.replay().identical


def test_a_run_that_is_killed_leaves_its_results_and_offers_its_trial_again(url):
    opened(url)

    def work(writing):
        def objective(params):
            if len(study.trials) == 3:
                os.write(writing, b"x")
                time.sleep(60)
            return params["x"]

        study = load_study("s", url)
        study.optimize(objective, 9)

    with patch.object(running_trials, "LEASE", 0.5):
        child, reading = forked(work)
        os.read(reading, 1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        study = load_study("s", url)
        before = study.trials
        assert [trial.state for trial in before] == ["finished", "finished", "running"]
        while study._store.leases(study._id)["trial 2"].left > 0:
            time.sleep(0.01)
        result = study.optimize(lambda params: params["x"], 1)
    assert result.trials[:2] == tuple(before[:2])
    again = result.trials[2]
    assert (again.number, again.params, again.attempt) == (2, before[2].params, 2)
    assert again.value == again.params["x"]
    assert len(result.trials) == 3


def test_what_a_locked_store_refuses_is_not_written_and_can_be_told_again(url, locked):
    with closing(SqlStorage(url, patience=0.1)) as hasty:
        study = opened(hasty)
        trial = study.ask()
        before = log_of(study)
        with locked:
            for act in (
                study.ask,
                lambda: study.tell(trial, 1.0),
                lambda: study.fail(trial, "burst"),
                lambda: study.add([{"x": 0.5}, {"x": 0.25}], [1.0, 2.0]),
                lambda: study.enqueue({"x": 0.5}),
                lambda: study.release(trial),
            ):
                with pytest.raises(StorageError, match=r"locked by another program.*0\.1 s"):
                    act()
            assert study.trials == [trial], "reading waits for nobody"
        assert log_of(study) == before
        assert study.tell(trial, 1.0).value == 1.0
        assert study.ask().number == 1


def test_a_run_whose_store_is_locked_says_what_it_could_not_tell(url, locked, caplog):
    with closing(SqlStorage(url, patience=0.1)) as hasty:
        study = opened(hasty)

        def objective(params):
            locked.__enter__()
            return 2.5

        with pytest.raises(StorageError, match="locked by another program") as caught:
            study.optimize(objective, 3)
        locked.__exit__()
        assert "trial 0 is not told: value 2.5" in caplog.text
        assert [trial.state for trial in caught.value.result.trials] == ["running"]
        study.tell(0, 2.5)
        assert sum(isinstance(event, Told) for event in log_of(study)) == 1


def test_a_file_that_is_gone_is_a_clear_error(url, tmp_path):
    study = opened(url)
    trial = study.ask()
    (tmp_path / "study.db").unlink()
    for act in (lambda: study.tell(trial, 1.0), study.ask, lambda: study.trials):
        with pytest.raises(StorageError, match="was removed"):
            act()
    assert not (tmp_path / "study.db").exists()


def test_a_study_that_is_only_read_is_looked_at_and_not_changed(url):
    study = opened(url)
    study.tell(study.ask(), 1.0)
    reader = load_study("s", f"{url}?mode=ro")
    assert reader.best_value == 1.0
    for act in (reader.ask, lambda: reader.add({"x": 0.5}, 1.0)):
        with pytest.raises(StorageError, match="read-only"):
            act()
    study.tell(study.ask(), 0.5)
    assert reader.best_value == 0.5


def test_a_clock_that_jumps_costs_an_attempt_and_no_value(url):
    study, other = opened(url), opened(url)
    trial = study.ask(lease=60)
    real = time.time
    with patch("outcrop.study.storage.sqlite.time.time", lambda: real() + 7200):
        again = other.ask(lease=60)
        study.renew([trial], 60)
    assert (again.number, again.attempt) == (0, 2)
    assert other.ask(lease=60).number == 1, "an hour early, its lease holds all the longer"
    assert study.tell(trial, 1.0).value == 1.0
    assert other.tell(again, 2.0).value == 1.0


class Broken:
    def fit(self, observations, rng, previous=None):
        raise NumericalError("nothing factorises")


def test_numerical_trouble_is_recorded_on_the_trial_and_asking_goes_on(storage, caplog):
    study = opened(storage, method=Method(surrogate=Broken()))
    study.add([{"x": x / 16} for x in range(16)], [float(x) for x in range(16)])
    trials = study.ask(3)
    assert {trial.why["source"] for trial in trials} == {"fallback"}
    assert all("nothing factorises" in trial.why["reason"] for trial in trials)
    assert len({trial.params["x"] for trial in study.trials}) == 19
    assert "numerical trouble" in caplog.text
    assert study.replay().identical


def test_a_child_is_told_that_a_study_in_memory_cannot_be_shared():
    study = Study(SPACE, method="random", seed=0)
    refused = answer(study.ask)
    assert isinstance(refused, StorageError)
    assert "use a storage such as 'sqlite:///study.db'" in str(refused)
    assert study.ask().number == 0


class Waiting(Roaming):
    """Makes no suggestion in one process before it is told to."""

    def propose(self, view, rng):
        if os.getpid() == self.process:
            self.asking.set()
            assert self.go.wait(120)
        return super().propose(view, rng)


@pytest.mark.parametrize("held", ["the turn to ask", "the state", "a cached property"])
def test_a_forked_child_uses_a_study_that_a_thread_of_its_parent_is_using(url, held):
    strategy = Waiting(SPACE)
    asking, go = threading.Event(), threading.Event()
    vars(strategy).update(process=os.getpid(), asking=asking, go=go)
    study = opened(url, method=strategy)

    def hold():
        if held == "the turn to ask":
            study.ask()
            return
        view = vars(State)["view"]
        with study._lock if held == "the state" else getattr(view, "lock", nullcontext()):
            asking.set()
            assert go.wait(120)

    def let_go():
        os.read(forked_by_now, 1)
        go.set()

    def work():
        os.write(tell, b"x")
        added = study.add({"x": 0.5}, 1.0)
        study.tell(study.ask(), 2.0)
        return added.value, study.best_value

    forked_by_now, tell = os.pipe()
    threads = [threading.Thread(target=target) for target in (hold, let_go)]
    for thread in threads:
        thread.start()
    try:
        assert asking.wait(60)
        assert answer(work) == (1.0, 1.0)
    finally:
        os.write(tell, b"x")
        for thread in threads:
            thread.join()
        os.close(forked_by_now)
        os.close(tell)
    assert {1.0, 2.0} <= {trial.value for trial in study.trials}
    assert study.replay().identical
