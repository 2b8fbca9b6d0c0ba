"""Models of noisy inputs, and what is published of them."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments.noisy_inputs import MODELS, TASKS, draw, function_of, scores
from experiments.noisy_inputs_published import PUBLISHED
from experiments.noisy_inputs_tables import EXPERIMENT
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


def test_tables_and_pictures_can_be_made_of_few_rows():
    cells = [{"task": "decaying-sin", "noise": "0.1", "size": size} for size in ("50", "100")]
    rng = np.random.default_rng(0)
    rows = [
        {
            "cell": cell,
            "run": run,
            **{
                kind: {model: float(rng.normal()) for model in MODELS}
                for kind in ("log density", "squared error", "seconds")
            },
        }
        for cell in cells
        for run in range(3)
    ]
    text = " ".join(EXPERIMENT.report(rows).split())
    assert text.count("| decaying-sin | 0.1 | 50 | 3 runs |") == 2
    assert "579.8 (8.4)" in text  # published for 100 points
    assert set(EXPERIMENT.draw(rows)) == {"noisy_inputs_005", "noisy_inputs_01"}
