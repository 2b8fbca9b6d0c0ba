"""Trees of the document on treed BO, and what is reported of their searches."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import htbo_table1
from experiments.leaf_borders import border_deviation, border_share, moved_to_borders
from experiments.midpoint_splits import best_midpoint, midpoint_partition
from outcrop.data import Observations
from outcrop.inference import Slice
from outcrop.surrogates.partition import Partition


def observed(n, d=2):
    rng = np.random.default_rng(3)
    X = np.round(rng.random((n, d)), 2)  # some values are equal
    return Observations(X, np.sin(9 * X[:, 0]) + (X[:, -1] > 0.6) + 0.1 * rng.normal(size=n))


def test_the_best_midpoint_is_that_of_brute_force():
    data = observed(40)
    best = (0.0, -1, 0.0)
    for column in range(2):
        values = np.unique(data.X[:, column])
        for threshold in (values[1:] + values[:-1]) / 2:
            is_left = data.X[:, column] <= threshold
            sides = data.y[is_left], data.y[~is_left]
            if min(map(len, sides)) >= 5:
                error = sum(len(side) * np.var(side) for side in sides) / 40
                best = max(best, (np.var(data.y) - error, column, threshold))
    split = best_midpoint(data.X, data.y, (0, 1), smallest=5)
    assert (split.reduction, split.column, split.threshold) == pytest.approx(best)


def test_leaves_that_are_cut_at_midpoints_share_no_observation():
    data = observed(40)
    tree = midpoint_partition(data.X, data.y, (0, 1), smallest=5)
    assert len(tree) > 3
    assert np.array_equal(np.sort(np.concatenate(tree.leaf_rows)), np.arange(40))
    assert min(map(len, tree.leaf_rows)) >= 5
    for leaf, rows in enumerate(tree.leaf_rows):
        assert (tree.leaf_of(data.X[rows]) == leaf).all()


@pytest.mark.parametrize(("n", "leaves"), [(9, 1), (10, 2)])
def test_ten_observations_make_two_leaves_of_five(n, leaves):
    X = np.linspace(0, 1, n)[:, None]
    assert len(midpoint_partition(X, 1.0 * (X[:, 0] > 0.5), (0,), smallest=5)) == leaves


def test_equal_values_are_not_split():
    assert best_midpoint(observed(40).X, np.full(40, 0.3), (0, 1), smallest=5) is None


def test_a_threshold_between_observations_leaves_more_uncertainty_at_borders(monkeypatch, rng):
    monkeypatch.setattr(htbo_table1, "INFERENCE", Slice(chains=2, burn_in=20))
    X = np.linspace(0, 1, 12)[:, None]
    data = Observations(X, np.where(X[:, 0] > 0.5, np.sin(40 * X[:, 0]), 3.0))
    deviations = {}
    for name, build in htbo_table1.SPLITS.items():
        deviations[name] = border_deviation(build(1).fit(data, rng), 1)
    assert deviations["HTBO"] < 0.1  # in one dimension a border is at an observation
    assert deviations["HTBO-midpoint"] > 2 * deviations["HTBO"]


def test_points_are_moved_to_the_nearest_border_inside_their_leaf():
    X = np.linspace(0.0, 1.0, 9)[:, None] * np.ones(2)
    tree = Partition.of(X, (X[:, 0] > 0.5) * 1.0, columns=(0,), smallest=5)
    points = np.array([[0.1, 0.2], [0.45, 0.9], [0.7, 0.99]])
    moved = moved_to_borders(tree, points)
    np.testing.assert_allclose(moved, [[0.5, 0.2], [0.5, 0.9], [0.5, 0.99]], atol=1e-8)
    assert tree.leaf_of(moved).tolist() == tree.leaf_of(points).tolist() == [0, 0, 1]


def test_a_share_at_borders_counts_from_the_twenty_first_trial_on():
    # Five initial points: suggestion 15 is the 21st trial; the 50th is not known.
    assert border_share([0, 14, 15, 43], initial=5, trials=50) == 2 / 29


@pytest.mark.parametrize("method", htbo_table1.SPLITS)
def test_a_search_with_trees_records_what_it_does_at_borders(method, monkeypatch):
    monkeypatch.setattr(htbo_table1, "INFERENCE", Slice(chains=2, burn_in=1))
    monkeypatch.setattr(htbo_table1, "TRIALS", 14)
    row = htbo_table1.run({"problem": "rkhs-1d", "method": method}, 0)
    assert row["fallbacks"] == 0
    assert set(row["at_border"]) <= set(range(8))
    assert row["border_deviation"] > 0


def row(problem, method, run, **more):
    cell = {"problem": problem, "method": method}
    values = [0.0] * 49 + [-0.1 * (run + 1)]
    return {"cell": cell, "run": run, "values": values, "n_initial": 5, "seconds": [0.1], **more}


def test_the_page_leaves_out_what_has_no_results():
    rows = [row("exp-2d", method, run) for method in htbo_table1.METHODS for run in range(3)]
    text = htbo_table1.report(rows)
    assert "3 runs; without results: rkhs-1d; lda; svm; walker-lake; babbitt-copper." in text
    assert "Splits at midpoints (Figure 2) have no results." in text
    assert "HTBO-midpoint" not in text
    assert "| lda" not in text
    assert list(htbo_table1.draw(rows)) == ["htbo_exp-2d"]


def test_splits_are_compared_with_their_borders_where_both_were_run():
    rows = [
        row(problem, method, run, at_border=[40] * (run + 1), border_deviation=0.5 + run)
        for problem in ("exp-2d", "svm")
        for method in htbo_table1.SPLITS
        for run in range(2)
    ]
    lines = [[c.strip() for c in x.split("|")[1:-1]] for x in htbo_table1.report(rows).splitlines()]
    assert ["exp-2d", "HTBO-midpoint", "2", "0.05", "1.00"] in lines
    assert not any("have no results" in cell for line in lines for cell in line)
    assert sum(line[:2] == ["svm", "HTBO-midpoint"] for line in lines) == 1  # grids have no borders
    assert sum(line[:2] == ["exp-2d", "HTBO"] for line in lines) == 3
