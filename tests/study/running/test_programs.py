"""Whole programs: scripts with and without a guard, sessions, pipes, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from tests.study.running.processes import ENVIRONMENT, ROOT, is_alive, noted, still_alive

HEAD = """
from tests.study.running.doubles import Diary, studied
from tests.study.running.objectives import Numbered, Resting, bowl
print("imported")
"""
GUARDED = 'if __name__ == "__main__":\n    '
RUN = "print([t.value is not None for t in studied(objective, 3, n_workers=2).trials])\n"
FUNCTION = "def objective(params): return params['x'] + 1\n"
ALL_DONE = "[True, True, True]\n"


def python(arguments, program=None):
    """The finished process of a program, which may be read from standard input."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        input=program,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env=ENVIRONMENT,
    )


def script(folder, text):
    path = folder / "script.py"
    path.write_text(HEAD + text)
    return path


def test_a_script_with_a_guard_runs_a_function_of_its_own(tmp_path):
    done = python([script(tmp_path, FUNCTION + GUARDED + RUN)])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(ALL_DONE)


def test_a_script_without_a_guard_ends_with_a_word_on_what_to_do(tmp_path):
    done = python([script(tmp_path, FUNCTION + RUN)])
    assert done.returncode == 1
    assert set(done.stdout.split()) == {"imported"}
    assert done.stdout.count("imported") <= 2, "here, and in the probe unless it ended too early"
    error = done.stderr.splitlines()[-2]
    assert error.startswith("outcrop.errors.ObjectiveError: a new process ended while it imported")
    assert 'put what starts the run under `if __name__ == "__main__":`' in error
    assert done.stderr.count("Traceback") == 1


def test_a_function_that_exists_behind_the_guard_only_is_refused_with_a_hint(tmp_path):
    hidden = "if True:\n    " + GUARDED.strip() + "\n        " + FUNCTION + "        " + RUN
    done = python([script(tmp_path, hidden)])
    assert done.returncode == 1
    assert "Can't get attribute 'objective'" in done.stderr
    assert "define it there at the top level" in done.stderr
    assert done.stderr.count("Traceback") == 1


@pytest.mark.parametrize("arguments", [["-"], ["-c"]], ids=["stdin", "-c"])
def test_a_program_that_is_no_file_needs_cloudpickle_and_is_told_so(arguments):
    def run(before=""):
        program = before + HEAD + FUNCTION + RUN
        if arguments == ["-c"]:
            return python(["-c", program])
        return python(["-"], program)

    assert run().stdout == "imported\n" + ALL_DONE
    without = run("import sys; sys.modules['cloudpickle'] = None\n")
    assert without.returncode == 1
    assert "it was defined in an interactive session, not in a file" in without.stderr
    assert "`pip install cloudpickle`" in without.stderr


def test_a_standard_pool_that_breaks_gives_back_what_ran_and_keeps_the_rest(tmp_path):
    program = script(
        tmp_path,
        GUARDED
        + """
    import os
    import sys
    from concurrent.futures import ProcessPoolExecutor

    study = Diary()
    try:
        studied(Numbered("exit", (3,)), 9, study=study, executor=ProcessPoolExecutor(2))
    except Exception as error:
        print(type(error).__name__, error)
        for trial in error.result.trials:
            print(trial.number, trial.value)
    print(len(study.stopped), *(number for act, number in study.acts if act == "release"))
    sys.stdout.flush()
    os._exit(0)  # because the shutdown of a pool that broke may wait forever
""",
    )
    lines = python([program]).stdout.splitlines()
    assert lines[1].startswith("ObjectiveError the executor broke (BrokenProcessPool: ")
    assert "n_workers= instead of executor= would have lost its trial only" in lines[1]
    stops, *given_back = map(int, lines[-1].split())
    assert stops == 1
    assert 3 in given_back
    assert len(given_back) <= 2, "the other worker had a trial too"
    kept = dict(line.split() for line in lines[2:-1])
    assert len(kept) >= 2
    assert all(float(value) == int(number) for number, value in kept.items())


@pytest.mark.parametrize(
    ("name", "times", "to"),
    [
        ("SIGINT", 1, "group"),  # as a terminal does
        ("SIGINT", 2, "group"),
        ("SIGHUP", 1, "group"),  # a terminal that is closed
        ("SIGTERM", 1, "run"),
        ("SIGTERM", 1, "all"),  # systemd
    ],
)
def test_a_signal_keeps_results_gives_trials_back_and_leaves_no_process(tmp_path, name, times, to):
    program = script(
        tmp_path,
        GUARDED
        + f"""
    study = Diary()
    result = studied(Resting({str(tmp_path)!r}), 9, study=study, n_workers=2)
    print(result.interrupted, study.stopped, [t.value for t in result.trials])
    print(study.acts[-2:])
    raise SystemExit(128 + result.signal)
""",
    )
    process = subprocess.Popen(
        [sys.executable, str(program)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=ENVIRONMENT,
        start_new_session=True,  # a terminal of its own, so to speak
    )
    try:
        pids = noted(tmp_path, 4)  # two workers and the programs that they started
        assert all(is_alive(pid) for pid in pids)
        for _ in range(times):
            for pid in [process.pid, *pids] if to == "all" else [process.pid]:
                with suppress(ProcessLookupError):  # the run may have ended its workers already
                    (os.killpg if to == "group" else os.kill)(pid, getattr(signal, name))
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 128 + getattr(signal, name), err
    reason = "interrupted" if name == "SIGINT" else f"interrupted by {name}"
    assert out.splitlines()[-2:] == [
        f"True ['{reason}'] [0.0, 1.0]",
        "[('release', 2), ('release', 3)]",
    ]
    assert err.count("is given back") == 2
    assert "Traceback" not in err
    assert still_alive(pids) == []


def test_a_run_that_is_killed_takes_its_workers_and_their_programs_along(tmp_path):
    resting = f"studied(Resting({str(tmp_path)!r}, quick=0), 9, n_workers=2)\n"
    process = subprocess.Popen(
        [sys.executable, str(script(tmp_path, GUARDED + resting))],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # where semaphores are missed
        cwd=ROOT,
        env=ENVIRONMENT,
    )
    try:
        pids = noted(tmp_path, 4)
        assert all(is_alive(pid) for pid in pids)
    finally:
        process.kill()
        process.wait()
    assert still_alive(pids) == []


def test_a_timeout_ends_what_the_objective_started(tmp_path):
    program = script(
        tmp_path,
        GUARDED
        + f"""
    resting = Resting({str(tmp_path)!r})
    print([t.reason for t in studied(resting, 3, trial_timeout=5.0).trials])
""",
    )
    done = python([program])
    assert done.stdout.endswith("['', '', 'no result within 5 s']\n")
    pids = noted(tmp_path, 2)
    assert still_alive(pids) == []
