"""Models of noisy inputs, and what is published of them."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import noisy_inputs_1d, noisy_inputs_exact
from experiments.noisy_inputs import (
    FLOOR,
    FLOORED,
    MODELS,
    NOISE,
    TASKS,
    data_of,
    draw,
    floored_scores,
    function_of,
    scores,
)
from experiments.noisy_inputs_published import MODELS as PUBLISHED_MODELS
from experiments.noisy_inputs_published import PUBLISHED, mean_and_spread
from experiments.noisy_inputs_tables import EXPERIMENT, SHARE
from outcrop import problems


def test_every_task_is_a_function_on_the_symmetric_cube():
    points = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    branin = problems.get("branin")
    low, high = branin.bounds.T
    expected = branin.formula(low + (high - low) * (points + 1) / 2) / 300
    np.testing.assert_allclose(function_of("branin-2d", 0)(points), expected)


def test_a_draw_is_another_one_in_every_run():
    points = np.random.default_rng(0).uniform(-1, 1, (5, 2))
    assert not np.allclose(draw(2, 0)(points), draw(2, 1)(points), atol=0.1)
    np.testing.assert_array_equal(draw(2, 0)(points), draw(2, 0)(points))


def test_scores_of_the_plain_process_are_those_of_scikit_learn():
    """Data made anew as the text says, and another program's process at its own optimum."""
    gaussian_process = pytest.importorskip("sklearn.gaussian_process")
    kernels = pytest.importorskip("sklearn.gaussian_process.kernels")
    rng = np.random.default_rng([3, 1])
    X = rng.uniform(-1, 1, (150, 1))
    misses = rng.standard_normal((100, 1))

    def f(x):
        t = 2.5 * (x[:, 0] + 1)
        return t * np.sin(3 * t) * np.exp(-t)

    y = f(X[:100] + 0.1 * misses) + 1e-3 * rng.standard_normal(100)
    X_train, y_train = X[:40], y[:40] - y[:40].mean()
    kernel = kernels.ConstantKernel(1.0, (1e-6, 1e3)) * kernels.RBF(
        1.0, (0.02, 10)
    ) + kernels.WhiteKernel(0.01, (1e-8, 1))
    reference = gaussian_process.GaussianProcessRegressor(kernel, n_restarts_optimizer=8, alpha=0)
    reference.random_state = 0
    reference.fit(X_train, y_train)
    mean, sd = reference.predict(X[100:], return_std=True)
    truth = f(X[100:]) - y[:40].mean()
    density = -0.5 * (np.log(2 * np.pi * sd**2) + (truth - mean) ** 2 / sd**2).sum()
    own = scores("decaying-sin", 0.1, 40, 3)["RBF"]
    np.testing.assert_allclose(own[0], density, rtol=2e-3)
    np.testing.assert_allclose(own[1], ((truth - mean) ** 2).sum(), rtol=2e-3)


def test_both_published_tables_hold_nine_tasks_of_four_settings():
    settings = {key[:4] for key in PUBLISHED}
    assert len(settings) == 2 * 9 * 4
    assert {key[1] for key in PUBLISHED} < set(TASKS)
    assert {key[4] for key in PUBLISHED} < set(MODELS)
    assert PUBLISHED["log density", "michalewicz-2d", "0.1", "100", "RatQuad"] == "54.9 (20.4)"
    assert PUBLISHED["squared error", "michalewicz-2d", "0.1", "100", "RatQuad"] == "2.8 (0.9)"


def test_published_sums_are_shown_per_point_of_a_hundred():
    assert mean_and_spread("579.8 (8.4)") == pytest.approx((5.798, 0.084))


def test_exact_values_are_those_of_the_points_that_models_are_told():
    known, at, truth = data_of("decaying-sin", 0.1, 50, 3, exact=True)
    function = function_of("decaying-sin", 3)
    level = (function(at) - truth)[0]
    np.testing.assert_allclose(known.y + level, function(known.X), atol=5 * NOISE)
    missed, same, _ = data_of("decaying-sin", 0.1, 50, 3)
    np.testing.assert_array_equal(missed.X, known.X)
    np.testing.assert_array_equal(same, at)
    assert np.abs(missed.y - known.y).max() > 0.05


def test_a_floor_changes_the_plain_process_only_where_it_binds():
    smooth = floored_scores("decaying-sin", 0.1, 50, 3)
    assert smooth["RBF"][:2] == scores("decaying-sin", 0.1, 50, 3)["RBF"][:2]
    assert smooth[FLOORED][:2] == pytest.approx(smooth["RBF"][:2], rel=1e-4)
    rugged = floored_scores("michalewicz-4d", 0.1, 50, 0)
    assert rugged["RBF"][3] < 1e-4  # noise collapsed
    assert rugged[FLOORED][3] == pytest.approx(FLOOR, rel=1e-3)
    assert rugged[FLOORED][0] > rugged["RBF"][0] + 10


def rows_of(cells, models, runs=3, kinds=("log density", "squared error", "seconds")):
    rng = np.random.default_rng(0)
    return [
        {
            "cell": cell,
            "run": run,
            **{kind: {model: float(rng.normal()) for model in models} for kind in kinds},
        }
        for cell in cells
        for run in range(runs)
    ]


CELLS = [{"task": "decaying-sin", "noise": "0.1", "size": size} for size in ("50", "100")]


def test_tables_and_pictures_can_be_made_of_few_rows():
    rows = rows_of(CELLS, MODELS)
    text = " ".join(EXPERIMENT.report(rows).split())
    assert text.count("| decaying-sin | 0.1 | 50 | 3 runs |") == 2
    assert "5.8 (0.084)" in text  # published for 100 points
    assert set(EXPERIMENT.draw(rows)) == {"noisy_inputs_005", "noisy_inputs_01"}


def test_rows_with_a_floor_stand_beside_those_without():
    kinds = ("log density", "squared error", "seconds", SHARE)
    floored = rows_of([{**cell, "model": FLOORED} for cell in CELLS], ("RBF", FLOORED), kinds=kinds)
    rows = [*rows_of(CELLS, MODELS), *floored]
    text = " ".join(EXPERIMENT.report(rows).split())
    assert f"| {FLOORED} |" in text
    assert text.count("| decaying-sin | 0.1 | 50 | 3 runs |") == 2
    gains = [r["log density"][FLOORED] - r["log density"]["RBF"] for r in floored[:3]]
    assert f"| {np.mean(gains) / 50:+.3f} | {np.median(gains) / 50:+.3f} |" in text


def test_exact_rows_stand_beside_published_ones():
    text = noisy_inputs_exact.beside_published(rows_of(CELLS, PUBLISHED_MODELS), [])
    assert "| 5.80 |" in " ".join(text.split())
    assert text.count("published") == text.count("exact") == 2


def test_distances_from_published_means_are_medians_over_settings():
    rows = rows_of(CELLS, PUBLISHED_MODELS, runs=1)
    far = [{**r, "log density": {m: 1e4 for m in PUBLISHED_MODELS}} for r in rows]
    text = " ".join(noisy_inputs_exact.distances(rows, far).split())
    ours = [r["log density"]["RBF"] / 50 for r in rows]
    middle = np.median([abs(ours[0] - 5.503), abs(ours[1] - 5.798)])
    assert f"| known | RBF | {middle:.2g} | 1.9e+02 | 2/2 |" in text


def test_the_sampled_reference_knows_the_function_and_the_kept_one_does_not(monkeypatch):
    monkeypatch.setattr(noisy_inputs_1d, "PROCESSES", 2)
    row = noisy_inputs_1d.run({"noise": "0.1"}, 3)
    literal, kept = noisy_inputs_1d.LITERAL, noisy_inputs_1d.KEPT
    assert row["error"][literal] < 0.01 < row["error"][kept]
    assert row["off"][literal] == row["off, kept"][kept] == 0.0
    assert row["width"][literal] == row["width, kept"][kept] == 1.0
    assert set(row["log density"]) == set(noisy_inputs_1d.ALL)
    assert "curves" not in row


def test_beliefs_in_one_dimension_are_tabled_and_drawn(monkeypatch):
    monkeypatch.setattr(noisy_inputs_1d, "PROCESSES", 1)
    cell = {"noise": "0.1"}
    first = {"cell": cell, "run": 0, **noisy_inputs_1d.run(cell, 0)}
    text = " ".join(noisy_inputs_1d.report([first, {**first, "run": 1}]).split())
    assert "| 0.1 | UTGP | 2 |" in text
    assert "| 0.88 |" in text  # 26.4 for 30 points
    assert set(noisy_inputs_1d.draw([first])) == {"noisy_inputs_1d"}
