from dataclasses import dataclass

import numpy as np
import pytest

from outcrop import acquisition as acquisitions
from outcrop.acquisition import LogEI
from outcrop.errors import MethodError
from outcrop.strategies import Method
from outcrop.strategies.pending import ThompsonSampling
from outcrop.surrogates import ForestPosterior, Mixture
from tests.strategies.pending.beliefs import belief, waves, with_running
from tests.strategies.spaces import EVERY_SPACE

BOX = EVERY_SPACE["box"]


def prepared(mixture, X, seed=0, features=512):
    view = with_running(BOX, 2)
    rng = np.random.default_rng(seed)
    _, acquisition = ThompsonSampling(features).account(view, BOX, mixture, LogEI(), rng)
    return acquisition.prepare(mixture, np.zeros(len(mixture)), X, rng, 1)


def test_suggestions_are_by_functions_drawn_anew_from_the_belief():
    """At known points all draws agree with what is known; elsewhere they have its moments."""
    mixture = waves()
    X = np.vstack([mixture.components[0].data.X[:3], [[0.95, 0.95], [0.05, 0.6]]])
    draws = -np.array([prepared(mixture, X, seed)(mixture, X) for seed in range(300)])
    mean, var = mixture.moments(X)
    np.testing.assert_allclose(draws[:, :3], np.tile(mean[:3], (300, 1)), atol=0.02)
    error = 4 * np.sqrt(var[3:] / 300)
    assert (np.abs(draws[:, 3:].mean(0) - mean[3:]) < error).all()
    np.testing.assert_allclose(draws[:, 3:].std(0), np.sqrt(var[3:]), rtol=0.2)


@pytest.mark.parametrize("surrogate", ["laplace", "forest"])
def test_without_drawn_functions_values_are_drawn_jointly_at_the_candidates(surrogate):
    mixture = belief("box", surrogate)
    X = np.random.default_rng(1).random((40, 2))
    acquisition = prepared(mixture, X)
    values, gradients = acquisition.with_gradient(mixture, X)
    assert np.isfinite(values).all()
    assert not gradients.any()
    assert acquisition(mixture, X[:1] + 1e-9)[0] == -np.inf
    mean, var = mixture.moments(X)
    draws = -np.array([prepared(mixture, X, seed)(mixture, X) for seed in range(400)])
    assert (np.abs(draws.mean(0) - mean) < 5 * np.sqrt(var / 400) + 1e-6).all()


def test_candidates_are_recognised_whatever_the_sign_of_zero():
    mixture = belief("box", "laplace")
    X = np.array([[0.0, 0.5], [0.3, 0.0]])
    assert np.isfinite(prepared(mixture, X)(mixture, -X * [[1, -1], [-1, 1]])).all()


def test_an_acquisition_that_samples_already_is_kept():
    plain = acquisitions.Thompson(64)
    rng = np.random.default_rng(0)
    _, same = ThompsonSampling().account(with_running(BOX, 2), BOX, waves(), plain, rng)
    assert same is plain


def test_a_belief_that_draws_nothing_is_refused():
    @dataclass(frozen=True)
    class Silent:
        part: ForestPosterior

        def predict(self, X):
            return self.part.predict(X)

    mixture = Mixture.single(Silent(belief("box", "forest").components[0]))
    with pytest.raises(MethodError, match="Silent can draw neither functions nor"):
        prepared(mixture, np.zeros((1, 2)))


@pytest.mark.parametrize("features", [0, -3, 1.5])
def test_a_number_of_features_below_1_is_refused(features):
    with pytest.raises(MethodError, match=r"ThompsonSampling\(features="):
        ThompsonSampling(features)


def test_running_trials_are_sampled_for_and_others_are_not():
    view, alone = with_running(BOX, 3), with_running(BOX, 0)
    strategy = Method(pending=ThompsonSampling()).strategy(BOX)
    assert strategy.propose(view, np.random.default_rng(0)).why["acquisition"] == "Thompson"
    assert strategy.propose(alone, np.random.default_rng(0)).why["acquisition"] == "LogEI"
