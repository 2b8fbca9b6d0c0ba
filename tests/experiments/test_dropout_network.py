import numpy as np
import pytest
from scipy.stats import norm

pytest.importorskip("experiments.harness")

from experiments.dropout_network import (
    ACTIVATIONS,
    OPTIMISERS,
    DropoutNetwork,
    Weights,
)
from outcrop.testing import central_differences


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_the_gradient_of_the_loss_agrees_with_finite_differences(activation, rng):
    network = DropoutNetwork(units=4, dropout=0.4, tau=0.5, activation=activation)
    weights = network.first(3, rng)
    weights.vector[:] += 0.1 * rng.normal(size=len(weights.vector))
    X, y = rng.normal(size=(7, 3)), rng.normal(size=7)
    masks = network.masks(weights, 7, rng)

    def loss(vector):
        return network.loss(Weights(vector, 3, 4), X, y, masks, decay=0.3)[0]

    _, gradient = network.loss(weights, X, y, masks, decay=0.3)
    expected = central_differences(loss, weights.vector)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_weights_decay_and_biases_do_not(rng):
    weights = DropoutNetwork(units=4, dropout=0.1, tau=0.5).first(3, rng)
    decays = Weights(weights.decays, 3, 4)
    assert (decays.hidden == 1).all()
    assert (decays.output == 1).all()
    assert (decays.hidden_bias == 0).all()
    assert decays.vector.sum() == 3 * 4 + 4


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_every_optimiser_fits_a_line(optimiser, rng):
    X = rng.normal(size=(200, 2))
    y = X[:, 0] - 0.5 * X[:, 1]
    network = DropoutNetwork(
        units=16, dropout=0.001, tau=0.5, activation="tanh", optimiser=optimiser, learning_rate=0.05
    )
    mean = network.draws(network.fitted(X, y, rng), X, rng).mean(0)
    assert np.mean((mean - y) ** 2) < 0.25 * y.var()


def test_first_steps_have_the_lengths_that_define_the_optimisers():
    gradient = np.array([0.2, -3.0])
    signs = np.sign(gradient)
    first = {name: make(0.1)(gradient) for name, make in OPTIMISERS.items()}
    np.testing.assert_allclose(first["sgd"], 0.1 * gradient)
    np.testing.assert_allclose(first["adam"], 0.1 * signs, rtol=1e-5)
    np.testing.assert_allclose(first["adagrad"], 0.1 * signs, rtol=1e-5)
    np.testing.assert_allclose(first["rmsprop"], 0.1 * signs / np.sqrt(0.1), rtol=1e-5)
    adagrad = OPTIMISERS["adagrad"](0.1)
    steps = [adagrad(gradient) for _ in range(4)]
    np.testing.assert_allclose(steps[3], steps[0] / 2, rtol=1e-5)  # 1/√t for equal gradients


def test_dropped_units_make_draws_differ_by_more_the_more_are_dropped(rng):
    X = rng.normal(size=(5, 3))
    spreads = []
    for dropout in (0.001, 0.1, 0.5):
        network = DropoutNetwork(units=32, dropout=dropout, tau=0.5)
        draws = network.draws(network.first(3, np.random.default_rng(0)), X, rng)
        spreads.append(draws.std(0).mean())
    assert spreads[0] < 0.5 * spreads[1] < 0.5 * spreads[2]


def test_the_density_is_that_of_a_mixture_of_the_draws(rng):
    network = DropoutNetwork(units=4, dropout=0.1, tau=0.4)
    draws, y = rng.normal(size=(100, 6)), rng.normal(size=6)
    density = norm.pdf(y, draws, 0.4**-0.5).mean(0)
    assert network.log_density(draws, y) == pytest.approx(np.log(density).mean())
