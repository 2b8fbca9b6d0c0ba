import json

import pytest

pytest.importorskip("experiments.harness")

from experiments import changes, harness
from experiments.__main__ import EXPERIMENTS
from experiments.changes import CHANGES, Change, made_before

NEWER = Change("ccc", "2026-01-01", "newer chains", {"compared": ("gp",), "searched": ()})


def row(method="gp", commit="aaa"):
    return {"cell": {"method": method}, "run": 0, "commit": commit}


@pytest.fixture
def known(tmp_path, monkeypatch):
    """Commit `bbb` has the change, `aaa` has not, and git knows nothing."""
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    monkeypatch.setattr(changes, "CHANGES", (NEWER,))
    monkeypatch.setattr(changes, "_is_ancestor", lambda change, commit: None)
    stored = {"aaa": {"ccc": False}, "bbb": {"ccc": True}}
    (tmp_path / "contained_changes.json").write_text(json.dumps(stored))
    return tmp_path


def test_rows_without_a_change_that_concerns_them_are_marked(known):
    assert made_before("compared", [row()]) == [NEWER]
    assert made_before("compared", [row(commit="aaa+")]) == [NEWER]
    assert made_before("compared", [row(commit="bbb")]) == []
    assert made_before("compared", [row(commit="bbb"), row()]) == [NEWER]
    assert made_before("compared", [row("warped")]) == []
    assert made_before("searched", [row("warped")]) == [NEWER]
    assert made_before("searched", [row("TPE"), row("random")]) == []
    assert made_before("others", [row()]) == []


def test_a_commit_that_nobody_knows_counts_as_older(known):
    assert made_before("compared", [row(commit="zzz")]) == [NEWER]
    assert made_before("compared", [{"cell": {"method": "gp"}, "run": 0}]) == [NEWER]


def test_what_git_says_is_kept(known, monkeypatch):
    monkeypatch.setattr(changes, "_is_ancestor", lambda change, commit: commit == "ddd")
    changes.record({"compared": [row(commit="ddd"), row(commit="eee"), row("warped", "fff")]})
    monkeypatch.setattr(changes, "_is_ancestor", lambda change, commit: None)
    assert made_before("compared", [row(commit="ddd")]) == []
    assert made_before("compared", [row(commit="eee")]) == [NEWER]
    stored = json.loads((known / "contained_changes.json").read_text())
    assert stored.keys() == {"aaa", "bbb", "ddd", "eee"}


def test_changes_concern_experiments_that_exist():
    for change in CHANGES:
        for name, methods in change.concerns.items():
            known = {cell.get("method") for cell in EXPERIMENTS[name].cells}
            assert set(methods) <= known


def test_pages_can_be_written_without_the_history():
    stored = json.loads((harness.RESULTS / "contained_changes.json").read_text())
    for change in CHANGES:
        for name in change.concerns:
            for each in EXPERIMENTS[name].rows():
                if change.is_about(name, each):
                    assert change.commit in stored[each["commit"].rstrip("+")]
