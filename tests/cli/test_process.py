"""The end of programs and of all that they started."""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from outcrop.cli import process
from outcrop.cli.program import ProgramFailed, ProgramStopped
from tests.cli.specs import program_of, trial_of
from tests.study.running.processes import eventually, is_alive, still_alive

FORKS = (
    "import os, signal, sys, time\n"
    "child = os.fork()\n"
    "if child == 0:\n"
    "    if 'daemon' in sys.argv: os.setsid()\n"
    "    if 'stubborn' in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "    time.sleep(600)\n"
    "print(os.getpid()); print(child, flush=True)\n"
    "if 'stubborn' in sys.argv: signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "if 'leave' in sys.argv: sys.exit(0)\n"
    "time.sleep(600)\n"
)


def lines(folder):
    """How many lines a program wrote to its output so far."""
    file = folder / "stdout"
    return file.read_text().count("\n") if file.exists() else 0


def pids(folder, count):
    """The process numbers that a program wrote to its output, once they are all there."""
    assert eventually(lambda: lines(folder) >= count)
    return [int(line) for line in (folder / "stdout").read_text().split()]


@pytest.fixture
def time_is_over_after(tmp_path, monkeypatch):
    """A way to let ten minutes pass once the program has written so many lines."""

    def when_written(count):
        looks = []

        def monotonic():
            looks.append(lines(tmp_path / "study-output" / "000000-1"))
            over = len(looks) > 1 and looks[-1] >= count  # the first look sets the deadline
            return time.monotonic() + (600.0 if over else 0.0)

        monkeypatch.setattr(process, "time", SimpleNamespace(monotonic=monotonic))

    return when_written


@pytest.mark.parametrize("manner", ["meek", "stubborn"])
def test_a_timeout_leaves_no_process_of_the_group(tmp_path, manner, time_is_over_after):
    program = program_of(tmp_path, FORKS, manner, "{nu}", top="timeout = 300", grace=0.3)
    time_is_over_after(2)
    with pytest.raises(ProgramFailed, match=r"^timeout after 300 s, the last lines of stdout: "):
        program.evaluate(trial_of())
    numbers = pids(program.spec.output / "000000-1", 2)
    assert len(numbers) == 2
    assert still_alive(numbers) == []


@pytest.mark.parametrize(
    "manner",
    ["child", pytest.param("daemon", marks=pytest.mark.skipif(sys.platform != "linux", reason=""))],
)
def test_what_a_program_leaves_running_is_ended_with_it(tmp_path, manner):
    program = program_of(tmp_path, FORKS, manner, "leave", "{nu}")
    program.evaluate(trial_of())  # the child's number is the value
    numbers = pids(program.spec.output / "000000-1", 2)
    assert still_alive(numbers) == []


def test_a_program_may_use_its_grace_to_end_well(tmp_path, time_is_over_after):
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('saved', flush=True), sys.exit(0)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    program = program_of(tmp_path, code, top="timeout = 300", grace=60.0)
    time_is_over_after(1)
    with pytest.raises(ProgramFailed, match="the last lines of stdout: ready / saved"):
        program.evaluate(trial_of())


def test_kill_stops_what_runs_in_other_threads_and_lets_nothing_start(tmp_path):
    program = program_of(tmp_path, FORKS, "{nu}")
    raised = []

    def work(number):
        try:
            program.evaluate(trial_of(number))
        except ProgramFailed as error:
            raised.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    numbers = [pid for n in range(3) for pid in pids(program.spec.output / f"{n:06d}-1", 2)]
    assert all(is_alive(pid) for pid in numbers)
    program.kill()
    assert still_alive(numbers) == []
    for thread in threads:
        thread.join()
    assert [type(error) for error in raised] == [ProgramStopped] * 3
    with pytest.raises(ProgramStopped, match="not started"):
        program.evaluate(trial_of(9))
    assert not (program.spec.output / "000009-1").exists()


def test_an_interrupt_in_the_evaluating_thread_ends_the_program(tmp_path):
    program = program_of(tmp_path, FORKS, "{nu}", grace=0.3)
    numbers = []

    def interrupt():
        numbers.extend(pids(program.spec.output / "000000-1", 2))
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        program.evaluate(trial_of())
    thread.join()
    assert still_alive(numbers) == []


def test_an_interrupt_from_the_terminal_does_not_reach_the_program(tmp_path):
    code = "import os; print(int(os.getpgrp() == os.getpid() == os.getsid(0)))"
    assert program_of(tmp_path, code).evaluate(trial_of()) == 1.0
