"""A network of one hidden layer with dropout, which predicts with a spread.

As in "Dropout as a Bayesian approximation" (Gal and Ghahramani 2016): inputs and hidden units are
dropped in training and in prediction alike, so that every pass through the network is a draw, and
many draws with Gaussian noise of precision tau around them are the predictive density.

Shapes: `X` is `(n, d)`, `y` and predictions `(n,)`, draws `(passes, n)`; weights of all layers are
one vector.
"""

from __future__ import annotations

__all__ = ["ACTIVATIONS", "OPTIMISERS", "DropoutNetwork", "Weights"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from outcrop.typing import Matrix, Rng, Vector

EPOCHS, BATCH = 20, 128
PASSES = 100
LENGTHSCALE = 0.01  # of the prior of weights, which sets their decay
TINY = 1e-7  # added to roots of squared gradients

Step: TypeAlias = Callable[[Vector], Vector]  # from a gradient to what is subtracted; remembers
Activation: TypeAlias = Callable[[Matrix], tuple[Matrix, Matrix]]  # values and slopes


def _relu(Z: Matrix) -> tuple[Matrix, Matrix]:
    return np.maximum(Z, 0.0), (Z > 0).astype(float)


def _tanh(Z: Matrix) -> tuple[Matrix, Matrix]:
    values = np.tanh(Z)
    return values, 1 - values**2


def _sigmoid(Z: Matrix) -> tuple[Matrix, Matrix]:
    values = 0.5 * (1 + np.tanh(Z / 2))  # does not overflow
    return values, values * (1 - values)


def _sgd(rate: float) -> Step:
    return lambda gradient: rate * gradient


def _adam(rate: float, slow: float = 0.9, slower: float = 0.999) -> Step:
    mean, square, count = np.zeros(1), np.zeros(1), 0

    def step(gradient: Vector) -> Vector:
        nonlocal mean, square, count
        count += 1
        mean = slow * mean + (1 - slow) * gradient
        square = slower * square + (1 - slower) * gradient**2
        unbiased = mean / (1 - slow**count), square / (1 - slower**count)
        return rate * unbiased[0] / (np.sqrt(unbiased[1]) + TINY)

    return step


def _rmsprop(rate: float, slow: float = 0.9) -> Step:
    square = np.zeros(1)

    def step(gradient: Vector) -> Vector:
        nonlocal square
        square = slow * square + (1 - slow) * gradient**2
        return rate * gradient / (np.sqrt(square) + TINY)

    return step


def _adagrad(rate: float) -> Step:
    square = np.zeros(1)

    def step(gradient: Vector) -> Vector:
        nonlocal square
        square = square + gradient**2
        return rate * gradient / (np.sqrt(square) + TINY)

    return step


ACTIVATIONS: dict[str, Activation] = {"relu": _relu, "tanh": _tanh, "sigmoid": _sigmoid}
OPTIMISERS: dict[str, Callable[[float], Step]] = {
    "sgd": _sgd,
    "adam": _adam,
    "rmsprop": _rmsprop,
    "adagrad": _adagrad,
}


@dataclass(frozen=True, eq=False)
class Weights:
    """Both layers as views of one vector."""

    vector: Vector
    inputs: int
    units: int

    @property
    def hidden(self) -> Matrix:
        return self.vector[: self.inputs * self.units].reshape(self.inputs, self.units)

    @property
    def hidden_bias(self) -> Vector:
        return self.vector[-2 * self.units - 1 : -self.units - 1]

    @property
    def output(self) -> Vector:
        return self.vector[-self.units - 1 : -1]

    @property
    def decays(self) -> Vector:
        """1 for weights, which decay, and 0 for biases."""
        decays = Weights(np.ones_like(self.vector), self.inputs, self.units)
        decays.hidden_bias[:] = 0.0
        decays.vector[-1] = 0.0
        return decays.vector


@dataclass(frozen=True)
class DropoutNetwork:
    """Settings of a network; `dropout` is the probability that a unit is dropped."""

    units: int
    dropout: float
    tau: float
    activation: str = "relu"
    optimiser: str = "adam"
    learning_rate: float = 1e-3

    def fitted(self, X: Matrix, y: Vector, rng: Rng) -> Weights:
        """Weights after `EPOCHS` passes through the data in batches, of squared errors."""
        step = OPTIMISERS[self.optimiser](self.learning_rate)
        weights = self.first(X.shape[1], rng)
        decay = LENGTHSCALE**2 * (1 - self.dropout) / (2 * len(X) * self.tau)
        for _ in range(EPOCHS):
            order = rng.permutation(len(X))
            for start in range(0, len(X), BATCH):
                rows = order[start : start + BATCH]
                masks = self.masks(weights, len(rows), rng)
                _, gradient = self.loss(weights, X[rows], y[rows], masks, decay)
                weights.vector[:] -= step(gradient)
        return weights

    def first(self, inputs: int, rng: Rng) -> Weights:
        """Uniform weights by the number of units that they connect, and biases of zero."""
        weights = Weights(np.zeros((inputs + 2) * self.units + 1), inputs, self.units)
        bound = np.sqrt(6 / (inputs + self.units))
        weights.hidden[:] = rng.uniform(-bound, bound, (inputs, self.units))
        bound = np.sqrt(6 / (self.units + 1))
        weights.output[:] = rng.uniform(-bound, bound, self.units)
        return weights

    def masks(self, weights: Weights, n: int, rng: Rng) -> tuple[Matrix, Matrix]:
        """What inputs and hidden units are multiplied by: 1 on average, and 0 if dropped."""
        kept = 1 - self.dropout
        sizes = (n, weights.inputs), (n, weights.units)
        one, other = ((rng.random(size) < kept) / kept for size in sizes)
        return one, other

    def loss(
        self,
        weights: Weights,
        X: Matrix,
        y: Vector,
        masks: tuple[Matrix, Matrix],
        decay: float,
    ) -> tuple[float, Vector]:
        """Mean squared error with the decay of weights, and its gradient."""
        entered = X * masks[0]
        Z = entered @ weights.hidden + weights.hidden_bias
        values, slopes = ACTIVATIONS[self.activation](Z)
        hidden = values * masks[1]
        errors = hidden @ weights.output + weights.vector[-1] - y
        decaying = weights.decays * weights.vector
        gradient = Weights(2 * decay * decaying, weights.inputs, weights.units)
        errors_bar = 2 * errors / len(y)
        hidden_bar = np.outer(errors_bar, weights.output) * masks[1] * slopes
        gradient.hidden[:] += entered.T @ hidden_bar
        gradient.hidden_bias[:] += hidden_bar.sum(0)
        gradient.output[:] += hidden.T @ errors_bar
        gradient.vector[-1] += errors_bar.sum()
        return float((errors**2).mean() + decay * (decaying**2).sum()), gradient.vector

    def draws(self, weights: Weights, X: Matrix, rng: Rng) -> Matrix:
        """Predictions of `PASSES` passes, each with other units dropped."""
        found = []
        for _ in range(PASSES):
            masks = self.masks(weights, len(X), rng)
            Z = (X * masks[0]) @ weights.hidden + weights.hidden_bias
            hidden = ACTIVATIONS[self.activation](Z)[0] * masks[1]
            found.append(hidden @ weights.output + weights.vector[-1])
        return np.array(found)

    def log_density(self, draws: Matrix, y: Vector) -> float:
        """Mean over points of the log density of `y`, a mixture of the draws with noise."""
        logs = -0.5 * self.tau * (y - draws) ** 2 + 0.5 * np.log(self.tau / (2 * np.pi))
        return float((np.logaddexp.reduce(logs, axis=0) - np.log(len(draws))).mean())
