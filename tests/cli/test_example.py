"""The example of tuning a program: the program is right, and its spec tunes it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from outcrop.cli.program import Program, ProgramFailed
from outcrop.cli.spec import read_spec
from outcrop.space import Categorical, Choice, Float, Int
from outcrop.study import Optimizer

HEAT = Path(__file__).parents[2] / "examples" / "heat"
NINE = {"stencil": "9-point", "scheme": "explicit"}


def heat(**options):
    arguments = [f"--{name}={value}" for name, value in options.items()]
    return subprocess.run(
        [sys.executable, str(HEAT / "heat.py"), *arguments], capture_output=True, text=True
    )


def error(**options):
    done = heat(**options)
    assert (done.returncode, done.stderr) == (0, "")
    return 10 ** float(done.stdout.splitlines()[-1].rpartition(":")[2])


def test_both_stencils_and_schemes_converge_with_the_order_that_theory_gives():
    def order(**options):
        return error(cells=20, **options) / error(cells=40, **options)

    plain = {"stencil": "5-point", "scheme": "explicit", "ratio": 0.1}
    assert order(**plain) == pytest.approx(4, rel=0.2)
    assert order(ratio=0.16667, **NINE) == pytest.approx(16, rel=0.2)
    crandall = {"stencil": "9-point", "scheme": "implicit", "theta": 1 / 3, "ratio": 0.50001}
    assert order(**crandall, tolerance=1e-9, omega=1.1) == pytest.approx(16, rel=0.2)


def test_the_implicit_scheme_with_weight_zero_is_the_explicit_one():
    options = {"cells": 20, "stencil": "9-point", "ratio": 0.2}
    implicit = error(scheme="implicit", theta=0, tolerance=1e-12, **options)
    assert implicit == pytest.approx(error(scheme="explicit", **options), rel=1e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ratio": 0.6, **NINE}, "unstable: it blew up"),
        ({"ratio": 0.1, "budget": 1e5, **NINE}, "the budget was spent"),
        (
            {"ratio": 20, "stencil": "9-point", "scheme": "implicit", "omega": 2.1, "theta": 1},
            "did not converge",
        ),
    ],
)
def test_a_configuration_that_cannot_work_ends_with_exit_code_1(options, words):
    done = heat(cells=64, **options)
    assert done.returncode == 1
    assert words in done.stderr
    assert "log10" not in done.stdout


def test_the_spec_has_one_parameter_of_every_usual_kind():
    space = read_spec(HEAT / "spec.toml").space
    assert {type(each) for each in space.parameters.values()} == {Int, Float, Categorical, Choice}


def test_the_spec_tunes_the_program(tmp_path):
    for name in ("heat.py", "spec.toml"):
        shutil.copy(HEAT / name, tmp_path)
    spec = read_spec(tmp_path / "spec.toml")
    program = Program(spec)
    program.check()
    optimizer = Optimizer(spec.space, method="sobol", direction=spec.direction, seed=spec.seed)
    for _ in range(8):
        trial = optimizer.ask()
        try:
            optimizer.tell(trial, program.evaluate(trial))
        except ProgramFailed as failed:
            optimizer.fail(trial, str(failed))
    states = {trial.state for trial in optimizer.trials}
    assert states == {"finished", "failed"}
    for trial in optimizer.trials:
        if trial.state == "failed":
            assert trial.reason.startswith("exit code 1, the last lines of stderr: heat.py: ")
        else:
            assert -8 < trial.value < 2
    assert len(list(spec.output.iterdir())) == 8
