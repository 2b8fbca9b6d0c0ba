import json
import subprocess

import pytest

pytest.importorskip("experiments.harness")

from experiments import __main__ as command
from experiments import harness, provenance
from experiments.harness import Experiment, complete
from experiments.provenance import DirtyTree, MixedVersions

CLEAN = {"commit": "abc1234", "source": "0123456789ab"}
CHANGED = {"commit": "def5678", "source": "ba9876543210"}


def run(cell, number):
    return {"value": number}


def named(*methods, **settings):
    cells = [[{"problem": "p", "method": method} for method in methods]]
    return Experiment("named", "Named", cells, run, lambda rows: f"{len(rows)} rows", **settings)


def row(method="gp", run=0, **origin):
    return {"cell": {"problem": "p", "method": method}, "run": run, **origin}


def store(experiment, *rows):
    experiment.path.parent.mkdir(exist_ok=True)
    experiment.path.write_text("".join(json.dumps(each) + "\n" for each in rows))


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """The state of a source tree that a test can set."""
    state = dict(CLEAN)
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(harness, "tree_state", lambda: dict(state))
    monkeypatch.setattr(command, "tree_state", lambda: dict(state))
    monkeypatch.setattr(command, "DOCUMENT", tmp_path / "pages")
    return state


def test_results_of_changed_sources_are_refused_and_nothing_is_run(tree):
    tree["commit"] += "+"
    experiment = named("gp")
    with pytest.raises(DirtyTree, match=r"has changed since commit abc1234.*--scratch FILE"):
        complete(experiment, runs=1, jobs=1)
    assert not experiment.path.exists()


def test_the_command_refuses_changed_sources_before_it_forgets(tree, monkeypatch, capsys):
    experiment = named("gp")
    monkeypatch.setattr(command, "EXPERIMENTS", {"named": experiment})
    store(experiment, row(**CLEAN))
    tree["commit"] += "+"
    with pytest.raises(SystemExit):
        command.main(["named", "--runs", "1", "--jobs", "1", "--again"])
    assert "--scratch FILE" in capsys.readouterr().err
    assert len(experiment.rows()) == 1


def test_results_of_changed_sources_can_be_kept_elsewhere(tree, tmp_path, monkeypatch):
    tree["commit"] += "+"
    experiment = named("gp")
    monkeypatch.setattr(command, "EXPERIMENTS", {"named": experiment})
    file = tmp_path / "tried.jsonl"
    arguments = ["named", "--runs", "1", "--jobs", "1", "--scratch", str(file)]
    assert command.main(arguments) == 0
    assert '"commit": "abc1234+"' in file.read_text()
    assert not experiment.path.exists()
    assert not command.DOCUMENT.exists()


def test_a_row_has_the_source_of_the_library_or_the_version_of_a_peer(tree):
    complete(named("gp", "TPE"), runs=1, jobs=1)
    ours, theirs = named("gp", "TPE").rows()
    assert ours["source"] == CLEAN["source"]
    assert "peer" not in ours
    assert theirs["peer"].startswith("optuna ")
    assert "source" not in theirs


def test_another_source_is_not_added_to_a_file_but_under_a_label(tree):
    experiment = named("gp", "TPE")
    store(experiment, row(**CLEAN), row("TPE", peer="optuna 5.0.0"))
    tree.update(CHANGED)
    with pytest.raises(MixedVersions, match=r"0123456789ab, now ba9876543210.*--label"):
        complete(experiment, runs=2, jobs=1, wanted={"method": ["gp"]})
    assert len(experiment.rows()) == 2
    complete(experiment, runs=2, jobs=1, wanted={"method": ["TPE"]})  # a peer is the same
    assert len(experiment.rows()) == 3
    labelled = named("gp", "TPE", label="wider")
    complete(labelled, runs=1, jobs=1, wanted={"method": ["gp"]})
    (kept,) = labelled.rows()
    assert labelled.path.name == "named@wider.jsonl"
    assert kept["source"] == CHANGED["source"]
    assert kept["command"].endswith("--cells problem=p,method=gp --label wider")


def test_a_commit_that_leaves_the_library_alone_is_the_same_version(tree):
    experiment = named("gp")
    store(experiment, row(**CLEAN))
    tree["commit"] = "fedcba9"
    complete(experiment, runs=2, jobs=1)
    assert [row["commit"] for row in experiment.rows()] == ["abc1234", "fedcba9"]
    provenance.require_one_source(experiment.rows(), "named")


def test_tables_are_not_written_from_rows_of_two_sources(tree, monkeypatch, capsys):
    experiment = named("gp")
    monkeypatch.setattr(command, "EXPERIMENTS", {"named": experiment})
    store(experiment, row(**CLEAN), row(run=1, **CHANGED))
    with pytest.raises(SystemExit):
        command.main(["--tables"])
    assert "named has results of 2 versions" in capsys.readouterr().err
    assert not command.DOCUMENT.exists()


def test_old_rows_of_two_sources_are_reported_with_a_note(tree, tmp_path, monkeypatch):
    old = tmp_path / "sources.json"
    old.write_text(json.dumps({"aaa": "1", "bbb": "1", "ccc": "2"}))
    monkeypatch.setattr(provenance, "OLD_SOURCES", old)
    provenance._old_source.cache_clear()
    rows = [row(commit="aaa"), row("warped", commit="bbb"), row("TPE", commit="eee")]
    assert provenance.sources_note(rows) == ""
    provenance.require_one_source(rows, "named")
    rows.append(row("spartan", commit="ccc+"))
    provenance.require_one_source(rows, "named")  # none of them has its source
    note = provenance.sources_note(rows)
    assert "2 versions" in note
    assert "2 of `aaa`, `bbb` (gp, warped); 1 of `ccc+` (spartan)" in note
    assert "A + marks" in note
    with pytest.raises(MixedVersions):
        provenance.require_one_source([*rows, row(source="3", commit="ddd")], "named")
    provenance._old_source.cache_clear()


def test_the_state_of_a_tree_marks_what_is_not_committed(tmp_path, monkeypatch):
    def git(*words):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    monkeypatch.setattr(provenance, "ROOT", tmp_path)
    assert provenance.tree_state() == {}
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("1")
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments" / "b.py").write_text("1")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    clean = provenance.tree_state()
    assert not any(value.endswith("+") for value in clean.values())
    (tmp_path / "notes.md").write_text("1")  # nothing depends on it
    assert provenance.tree_state() == clean
    (tmp_path / "experiments" / "b.py").write_text("2")
    assert provenance.tree_state() == {**clean, "commit": clean["commit"] + "+"}
    (tmp_path / "src" / "new.py").write_text("1")  # not tracked yet
    assert provenance.tree_state()["source"] == clean["source"] + "+"
    provenance.require_clean(clean)


def test_the_sources_of_all_stored_rows_are_known_without_git(monkeypatch):
    monkeypatch.setattr(provenance, "_git", lambda *words: "")
    provenance._old_source.cache_clear()
    for experiment in command.EXPERIMENTS.values():
        if experiment.documented:
            for stored in experiment.rows():
                assert not provenance.version_of(stored).startswith("commit ")
    provenance._old_source.cache_clear()


def test_sources_with_the_same_suggestions_are_one_version(tree, tmp_path, monkeypatch):
    same = tmp_path / "same_sources.json"
    same.write_text(json.dumps({CHANGED["source"]: CLEAN["source"]}))
    monkeypatch.setattr(provenance, "SAME_SOURCES", same)
    experiment = named("gp")
    complete(experiment, runs=1, jobs=1)
    tree.update(CHANGED)
    complete(experiment, runs=2, jobs=1)
    assert [row["source"] for row in experiment.rows()] == [CLEAN["source"], CHANGED["source"]]
    assert {provenance.version_of(row) for row in experiment.rows()} == {CLEAN["source"]}
    assert all(provenance.is_current(row, CHANGED) for row in experiment.rows())
    tree["source"] = "something else"
    with pytest.raises(MixedVersions, match="another version of the library"):
        complete(experiment, runs=3, jobs=1)
