import pytest

pytest.importorskip("experiments.harness")

from experiments import harness
from experiments.harness import Experiment
from experiments.plan import expected_seconds, plan, processor_seconds
from tests.experiments.test_harness import STATE, doubles, write


@pytest.mark.parametrize(
    ("row", "seconds"),
    [
        ({"elapsed": {"wall": 9.0, "processor": 7.0}, "seconds": [1.0]}, 7.0),
        ({"values": [0.0] * 8, "n_initial": 2, "seconds": [1.0, 2.0]}, 9.0),
        ({"seconds": {"RBF": 0.5, "NIGP": 1.5}}, 2.0),
        ({"seconds": 3.5}, 3.5),
        ({"log_likelihood": 1.0}, None),
    ],
)
def test_the_length_of_a_run_is_read_from_rows_of_all_kinds(row, seconds):
    assert processor_seconds(row) == seconds


def test_a_run_takes_as_long_as_those_of_the_cells_most_like_it():
    timed = [
        ({"problem": "p", "method": "gp"}, 10.0),
        ({"problem": "p", "method": "gp"}, 20.0),
        ({"problem": "q", "method": "TPE"}, 1.0),
        ({"problem": "q", "method": "gp"}, None),
    ]
    assert expected_seconds({"problem": "p", "method": "gp"}, timed) == 15.0
    assert expected_seconds({"problem": "q", "method": "TPE"}, timed) == 1.0
    assert expected_seconds({"problem": "r", "method": "gp"}, timed) == 15.0
    assert expected_seconds({"problem": "r", "method": "gp"}, timed[3:]) is None


def test_the_plan_counts_missing_runs_and_adds_up_their_times(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    experiment = doubles(["x", "y"])
    write(experiment, ("x", 0, 0))
    rows = [{**row, "elapsed": {"wall": 1.0, "processor": 100.0}} for row in experiment.rows()]
    monkeypatch.setattr(Experiment, "rows", lambda self, wanted=None: rows)
    assert plan([experiment], 1, {"a": ["x"]}, jobs=2) == ""
    said = plan([experiment], 2, {}, jobs=2)
    assert "| doubles    |            3 |          5 min |" in said
    assert "2 processes need about 2 min" in said
    again = plan([experiment], 2, {}, jobs=None, kept=lambda row: row["source"] != STATE["source"])
    assert "| doubles    |            4 |          7 min |" in again
    assert "processes" not in again
