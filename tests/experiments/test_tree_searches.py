"""The experiments that choose a search of leaves and that go beyond Figure 2: their tables."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import tree_searches, tree_supplement

MINIMUM = 0.1


def row(problem, method, run, regret):
    cell = {"problem": problem, "method": method}
    values = [MINIMUM + 1.0] + [MINIMUM + regret] * 59
    return {"cell": cell, "run": run, "values": values, "n_initial": 1, "seconds": [0.25]} | {
        "right": [True, True, True]
    }


def cells_of(line):
    return [cell.strip() for cell in line.split("|")[1:-1]]


def rows_with(decades):
    """Ten runs of two methods on every tree; the default's regret is 10^decades of the other's."""
    regrets = 10.0 ** np.linspace(-5, -3, 10)
    return [
        row(problem, method, run, regret * 10.0 ** (decades if method == "auto" else 0.0))
        for problem in tree_searches.PROBLEMS
        for method in ("auto", "auto all leaves")
        for run, regret in enumerate(regrets.tolist())
    ]


@pytest.mark.parametrize(
    ("decades", "wins", "verdict"),
    [
        (-1.0, "10 : 0", "better"),
        (1.0, "0 : 10", "worse"),
        (-0.2, "10 : 0", "no difference that matters"),
    ],
)
def test_a_tree_is_judged_by_the_mean_difference_of_logarithms(decades, wins, verdict):
    text = tree_searches.report(rows_with(decades)).split(f", {tree_searches.LOG}:")[1]
    lines = [cells_of(line) for line in text.split("auto all leaves`, gap")[0].splitlines()]
    lines = [line for line in lines if wins in line]
    assert len(lines) == (len(tree_searches.PROBLEMS) + 1) * len(tree_searches.SHOWN)
    for line in lines:
        assert float(line[3]) - float(line[4]) == pytest.approx(decades, abs=0.0011)
        assert line[5].startswith(f"{-decades:.3f} [")
        assert line[6:] == [wins, line[7], verdict]
    # the smallest p of ten pairs, 2 / 2^10, is corrected for the tests of the table
    assert {float(line[7]) for line in lines} == {round(2 / 2**10 * len(lines), 3)}


def test_gaps_are_judged_the_other_way_round():
    rows = [
        row(problem, method, run, 0.22 + 0.02 * run if method == "auto" else 0.1 + 0.01 * run)
        for problem in tree_searches.PROBLEMS
        for method in ("auto", "auto all leaves")
        for run in range(10)
    ]
    _, text = tree_searches.report(rows).split(f", {tree_searches.GAP}:")
    lines = [cells_of(line) for line in text.splitlines() if "0 : 10" in line]
    assert len(lines) == (len(tree_searches.PROBLEMS) + 1) * len(tree_searches.SHOWN)
    for line in lines:  # the first value is 1 above the minimum
        assert line[3:5] == ["0.690", "0.855"]
        assert line[5].startswith("-0.165 [")
        assert line[8] == "worse"


def test_a_wide_interval_or_a_small_difference_is_undecided():
    assert tree_searches.verdict(-1.0, -2.0, 0.2, 0.2, 0.3) == "undecided"
    assert tree_searches.verdict(-0.1, -0.4, 0.2, 0.01, 0.3) == "undecided"


def test_the_supplement_shows_every_method_of_every_tree_and_a_picture_of_it():
    rows = [
        row(cell["problem"], cell["method"], run, 1e-3)
        for cell in tree_supplement.EXPERIMENT.cells
        for run in range(2)
    ]
    text, pictures = tree_supplement.report(rows), tree_supplement.draw(rows)
    assert all(f"(../images/{name}.png)" in text for name in pictures)
    sections = text.split("## ")[1:]
    assert len(pictures) == len(sections) == len(tree_supplement.PROBLEMS)
    for problem, section in zip(tree_supplement.PROBLEMS, sections, strict=True):
        assert f"`{problem}`" in section
        shown = {cells_of(line)[0] for line in section.splitlines() if line.startswith("|")}
        expected = {
            c["method"] for c in tree_supplement.EXPERIMENT.cells if c["problem"] == problem
        }
        assert expected <= shown


@pytest.mark.parametrize("module", [tree_searches, tree_supplement])
def test_methods_of_a_stored_run_started_from_the_same_values(module):
    starts = {}
    for stored in module.EXPERIMENT.rows():
        key = stored["cell"]["problem"], stored["run"]
        values = stored["values"][: stored["n_initial"]]
        assert starts.setdefault(key, values) == values
