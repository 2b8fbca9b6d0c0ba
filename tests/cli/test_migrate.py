"""`outcrop migrate`: a study gets the space of its changed spec file."""

from __future__ import annotations

from pathlib import Path

import pytest

from outcrop.study import Study, load_study
from tests.cli.specs import write_spec

SPEC = """
name = "study"
command = ["{{python}}", "-c", "print({{x}})", "{{params}}"]
method = "random"
seed = 0
[parameters.x]
type = "float"
low = 0.0
high = {high}
"""
MODE = """
[parameters.mode]
type = "categorical"
choices = {choices}
"""


def spec_with(high: float, choices: str = "") -> str:
    mode = MODE.format(choices=choices) if choices else ""
    return str(write_spec(Path(), SPEC.format(high=high) + mode))


@pytest.fixture
def spec(call):
    """A study of four trials, two of them above 0.5."""
    spec = spec_with(1.0)
    assert call("run", spec, "--trials", "1", "--quiet")[0] == 0
    study = load_study("study", "sqlite:///study.db")
    study.discard(0)
    study.add([{"x": x} for x in (0.1, 0.4, 0.6, 0.9)], [1.0, 2.0, 0.0, 4.0])
    return spec


def study() -> Study:
    return load_study("study", "sqlite:///study.db")


def test_a_run_with_another_space_says_how_to_migrate_and_goes_on_after_it(call, spec):
    spec_with(0.5)
    code, _, err = call("run", spec, "--resume", "--quiet")
    assert code == 2
    assert "outcrop migrate SPEC" in err
    code, out, _ = call("migrate", spec)
    assert code == 0
    assert "2 set aside: 'x' is not in Float(0.0, 0.5)" in out
    assert "outcrop run spec.toml --resume" in out
    assert study().best_value == 1.0
    assert call("run", spec, "--resume", "--quiet", "--trials", "6")[0] == 0
    assert study().trials[-1].params["x"] <= 0.5
    assert study().replay().identical
    _, page, _ = call("show", spec)
    assert "2 of them set aside" in page
    assert "set aside: 'x' is 0.6" in page
    assert "above its upper bound" in call("export", spec)[1]


@pytest.mark.parametrize(
    ("choices", "given", "value"),
    [
        ('["a", "b"]', "a", "a"),
        ("[1, 2]", "1", 1),
        ('["1", "2"]', "1", "1"),
        ("[true, false]", "true", True),
        ("[0.5, 1.5]", "0.5", 0.5),
    ],
)
def test_defaults_are_read_as_the_parameter_has_them(call, spec, choices, given, value):
    spec_with(1.0, choices)
    code, _, err = call("migrate", spec)
    assert code == 2
    assert "--default mode=…" in err
    code, out, _ = call("migrate", spec, "--default", f"mode={given}")
    assert code == 0
    assert "5 got 'mode' by default" in out
    found = study().trials[1].params["mode"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["study"], "expected a spec file with the new parameters"),
        (["spec.toml"], "has this space already"),
        (["spec.toml", "--default", "x"], "--default x: expected --default NAME=VALUE"),
        (["spec.toml", "--default", "y=1"], "'y' is unknown"),
        (["other.toml"], "other.toml"),
    ],
)
def test_what_is_wrong_is_one_line(call, spec, arguments, words):
    code, out, err = call("migrate", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err


def test_a_run_ends_when_its_study_gets_another_space(call, spec, monkeypatch):
    from outcrop.cli.program import Program

    other, evaluate = study(), Program.evaluate

    def changing(self, trial):
        from outcrop.space import Float, Space

        other.change_space(Space({"x": Float(0, 2)}))
        return evaluate(self, trial)

    monkeypatch.setattr(Program, "evaluate", changing)
    code, out, _ = call("run", spec, "--resume", "--quiet", "--trials", "9")
    assert code == 0
    assert "stopped: the space of the study has changed" in out
    assert study().trials[-1].state == "finished"
