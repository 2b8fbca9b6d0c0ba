"""The examples in the documents run as they are printed."""

from __future__ import annotations

import doctest
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


def test_the_spec_of_the_guide_is_a_spec(tmp_path):
    from outcrop.cli.spec import read_spec

    text = (ROOT / "docs" / "command-line.md").read_text()
    spec = tmp_path / "spec.toml"
    spec.write_text(text.split("```toml\n")[1].split("```")[0])
    assert list(read_spec(spec).space.parameters) == ["nu", "stencil", "model", "model.mlp.layers"]
