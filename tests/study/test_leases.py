"""Leases and turns: who holds a trial, for how long, and what comes late."""

from __future__ import annotations

import logging
import os
import signal
import sys

import pytest

from outcrop.errors import MethodError, SpaceExhausted, StorageError, TrialError
from outcrop.space import Fixed, Space
from outcrop.study import Study
from outcrop.study.ask_lock import TURN, AskLock
from outcrop.study.events import Expired, Late
from outcrop.study.process_identity import has_ended, process_name
from outcrop.study.storage import Lease
from tests.study.doubles import Roaming
from tests.study.handles import SPACE, forget, log_of, opened
from tests.study.storage.children import answer, forked


def test_a_trial_without_a_lease_is_waited_for_without_end(storage):
    study = opened(storage)
    first = study.ask()
    forget(study, first.number)
    assert study.ask().number == 1


def test_a_trial_whose_lease_ran_out_is_offered_again(storage):
    study, other = opened(storage), opened(storage)
    first = study.ask(lease=60)
    assert other.ask(lease=60).number == 1, "while the lease holds, it is nobody else's"
    forget(study, first.number)
    again = other.ask(lease=60)
    assert (again.number, again.params, again.attempt) == (first.number, first.params, 2)
    assert study.ask(lease=60).number == 2, "its new holder has it"


def test_a_lease_that_is_renewed_holds(storage):
    study, other = opened(storage), opened(storage)
    first = study.ask(lease=1e-9)  # it is over at once
    study.renew([first], 60)
    assert other.ask().number == 1


def test_a_trial_is_handed_out_three_times_and_then_given_up(storage):
    study = opened(storage)
    for attempt in (1, 2, 3):
        trial = study.ask(lease=60)
        assert (trial.number, trial.attempt) == (0, attempt)
        forget(study, 0)
    assert study.ask(lease=60).number == 1
    assert study.trials[0].state == "failed"
    assert "handed out 3 times without an answer" in study.trials[0].reason
    assert any(isinstance(event, Expired) for event in log_of(study))


def test_a_value_that_comes_after_a_trial_was_given_up_counts(storage):
    study = opened(storage)
    for _ in range(3):
        study.ask(lease=60)
        forget(study, 0)
    study.ask(lease=60)
    assert study.tell(0, 1.5).value == 1.5
    assert study.best_trial.number == 0


def test_a_late_value_is_accepted_if_nobody_told(storage):
    study, other = opened(storage), opened(storage)
    first = study.ask(lease=60)
    forget(study, first.number)
    other.ask(lease=60)
    assert study.tell(first, 2.0).value == 2.0


def test_a_late_value_is_logged_and_ignored_if_another_told(storage, caplog):
    study, other = opened(storage), opened(storage)
    first = study.ask(lease=60)
    forget(study, first.number)
    other.tell(other.ask(lease=60), 1.0)
    with caplog.at_level(logging.WARNING, "outcrop"):
        assert study.tell(first, 2.0).value == 1.0
    assert "trial 0 already has a result; this late one was logged" in caplog.text
    assert isinstance(log_of(study)[-1], Late)
    assert log_of(study)[-1].value == 2.0
    study.fail(first, "burst")
    assert study.trials[0].value == 1.0


def test_telling_twice_what_was_handed_out_once_is_refused(storage):
    study = opened(storage)
    trial = study.ask(lease=60)
    study.tell(trial, 1.0)
    before = len(log_of(study))
    with pytest.raises(TrialError, match=r"finished already, with value 1\.0"):
        study.tell(trial, 1.0)
    assert len(log_of(study)) == before


def test_a_lease_ends_with_its_trial(storage):
    study = opened(storage)
    trials = study.ask(3, lease=60)
    study.tell(trials[0], 1.0)
    study.fail(trials[1])
    study.release(trials[2])
    assert study._store.leases(study._id) == {}


@pytest.mark.parametrize("lease", [0, -1, "soon", float("nan")])
def test_a_lease_is_a_number_of_seconds(storage, lease):
    with pytest.raises(MethodError, match="lease must be a number of seconds above 0"):
        opened(storage).ask(lease=lease)


def test_a_trial_that_another_has_by_now_is_not_given_back_by_its_first_holder(storage):
    study, other = opened(storage), opened(storage)
    first = study.ask(lease=60)
    forget(study, first.number)
    again = other.ask(lease=60)
    with pytest.raises(TrialError, match=r"trial 0 was handed out again meanwhile \(attempt 2\)"):
        study.release(first)
    assert other.tell(again, 1.0).state == "finished"


def test_a_value_of_the_first_holder_counts_though_the_second_gave_the_trial_back(storage):
    study, other = opened(storage), opened(storage)
    first = study.ask(lease=60)
    forget(study, first.number)
    other.release(other.ask(lease=60))
    assert study.trials == []
    assert study.tell(first, 2.0).value == 2.0
    assert other.best_trial.number == 0
    assert opened(storage).trials == study.trials


class Renewed:
    """A store in which a lease is renewed right after others have seen that it had expired."""

    def __init__(self, storage, holder, number):
        self.storage, self.holder, self.number = storage, holder, number

    def __getattr__(self, name):
        return getattr(self.storage, name)

    def leases(self, study):
        found = self.storage.leases(study)
        if self.number is not None and f"trial {self.number}" in found:
            self.holder.renew([self.number], 60)
            self.number = None
        return found


@pytest.mark.parametrize("lease", [None, 60.0])
@pytest.mark.parametrize("attempts", [1, 3])
def test_a_holder_who_comes_back_in_the_last_moment_keeps_its_trial(storage, lease, attempts):
    study, other = opened(storage), opened(storage)
    for _ in range(attempts):
        forget(study, 0)
        trial = study.ask(lease=60)
    forget(study, 0)
    other._store = Renewed(storage, study, 0)
    assert other.ask(lease=lease).number == 1
    assert study.trials[0] == trial
    assert study.tell(trial, 1.0).value == 1.0


@pytest.mark.parametrize("wrong", ["first", 0.5, None, True])
def test_renewing_takes_trials_and_their_numbers(storage, wrong):
    with pytest.raises(TrialError, match="expected a trial or its number"):
        opened(storage).renew([wrong], 60)


def test_a_list_that_is_interrupted_gives_back_what_it_has(storage):
    class Interrupted(Roaming):
        def propose(self, view, rng):
            if view.number == 2:
                raise KeyboardInterrupt
            return super().propose(view, rng)

    study = opened(storage, method=Interrupted(SPACE))
    with pytest.raises(KeyboardInterrupt):
        study.ask(5)
    assert study.trials == []
    assert storage.leases(study._id) == {}


# AskLock


def test_the_turn_of_a_process_that_died_is_over_after_its_deadline(storage, monkeypatch):
    study = opened(storage)
    monkeypatch.setattr("outcrop.study.ask_lock.DEADLINE", 0.2)
    dead = AskLock(storage, study._id)
    monkeypatch.setattr(dead, "_renew", lambda done: None)
    dead.__enter__()
    assert study.ask().number == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, its deadline is waited for")
@pytest.mark.parametrize("is_reaped", [False, True])
def test_the_turn_of_a_process_that_was_killed_is_over_at_once(tmp_path, monkeypatch, is_reaped):
    monkeypatch.setattr("outcrop.study.ask_lock.DEADLINE", 3600.0)
    study = opened(f"sqlite:///{tmp_path}/s.db")

    def work(writing):
        study._ask_lock.__enter__()
        os.write(writing, b"x")
        signal.pause()

    child, reading = forked(work)
    assert os.read(reading, 1) == b"x"
    os.close(reading)
    assert not study._ask_lock._taken(), "it is the child's turn"
    os.kill(child, signal.SIGKILL)
    os.waitid(os.P_PID, child, os.WEXITED | (0 if is_reaped else os.WNOWAIT))
    assert study._ask_lock._taken(), "without waiting"
    if not is_reaped:
        os.waitpid(child, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, its deadline is waited for")
def test_a_process_that_cannot_be_seen_from_here_counts_as_running():
    name = process_name()
    place, _, own = name.rpartition("/")
    number, _, start = own.partition("+")
    gone = f"{place}/{number}+{int(start) + 1}"  # another one has its number by now
    assert [has_ended(each) for each in (name, gone)] == [False, True]
    elsewhere = f"other-machine/{gone}", f"{place}1/{gone.rpartition('/')[2]}", number, "", "dead"
    assert not any(has_ended(each) for each in elsewhere)


def test_a_turn_is_given_back_when_an_ask_raises(storage):
    space = Space({"n": Fixed(0)})
    study = Study(space, "one", storage, method="random", noise=False)
    study.ask()
    with pytest.raises(SpaceExhausted):
        study.ask()
    assert storage.leases(study._id) == {}


def test_a_turn_of_the_future_is_over_since_the_clock_was_set_back(storage):
    study = opened(storage)
    storage.acquire(study._id, Lease(TURN, "dead", 3600.0))
    assert study.ask().number == 0


def test_a_store_that_is_out_of_reach_is_not_asked_to_end_a_turn(storage):
    class Locked:
        def __getattr__(self, name):
            return getattr(storage, name)

        def append(self, *arguments, **options):
            raise StorageError("locked")

        def release(self, *arguments):
            raise AssertionError("it would wait for the lock once more")

    study = opened(storage)
    study._store = study._ask_lock._store = Locked()
    with pytest.raises(StorageError, match="locked"):
        study.ask()


def test_a_forked_child_takes_turns_with_its_parent(tmp_path):
    study = opened(f"sqlite:///{tmp_path}/s.db")
    with study._ask_lock:
        taken = answer(
            lambda: study._store.acquire(study._id, Lease(TURN, study._ask_lock.owner, 60.0))
        )
    assert taken is False
