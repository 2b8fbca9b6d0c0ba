"""Worker processes: what their death costs, what they are given, what they leave behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time

import pytest

from outcrop.errors import AllTrialsFailed, ObjectiveError
from outcrop.study.running import run
from tests.study.running.doubles import Diary, studied
from tests.study.running.objectives import (
    Awaiting,
    Drawing,
    Loading,
    Numbered,
    SlowToLoad,
    Unloadable,
    bowl,
    leaving,
    raising,
    surroundings,
)

pytestmark = pytest.mark.usefixtures("main_is_interactive")

# Seconds of a trial: far more than one that does not sleep takes on a busy machine.
TIMEOUT = 3.0


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert multiprocessing.active_children() == []
    assert [thread.name for thread in threading.enumerate() if "heartbeat" in thread.name] == []


@pytest.mark.parametrize(
    ("way", "reason"),
    [
        ("exit", "the process of the evaluation died (exit code 3)"),
        ("exit well", "the process of the evaluation died (exit code 0)"),
        ("kill", "the process of the evaluation died (signal 9)"),
        ("segfault", "the process of the evaluation died (signal 11)"),
    ],
)
def test_a_crash_costs_exactly_its_own_trial(way, reason):
    result = studied(Numbered(way, (1, 4)), 7, n_workers=2)
    assert [trial.value for trial in result.trials] == [0, None, 2, 3, None, 5, 6]
    assert [result.trials[number].reason for number in (1, 4)] == [reason, reason]


def test_a_process_that_always_dies_loses_every_trial_and_hangs_none():
    always = Numbered("exit", tuple(range(12)))
    result = studied(always, 12, n_workers=2, on_error="record")
    assert result.n_failed == 12


@pytest.mark.parametrize("n_workers", [None, 2])
def test_a_timeout_costs_exactly_its_own_trial(n_workers):
    result = studied(Numbered("sleep"), 4, n_workers=n_workers, trial_timeout=TIMEOUT)
    assert [trial.value for trial in result.trials] == [0, None, 2, 3]
    assert result.trials[1].reason == f"no result within {TIMEOUT:g} s"


def test_a_worker_that_is_free_does_not_wait_for_the_others(tmp_path):
    study = Diary()

    def callback(study, trial):
        if trial.number == 5:
            (tmp_path / "go").touch()

    studied(Awaiting(str(tmp_path / "go")), 6, study=study, n_workers=2, callbacks=callback)
    assert study.acts[:3] == [("ask", 0), ("ask", 1), ("tell", 1)]
    assert study.acts[-1] == ("tell", 0)


def test_what_the_objective_raises_in_a_worker_is_recorded_as_here():
    def trouble(objective):
        with pytest.raises(AllTrialsFailed) as caught:
            studied(objective, 20, n_workers=2)
        return [trial for trial in caught.value.result.trials if trial.state == "failed"]

    first = trouble(raising)[0]
    assert first.reason == f"ValueError: x is {first.params['x']}"
    assert "raise ValueError(f" in first.info["traceback"]
    assert trouble(leaving)[0].reason == "SystemExit: 3"


def test_workers_ignore_ctrl_c_and_use_one_thread_unless_the_user_says_otherwise(monkeypatch):
    monkeypatch.setenv("TEST_PARENT", str(os.getpid()))
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    result = studied(surroundings, 1, n_workers=2)
    assert result.trials[0].reason == "RuntimeError: False True ('1', '3')"
    assert "OPENBLAS_NUM_THREADS" not in os.environ, "only workers are told"


def test_workers_do_not_draw_the_same_random_numbers():
    values = [trial.value for trial in studied(Drawing(), 6, n_workers=2).trials]
    assert len(set(values)) == 6


def test_the_objective_is_loaded_once_by_the_probe_and_once_by_each_worker(tmp_path):
    study = Diary()
    result = studied(Loading(str(tmp_path)), 8, study=study, n_workers=2)
    workers = {int(trial.value) for trial in result.trials}
    loaded = [int(path.name.split("-")[1]) for path in tmp_path.glob("loaded-*")]
    assert os.getpid() not in workers
    assert workers <= set(loaded)
    assert len(loaded) == len(set(loaded)) <= 3


def test_an_objective_that_only_cloudpickle_can_send_is_sent_with_it(monkeypatch):
    offset = 5.0
    result = studied(lambda p: p["x"] + offset, 3, n_workers=2)
    assert [trial.value for trial in result.trials] == [t.params["x"] + 5 for t in result.trials]

    monkeypatch.setitem(sys.modules, "cloudpickle", None)  # as if it were not installed
    study = Diary()
    with pytest.raises(ObjectiveError, match=r"top level of a module, or `pip install cloudpickle"):
        studied(lambda p: p["x"] + offset, 3, study=study, n_workers=2)
    assert study.acts == []


def test_an_objective_that_nothing_can_send_is_refused_with_a_hint():
    lock = threading.Lock()
    with pytest.raises(ObjectiveError, match=r"cannot pickle '_thread.lock'.* locks or") as caught:
        studied(lambda p: lock.locked(), 3, n_workers=2)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_an_objective_that_a_worker_cannot_load_is_refused_before_anything_is_asked():
    study = Diary()
    with pytest.raises(ObjectiveError, match=r"No module named 'nowhere'.*put its folder on"):
        studied(Unloadable(), 3, study=study, n_workers=2)
    assert (study.acts, study.stopped) == ([], [])


def test_an_exception_of_a_callback_gives_running_trials_back_and_ends_the_workers(caplog):
    def callback(study, trial):
        raise RuntimeError("enough")

    study = Diary()
    with pytest.raises(RuntimeError, match="enough") as caught:
        run(study, Numbered("sleep"), 9, n_workers=2, callbacks=[callback], progress=False)
    assert study.acts == [("ask", 0), ("ask", 1), ("tell", 0), ("release", 1)]
    assert [trial.value for trial in caught.value.result.trials] == [0]
    assert "error: RuntimeError: enough: trial 1 is given back" in caplog.text


def test_ctrl_c_while_the_workers_start_ends_the_run_before_anything_is_asked(tmp_path):
    def press():
        while not list(tmp_path.glob("loaded-*")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    study = Diary()
    threading.Thread(target=press, daemon=True).start()
    result = studied(SlowToLoad(str(tmp_path)), 3, study=study, n_workers=2)
    assert result.interrupted
    assert (study.acts, study.stopped) == ([], ["interrupted"])


def test_worker_processes_cannot_be_started_in_a_process_that_may_have_none():
    """A daemon of `multiprocessing` says so in words of its own; the hint is ours."""
    reader, writer = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=_run_inside, args=(writer,), daemon=True)
    process.start()
    assert reader.poll(60)
    message = reader.recv()
    process.join()
    assert message.startswith("worker processes cannot be started here")
    assert "use n_workers=1" in message


def _run_inside(writer):
    try:
        studied(bowl, 2, n_workers=2)
    except ObjectiveError as error:
        writer.send(str(error))
