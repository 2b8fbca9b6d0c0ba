import json

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import harness, tree_figure4
from experiments.mlp_tuning import network
from experiments.searches import initial_points


def rows_of(values):
    """Rows by topology, data set, method and run."""
    return [
        {
            "cell": {"topology": topology, "data": data, "method": method},
            "run": run,
            "values": list(v),
            "n_initial": 5,
            "seconds": [0.1] * 35,
        }
        for (topology, data, method, run), v in values.items()
    ]


def line_of(text, name):
    lines = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines()]
    return next(line for line in lines if line and line[0] == name)


def test_ranks_share_the_mean_of_the_places_of_equal_errors():
    best = [np.array([[3.0, 1.0]]), np.array([[3.0, 2.0]]), np.array([[3.0, 2.0]])]
    np.testing.assert_array_equal(tree_figure4.ranks(best)[:, 0], [[2, 1], [2, 2.5], [2, 2.5]])


def test_a_table_counts_only_what_all_methods_have_searched():
    good, bad = np.linspace(0.5, 0.1, 40), np.linspace(0.5, 0.3, 40)
    values = {
        ("shared", "pima_diabetes", "tree", 0): good,
        ("shared", "pima_diabetes", "random", 0): bad,
        ("shared", "ilpd_liver", "tree", 0): bad,
        ("shared", "ilpd_liver", "random", 0): good,
        ("shared", "ilpd_liver", "tree", 1): good,
        ("shared", "ilpd_liver", "random", 1): bad,
        ("shared", "ilpd_liver", "tree", 2): good,
    }
    text = tree_figure4.report(rows_of(values))
    tree = ["tree", "3", "1.33", "1.33", "1.33", "1.33", "1.25", "0.1667", *[""] * 4, "0.100"]
    assert line_of(text, "tree") == tree
    random = line_of(text, "random")
    assert random[:9] == ["random", "3", *["1.67"] * 4, "1.75", "0.2333", "2 : 1"]
    assert random[9:] == ["1.000", "2 : 1", "1.000", "0.100"]
    assert "- 2 data sets instead of 45" in text
    assert line_of(text, "ilpd_liver") == ["ilpd_liver", "2", "0.2000 ± 0.1000", "0.2000 ± 0.1000"]
    assert "independent topology\n" not in text  # which has no results


def test_methods_are_tested_against_the_document_s_where_it_was_searched():
    rng = np.random.default_rng(0)
    methods = ("tree", "tree two steps", "auto")
    values = {
        ("shared", "kc2", method, run): rng.random(40) for method in methods for run in (0, 1)
    }
    text = tree_figure4.report(rows_of(values))
    assert "tree two steps ahead : behind at 20" in text
    assert line_of(text, "tree two steps")[8:12] == [""] * 4
    assert "`auto` is" in text
    del values["shared", "kc2", "auto", 0], values["shared", "kc2", "auto", 1]
    assert "`auto` is" not in tree_figure4.report(rows_of(values))


def test_a_method_with_few_searches_does_not_cost_the_others_theirs():
    names = [("kc2", run) for run in range(4)]
    values = {("shared", data, m, run): np.ones(40) for data, run in names for m in ("tree", "gp")}
    values["shared", "kc2", "arc", 0] = np.ones(40)
    rows = rows_of(values)
    assert list(tree_figure4.searches_of(rows, "shared")) == ["tree", "gp"]
    values["shared", "kc2", "arc", 1] = np.ones(40)
    assert list(tree_figure4.searches_of(rows_of(values), "shared")) == ["tree", "gp", "arc"]


def test_errors_are_averaged_over_the_runs_of_a_data_set_before_they_are_ranked():
    comparisons = [("kc2", 0), ("kc2", 1), ("sonar", 0)]
    best = np.array([[0.1, 0.1], [0.3, 0.2], [0.5, 0.4]])
    (found,) = tree_figure4.mean_traces([best], comparisons)
    np.testing.assert_allclose(found, [[0.2, 0.15], [0.5, 0.4]])


def test_pictures_show_mean_ranks_from_the_last_initial_trial_on():
    rng = np.random.default_rng(0)
    values = {
        (cell["topology"], cell["data"], cell["method"], run): rng.random(40)
        for cell in tree_figure4.EXPERIMENT.cells
        for run in range(2)
    }
    rows = rows_of(values)
    text = tree_figure4.report(rows)
    figures = tree_figure4.draw(rows)
    assert figures.keys() == {"tree_figure4_shared", "tree_figure4_independent"}
    for name, figure in figures.items():
        assert f"(../images/{name}.png)" in text
        lines = {line.get_label(): line.get_data() for line in figure.axes[0].lines}
        left_out = set() if name.endswith("shared") else {"Fourier two steps"}  # nothing is shared
        assert lines.keys() == set(tree_figure4.EVERY) - left_out
        assert all(x[0] == 5 and x[-1] == 40 for x, _ in lines.values())
        total = np.sum([y for _, y in lines.values()], axis=0)
        np.testing.assert_allclose(total, sum(range(1, len(lines) + 1)))


@pytest.mark.parametrize("topology", ["shared", "independent"])
def test_initial_points_have_every_number_of_layers_and_belong_to_the_run(topology):
    space = tree_figure4.problem_of("ilpd_liver", topology).space
    points = initial_points(space, tree_figure4.INITIAL, 3, tree_figure4.DESIGN)
    assert {len(network(p)[1].hidden_layer_sizes) for p in points} == {0, 1, 2, 3, 4}
    assert points == initial_points(space, tree_figure4.INITIAL, 3, tree_figure4.DESIGN)
    assert points != initial_points(space, tree_figure4.INITIAL, 4, tree_figure4.DESIGN)


@pytest.mark.parametrize("method", [pytest.param("tree", marks=pytest.mark.slow), "random"])
def test_a_search_goes_on_from_the_initial_points_of_its_run(method, monkeypatch):
    monkeypatch.setattr(tree_figure4, "TRIALS", 6)
    cell = {"topology": "shared", "data": "ilpd_liver", "method": method}
    row = tree_figure4.run(cell, 0)
    problem = tree_figure4.problem_of("ilpd_liver", "shared")
    initial = initial_points(problem.space, tree_figure4.INITIAL, 0, tree_figure4.DESIGN)
    assert row["values"][:5] == [problem(params) for params in initial]
    assert (len(row["values"]), row["n_initial"], len(row["seconds"])) == (6, 5, 1)
    assert row["fallbacks"] == 0
    json.dumps(row)


def test_the_claims_of_the_document_are_run_first_and_few_runs_in_all_methods(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    order = tree_figure4.EXPERIMENT.missing(2, {})
    assert len(order) == 2 * 12 * (11 + 10)
    first, then = order[:264], order[264:336]
    assert [run for _, run in first] == [0] * 132 + [1] * 132
    assert {cell["topology"] for cell, _ in first} == {"shared"}
    assert {cell["topology"] for cell, _ in then} == {"independent"}
    assert {cell["method"] for cell, _ in then} == {"tree two steps", "independent", "auto"}


def test_methods_of_a_stored_run_started_from_the_same_values():
    starts = {}
    for row in tree_figure4.EXPERIMENT.rows():
        key = row["cell"]["topology"], row["cell"]["data"], row["run"]
        assert starts.setdefault(key, row["values"][:5]) == row["values"][:5]
