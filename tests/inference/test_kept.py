"""Draws that are kept as they are."""

import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.inference import Kept, Slice
from outcrop.kernels import Matern52
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.surrogates import GP, Inferred

MODEL = GP(Matern52(free(LogNormal(-1.0), size=2)), noise=1e-6)
X = np.random.default_rng(0).random((8, 2))
DATA = Observations(X, np.sin(5 * X.sum(1)))


def test_previous_draws_do_not_move_whatever_the_data():
    rng = np.random.default_rng(0)
    before = Inferred(MODEL, Slice(chains=3)).fit(DATA.rows(np.arange(5)), rng)
    after = Inferred(MODEL, Kept()).fit(DATA, rng, before.state)
    assert after.state["thetas"] == before.state["thetas"]
    assert after.weights.tolist() == [1 / 3] * 3
    scales = [part.scales().tolist() for part in before.components]
    assert [part.scales().tolist() for part in after.components] == scales


@pytest.mark.parametrize("first", [1, 5])
def test_without_previous_draws_they_come_from_the_prior(first):
    belief = Inferred(MODEL, Kept(first)).fit(DATA, np.random.default_rng(0))
    assert len(belief) == first
