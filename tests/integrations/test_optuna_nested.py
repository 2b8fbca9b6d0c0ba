"""The experiment with Optuna's samplers: its objectives and its table."""

import pytest

pytest.importorskip("experiments.harness")
pytest.importorskip("optuna")

from optuna.trial import FixedTrial

from experiments import optuna_nested

BEST = {
    "tree-large-shared": {"x1.0.x2.0.x4.0.x8": 0.0, "x1.0.r16": 0.0},
    "pipeline": {
        "share": 0.8,
        "rate": 1e-2,
        "units0": 64,
        "units1": 32,
        "momentum": 0.9,
        "decay": 0.5,
    },
}


@pytest.mark.parametrize("name", optuna_nested.OBJECTIVES)
def test_the_minimum_is_where_it_is_said_to_be(name, monkeypatch):
    objective = optuna_nested.OBJECTIVES[name]
    trial = FixedTrial({**objective.choices, **BEST[name]})
    assert objective.function(trial) == pytest.approx(objective.minimum, abs=1e-12)
    monkeypatch.setattr(optuna_nested, "TRIALS", 400)
    row = optuna_nested.run({"problem": name, "method": "random"}, 0)
    assert min(row["values"]) > objective.minimum


def test_every_cell_has_a_line_in_the_report():
    rows = [
        {"cell": c, "run": r, "values": [3.0] * 60, "n_initial": 1, "seconds": [0.1], "right": True}
        for c in optuna_nested.EXPERIMENT.cells
        for r in range(2)
    ]
    lines = optuna_nested.EXPERIMENT.report(rows).splitlines()
    for cell in optuna_nested.EXPERIMENT.cells:
        expected = [cell["problem"], cell["method"], "2"]
        assert any([c.strip() for c in line.split("|")[1:4]] == expected for line in lines)
