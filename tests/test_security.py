"""What SECURITY.md states about the sources."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "outcrop"
TREES = {
    path.relative_to(SOURCES): ast.parse(path.read_text("utf-8")) for path in SOURCES.rglob("*.py")
}
TRANSFER = {  # of objectives to worker processes of the same run
    Path("study/running/objective_transfer.py"),
    Path("study/running/worker_process.py"),
}
SEARCH = {  # joblib runs fits of one search in processes of its own, and hashes what was given
    Path("integrations/sklearn.py"),
    Path("integrations/sklearn_candidates.py"),
}
LOADERS = {"cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve"}


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def test_only_the_transfer_of_objectives_to_workers_unpickles():
    assert len(TREES) > 100
    users = {path for path, tree in TREES.items() if LOADERS & set(imported(tree))}
    assert users == TRANSFER | SEARCH
    for path in SEARCH:
        assert LOADERS & set(imported(TREES[path])) == {"joblib"}
        attributes = {n.attr for n in ast.walk(TREES[path]) if isinstance(n, ast.Attribute)}
        assert not attributes & {"load", "loads", "Memory"}


def test_nothing_evaluates_text_as_python():
    called = {
        (str(path), node.func.id)
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not {each for each in called if each[1] in ("eval", "exec", "compile", "__import__")}


def test_no_program_is_started_through_a_shell():
    shells = [
        str(path)
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "shell"
    ]
    assert not shells


def test_columns_of_the_database_hold_no_pickles():
    text = "".join(path.read_text("utf-8") for path in (SOURCES / "study" / "storage").glob("*.py"))
    assert "PickleType" not in text
    assert "Column(" in text
