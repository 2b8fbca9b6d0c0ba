"""Objectives that fork, and what they leave running: nothing outlives a worker."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import pytest

from tests.study.running.doubles import studied
from tests.study.running.objectives import Forking, Starting, pooled, signalled_child
from tests.study.running.processes import ENVIRONMENT, ROOT, is_alive, noted, still_alive

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="it is about forks and signals"),
    pytest.mark.usefixtures("main_is_interactive"),
]
linux = pytest.mark.skipif(sys.platform != "linux", reason="descendants are found on Linux only")


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert multiprocessing.active_children() == []


# Forked children


@pytest.mark.parametrize(
    ("way", "code"), [("return", 0), ("raise", 1), ("exit", 7), ("interrupt", -15)]
)
def test_a_forked_child_in_a_worker_ends_where_it_would_come_back(way, code):
    result = studied(Forking(way), 4, n_workers=2)
    assert [trial.value for trial in result.trials] == [n + code / 100 for n in range(4)]


FORKS = """
import os, sys
from outcrop.space import Float, Space
from outcrop.study import Study
from tests.study.running.objectives import Forking, pooled

def run(objective, **options):
    study = Study(Space({"x": Float(0, 1)}), f"s{len(said)}", "sqlite:///s.db", method="random")
    study.optimize(objective, 2, progress=False, **options)
    said.append([(trial.state, trial.value) for trial in study.trials])

def forking(*arguments):
    child = os.fork()
    if child == 0:
        return sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    return None

said = []
start = os.getpid()
for way in ("return", "raise", "exit"):
    run(Forking(way))
run(lambda p: 1.0, callbacks=forking, stop=forking)
run(lambda p: 0.0 * pooled(p))
print(os.getpid() == start, *said, sep="\\n", flush=True)
"""


def test_a_forked_child_in_the_process_of_the_run_ends_where_it_would_come_back(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", FORKS],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "True",
        *[str([("finished", n + code / 100) for n in range(2)]) for code in (0, 1, 7)],
        str([("finished", 1.0)] * 2),
        str([("finished", 0.0)] * 2),
    ]
    errors = [line for line in done.stderr.splitlines() if not line.startswith((" ", "Traceback"))]
    assert errors == ["ValueError: of the child"] * 2, "the children's own errors are shown"


@pytest.mark.parametrize("n_workers", [1, 2])
def test_processes_that_an_objective_forks_end_at_sigterm_wherever_they_wait(n_workers):
    result = studied(signalled_child, 2, n_workers=n_workers)
    assert [trial.value for trial in result.trials] == [0.0, 0.0]


def test_an_objective_may_use_a_pool_of_processes_in_a_worker():
    result = studied(pooled, 3, n_workers=2)
    assert [trial.value for trial in result.trials] == [abs(t.params["x"]) for t in result.trials]


# Programs that an objective started


@linux
@pytest.mark.parametrize("then", ["return", "segfault"])
def test_what_an_objective_started_ends_with_its_worker(tmp_path, then):
    studied(Starting(str(tmp_path), then), 2, n_workers=2)
    assert still_alive(noted(tmp_path, 6)) == []


@linux
def test_a_program_lives_on_between_trials_unless_its_parent_has_ended(tmp_path):
    """The next trial may use a pool or a server again, but nobody can reach an orphan."""

    def callback(study, trial):
        if trial.number == 0:
            (child,) = (int(path.name.split("-")[1]) for path in (tmp_path / "child").iterdir())
            living.append(is_alive(child))
            living.append(bool(still_alive(noted(tmp_path / "orphan", 1))))

    class Both:
        def evaluate(self, trial):
            for how in ("child", "orphan"):
                if trial.number == 0:
                    Starting(str(tmp_path / how), hows=(how,)).evaluate(trial)
                    (tmp_path / how / f"process-{os.getpid()}").unlink()
            return 1.0

    living = []
    for how in ("child", "orphan"):
        (tmp_path / how).mkdir()
    studied(Both(), 2, trial_timeout=100.0, callbacks=callback)
    assert living == [True, False]
    assert still_alive(noted(tmp_path / "child", 1)) == []


@linux
def test_a_timeout_ends_an_objective_that_ignores_sigterm_and_its_programs(tmp_path):
    result = studied(Starting(str(tmp_path), "ignore SIGTERM"), 1, trial_timeout=10.0)
    assert result.trials[0].reason == "no result within 10 s"
    assert still_alive(noted(tmp_path, 4)) == []


def script(folder, objective, around="{}"):
    """The command of a program with a run."""
    path = folder / "script.py"
    path.write_text(
        "import os, threading\n"
        "from tests.study.running.doubles import studied\n"
        "from tests.study.running.objectives import Starting\n"
        "from tests.study.running.processes import noted\n"
        "def run():\n"
        f"    studied({objective!r}, 2, n_workers=2)\n"
        f"if __name__ == '__main__':\n    {around.format('run()')}\n"
    )
    return [sys.executable, str(path)]


@linux
def test_a_program_that_ends_while_a_thread_runs_a_study_ends_its_workers(tmp_path):
    """As a daemon thread is cut off, nothing but the end of the process stops the workers."""
    start = "threading.Thread(target=run, daemon=True).start()"
    wait = f"noted(__import__('pathlib').Path({str(tmp_path)!r}), 8)"
    command = script(tmp_path, Starting(str(tmp_path), "ignore SIGTERM"), f"{start}; {wait}")
    done = subprocess.run(command, capture_output=True, timeout=120, cwd=ROOT, env=ENVIRONMENT)
    assert (done.returncode, done.stderr) == (0, b"")
    assert still_alive(noted(tmp_path, 8)) == []


def test_a_pipe_closes_when_the_run_has_ended_whatever_was_started(tmp_path):
    command = script(tmp_path, Starting(str(tmp_path)))
    done = subprocess.run(command, capture_output=True, timeout=120, cwd=ROOT, env=ENVIRONMENT)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@linux
def test_a_run_that_is_killed_ends_workers_in_which_foreign_code_holds_the_interpreter(tmp_path):
    command = script(tmp_path, Starting(str(tmp_path), "hold the interpreter"))
    process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT)
    try:
        pids = noted(tmp_path, 8)
        assert all(is_alive(pid) for pid in pids)
    finally:
        process.kill()
        process.wait()
    assert still_alive(pids) == []
