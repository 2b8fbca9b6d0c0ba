import json
from dataclasses import asdict

import numpy as np
import pytest

from outcrop.acquisition import (
    EI,
    LCB,
    PI,
    UCB,
    LogEI,
    MaxValueEntropy,
    ScaledEI,
    SrinivasUCB,
    Thompson,
)
from outcrop.acquisition.information import MARGIN, sample_minima
from outcrop.errors import ModelError, ShapeError
from outcrop.surrogates import Mixture
from outcrop.testing.acquisitions import ACQUISITION_CONTRACT
from tests.acquisition.beliefs import BEST, chains, mixture, single

MINIMA = np.array([[-0.8, -1.1, -1.9, -3.0]])
READY = (
    EI(BEST),
    LogEI(BEST),
    LogEI(-60.0),  # hundreds of nats between components
    PI(BEST),
    ScaledEI(BEST),
    UCB(),
    SrinivasUCB(beta=9.0),
    MaxValueEntropy(minima=MINIMA),
    Thompson(64).prepare(single(), BEST, np.zeros((0, 2)), np.random.default_rng(5), 1),
)
UNPREPARED = (EI(), LogEI(), PI(), ScaledEI(), SrinivasUCB(), MaxValueEntropy(), Thompson())


def label(value):
    return getattr(value, "__name__", repr(value))


def prepare(acquisition, belief, seed=0, incumbent=BEST, step=3):
    candidates = np.random.default_rng(9).random((200, 2))
    return acquisition.prepare(belief, incumbent, candidates, np.random.default_rng(seed), step)


@pytest.mark.parametrize("belief", [single, mixture, chains], ids=label)
@pytest.mark.parametrize("acquisition", READY, ids=label)
@pytest.mark.parametrize("check", ACQUISITION_CONTRACT, ids=label)
def test_acquisitions_keep_the_contract(check, acquisition, belief):
    check(acquisition, belief(), np.random.default_rng(6).random((5, 2)))


@pytest.mark.parametrize("acquisition", [*UNPREPARED, UCB()], ids=label)
@pytest.mark.parametrize("check", ACQUISITION_CONTRACT, ids=label)
def test_what_prepare_returns_keeps_the_contract(check, acquisition):
    check(prepare(acquisition, single()), single(), np.random.default_rng(7).random((4, 2)))


@pytest.mark.parametrize("acquisition", [*READY, UCB(0.0)], ids=label)
def test_everything_is_finite_at_the_data_and_far_away(acquisition):
    belief = mixture()
    X = np.vstack([belief.components[0].data.X, [[40.0, -40.0], [1e6, 1e6]]])
    value, gradient = acquisition.with_gradient(belief, X)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("acquisition", UNPREPARED, ids=label)
def test_an_unprepared_acquisition_says_what_to_do(acquisition, rng):
    for evaluate in (acquisition, acquisition.with_gradient):
        with pytest.raises(ModelError, match="`prepare`"):
            evaluate(single(), rng.random((2, 2)))


@pytest.mark.parametrize("acquisition", [*UNPREPARED, UCB()], ids=label)
def test_fields_of_an_unprepared_acquisition_are_plain_data(acquisition):
    fields = asdict(acquisition)
    again = type(acquisition)(**json.loads(json.dumps(fields)))
    assert asdict(again) == fields


@pytest.mark.parametrize("kind", [EI, LogEI, PI, ScaledEI])
def test_prepare_fills_best_with_the_incumbent_unless_it_is_given(kind):
    assert prepare(kind(), single(), incumbent=0.4).best == 0.4
    assert prepare(kind(best=0.1), single(), incumbent=0.4).best == 0.1


@pytest.mark.parametrize("kind", [EI, LogEI, PI, ScaledEI])
def test_each_component_may_improve_on_an_incumbent_of_its_own(kind, rng):
    belief, X, own = mixture(), rng.random((4, 2)), np.array([-0.9, 0.0, 0.3])
    each = np.stack(
        [kind(best)(part, X) for best, part in zip(own, belief.components, strict=True)]
    )
    expected = np.log(belief.weights @ np.exp(each)) if kind is LogEI else belief.weights @ each
    np.testing.assert_allclose(prepare(kind(), belief, incumbent=own)(belief, X), expected)
    with pytest.raises(ShapeError, match="each of 3 components, got 2"):
        kind(own[:2])(belief, X)


def test_log_ei_is_the_logarithm_of_ei_over_a_mixture(rng):
    belief, X = mixture(), rng.random((6, 2))
    np.testing.assert_allclose(LogEI(BEST)(belief, X), np.log(EI(BEST)(belief, X)), rtol=1e-12)


def test_ei_over_a_mixture_matches_monte_carlo(rng):
    belief, X = mixture(), rng.random((3, 2))
    means, variances = belief.predict_each(X)
    which = rng.choice(len(belief), 400_000, p=belief.weights)
    draws = rng.normal(means[which], np.sqrt(variances[which]))
    expected = np.maximum(0.3 - draws, 0).mean(0)
    np.testing.assert_allclose(EI(0.3)(belief, X), expected, rtol=0.02, atol=1e-4)


def test_a_bound_without_width_is_minus_the_mean(rng):
    belief, X = mixture(), rng.random((5, 2))
    np.testing.assert_allclose(UCB(kappa=0)(belief, X), -belief.moments(X)[0], rtol=1e-12)


def test_a_bound_is_optimistic_by_kappa_deviations(rng):
    X = rng.random((5, 2))
    mean, var = single().predict(X)
    np.testing.assert_allclose(LCB(kappa=1.5)(single(), X), 1.5 * np.sqrt(var) - mean)
    assert LCB is UCB


def test_the_schedule_widens_with_time_and_candidates(rng):
    belief = single()
    first, later, wider = (
        SrinivasUCB(0.1).prepare(belief, BEST, rng.random((n, 2)), rng, step)
        for n, step in ((50, 1), (50, 20), (99, 20))
    )
    assert first.beta == pytest.approx(13.4246, abs=1e-4)  # 2 log(50 · 1² · π² / 0.6)
    assert later.beta == pytest.approx(first.beta + 4 * np.log(20))
    assert wider.beta == pytest.approx(later.beta + 2 * np.log(99 / 50))
    X = rng.random((4, 2))
    np.testing.assert_allclose(first(belief, X), UCB(np.sqrt(first.beta))(belief, X))


def test_the_scheduled_bound_holds_as_often_as_promised(rng):
    """Draws at 50 candidates leave the band of step 1 in fewer than δ of the cases."""
    belief, X = single(), rng.random((50, 2))
    bound = SrinivasUCB(0.5).prepare(belief, BEST, X, rng, step=1)(belief, X)
    below = (-belief.sample(X, rng, 2000) > bound).any(1)
    assert below.mean() < 0.5


def brute_minima(belief, X, rng, draws=4000):
    mean, var = belief.predict_each(X)
    return np.stack(
        [rng.normal(m, np.sqrt(v), (draws, len(X))).min(1) for m, v in zip(mean, var, strict=True)]
    )


def test_sampled_minima_are_distributed_as_those_of_independent_candidates(rng):
    belief, X = mixture(), rng.random((60, 2))
    mean, var = belief.predict_each(X)
    drawn = sample_minima(mean, np.sqrt(var), rng, 2000)
    brute = brute_minima(belief, X, rng)
    assert drawn.shape == (3, 2000)
    low, middle, high = np.quantile(brute, [0.25, 0.5, 0.75], axis=1)
    its_low, its_middle, its_high = np.quantile(drawn, [0.25, 0.5, 0.75], axis=1)
    assert (np.abs(its_middle - middle) < 0.05 * (high - low)).all()
    np.testing.assert_allclose(its_high - its_low, high - low, rtol=0.06)


def test_sampled_minima_are_near_those_of_joint_draws_on_a_grid(rng):
    """Dependence between neighbours makes true minima shallower; on a coarse grid not by much."""
    belief = single()
    axis = np.linspace(0, 1, 6)
    grid = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    joint = belief.sample(grid, rng, 4000).min(1)
    ready = MaxValueEntropy(500).prepare(belief, np.inf, grid, rng, 1)
    assert np.median(ready.minima) == pytest.approx(np.median(joint), abs=0.5 * joint.std())
    assert 0.5 < ready.minima.std() / joint.std() < 1.5


def test_minima_of_nearly_certain_candidates_are_their_lowest_mean(rng):
    mean = np.array([[0.3, -0.2, 0.9], [3e5, 2e5, 1e5]])
    drawn = sample_minima(mean, np.full((2, 3), 1e-9), rng, 8)
    np.testing.assert_allclose(drawn, np.repeat([[-0.2], [1e5]], 8, axis=1), rtol=1e-7)
    np.testing.assert_allclose(sample_minima(mean, np.zeros((2, 3)), rng, 8), drawn, rtol=1e-7)


def test_sampled_minima_lie_below_the_incumbent_of_their_component():
    own = np.array([-1.0, -5.0, 0.0])
    ready = prepare(MaxValueEntropy(), mixture(), incumbent=own)
    assert ready.minima.shape == (3, 16)
    assert (ready.minima <= own[:, None] - MARGIN).all()
    assert (prepare(MaxValueEntropy(), mixture(), incumbent=-2.0).minima < -2.0).all()


def test_entropy_search_is_the_mean_over_its_minima_and_components(rng):
    belief, X = mixture(), rng.random((4, 2))
    minima = BEST - rng.random((3, 5))
    expected = sum(
        weight * MaxValueEntropy(minima=np.array([[one]]))(part, X) / 5
        for weight, part, row in zip(belief.weights, belief.components, minima, strict=True)
        for one in row
    )
    got = MaxValueEntropy(minima=minima)(belief, X)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert (got >= 0).all()


def test_entropy_search_learns_nothing_where_all_is_known():
    belief = single()
    ready = prepare(MaxValueEntropy(), belief, incumbent=belief.data.y.min())
    assert ready(belief, belief.data.X).max() < 1e-3
    assert ready(belief, np.random.default_rng(9).random((200, 2))).max() > 0.05


def test_minima_that_fit_no_mixture_are_refused(rng):
    with pytest.raises(ShapeError, match=r"each of 3 components, got 2"):
        MaxValueEntropy(minima=np.zeros((2, 4)))(mixture(), rng.random((2, 2)))
    with pytest.raises(ShapeError, match=r"minima \(k, S\)"):
        MaxValueEntropy(minima=np.zeros(4))
    with pytest.raises(ShapeError, match="one candidate or more"):
        MaxValueEntropy().prepare(single(), 0.0, np.zeros((0, 2)), rng, 1)


def test_thompson_sampling_is_reproduced_by_its_generator(rng):
    X = rng.random((6, 2))
    belief = mixture()
    one, same, other = (prepare(Thompson(), belief, seed)(belief, X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).all()


def test_thompson_draws_are_distributed_as_the_posterior(rng):
    belief, X = single(), rng.random((3, 2))
    draws = np.stack([-prepare(Thompson(256), belief, seed)(belief, X) for seed in range(400)])
    mean, var = belief.predict(X)
    np.testing.assert_allclose(draws.mean(0), mean, atol=4 * np.sqrt(var.max() / 400))
    np.testing.assert_allclose(draws.std(0), np.sqrt(var), rtol=0.2)


def test_thompson_needs_a_belief_that_draws_functions(rng):
    class Plain:
        """Predicts, and nothing else."""

    with pytest.raises(ModelError, match="Plain cannot draw functions; use a GP"):
        prepare(Thompson(), Plain())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: UCB(kappa=-1.0), r"UCB\(kappa=-1.0\): expected at least 0"),
        (lambda: UCB(kappa=np.nan), r"UCB\(kappa=nan\)"),
        (lambda: SrinivasUCB(delta=0.0), r"SrinivasUCB\(delta=0.0\): .* between 0 and 1"),
        (lambda: SrinivasUCB(delta=1.0), r"SrinivasUCB\(delta=1.0\)"),
        (lambda: SrinivasUCB(beta=-1.0), r"SrinivasUCB\(beta=-1.0\)"),
        (lambda: MaxValueEntropy(samples=0), r"\(samples=0\): expected at least 1"),
        (lambda: Thompson(features=0), r"\(features=0\): expected at least 1"),
        (lambda: EI(best=np.nan), r"EI\(best=nan\): expected a finite value"),
        (lambda: LogEI(best=np.zeros((2, 2))), r"(?s)LogEI\(best=.* one per component"),
    ],
)
def test_impossible_fields_are_refused_with_a_remedy(make, message):
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize("make", [mixture, chains], ids=label)
def test_pullbacks_of_a_mixture_add_those_of_its_components(make, rng):
    belief, X = make(), rng.random((4, 2))
    mean_bar, var_bar = rng.normal(size=(2, 3, 4))
    means, variances, pull = belief.predict_each_with_pullback(X)
    np.testing.assert_allclose(means, belief.predict_each(X)[0], rtol=1e-12)
    np.testing.assert_allclose(variances, belief.predict_each(X)[1], rtol=1e-12)
    expected = sum(
        part.predict_with_pullback(X)[2](mean_bar[k], var_bar[k])
        for k, part in enumerate(belief.components)
    )
    np.testing.assert_allclose(pull(mean_bar, var_bar), expected, rtol=1e-9)


def test_a_vanishing_component_keeps_log_ei_finite(rng):
    belief = mixture()
    last = Mixture(belief.components, np.array([0.0, 0.0, 1.0]))
    X = rng.random((4, 2))
    np.testing.assert_allclose(LogEI(-60.0)(last, X), LogEI(-60.0)(belief.components[2], X))
