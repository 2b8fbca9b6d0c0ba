"""Searches under input noise: the functions' closed forms, the searches, and what is read off."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import noisy_inputs_bo
from experiments.noisy_inputs_bo import EXPERIMENT, METHODS, OBJECTIVES
from experiments.noisy_inputs_functions import FUNCTIONS
from experiments.searches import initial_points

EVERY = pytest.mark.parametrize("name", FUNCTIONS)


@EVERY
def test_averages_agree_with_draws_of_the_noise(name):
    function = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    centres = np.array([dip.centre for dip in function.dips.values()])
    for x in [*centres, *rng.random((5, function.dimension))]:
        noise = function.input_std * rng.normal(size=(40_000, function.dimension))
        drawn = function(x + noise)
        error = drawn.std() / np.sqrt(len(drawn))
        assert function.average(x[None])[0] == pytest.approx(drawn.mean(), abs=4.5 * error)


@EVERY
def test_minima_are_those_of_a_search_by_brute_force(name):
    from scipy.stats.qmc import Sobol

    function = FUNCTIONS[name]
    rng = np.random.default_rng(1)
    for objective, values in (("nominal", function), ("robust", function.average)):
        X = Sobol(function.dimension, rng=rng).random(2**14)
        for radius in np.geomspace(0.2, 1e-6, 60):  # ever nearer to the best few
            best = X[np.argsort(values(X))[:20]]
            near = best[rng.integers(20, size=1500)] + radius * rng.normal(size=(1500, X.shape[1]))
            X = np.vstack([best, np.clip(near, 0.0, 1.0)])
        assert function.minima[objective] == pytest.approx(values(X).min(), abs=1e-9)


@EVERY
def test_the_best_point_lies_in_the_sharp_dip_and_the_best_on_average_in_the_broad_one(name):
    from scipy.optimize import minimize

    function = FUNCTIONS[name]
    for (objective, dip), other in zip(OBJECTIVES.items(), ("robust", "nominal"), strict=True):
        values = function if objective == "nominal" else function.average
        x = minimize(lambda x, of=values: of(x[None])[0], function.dips[dip].centre).x
        assert function.dip_of(x) == dip
        assert function.regrets(x)[objective] < 1e-6
        assert function.regrets(x)[other] > 0.04  # so that it matters which one is found


def test_a_point_lies_in_a_dip_down_from_half_its_depth():
    function = FUNCTIONS["dips-1"]
    dip = function.dips["broad"]
    half = dip.widths[0] * np.sqrt(2 * np.log(2))
    assert function.dip_of(np.array([dip.centre[0] - half + 1e-6])) == "broad"
    assert function.dip_of(np.array([dip.centre[0] - half - 1e-6])) == "none"


def shortened(monkeypatch, trials=7, initial=5):
    short = replace(FUNCTIONS["dips-1"], trials=trials, initial=initial, every=1)
    monkeypatch.setitem(FUNCTIONS, "dips-1", short)
    return short


def cell_of(method, objective="nominal", places="unknown", function="dips-1"):
    return {"function": function, "objective": objective, "places": places, "method": method}


def test_all_searches_of_a_run_begin_alike_and_are_off_alike(monkeypatch):
    function = shortened(monkeypatch)
    seed = noisy_inputs_bo.FIRST_SEED + 3
    errors, noise = noisy_inputs_bo.mishaps(function, seed)
    initial = initial_points(function.space, 5, seed)
    expected = [
        function(np.array([[params["x0"] + errors[i, 0]]]))[0] + noise[i]
        for i, params in enumerate(initial)
    ]
    for objective, places in (("nominal", "unknown"), ("robust", "unknown"), ("robust", "told")):
        row = noisy_inputs_bo.run(cell_of("gp", objective, places), 3)
        assert row["values"][:5] == expected
        assert (len(row["values"]), row["n_initial"], len(row["seconds"])) == (7, 5, 2)
        assert [look["trials"] for look in row["looks"]] == [5, 6, 7]
        for look in row["looks"]:
            x = np.array(look["x"])
            assert look["nominal"] == function.regrets(x)["nominal"]
            assert look["robust"] == function.regrets(x)["robust"]
            assert look["dip"] == function.dip_of(x)
        json.dumps(row)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("method", METHODS)
def test_every_model_searches_without_trouble(method, objective, monkeypatch):
    shortened(monkeypatch)
    row = noisy_inputs_bo.run(cell_of(method, objective), 0)
    assert row["fallbacks"] == 0
    assert len(set(row["values"])) == 7


def row_of(cell, run, regrets, dip="broad"):
    """Looks with such regrets, twice as large by the objective that is not searched for."""
    looks = [
        {"trials": 5 * n, "x": [0.5], "dip": dip, "nominal": 2 * r, "robust": 2 * r}
        | {cell["objective"]: r}
        for n, r in enumerate(regrets, start=1)
    ]
    return {"cell": cell, "run": run, "looks": looks, "seconds": [0.1, 0.3], "fallbacks": 1}


def lines_of(text):
    return [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines()]


def test_a_table_shows_the_last_regret_by_the_objective_that_was_searched_for():
    rows = [row_of(cell_of("gp", "robust"), n, [9.0, r]) for n, r in enumerate([0.1, 0.3])]
    rows += [row_of(cell_of("NIGP", "robust"), n, [9.0, 0.05], "sharp") for n in range(2)]
    text = noisy_inputs_bo.report(rows)
    lines = lines_of(text)
    gp = ["dips-1", "gp", "2", "0.200 ± 0.071", "0.2000", "2/2", "", "0.200", "2"]
    assert gp in lines
    nigp = ["dips-1", "NIGP", "2", "0.050 ± 0.000", "0.0500", "0/2", "0.500", "0.200", "2"]
    assert nigp in lines
    assert "Nominal objective" not in text
    assert "to know the places" not in text


def test_places_that_are_told_are_compared_with_those_that_are_not():
    rows = [row_of(cell_of("gp"), n, [0.4], "broad") for n in range(2)]
    rows += [row_of(cell_of("gp", places="told"), n, [0.1], "sharp") for n in range(2)]
    expected = ["nominal", "dips-1", "gp", "2", "0.400 ± 0.000", "0.4000", "0/2"]
    expected += ["2", "0.100 ± 0.000", "0.1000", "2/2", "0.500"]
    assert expected in lines_of(noisy_inputs_bo.report(rows))


def test_searches_without_results_are_named():
    rows = [row_of(cell, 0, [0.4]) for cell in EXPERIMENT.cells]
    assert "Not run" not in noisy_inputs_bo.report(rows)
    lacking = [row for row in rows if row["cell"] != cell_of("UTGP full", "robust")]
    text = noisy_inputs_bo.report(lacking)
    assert text.endswith("Not run: `UTGP full` on dips-1, robust, places unknown.")


def test_the_report_has_a_line_for_every_cell_and_the_picture_a_panel_for_every_task():
    rng = np.random.default_rng(0)
    rows = [
        row_of(cell, run, rng.gamma(1.0, size=6)) for cell in EXPERIMENT.cells for run in range(2)
    ]
    text = noisy_inputs_bo.report(rows)
    lines = [line[:3] for line in lines_of(text)]
    for name in FUNCTIONS:
        assert all(lines.count([name, method, "2"]) == 2 for method in METHODS)
        for objective in OBJECTIVES:
            assert all([objective, name, m] in lines for m in noisy_inputs_bo.TOLD)
    figures = noisy_inputs_bo.draw(rows)
    assert len(figures) == 2
    assert all(f"(../images/{name}.png)" in text for name in figures)
    panels = [axes for figure in figures.values() for axes in figure.axes]
    assert len(panels) == 6
    for axes in panels:
        assert {line.get_label() for line in axes.lines} == {*METHODS, "gp, places told"}


def test_every_cell_comes_once_and_what_is_slow_comes_last():
    cells = [tuple(cell.items()) for cell in EXPERIMENT.cells]
    assert len(cells) == len(set(cells)) == 3 * 2 * (len(METHODS) + len(noisy_inputs_bo.TOLD))
    assert {(c["method"], c["objective"]) for c in EXPERIMENT.parts[-1]} == {
        ("UTGP full", "robust")
    }


def test_methods_of_a_stored_run_started_from_the_same_values():
    starts = {}
    for row in EXPERIMENT.rows():
        key = row["cell"]["function"], row["run"]
        values = row["values"][: row["n_initial"]]
        assert starts.setdefault(key, values) == values
