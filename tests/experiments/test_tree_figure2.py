"""The experiment with trees of decisions: its start, its methods and its tables."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import tree_figure2, tree_supplement
from experiments.searches import initial_points, problem_of
from outcrop.space import Float
from outcrop.strategies.initial import OnePerBranch

EVERY_TREE = [*dict.fromkeys([*tree_figure2.PROBLEMS, *tree_supplement.PROBLEMS])]


def row(method, run, values, problem="tree-small", right=(True, True, True)):
    cell = {"problem": problem, "method": method}
    return {"cell": cell, "run": run, "values": values, "n_initial": 1, "seconds": [0.25]} | {
        "right": list(right)
    }


@pytest.mark.parametrize("problem", EVERY_TREE)
def test_a_run_starts_with_one_point_in_each_leaf(problem):
    space = problem_of(problem).space
    initial = initial_points(space, space.n_branches, 3, OnePerBranch())
    assert len(initial) == space.n_branches
    assert {frozenset(point) for point in initial} == {
        frozenset(path.names) for path in space.branches
    }


QUICK = ("tree", "random")


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=() if method in QUICK else pytest.mark.slow)
        for method in [*tree_figure2.METHODS, "random"]
    ],
)
def test_every_method_goes_on_from_the_same_start_without_trouble(method, monkeypatch):
    monkeypatch.setattr(tree_figure2, "TRIALS", 5)
    problem = problem_of("tree-small-shared")
    initial = initial_points(problem.space, 4, 1, OnePerBranch())
    found = tree_figure2.run({"problem": "tree-small-shared", "method": method}, 1)
    np.testing.assert_allclose(found["values"][:4], [problem(p) for p in initial], atol=1e-12)
    assert (len(found["values"]), found["n_initial"], found["fallbacks"]) == (5, 4, 0)
    assert len(found["right"]) == len(tree_figure2.SHOWN)


@pytest.mark.parametrize("name", EVERY_TREE)
def test_the_right_leaf_is_the_one_whose_bottom_is_the_minimum(name):
    problem = problem_of(name)
    best = 0.5 if "quadratic" in name else 0.0
    for path in problem.space.branches:
        params = dict(path.options)
        for flat in set(path.names) - set(params):
            assert isinstance(problem.space.parameters[flat], Float)
            params[flat] = best if flat.rpartition(".")[2].startswith("r") else 0.0
        is_lowest = problem(params) == pytest.approx(problem.minimum, abs=1e-12)
        assert tree_figure2.is_in_best_leaf(problem, params) == is_lowest


def test_the_table_shows_logarithms_of_distances_and_who_came_near():
    one, other = [1.1] * 19 + [0.2] * 20 + [0.1001] * 21, [1.1] * 39 + [0.11001] * 21
    rows = [row("tree", 0, one), row("tree", 1, other, right=(False, True, True))]
    text = tree_figure2.distances(tree_figure2.searched(rows, "tree-small"))
    cells = [cell.strip() for cell in text.splitlines()[2].split("|")[1:-1]]
    # 0.1 and 1 after 20; 1e-4 and 0.01001 after 40 and 60
    assert cells[:5] == ["tree", "2", "-0.50 (-0.50)", "-3.00 (-3.00)", "-3.00 (-3.00)"]
    assert cells[5:] == ["50 %", "1, 2, 2", "", "0.250"]


def test_methods_are_tested_after_several_numbers_of_trials_with_one_correction():
    slow, quick = [1.1] * 45 + [0.2] * 15, [1.1] * 30 + [0.2] * 30
    rows = [row("tree two steps", run, quick) for run in range(6)]
    rows += [row("arc", run, slow) for run in range(6)]
    found = tree_figure2.searched(rows, "tree-small")
    text = tree_figure2.distances(found, tested=(40, 60))
    header, _, *lines = ([c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines())
    assert header[-3:] == ["p at 40", "p at 60", "s"]
    p = {line[0]: line[-3:-1] for line in lines}
    assert p == {"tree two steps": ["", ""], "arc": ["0.062", "1.000"]}  # 2 × 2⁻⁵


def test_a_regret_of_nothing_counts_as_the_floor():
    assert tree_figure2.logarithms(np.array([[0.3, 0.1, 0.2]]), 0.1)[0, 1:].tolist() == [-9, -9]


def test_the_report_has_a_line_for_every_cell_and_shows_every_picture():
    rows = [
        row(cell["method"], run, [0.3] * 60, cell["problem"])
        for cell in tree_figure2.EXPERIMENT.cells
        for run in range(2)
    ]
    text = tree_figure2.report(rows)
    pictures = tree_figure2.draw(rows)
    assert len(pictures) == len(tree_figure2.PROBLEMS)
    assert all(f"(../images/{name}.png)" in text for name in pictures)
    sections = text.split("## ")[1:]
    for problem, section in zip(tree_figure2.PROBLEMS, sections, strict=True):
        assert f"`{problem}`" in section
        lines = [[c.strip() for c in line.split("|")[1:3]] for line in section.splitlines()]
        assert all([method, "2"] in lines for method in tree_figure2.EVERY)


def test_a_picture_shows_means_and_two_standard_errors_from_the_design_on():
    rows = [row("TPE", run, [1.1, 0.1 + regret]) for run, regret in enumerate([0.1, 0.001])]
    figure = tree_figure2.draw(rows)["tree_small"]
    (line,) = figure.axes[1].lines
    np.testing.assert_allclose(line.get_data(), [[1, 2], [0, -2]], atol=1e-9)
    edges = figure.axes[1].collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose(sorted(set(edges.round(9))), [-3.414213562, -0.585786438, 0.0])


def test_every_cell_comes_once_and_what_must_be_shown_comes_first():
    cells = [(c["problem"], c["method"]) for c in tree_figure2.EXPERIMENT.cells]
    assert len(cells) == len(set(cells)) == len(tree_figure2.PROBLEMS) * len(tree_figure2.EVERY)
    first, *_, last = tree_figure2.EXPERIMENT.parts
    assert "tree-unbalanced-4" not in {c["problem"] for c in first}  # not in the document's figure
    assert {"tree two steps", "independent", "arc", "SMAC", "auto"} < {c["method"] for c in first}
    assert {c["method"] for c in last} == {
        "auto all leaves",
        "two steps shared seen",
        "common nodes",
        "random forest",
        "SMAC4AC",
    }


def test_methods_of_a_stored_run_started_from_the_same_values():
    starts = {}
    for stored in tree_figure2.EXPERIMENT.rows():
        key = stored["cell"]["problem"], stored["run"]
        values = stored["values"][: stored["n_initial"]]
        assert starts.setdefault(key, values) == values
