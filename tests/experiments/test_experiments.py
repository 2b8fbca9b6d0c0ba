from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import inference_methods, many_parameters, rugged_presets, spartan_figures
from experiments.figures import convergence_figure
from experiments.priors import TruncatedLogNormal
from experiments.searches import initial_points, problem_of, search
from experiments.wide_problems import CHOOSE, CONFIRM, WIDE, wide_problem
from outcrop.inference import Slice

MODULES = inference_methods, many_parameters, rugged_presets, spartan_figures
EXPERIMENTS = [module.EXPERIMENT for module in MODULES]


@pytest.mark.parametrize("name", spartan_figures.METHODS)
def test_every_method_of_the_spartan_document_searches(name, monkeypatch):
    monkeypatch.setattr(spartan_figures, "INFERENCE", Slice(chains=2, burn_in=1))
    problem = problem_of("exp-2d-wide")
    initial = initial_points(problem.space, spartan_figures.INITIAL, run=0)
    row = search(problem, spartan_figures.METHODS[name](2), initial, len(initial) + 2, run=0)
    assert row["fallbacks"] == 0
    assert len(set(row["values"])) == len(initial) + 2


@pytest.mark.parametrize("name", ["BO", "ASBO", "SPBO"])
def test_methods_of_the_spartan_document_search_numbers_around_categories(name, monkeypatch):
    monkeypatch.setattr(spartan_figures, "INFERENCE", Slice(chains=2, burn_in=1))
    monkeypatch.setattr(spartan_figures, "INITIAL", 2)
    monkeypatch.setattr(spartan_figures, "INNER", 4)
    problem = problem_of("func-2C")
    asked = []
    recorded = replace(problem, function=lambda params: asked.append(params) or problem(params))
    method = spartan_figures.hierarchical(name, problem.space)
    row = search(recorded, method, initial_points(problem.space, 1, run=0), 17, run=0)
    assert row["fallbacks"] == 0
    numbers = [tuple(x for x in params.values() if isinstance(x, float)) for params in asked]
    assert [len(list(held)) for _, held in groupby(numbers)] == [1, 4, 4, 4, 4]
    assert len({tuple(params.items()) for params in asked}) == 17


def test_hpnnet_gets_ten_trials_of_categories_for_each_choice_of_numbers(monkeypatch):
    monkeypatch.setattr(spartan_figures, "problem_of", lambda name: problem_of("func-2C"))
    monkeypatch.setattr(spartan_figures, "INFERENCE", Slice(chains=2, burn_in=1))
    monkeypatch.setattr(spartan_figures, "TRIALS", 2)
    row = spartan_figures.run({"problem": "hpnnet", "method": "BO"}, 0)
    assert (len(row["values"]), row["n_initial"]) == (20, 1)


def test_the_hamming_kernel_that_the_spartan_document_refers_to_is_not_positive_definite():
    points = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    differing = (points[:, None] != points).sum(2)
    assert np.linalg.eigvalsh(np.exp(-0.1 / 2 * differing**2)).min() < -0.01
    assert np.linalg.eigvalsh(np.exp(-0.1 / 2 * differing)).min() > 0


def test_what_must_be_run_at_least_comes_first():
    first, others, last = spartan_figures.EXPERIMENT.parts
    assert {cell["problem"] for cell in first} == {"exp-2d-wide", "hartmann-6", "lda-surrogate"}
    assert {cell["problem"] for cell in others} == {"michalewicz-10", "logreg-surrogate"}
    assert {cell["problem"] for cell in last} == {"hpnnet"}
    assert len(first) + len(others) + len(last) == 6 * len(spartan_figures.METHODS)


def test_claims_of_the_document_are_about_cells():
    cells = {(c["problem"], c["method"]) for c in spartan_figures.EXPERIMENT.cells}
    assert spartan_figures.PUBLISHED.keys() <= cells


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_a_report_has_a_line_for_every_cell_with_results(experiment):
    rows = [
        {"cell": cell, "run": run, "values": [3e4] * 59 + [2e4]}
        | {"n_initial": 10, "seconds": [0.1] * 50}
        for cell in experiment.cells
        for run in range(2)
    ]
    text = experiment.report(rows)
    assert all(f"(../images/{name}.png)" in text for name in experiment.draw(rows))
    lines = text.splitlines()
    for cell in experiment.cells:
        expected = [cell["problem"], cell["method"], "2"]
        assert any([c.strip() for c in line.split("|")[1:4]] == expected for line in lines)


def test_a_picture_shows_the_median_of_the_best_values_over_the_iterations():
    values = {"BO": [[9.0, 4.0, 3.0], [9.0, 2.0, 5.0], [9.0, 8.0, 7.0]], "ABO": [[9.0, 1.0, 2.0]]}
    rows = [
        {"cell": {"problem": "lda", "method": method}, "run": run, "values": v, "n_initial": 1}
        for method, runs in values.items()
        for run, v in enumerate(runs)
    ]
    figure = convergence_figure(rows, "lda", [["BO", "WARP"], ["WARP"], ["ABO"]])
    one, other = figure.axes
    lines = {line.get_label(): line.get_data() for line in [*one.lines, *other.lines]}
    np.testing.assert_array_equal(lines["BO"], [[1, 2], [4, 3]])
    np.testing.assert_array_equal(lines["ABO"], [[1, 2], [1, 1]])


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_methods_of_a_stored_run_started_from_the_same_values(experiment):
    starts = {}
    for row in experiment.rows():
        key = row["cell"]["problem"], row["run"]
        values = row["values"][: row["n_initial"]]
        assert starts.setdefault(key, values) == values


def test_the_committed_comparison_of_inference_has_ten_runs_of_every_cell():
    rows = inference_methods.EXPERIMENT.rows()
    for cell in inference_methods.EXPERIMENT.cells:
        assert sum(row["cell"] == cell for row in rows) >= 10


def test_a_truncated_log_normal_is_a_density_with_those_draws(rng):
    from scipy.integrate import quad

    prior = TruncatedLogNormal(np.log(0.3), 1.5, 0.01, 10.0)

    def density(x):
        return float(np.exp(prior.log_density(np.array([x]))[0]))

    assert quad(density, 0.01, 10.0, points=[0.1, 1.0])[0] == pytest.approx(1.0, abs=1e-7)
    draws = prior.sample(rng, 50_000)
    assert draws.shape == (50_000,)
    assert draws.min() > 0.01
    assert draws.max() < 10.0
    expected = quad(lambda x: np.log(x) * density(x), 0.01, 10.0, points=[0.1, 1.0])[0]
    assert np.log(draws).mean() == pytest.approx(expected, abs=0.03)


def test_the_slope_of_a_truncated_log_normal_agrees_with_finite_differences():
    prior = TruncatedLogNormal(0.2, 0.8, 0.1, 10.0)
    x, step = np.array([0.3, 1.7, 6.0]), 1e-6
    measured = (prior.log_density(x + step) - prior.log_density(x - step)) / (2 * step)
    np.testing.assert_allclose(prior.slope(x), measured, rtol=1e-7)


@pytest.mark.parametrize("name", WIDE)
def test_a_function_of_many_numbers_is_another_one_for_each_seed(name, rng):
    problems = [wide_problem(name, seed) for seed in (0, 0, 1)]
    assert {problem.dimension for problem in problems} <= set(range(20, 41))
    U = rng.random((1, problems[0].dimension))
    one, again, other = (problem.evaluate(U)[0] for problem in problems)
    assert one == again != other
    assert problems[2](problems[2].minimisers[0]) == pytest.approx(problems[2].minimum, abs=1e-6)


def test_functions_of_many_numbers_to_choose_on_are_not_those_that_are_reported():
    assert not {(w.function.name, w.dimension) for w in CHOOSE.values()} & {
        (w.function.name, w.dimension) for w in CONFIRM.values()
    }


def test_the_method_with_the_lowest_values_has_rank_one():
    best = {"gp": 1.0, "TPE": 4.0, "GPSampler": 3.0, "BoTorch": 2.0}
    rows = [
        {"cell": {"problem": "levy-30", "method": method}, "run": run, "n_initial": 12}
        | {"values": [9.0] * 99 + [value + run]}
        for method, value in best.items()
        for run in range(3)
    ]
    rows = [row for row in rows if (row["cell"]["method"], row["run"]) != ("TPE", 2)]
    found = many_parameters.ranks(rows, "levy-30", trials=100)
    np.testing.assert_array_equal(found, [[1, 4, 3, 2]] * 2)  # in the runs that all methods have
    pairs = many_parameters.paired_gaps(rows, ["levy-30"], "BoTorch")
    np.testing.assert_allclose(pairs, [[8 / 9, 7 / 9], [7 / 9, 6 / 9], [6 / 9, 5 / 9]])
