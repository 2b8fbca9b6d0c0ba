"""The command line as a user meets it: what it prints, and its exit codes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version

import pytest

import outcrop as oc
from outcrop.cli.app import main
from outcrop.study import list_studies, load_study
from tests.study.running.processes import ENVIRONMENT, is_alive, noted, still_alive

COMMANDS = [
    *("demo", "run", "worker", "show", "best", "export", "check", "release", "delete"),
    "problems",
]

PROGRAM = """
import sys, time
x = float(sys.argv[1])
time.sleep(float(sys.argv[2]))
print("working")
if x > 0.9:
    sys.exit("x is too high")
print((x - 0.3) ** 2)
"""

RESTING = """
import os, pathlib, sys, time
if int(sys.argv[2]) >= 3:
    pathlib.Path(f"process-{os.getpid()}").touch()
    time.sleep(600)
print((float(sys.argv[1]) - 0.3) ** 2)
"""

SPEC = """
name = "bowl"
command = ["{python}", "program.py", "{x}", "PAUSE"]
method = "random"
seed = 3

[parameters.x]
type = "float"
low = 0.0
high = 1.0
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a program and its spec, which is also where commands are given."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "spec.toml").write_text(SPEC.replace("PAUSE", "0"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTCROP_STORAGE", raising=False)
    return tmp_path


@pytest.fixture
def call(capsys):
    """Give a command; its exit code, its output and its errors."""

    def given(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return given


def test_the_version_is_that_of_the_package(call):
    code, out, _ = call("--version")
    assert (code, out) == (0, f"outcrop {oc.__version__}\n")
    assert oc.__version__ == version("outcrop")


def test_without_arguments_the_help_is_shown(call):
    code, out, _ = call()
    assert code == 0
    for command in COMMANDS:
        assert f"\n  {command} " in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_an_example(call, command):
    code, out, _ = call(command, "--help")
    assert code == 0
    assert f"outcrop {command}" in out.split("Example:")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fly"], "No such command 'fly'"),
        (["run"], "Missing argument 'SPEC'"),
        (["run", "spec.toml", "--wrkers", "2"], "--wrkers"),
        (["run", "spec.toml", "--workers", "0"], "--workers"),
        (["run", "nothing.toml"], "nothing.toml was not found"),
        (["show"], "no study was given"),
        (["show", "bowl"], "the current folder has no file bowl.db"),
        (["show", "bowl", "--storage", "nothing/x.db"], "nothing"),
        (["demo", "--folder", "nowhere"], "nowhere is not a folder"),
    ],
)
def test_an_error_is_one_line_and_exit_code_2(call, folder, arguments, message):
    code, out, err = call(*arguments)
    assert code == 2
    assert out == ""
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert message in err
    assert not list(folder.glob("*.db*")), "looking for a study makes none"


def test_a_wrong_key_in_a_spec_is_named(call, folder):
    spec = folder / "spec.toml"
    spec.write_text(SPEC.replace("seed", "sed"))
    code, _, err = call("run", "spec.toml")
    assert code == 2
    assert "sed" in err
    assert "seed" in err


def test_a_program_is_tuned_and_its_output_kept(call, folder):
    code, out, err = call("run", "spec.toml", "--trials", "12", "--workers", "2")
    assert code == 0
    assert "12 trials" in out
    assert "best value" in out
    assert "trial 12/12" in err
    study = load_study("bowl", "sqlite:///bowl.db")
    assert len(study.trials) == 12
    for trial in study.trials:
        x = trial.params["x"]
        if x > 0.9:
            assert trial.state == "failed"
            assert "x is too high" in trial.reason
        else:
            assert trial.value == (x - 0.3) ** 2
        kept = folder / "bowl-output" / f"{trial.number:06}-1" / "stdout"
        assert kept.read_text().startswith("working")


def test_a_spec_may_ask_for_the_robust_optimum(call, folder):
    noisy = SPEC.replace("PAUSE", "0").replace("seed = 3", "seed = 3\nrobust = true")
    (folder / "spec.toml").write_text(f"{noisy}input_std = 0.05\n")
    assert call("run", "spec.toml", "--trials", "2", "--quiet")[0] == 0
    study = load_study("bowl", "sqlite:///bowl.db")
    assert study.robust
    assert study.space.parameters["x"].input_std == 0.05


def test_a_study_that_exists_is_gone_on_with_only_if_asked(call, folder):
    assert call("run", "spec.toml", "--trials", "3", "--quiet")[0] == 0
    code, _, err = call("run", "spec.toml", "--trials", "5")
    assert code == 2
    assert "--resume" in err
    code, _, err = call("run", "spec.toml", "--trials", "5", "--resume")
    assert code == 0
    assert [line.split(",")[0] for line in err.splitlines()] == ["trial 4/5", "trial 5/5"]
    assert len(load_study("bowl", "sqlite:///bowl.db").trials) == 5, "--trials is the total"
    code, out, _ = call("run", "spec.toml", "--trials", "5", "--resume")
    assert code == 0
    assert "already has 5 trials" in out


def test_trials_that_run_elsewhere_count_towards_the_total(call, folder):
    assert call("run", "spec.toml", "--trials", "3", "--quiet")[0] == 0
    study = load_study("bowl", "sqlite:///bowl.db")
    elsewhere = study.ask(lease=600)
    code, out, _ = call("run", "spec.toml", "--trials", "5", "--resume", "--quiet")
    assert code == 0
    assert "stopped: the study has 5 trials" in out
    assert len(study.trials) == 5
    study.release(elsewhere)
    assert call("run", "spec.toml", "--trials", "5", "--resume", "--quiet")[0] == 0
    assert [trial.state for trial in study.trials].count("running") == 0
    assert len(study.trials) == 5


def test_failures_of_a_broken_program_are_recorded_and_can_be_forgotten(call, folder):
    works = (folder / "program.py").read_text()
    (folder / "program.py").write_text("print('nothing')")
    code, _, err = call("run", "spec.toml", "--trials", "8", "--quiet")
    assert code == 2
    assert "outcrop discard STUDY 0 1 2 3 4 --reason" in err
    assert call("discard", "spec.toml", "0", "1", "2", "3", "4")[0] == 0
    (folder / "program.py").write_text(works)
    code, out, _ = call("run", "spec.toml", "--trials", "2", "--resume", "--quiet")
    assert code == 0
    assert "7 trials, 0 failed, 5 discarded; stopped: the study has 2 trials" in out


def test_a_command_that_is_not_found_ends_the_run_and_teaches_nothing(call, folder):
    (folder / "program.py").write_text("import sys; sys.exit(127)")
    code, _, err = call("run", "spec.toml", "--trials", "20", "--quiet")
    assert code == 2
    assert "exit code 127, a command was not found" in err
    assert "outcrop run spec.toml --resume --workers 1 --trials 20 --quiet" in err
    assert states("bowl") == []
    more = ["--trials", "7", "--resume", "--quiet", "--on-error", "record"]
    assert call("run", "spec.toml", *more)[0] == 0
    assert states("bowl") == ["failed"] * 7


def test_a_changed_spec_is_refused_with_the_difference(call, folder):
    call("run", "spec.toml", "--trials", "2", "--quiet")
    (folder / "spec.toml").write_text(SPEC.replace("high = 1.0", "high = 2.0"))
    code, _, err = call("run", "spec.toml", "--resume")
    assert code == 2
    assert "x" in err
    assert "2.0" in err


def test_a_program_that_prints_no_number_fails_its_trials_with_one_clear_line(call, folder):
    (folder / "program.py").write_text("print('all is well')")
    code, _, err = call("run", "spec.toml", "--trials", "20", "--quiet")
    assert code == 2
    assert "all is well" in err
    assert "Traceback" not in err
    assert len(load_study("bowl", "sqlite:///bowl.db").trials) == 5


def test_a_program_that_is_not_there_is_refused_before_the_study_begins(call, folder):
    (folder / "spec.toml").write_text(SPEC.replace("{python}", "simm"))
    code, _, err = call("run", "spec.toml")
    assert code == 2
    assert "simm" in err
    assert not list(folder.glob("*.db"))


def states(name):
    """The states of a study's trials, in a file that may not be there yet."""
    url = f"sqlite:///{name}.db"
    return [trial.state for trial in load_study(name, url).trials] if name in listed(url) else []


def listed(url):
    return list_studies(url) if os.path.exists(url.removeprefix("sqlite:///")) else []


def resting(folder):
    """A run of programs whose fourth and fifth rest, and the numbers of these."""
    (folder / "program.py").write_text(RESTING)
    (folder / "spec.toml").write_text(SPEC.replace("PAUSE", "{trial}"))
    command = [sys.executable, "-m", "outcrop.cli.app", "run", "spec.toml", "--trials", "400"]
    running = subprocess.Popen(
        [*command, "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    programs = noted(folder, 2)
    assert all(is_alive(pid) for pid in programs)
    return running, programs


def test_a_run_that_is_killed_takes_its_programs_along(folder):
    running, programs = resting(folder)
    running.kill()
    running.communicate(timeout=120)
    assert still_alive(programs) == []


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_keeps_everything_and_ends_programs_and_resume_goes_on(call, folder, name):
    running, programs = resting(folder)
    assert states("bowl") == ["finished"] * 3 + ["running"] * 2
    os.killpg(running.pid, getattr(signal, name))
    out, err = running.communicate(timeout=120)
    assert running.returncode == 128 + getattr(signal, name)
    assert still_alive(programs) == []
    assert "given back" in err
    assert "outcrop run spec.toml --resume --workers 2 --trials 400" in out
    trials = load_study("bowl", "sqlite:///bowl.db").trials
    assert [trial.state for trial in trials] == ["finished"] * 3
    total = len(trials) + 2
    (folder / "program.py").write_text(PROGRAM.replace("float(sys.argv[2])", "0"))
    assert call("run", "spec.toml", "--trials", str(total), "--resume", "--quiet")[0] == 0
    again = load_study("bowl", "sqlite:///bowl.db").trials
    assert again[: len(trials)] == trials
    assert len(again) == total
