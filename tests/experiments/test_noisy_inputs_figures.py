"""Figures 3.3 and 3.6 to 3.8 of the thesis: what is computed, and what is read off."""

import json

import numpy as np
import pytest
from scipy.stats import multivariate_normal

pytest.importorskip("experiments.harness")

from experiments import noisy_inputs_1d, noisy_inputs_recursion, noisy_inputs_unscented
from experiments.claims.noisy_inputs import CLAIMS
from experiments.noisy_inputs import FULL_AS_DESCRIBED, MODELS, data_in_1d, unscented
from experiments.noisy_inputs_sweep import sweep_table
from experiments.noisy_inputs_training import retrained, weighted_log_likelihood
from experiments.verdicts import judged
from outcrop.data import Observations
from outcrop.kernels import RBF, Scaled
from outcrop.surrogates import GP
from outcrop.surrogates.noisy import InputNoise, NIGPModel
from outcrop.surrogates.noisy.unscented import Unscented

STEPS = np.arange(40.0)[:, None]


def cells_of(line):
    return [cell.strip() for cell in line.split("|")[1:-1]]


def test_values_in_one_dimension_are_exact_or_those_of_missed_points():
    missed, at, _ = data_in_1d(0.1, 3, 40)
    exact, same, level = data_in_1d(0.1, 3, 40, exact=True)
    np.testing.assert_array_equal(missed.X, exact.X)
    np.testing.assert_array_equal(at, same)
    t = 2.5 * (exact.X[:, 0] + 1)
    np.testing.assert_allclose(exact.y + level, t * np.sin(3 * t) * np.exp(-t), atol=0.005)
    assert np.abs(missed.y - exact.y).max() > 0.05


def test_the_full_process_as_described_mixes_one_data_set_for_each_move_of_a_point():
    """The mixture of all data sets, each conditioned anew, with the thesis's weights."""
    spread, alpha, beta = 0.1, 1e-3, 2.0
    data, _, _ = data_in_1d(spread, 0, 6)
    model = GP(Scaled(0.1, RBF(np.array([0.3]))), 0.01)
    at = np.array([[-0.7], [0.15], [0.6]])
    n = len(data)
    step, weight = alpha * np.sqrt(n) * spread, 1 / (2 * alpha**2 * n)
    mean, var = model.condition(data).predict(at)
    moved = [
        model.condition(Observations(data.X + sign * step * np.eye(n)[:, [i]], data.y)).predict(at)
        for i in range(n)
        for sign in (1, -1)
    ]
    offs = np.array([m - mean for m, _ in moved])
    middle = weight * offs.sum(0)
    within = var + weight * sum(v - var for _, v in moved)
    weight_0 = 1 - 2 * n * weight
    between = weight * ((offs - middle) ** 2).sum(0) + weight_0 * middle**2
    transformed = between + (1 - alpha**2 + beta) * middle**2  # eq. 3.50, with W₀ counted once
    own = unscented(model.condition(data), data, spread)[FULL_AS_DESCRIBED]
    own_mean, own_var = own.predict(at)
    np.testing.assert_allclose(own_mean, mean + middle, atol=1e-6)
    total = within + between + transformed
    assert (total < var).tolist() == [True, False, False]  # then the plain variance is kept
    np.testing.assert_allclose(own_var, np.maximum(total, var), rtol=1e-4)


def test_the_weighted_sum_is_that_of_the_likelihoods_of_all_moved_data():
    data, _, _ = data_in_1d(0.1, 0, 5)
    transform = Unscented(0.5)
    variance, scale, noise = theta = np.array([0.2, 0.3, 0.01])
    K = Scaled(variance, RBF(np.array([scale])))

    def log_likelihood(X):
        return multivariate_normal(cov=K(X, X) + noise * np.eye(5)).logpdf(data.y)

    step = 0.5 * np.sqrt(5) * 0.1 * np.eye(5)[:, :, None]
    moved = [log_likelihood(data.X + sign * each) for each in step for sign in (1, -1)]
    expected = transform.weights(5) @ [log_likelihood(data.X), *moved]
    own = weighted_log_likelihood(np.log(theta), data, 0.1, transform)
    assert own == pytest.approx(expected, rel=1e-6)


def test_hyperparameters_found_anew_are_preferred_by_the_weighted_sum():
    data, _, _ = data_in_1d(0.1, 0, 8)
    plain = GP(Scaled(0.2, RBF(np.array([0.3]))), 0.01).condition(data)

    def weighted(belief):
        kernel = belief.model.kernel
        own = [kernel.variance, kernel.kernel.lengthscales[0], belief.model.noise]
        return weighted_log_likelihood(np.log(own), data, 0.1, Unscented(1e-3))

    assert weighted(retrained(plain, data, 0.1, Unscented(1e-3))) > weighted(plain) + 0.1


def test_both_processes_of_figure_33_have_the_data_of_figures_34_and_35(monkeypatch):
    monkeypatch.setattr(noisy_inputs_1d, "PROCESSES", 1)
    beside = noisy_inputs_1d.run({"noise": "0.1"}, 3)
    row = noisy_inputs_1d.run({"figure": "3.3", "spread": "0.1"}, 3)
    for model in ("UTGP", "UTGP full"):
        assert row["log density"][model] == pytest.approx(beside["log density"][model], abs=2e-5)
    assert "curves" not in row


def test_figure_33_is_tabled_in_pairs_and_drawn():
    first = noisy_inputs_unscented.run({"figure": "3.3", "spread": "0.1"}, 0)
    models = first["log density"]
    simple, full = (
        {**models, "UTGP": a, FULL_AS_DESCRIBED: b} for a, b in ((1.0, 1.5), (0.5, 0.4))
    )
    rows = [
        {"cell": {"figure": "3.3", "spread": "0.1"}, "run": run, **first, "log density": densities}
        for run, densities in enumerate((simple, full))
    ]
    text = noisy_inputs_1d.report(rows)
    expected = ["missed", "0.1", "as described", "2", "0.75 (0.18)", "0.95 (0.39)", "+0.200"]
    assert [*expected, "1 : 1", "1.000", "full higher"] in map(cells_of, text.splitlines())
    figures = noisy_inputs_1d.draw(rows[:1])
    assert set(figures) == {"noisy_inputs_unscented"}
    assert all(f"(../images/{name}.png)" in text for name in figures)
    assert len(figures["noisy_inputs_unscented"].axes) == 2
    json.dumps(rows)


@pytest.mark.parametrize(
    ("added", "behaviour", "steps"),
    [
        (np.exp(-2 * STEPS), "quick", 8),  # e⁻¹⁴ is below 10⁻⁶
        (np.exp(-0.5 * STEPS), "slow", 29),
        ((-1.0) ** STEPS, "oscillates", None),
        (np.sin(STEPS), "neither", None),
        (np.ones((40, 1)), "quick", 1),
    ],
)
def test_a_recursion_settles_oscillates_or_neither(added, behaviour, steps):
    assert noisy_inputs_recursion.behaviour(added) == behaviour
    assert noisy_inputs_recursion.settled_after(added) == steps


def test_a_recursion_begins_with_the_plain_slope_and_settles_at_the_fixed_point():
    data, _, _ = data_in_1d(0.05, 1, 20)
    model = NIGPModel(Scaled(0.1, RBF(np.array([0.3]))), 0.01, inputs=InputNoise(0.05))
    added = noisy_inputs_recursion.recursion(model, data, 30)
    plain = GP(model.kernel, model.noise).condition(data)
    h = 1e-5
    slopes = (plain.predict(data.X + h)[0] - plain.predict(data.X - h)[0]) / (2 * h)
    np.testing.assert_allclose(added[0], 0.05**2 * slopes**2, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(added[-1], model.slopes(data).value, rtol=1e-4, atol=1e-9)


def test_figure_38_has_a_line_for_every_cell_and_an_example_of_every_behaviour(monkeypatch):
    monkeypatch.setattr(noisy_inputs_recursion, "SIZES", (12,))
    monkeypatch.setattr(noisy_inputs_recursion, "STEPS", 25)
    rows = []
    kinds = {0: "slow", 1: "oscillates", 2: "quick", 3: "quick"}
    for number, cell in enumerate(noisy_inputs_recursion.CELLS[:4]):
        row = noisy_inputs_1d.run(cell, number)
        same = np.array([list(map(int, line)) for line in row["12"]["equal"]])
        assert same.shape == (20, 20)
        assert (same == same.T).all()
        assert same.trace() == 20
        row["12"] |= {"behaviour": kinds[number], "steps": 3 + number}
        rows.append({"cell": cell, "run": 0, **row})
    json.dumps(rows)
    rows.append({**rows[3], "run": 1})
    text = noisy_inputs_1d.report(rows)
    lines = list(map(cells_of, text.splitlines()))
    assert ["missed", "learnt", "0.05", "12", "1", "0", "1", "0", "0", "", "1/1"] in lines
    last = ["exact", "learnt", "0.1", "12", "2", "2", "0", "0", "0", "6 (6 to 6)", "2/2"]
    assert last in lines
    figure = noisy_inputs_1d.draw(rows)["noisy_inputs_recursion"]
    assert [axes.get_ylabel().split("\n")[0] for axes in figure.axes[::2]] == [
        "slow",
        "quick",
        "oscillates",
    ]
    assert "(../images/noisy_inputs_recursion.png)" in text


def test_the_oscillating_example_is_the_one_that_repeats_itself_soonest():
    cell = noisy_inputs_recursion.CELLS[0]
    late, soon = ["10", "01"], ["11", "11"]
    quick = {"behaviour": "quick", "equal": soon}
    rows = [
        {"cell": cell, "30": {"behaviour": "oscillates", "equal": equal}, "100": quick}
        for equal in (late, soon)
    ]
    found = noisy_inputs_recursion.examples(rows)
    assert list(found) == ["quick", "oscillates"]
    assert found["oscillates"][1]["equal"] == soon


def test_cells_of_a_page_in_several_figures_come_once():
    cells = [tuple(sorted(cell.items())) for cell in noisy_inputs_1d.EXPERIMENT.cells]
    assert len(cells) == len(set(cells)) == 2 + 2 + 8


def test_claims_of_a_figure_are_judged_by_its_own_rows():
    names = (*MODELS, FULL_AS_DESCRIBED)
    rows = [
        {"cell": cell, "run": run, "log density": dict.fromkeys(names, level + 0.01 * run)}
        for cell, level in (({"noise": "0.05"}, 1.0), (noisy_inputs_unscented.CELLS[0], 9.0))
        for run in range(8)
    ]
    rows += [{"cell": noisy_inputs_recursion.CELLS[0], "run": run, "30": {}} for run in range(8)]
    stored = {"noisy_inputs_1d": rows}
    found = {each.claim.place: each.evidence for each in judged(CLAIMS[2::-2], stored)}
    assert {place: round(evidence.first) for place, evidence in found.items()} == {
        "Figure 3.4": 1,
        "Figure 3.3": 9,
    }


def test_the_sweep_shows_the_median_and_the_lowest_differences_from_the_plain_process():
    own = {model: {0: 100.0, 1: 100.0} for model in MODELS}
    far = {**own, "NIGP": {0: 50.0, 1: 150.0}}
    found = {("branin-2d", "0.05", "10"): own, ("branin-2d", "0.1", "20"): far}
    found["ackley-2d", "0.1", "20"] = {model: {0: 100.0} for model in MODELS}
    lines = list(map(cells_of, sweep_table(found).splitlines()))
    assert ["model", "10", "20"] in lines
    assert ["runs of a setting", "2", "1 to 2"] in lines
    assert ["NIGP", "+0.00 (+0.00)", "+0.00 (-0.90)"] in lines  # of −1, 0 and 1
