"""Searches of the document on modulated surrogates, and their page."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import cover_boxes, modulated_table1
from experiments.measures import gap
from experiments.modulated_table1 import EXPERIMENT, METHODS, PUBLISHED, named
from experiments.searches import problem_of
from outcrop.baselines import DeltaCover
from outcrop.inference import Slice


def test_problems_of_both_tables_come_first_and_real_tasks_last():
    both, warped, functions, bounds, real = EXPERIMENT.parts
    assert {cell["problem"] for cell in both} == set(PUBLISHED[50])
    assert {cell["method"] for cell in warped} == {"Warped GP"}
    assert not {cell["problem"] for cell in functions} & {*PUBLISHED[50], *modulated_table1.REAL}
    assert {named(cell) for cell in bounds} == {(m, "-LCB") for m in METHODS if m != "Warped GP"}
    assert {named(cell)[1] for cell in functions} == {""}
    assert {cell["problem"] for cell in real} == set(modulated_table1.REAL)
    assert [len(part) for part in EXPERIMENT.parts] == [7 * 4, 7, 8 * 4, 4, 3 * 4]


def test_all_cells_differ_and_none_asks_for_what_was_not_published():
    keys = [tuple(sorted(cell.items())) for cell in EXPERIMENT.cells]
    assert len(set(keys)) == len(keys)
    warped = {cell["problem"] for cell in EXPERIMENT.cells if cell["method"] == "Warped GP"}
    assert warped == set(PUBLISHED[50])


@pytest.mark.parametrize("problem", PUBLISHED[100])
def test_a_function_of_the_document_has_its_dimension(problem):
    dimensions = {"ackley-6": 6, "hartmann-6": 6, "robot-pushing": 4}
    dimensions |= {"deflected-corrugated-spring-10": 10, "nn-boston": 9, "nn-climate": 9}
    dimensions |= {"weierstrass-8": 8, "corrupted-exponential-8": 8}
    assert problem_of(problem).dimension == dimensions.get(problem, 2)


def quick(monkeypatch, evaluations):
    monkeypatch.setattr(modulated_table1, "INFERENCE", Slice(chains=2, burn_in=1))
    monkeypatch.setattr(modulated_table1, "DeltaCover", lambda: DeltaCover(20, 2, 5, 1))
    monkeypatch.setattr(modulated_table1, "EVALUATIONS", evaluations)


def test_the_lower_confidence_bound_searches_from_the_same_points_but_elsewhere(monkeypatch):
    quick(monkeypatch, 21)
    cell = {"problem": "corrupted-exponential-8", "method": "GP"}
    improved = modulated_table1.run(cell, 0)
    bounded = modulated_table1.run({**cell, "method": "GP-LCB"}, 0)
    assert improved["n_initial"] == 18
    assert improved["values"][:18] == bounded["values"][:18]
    assert improved["values"][18:] != bounded["values"][18:]


def test_each_run_of_robot_pushing_has_a_goal_of_its_own(monkeypatch):
    asked = []
    quick(monkeypatch, 6)
    monkeypatch.setattr(
        modulated_table1, "robot_pushing", lambda run: asked.append(run) or problem_of("beale")
    )
    cell = {"problem": "robot-pushing", "method": "LGP"}
    for number in (0, 3):
        modulated_table1.run(cell, number)
    assert asked == [0, 3]


def row(cell, run, n=100):
    values = np.linspace(300, 200 - run, n).tolist()
    return {"cell": cell, "run": run, "values": values, "n_initial": 5, "seconds": [0.1]}


def test_a_page_shows_acquisitions_apart_and_leaves_out_what_has_no_results():
    wanted = "corrupted-exponential-8"
    rows = [row(c, n) for c in EXPERIMENT.cells if c["problem"] == wanted for n in range(2)]
    text = modulated_table1.report(rows)
    assert "2 runs; without results: branin; branin02; " in text
    assert "Without results so far: after 50 evaluations." in text
    improved, bounded = text.split("## The lower confidence bound")
    assert "(0.806)" in improved
    assert "(0.858)" in bounded
    assert "(0.858)" not in improved
    lines = [[c.strip() for c in line.split("|")[1:4]] for line in text.splitlines()]
    for method in set(METHODS) - {"Warped GP"}:
        assert lines.count([wanted, method, "2"]) == 2
    assert not any(line[:1] == ["branin"] for line in lines)


def test_the_first_fifty_evaluations_of_a_search_are_in_the_table_with_fifty():
    rows = [row({"problem": "shubert", "method": method}, 0) for method in ("GP", "LGP")]
    rows.append(row({"problem": "shubert", "method": "Warped GP"}, 0, n=50))
    rows.append(row({"problem": "branin", "method": "GP"}, 0))
    fifty, hundred, bound = [section.own(rows) for section in modulated_table1.SECTIONS]
    assert [each["cell"]["method"] for each in fifty] == ["GP", "LGP", "Warped GP"]
    assert all(each["values"] == rows[0]["values"][:50] for each in fifty[:2])
    assert [each["cell"]["problem"] for each in hundred] == ["shubert", "shubert", "branin"]
    assert not bound


def test_a_search_that_ended_earlier_has_no_gap_after_more_evaluations():
    rows = [row({"problem": "shubert", "method": "GP"}, run, n) for run, n in [(0, 50), (1, 100)]]
    assert {run for _, run in gap(50).read(rows, "method")["GP"]} == {0, 1}
    assert {run for _, run in gap(100).read(rows, "method")["GP"]} == {1}


def test_covers_are_compared_on_the_acquisitions_of_one_search(monkeypatch):
    monkeypatch.setattr(modulated_table1, "INFERENCE", Slice(chains=2, burn_in=1))
    small = {name: DeltaCover(20, boxes=2, boxed=5, halvings=1) for name in ("one", "other")}
    monkeypatch.setattr(cover_boxes, "COVERS", small)
    monkeypatch.setattr(cover_boxes, "AT", (1, 3))
    monkeypatch.setattr(cover_boxes, "TRIALS", 9)
    found = cover_boxes.run({"problem": "griewank-2", "method": "GP"}, 0)["found"]
    assert [each["at"] for each in found] == [1, 3]
    assert all(each["one"]["values"] == each["other"]["values"] for each in found)
    lines = cover_boxes.report([{"found": found}]).splitlines()
    assert len(lines) == 4  # header, rule, covers
    assert lines[2].replace("one", "").split() == lines[3].replace("other", "").split()
