import json

import pytest

from experiments import harness, inference_methods
from experiments.harness import Experiment, complete


def double(cell, number):
    return {"value": 2 * number, "seen": cell["a"]}


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    return Experiment(
        "doubles", "Doubles", [{"a": "x"}, {"a": "y"}], double, lambda rows: str(len(rows))
    )


def test_results_are_lines_with_what_made_them(experiment):
    complete(experiment, runs=2, jobs=1)
    rows = [json.loads(line) for line in experiment.path.read_text().splitlines()]
    assert {(row["cell"]["a"], row["run"], row["value"]) for row in rows} == {
        ("x", 0, 0),
        ("y", 0, 0),
        ("x", 1, 2),
        ("y", 1, 2),
    }
    assert rows[0]["command"] == "python -m experiments doubles --runs 2"
    assert rows[0]["outcrop"]


def test_a_second_call_adds_only_what_is_missing(experiment):
    complete(experiment, runs=1, jobs=1)
    before = experiment.path.read_text()
    complete(experiment, runs=2, jobs=1)
    after = experiment.path.read_text()
    assert after.startswith(before)
    assert len(after.splitlines()) == 4


def test_the_gap_of_a_search_is_its_share_of_the_way_to_the_minimum():
    row = {"cell": {"problem": "branin"}, "values": [10.397887] * 6 + [0.397887 + 2.5]}
    assert inference_methods.gap(row) == pytest.approx(0.75, abs=1e-5)


def test_the_committed_comparison_has_ten_runs_of_every_cell():
    rows = inference_methods.EXPERIMENT.rows()
    counts = {tuple(cell.values()): 0 for cell in inference_methods.EXPERIMENT.cells}
    for row in rows:
        counts[tuple(row["cell"].values())] += 1
    assert min(counts.values()) >= 10
    assert "hartmann-6 | marginal GP | 10" in inference_methods.EXPERIMENT.report(rows)
