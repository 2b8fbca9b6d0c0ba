"""The real tasks of the document on modulated surrogates."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import network_tuning
from experiments.searches import problem_of

SMALL = {
    "hidden_layer_sizes": 5.5,
    "alpha": -4.0,
    "batch_size": 5.0,
    "max_iter": 6.0,
    "learning_rate_init": -2.0,
    "power_t": 0.5,
    "momentum": 0.9,
    "beta_1": 0.9,
    "beta_2": 0.999,
}


def test_exponents_become_the_arguments_of_a_network():
    settings = network_tuning._settings(SMALL | {"batch_size": 10.0}, rows=354)
    assert settings["hidden_layer_sizes"] == (45,)
    assert settings["batch_size"] == 354  # not more than there are rows
    assert settings["max_iter"] == 64
    assert settings["learning_rate_init"] == pytest.approx(0.01)
    assert settings["beta_2"] == 0.999


@pytest.mark.parametrize("build", [network_tuning.nn_boston, network_tuning.nn_climate])
def test_a_small_network_has_one_loss_and_learns_better_with_a_sensible_rate(build):
    problem = build()
    assert problem.dimension == 9
    loss = problem(SMALL)
    assert problem(SMALL) == loss
    slow = problem(SMALL | {"learning_rate_init": -5.0, "hidden_layer_sizes": 1.0})
    assert loss < slow <= network_tuning.WORST


def test_the_losses_are_those_of_the_held_out_part():
    assert -1 < problem_of("nn-boston")(SMALL) < -0.7  # minus R²
    _, test, _, labels = network_tuning._split("climate")
    assert test.shape == (162, 20)  # study and run numbers included
    chance = labels.mean()
    constant = -(chance * np.log(chance) + (1 - chance) * np.log(1 - chance))
    assert problem_of("nn-climate")(SMALL | {"max_iter": 8.0, "alpha": -1.0}) < 2 * constant


def test_a_training_that_breaks_down_has_the_worst_loss(monkeypatch):
    class Broken:
        def fit(self, X, y):
            raise ValueError("weights are not finite")

    assert network_tuning._trained(Broken(), np.zeros((2, 1)), np.zeros(2)) is None
    monkeypatch.setattr(network_tuning, "_trained", lambda *arguments: None)
    assert network_tuning.nn_boston()(SMALL) == network_tuning.WORST
    assert network_tuning._cut(float("nan")) == network_tuning._cut(80.0) == network_tuning.WORST
