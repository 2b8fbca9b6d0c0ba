"""The examples in the documents run as they are printed."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    path for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")] if ">>>" in path.read_text()
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_examples_of_a_document_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, attempted = doctest.testfile(str(path), module_relative=False)
    assert attempted > 0
    assert failed == 0


@pytest.mark.parametrize(
    ("document", "parameters"),
    [
        ("README.md", ["nu", "cells"]),
        ("docs/command-line.md", ["nu", "stencil", "model", "model.mlp.layers"]),
        ("docs/guides/conditional.md", ["model", "model.svm.C", "model.forest.trees"]),
    ],
)
def test_the_spec_of_a_document_is_a_spec(document, parameters, tmp_path):
    from outcrop.cli.spec import read_spec

    text = (ROOT / document).read_text()
    spec = tmp_path / "spec.toml"
    spec.write_text(text.split("```toml\n")[1].split("```")[0])
    assert list(read_spec(spec).space.parameters) == parameters


def test_an_ask_flows_as_the_guide_for_contributors_has_it(tmp_path):
    import outcrop as oc

    text = (ROOT / "CONTRIBUTING.md").read_text()
    steps = re.findall(r"^\| `([\w/]+\.py)` `([\w.]+)` \|", text, flags=re.MULTILINE)
    assert len(steps) > 20
    space = oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])})
    study = oc.Study(space, name="flow", storage=f"sqlite:///{tmp_path / 'flow.db'}", seed=0)
    for trial in study.ask(9):
        study.tell(trial, trial.params["x"])
    study.fail(study.ask(), "diverged")
    study.ask()
    study = oc.load_study("flow", storage=f"sqlite:///{tmp_path / 'flow.db'}")
    calls = calls_of(study.ask)
    place = 0
    for step in steps:
        assert step in calls, f"{step} is not called"
        later = [i for i in range(place, len(calls)) if calls[i] == step]
        assert later, f"{step} comes before the step above it"
        place = later[0]


def calls_of(function):
    """File and qualified name of each of our functions that is called, in order."""
    root, calls = str(ROOT / "src" / "outcrop") + "/", []

    def note(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(root):
            calls.append((code.co_filename.removeprefix(root), code.co_qualname))

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls
