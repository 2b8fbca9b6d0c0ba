import numpy as np
import pytest

pytest.importorskip("experiments.searches")

import outcrop as oc
from experiments.comparison import (
    Searches,
    best_value_table,
    by_method,
    corrected_p_values,
    extent,
    gap_table,
)
from experiments.searches import initial_points, problem_of, search


def test_initial_points_are_those_a_study_of_that_seed_starts_from():
    space = problem_of("branin").space
    method = oc.Method(initial=oc.initial.LatinHypercube(size=7))
    optimizer = oc.Optimizer(space, method=method, seed=3)
    own = [optimizer.ask().params for _ in range(7)]
    assert initial_points(space, 7, run=3) == own
    assert initial_points(space, 7, run=4) != own


def test_initial_points_on_a_grid_differ_from_each_other():
    space = problem_of("lda").space
    points = initial_points(space, 60, run=0)
    assert len({space.key(point) for point in points}) == 60


def test_a_search_goes_on_from_the_given_points():
    problem = problem_of("branin")
    initial = initial_points(problem.space, 4, run=0)
    row = search(problem, "random", initial, trials=9, run=0)
    again = search(problem, "random", initial, trials=9, run=0)
    assert row["values"][:4] == [problem(point) for point in initial]
    assert row["n_initial"] == 4
    assert len(row["seconds"]) == 5
    assert len(row["values"]) == 9
    assert row["fallbacks"] == 0
    assert again["values"] == row["values"]


def row(method, run, values, problem="branin"):
    cell = {"problem": problem, "method": method}
    return {"cell": cell, "run": run, "values": values, "n_initial": 2, "seconds": [1.0, 3.0]}


def test_gap_regret_and_iterations_of_searches():
    rows = {
        0: row("gp", 0, [9.0, 5.0, 7.0, 2.0, 1.0]),
        1: row("gp", 1, [5.0, 5.0, 1.0, 3.0, 2.0]),
        4: row("gp", 4, [5.0, 6.0, 8.0, 9.0, 5.0]),
    }
    searches = Searches(rows, minimum=1.0)
    assert searches.gaps() == pytest.approx({0: 1.0, 1: 1.0, 4: 0.0})
    assert searches.gaps(4) == pytest.approx({0: 0.75, 1: 1.0, 4: 0.0})
    np.testing.assert_allclose(searches.regrets(4), [1.0, 0.0, 4.0])
    assert searches.iterations_to(0.99) == [3, 1, None]
    assert searches.iterations_to(0.99, trials=4) == [None, 1, None]
    assert searches.iterations_to(0.0) == [0, 0, 0]
    assert searches.seconds() == 2.0


def test_p_values_use_the_runs_that_both_have_and_count_the_tests():
    ours = {run: run + 1.0 for run in range(6)}
    worse = {run: 0.0 for run in range(6)} | {9: 1e6}
    p_values = corrected_p_values(
        {"worse": (worse, ours), "same": (ours, ours), "none": ({}, ours)}
    )
    # All six signs alike: 2 of 2⁶ outcomes are as extreme, and there are two tests.
    assert p_values == pytest.approx({"worse": 2 * 2 / 2**6, "same": 1.0})


def test_the_table_shows_methods_beside_the_baseline_and_what_was_published():
    minimum = problem_of("branin").minimum
    rows = [row("gp", run, [minimum + 4, minimum + 8, minimum + 2]) for run in range(3)]
    rows += [row("spartan", run, [minimum + 4, minimum + 8, minimum]) for run in range(2)]
    rows += [row("spartan", 0, [1e6, 1e6, 0.0], problem="hartmann-6")]
    assert list(by_method(rows, "branin")) == ["gp", "spartan"]
    published = {("branin", "spartan"): "always solved"}
    lines = gap_table(rows, ["branin"], "gp", [2, 3], published).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0][3:5] == ["gap at 2", "gap at 3"]
    zero, half, one = (f"{gap:.4f} ± 0.0000" for gap in (0.0, 0.5, 1.0))
    assert cells[2] == ["branin", "gp", "3", zero, half, "0/3", "", "2.0e+00", "", "2.000", ""]
    expected = ["branin", "spartan", "2", zero, one, "2/2", "1", "0.0e+00", "0.500", "2.000"]
    assert cells[3] == [*expected, "always solved"]
    assert len(lines) == 4


def test_best_values_stand_above_what_a_document_says():
    rows = [row("gp", 0, [9.0, 5.0, 2.0]), row("gp", 1, [9.0, 5.0, 4.0])]
    text = best_value_table(rows, ["branin"], ["gp", "other"], {"branin": ("3 ± 1", "–")})
    ours, theirs = text.splitlines()[2:]
    assert "3.0000 ± 1.0000" in ours
    assert "published" in theirs
    assert "3 ± 1" in theirs


def test_the_extent_of_a_table_is_its_runs_and_what_has_none():
    cells = [{"problem": p, "method": m} for p in ("branin", "lda", "svm") for m in ("gp", "TPE")]
    rows = [row("gp", run, [1.0]) for run in range(3)] + [row("TPE", 0, [1.0])]
    rows += [row("gp", 0, [1.0], problem="svm")]
    assert extent(rows, cells) == "1 to 3 runs; without results: lda; svm with `TPE`."
    assert extent(rows[:2], cells[:1]) == "2 runs."
