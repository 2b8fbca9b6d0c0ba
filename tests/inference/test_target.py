"""Draws are consistent, and a density without a value is minus infinity."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from outcrop.effort import Effort
from outcrop.errors import ModelError, ShapeError
from outcrop.inference import MAP, Draws, Laplace, Slice, log_posterior
from outcrop.strategies.method_json import from_json, to_json
from tests.inference.targets import Known


@pytest.mark.parametrize(
    "fields",
    [
        {"thetas": np.zeros(3)},
        {"thetas": np.zeros((0, 3))},
        {"weights": np.full(3, 1 / 3)},
        {"log_densities": np.zeros(1)},
        {"widths": np.zeros((2, 2))},
        {"covariance": np.zeros((2, 2))},
    ],
)
def test_draws_whose_shapes_do_not_fit_are_refused(fields):
    good: dict[str, Any] = {
        "thetas": np.zeros((2, 3)),
        "weights": np.full(2, 0.5),
        "log_densities": np.zeros(2),
    }
    Draws(**good)
    with pytest.raises(ShapeError, match=next(iter(fields))):
        Draws(**(good | fields))


@pytest.mark.parametrize("weights", [[0.5, 0.6], [1.5, -0.5], [np.nan, 1.0]])
def test_weights_that_are_no_distribution_are_refused(weights):
    with pytest.raises(ModelError, match="sum 1"):
        Draws(np.zeros((2, 1)), np.array(weights), np.zeros(2))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_density_without_a_value_is_minus_infinity(bad):
    log_density = log_posterior(Known(lambda theta: bad))
    assert log_density(np.zeros(1)) == -np.inf


def test_outside_the_support_of_the_prior_the_likelihood_is_not_asked():
    class Bounded(Known):
        def log_prior(self, theta):
            return -np.inf

        def log_likelihood(self, theta):
            raise AssertionError

    assert log_posterior(Bounded(lambda theta: 0.0))(np.zeros(1)) == -np.inf


@pytest.mark.parametrize("inference", [MAP(jacobian=True), Slice(chains=3), Laplace(starts=2)])
def test_inference_survives_json(inference):
    limited = inference.within(Effort.within(3.0))  # the effort of a suggestion is left out
    assert json.loads(json.dumps(to_json(limited))) == to_json(inference)
    assert from_json(to_json(limited)) == inference == limited
