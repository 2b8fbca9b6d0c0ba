import numpy as np
import pytest

from outcrop.acquisition import LogEI
from outcrop.data import Observations
from outcrop.kernels import Matern52, Scaled
from outcrop.strategies.pending import Believer
from outcrop.surrogates import GP, Mixture
from outcrop.testing import PENDING_CONTRACT

POLICIES = [Believer()]


@pytest.fixture
def belief(rng):
    X = rng.random((12, 2))
    data = Observations(X, np.sin(9 * X[:, 0]) + np.cos(7 * X[:, 1]))
    parts = [GP(Scaled(1.0, Matern52(s)), noise=1e-6).condition(data) for s in (0.2, 0.4, 0.7)]
    return Mixture(tuple(parts), np.ones(3))


@pytest.mark.parametrize("check", PENDING_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("pending", [1, 5, 31])
@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_policy_keeps_the_contract(policy, check, belief, pending, rng):
    check(policy, belief, rng.random((pending, 2)))


def test_each_component_believes_its_own_mean(belief, rng):
    pending = rng.random((3, 2))
    posterior, _ = Believer().account(pending, belief, LogEI(), rng)
    for before, after in zip(belief.components, posterior.components, strict=True):
        np.testing.assert_allclose(after.data.y[-3:], before.predict(pending)[0])
        np.testing.assert_allclose(after.predict(pending)[0], before.predict(pending)[0], atol=1e-4)


def test_the_incumbent_includes_what_is_believed(belief):
    """On a multimodal function a component may expect a running trial to beat the best so far."""
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), -1).reshape(-1, 2)
    part = belief.components[2]
    promising = grid[[part.predict(grid)[0].argmin()]]
    posterior, _ = Believer().account(promising, belief, LogEI(), np.random.default_rng(0))
    assert posterior.components[2].incumbent() < part.incumbent()
