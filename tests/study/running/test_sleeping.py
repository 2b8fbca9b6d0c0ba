"""A machine that sleeps beyond the leases of its trials, and wakes up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import outcrop as oc
from outcrop.study.events import Asked, Late, Told
from tests.study.handles import log_of
from tests.study.running.processes import ENVIRONMENT, eventually

SLEEPER = """
import os, signal, sys, threading
import outcrop as oc
from outcrop.study.running import running_trials

running_trials.LEASE = 0.3
study = oc.load_study("s", "sqlite:///s.db")
writing, renew = threading.Lock(), study.renew

def renewed(*arguments):
    with writing:
        return renew(*arguments)

def objective(params):
    with writing:  # a process that sleeps while it writes would keep others from writing
        os.kill(os.getpid(), signal.SIGSTOP)
    return 2.0

study.renew = renewed
study.optimize(objective, 1, worker="laptop", progress=False)
"""


def is_stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


@pytest.mark.skipif(sys.platform != "linux", reason="it looks at /proc")
@pytest.mark.parametrize("has_told", [True, False])
def test_a_laptop_that_slept_overwrites_nothing_and_its_late_result_is_kept(
    tmp_path, monkeypatch, has_told
):
    monkeypatch.chdir(tmp_path)
    space = oc.Space({"x": oc.Float(0, 1)})
    study = oc.Study(space, "s", "sqlite:///s.db", method="random", seed=0)
    laptop = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    try:
        assert eventually(lambda: is_stopped(laptop.pid))
        assert eventually(lambda: study.leases()[0] <= 0)
        again = study.ask(lease=60, worker="desk")
        assert (again.number, again.attempt) == (0, 2)
        if has_told:
            study.tell(again, 1.0)
    finally:
        os.kill(laptop.pid, signal.SIGCONT)
    err = laptop.communicate(timeout=120)[1]
    assert laptop.returncode == 0, err
    if not has_told:  # the first result counts, whoever tells it
        assert study.trials[0].value == 2.0
        study.tell(again, 1.0)
    kept, late = (1.0, 2.0) if has_told else (2.0, 1.0)
    assert [trial.value for trial in study.trials] == [kept]
    log = log_of(study)
    assert [event.worker for event in log if isinstance(event, Asked)] == ["laptop", "desk"]
    assert [event.value for event in log if isinstance(event, Told)] == [kept]
    assert [event.value for event in log if isinstance(event, Late)] == [late]
    assert study.replay().identical
    assert study.leases() == {}
    if has_told:
        assert "trial 0 already has a result; this late one was logged and ignored" in err
