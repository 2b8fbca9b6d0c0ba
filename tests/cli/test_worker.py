"""Workers of the command line, any number of which share a study."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from outcrop.space import Float, Space
from outcrop.study import Study, load_study
from tests.cli.test_app import SPEC as TEMPLATE
from tests.study.running.processes import ENVIRONMENT, eventually, is_alive, still_alive

URL = "sqlite:///shared.db"

# In the third trial it notes its process and waits for a file, unless that was tried before.
PROGRAM = """
import os, pathlib, sys, time
x, trial = float(sys.argv[1]), int(sys.argv[2])
resting = pathlib.Path("resting")
if trial == 2 and not resting.exists():
    resting.write_text(str(os.getpid()))
    while not pathlib.Path("go").exists():
        time.sleep(0.01)
print((x - 0.3) ** 2)
"""

SPEC = TEMPLATE.replace("PAUSE", "{trial}")


@pytest.fixture
def folder(tmp_path, call):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "spec.toml").write_text(SPEC)
    return tmp_path


def started(*options: str) -> subprocess.Popen[str]:
    """A worker that rests in its third trial."""
    command = [sys.executable, "-m", "outcrop.cli.app", "worker", "spec.toml", "--storage", URL]
    worker = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert eventually(lambda: Path("resting").exists() and Path("resting").read_text() != "")
    return worker


def resting() -> int:
    """The process of the program that rests."""
    return int(Path("resting").read_text())


def states() -> list[str]:
    return [trial.state for trial in load_study("bowl", URL).trials]


def test_workers_share_a_study_until_it_has_its_trials(call, folder):
    Path("go").touch()
    for name, total in (("a", "3"), ("b", "5")):
        code, out, err = call(
            *("worker", "spec.toml", "--storage", URL, "--name", name, "--trials", total)
        )
        assert (code, "best value" in out, "trial 2" in err) == (0, True, name == "b"), err
    assert "worker b evaluates trials of study bowl" in out
    assert "worker b: 2 of 5 trials; stopped: the study has 5 trials" in out
    study = load_study("bowl", URL)
    assert [trial.worker for trial in study.trials] == ["a"] * 3 + ["b"] * 2
    assert all(trial.value == (trial.params["x"] - 0.3) ** 2 for trial in study.trials)
    assert study.replay().identical
    assert not Path("bowl.db").exists(), "--storage is used instead of that of the spec"


def test_the_program_is_that_of_the_local_spec(call, folder):
    Path("go").touch()
    (folder / "other.toml").write_text(SPEC.replace("program.py", "other.py"))
    (folder / "other.py").write_text("print(-1)")
    for spec, total in (("spec.toml", "1"), ("other.toml", "2")):
        assert call("worker", spec, "-s", URL, "-n", total, "--quiet")[0] == 0
    first, second = load_study("bowl", URL).trials
    assert (first.value >= 0, second.value) == (True, -1)


def test_sigterm_lets_the_program_finish_and_then_the_worker_ends(folder):
    worker = started()
    worker.send_signal(signal.SIGTERM)
    assert "SIGTERM: the run ends when 1 running trials have ended" in worker.stderr.readline()
    assert is_alive(resting())
    Path("go").touch()
    out, _ = worker.communicate(timeout=120)
    assert worker.returncode == 0
    assert "3 of 3 trials; stopped: drained after SIGTERM" in out
    assert states() == ["finished"] * 3


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_second_signal_ends_the_program_and_gives_its_trial_back(folder, name):
    worker = started()
    worker.send_signal(signal.SIGTERM)
    worker.stderr.readline()
    worker.send_signal(getattr(signal, name))
    _, err = worker.communicate(timeout=120)
    assert worker.returncode == 128 + getattr(signal, name)
    assert "trial 2 is given back" in err
    assert still_alive([resting()]) == []
    assert states() == ["finished"] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, its lease is waited for")
def test_a_worker_that_was_killed_comes_back_under_its_name_and_gets_its_trial(call, folder):
    worker = started("--name", "gpu-3")
    worker.kill()
    worker.communicate(timeout=120)
    assert states() == ["finished"] * 2 + ["running"]
    lost = load_study("bowl", URL).trials[2]
    options = ("--storage", URL, "--trials", "4", "--quiet")
    assert call("worker", "spec.toml", *options, "--name", "gpu-4")[0] == 0
    assert states() == ["finished"] * 2 + ["running", "finished"], "it is not another's"
    assert call("worker", "spec.toml", *options[:-2], "5", "--quiet", "--name", "gpu-3")[0] == 0
    back = load_study("bowl", URL).trials[2]
    assert (back.params, back.state, back.attempt) == (lost.params, "finished", 2)
    assert (back.worker, back.value) == ("gpu-3", (lost.params["x"] - 0.3) ** 2)


def test_a_worker_with_another_space_is_refused_with_one_line(call, folder):
    Study(Space({"x": Float(0, 2)}), "bowl", URL, method="random", seed=3)
    code, out, err = call("worker", "spec.toml", "--storage", URL)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert "study 'bowl' exists and differs from this one, where this space is" in err
    assert "outcrop migrate SPEC" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.toml"], "nothing.toml was not found"),
        (["spec.toml", "--name", ""], "the name of a worker must have 1 to 200 characters"),
        (["spec.toml", "--trials", "0"], "--trials"),
    ],
)
def test_a_wrong_worker_is_one_line_and_exit_code_2(call, folder, arguments, message):
    code, out, err = call("worker", *arguments)
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert message in err
    assert not list(folder.glob("*.db*"))


def test_a_program_that_cannot_be_run_ends_the_worker_with_the_command_that_goes_on(call, folder):
    (folder / "program.py").write_text("import sys; sys.exit(127)")
    code, _, err = call("worker", "spec.toml", "--storage", "shared.db", "--name", "a b", "-q")
    assert code == 2
    assert "Then: outcrop worker spec.toml --storage shared.db --name 'a b' --quiet" in err
    assert states() == []


def test_show_lists_who_runs_what_since_when(call, tmp_path):
    study = Study(Space({"x": Float(0, 1)}), "bowl", URL, method="random", seed=3)
    study.tell(study.ask(worker="gpu-1"), 1.0)
    study.ask(worker="gpu-2", lease=60)
    study.ask()
    study.ask(worker="gone", lease=1e-9)
    out = call("show", "bowl", "--storage", URL)[1]
    moment = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\d+ s\)"
    assert "running trials: 3\n" in out
    assert re.search(rf"^  trial 1: gpu-2 since {moment}$", out, re.MULTILINE)
    assert re.search(rf"^  trial 2: an unnamed worker since {moment}$", out, re.MULTILINE)
    assert re.search(rf"^  trial 3: gone since {moment}, its lease has expired", out, re.MULTILINE)
    assert "gpu-1" not in out
    assert (
        "running trials: 3, the last 1 of which are\n  trial 3"
        in call("show", "bowl", "--storage", URL, "--last", "1")[1]
    )
    study.ask(worker="back", lease=60)
    assert "handed out 2 times" in call("show", "bowl", "--storage", URL)[1]


def test_a_worker_is_shown_while_it_works(call, folder):
    worker = started("--name", "gpu-3")
    try:
        assert "  trial 2: gpu-3 since " in call("show", "bowl", "--storage", URL)[1]
    finally:
        os.kill(worker.pid, signal.SIGINT)
        worker.communicate(timeout=120)
    assert worker.returncode == 130
