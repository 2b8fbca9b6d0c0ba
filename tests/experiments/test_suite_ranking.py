import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments.provenance import MixedVersions
from experiments.suite import known_best
from experiments.suite.comparing import Side
from experiments.suite.page import PAGE, extent_of, page
from experiments.suite.ranking import rank, standings

SOLVED, HARD = ("own", "branin"), ("bounds", "edge-6")


def test_methods_that_solve_a_problem_share_a_place():
    first, second, third = standings(
        {
            "auto": {SOLVED: {0: 0.99995, 1: 0.99998}},
            "gp": {SOLVED: {0: 0.99999, 1: 1.0}},
            "TPE": {SOLVED: {0: 0.9, 1: 0.8}},
        }
    )
    assert [one.rank["all"] for one in (first, second, third)] == [1.5, 1.5, 3.0]
    assert [one.run_rank["own"] for one in (first, second, third)] == [2.0, 1.0, 3.0]


def test_every_problem_counts_alike_in_the_means():
    one, two = standings(
        {
            "auto": {SOLVED: {0: 1.0, 1: 0.5}, HARD: {0: 0.2}},
            "gp": {SOLVED: {0: 0.5, 1: 0.5}, HARD: {0: 0.6}},
        }
    )
    assert one.gap == pytest.approx({"all": (0.75 + 0.2) / 2, "own": 0.75, "bounds": 0.2})
    assert (one.rank["own"], one.rank["bounds"], one.rank["all"]) == (1.0, 2.0, 1.5)
    assert two.run_rank["own"] == pytest.approx(np.mean([2.0, 1.5]))


def test_only_runs_of_all_methods_count():
    one, _ = standings(
        {
            "auto": {SOLVED: {0: 1.0, 1: 0.0}, HARD: {0: 0.3}},
            "BoTorch": {SOLVED: {0: 0.9, 2: 1.0}},
        }
    )
    assert one.gap == {"all": 1.0, "own": 1.0}
    with pytest.raises(ValueError, match="auto, gp have no runs in common"):
        standings({"auto": {SOLVED: {0: 1.0}}, "gp": {SOLVED: {1: 1.0}}})


def side(name, found, source="s1"):
    cell = {"group": "own", "half": "confirm", "problem": "branin", "method": name}
    values = {"optimum": 0.0, "start": 1.0, "found": found, "source": source}
    return Side(name, [{"cell": cell, "run": 0, **values}])


def test_a_report_starts_with_the_best_method():
    lines = rank([side("TPE", 0.4), side("auto", 0.1)], {}).splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert ["method", "all (1)", "own (1)"] in cells
    assert [line for line in cells if line[:1] == ["auto"]] == [
        ["auto", "1.00", "1.00"],
        ["auto", "1.00", "1.00"],
        ["auto", "0.900", "0.900"],
    ]
    assert next(line[0] for line in cells if line[:1] in (["auto"], ["TPE"])) == "auto"


def test_methods_of_different_versions_are_not_ranked():
    with pytest.raises(MixedVersions, match="auto is of src s1, gp of s2"):
        rank([side("TPE", 0.2), side("auto", 0.1), side("gp", 0.1, source="s2")], {})


def test_the_page_of_the_confirming_half_is_what_the_stored_results_say():
    assert PAGE.read_text("utf-8") == page(known_best.load())


def test_a_method_with_few_runs_says_how_many_and_of_which_groups():
    counts = {("own", "branin"): 10, ("bounds", "edge-6"): 2}
    cells = [key for key, runs in counts.items() for _ in range(runs)]
    rows = [{"cell": {"group": group, "problem": problem}} for group, problem in cells]
    said = extent_of(Side("BoTorch", rows))
    assert "groups own, bounds" in said
    assert "2 to 10 runs" in said
