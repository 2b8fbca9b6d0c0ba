"""Information about hyperparameters, against entropies integrated on a grid and Monte Carlo."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import outcrop as oc
from outcrop.acquisition import (
    BALD,
    EI,
    EIIG,
    HandOver,
    InformationGain,
    LogEI,
    Pointwise,
    Thompson,
)
from outcrop.acquisition.hyperparameters import gaussian_information, mutual_information
from outcrop.errors import ModelError, ShapeError
from outcrop.inference import Slice
from outcrop.kernels import Matern52
from outcrop.maximise import Maximiser
from outcrop.strategies import Method, strategy_for
from outcrop.strategies.initial import Sobol
from outcrop.surrogates import (
    GP,
    HeteroscedasticGP,
    LeafwisePosterior,
    MarginalPosterior,
    Mixture,
)
from outcrop.surrogates.partition import Partition
from outcrop.testing import STRATEGY_CONTRACT, central_differences, view_of
from outcrop.testing.acquisitions import ACQUISITION_CONTRACT
from tests.acquisition.beliefs import BEST, chains, data, mixture, single
from tests.strategies.spaces import EVERY_SPACE

NOISE = {mixture: [1e-4, 1e-2, 0.2], chains: [1e-3, 1e-3, 1e-3]}  # of the components in `beliefs`
READY = (BALD(), InformationGain(), EIIG(1.0, BEST, step=2), EIIG(0.0, BEST))
QUICK = Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=10)
K, M = 4, 3  # components and points of plain arrays

means = arrays(float, (K, M), elements=st.floats(-3, 3))
deviations = arrays(float, (K, M), elements=st.floats(-3, 3)).map(np.exp)
shares = arrays(float, K, elements=st.floats(0.01, 1)).map(lambda w: w / w.sum())


def label(value):
    return getattr(value, "__name__", repr(value))


def prepare(acquisition, belief, seed=0, incumbent=BEST, step=3):
    candidates = np.random.default_rng(9).random((50, 2))
    return acquisition.prepare(belief, incumbent, candidates, np.random.default_rng(seed), step)


def normal_density(y, mean, std):
    return np.exp(-0.5 * ((y - mean) / std) ** 2) / (std * np.sqrt(2 * np.pi))


def entropy(y, density):
    positive = np.where(density > 0, density, 1.0)
    return np.trapezoid(-density * np.log(positive), y)


def brute_information(mean, std, weights, of=None):
    """The entropy of the mixture (or of what `of` makes of it) less the components', on grids."""
    values = []
    for m, s in zip(mean.T, std.T, strict=True):
        total = np.sqrt(weights @ (s**2 + (m - weights @ m) ** 2))
        wide = weights @ m + total * np.linspace(-9, 9, 8001)
        fine = [own + scale * np.linspace(-9, 9, 8001) for own, scale in zip(m, s, strict=True)]
        y = np.unique(np.concatenate([wide, *fine]))
        each = normal_density(y, m[:, None], s[:, None])
        mixed = weights @ each if of is None else of(y, weights @ m, total)
        within = sum(w * entropy(y, own) for w, own in zip(weights, each, strict=True))
        values.append(entropy(y, mixed) - within)
    return np.array(values)


def observed(make, X):
    """What the components of a belief predict of observations at `X`."""
    mean, var = make().predict_each(X)
    return mean, np.sqrt(var + np.array(NOISE[make])[:, None]), make().weights


@pytest.mark.parametrize("belief", [single, mixture, chains], ids=label)
@pytest.mark.parametrize("acquisition", READY, ids=label)
@pytest.mark.parametrize("check", ACQUISITION_CONTRACT, ids=label)
def test_acquisitions_keep_the_contract(check, acquisition, belief):
    check(acquisition, belief(), np.random.default_rng(6).random((5, 2)))


@pytest.mark.parametrize("step", [1, 99])
@pytest.mark.parametrize("check", ACQUISITION_CONTRACT, ids=label)
def test_what_a_hand_over_prepares_keeps_the_contract(check, step):
    ready = prepare(HandOver(), mixture(), step=step)
    check(ready, mixture(), np.random.default_rng(7).random((4, 2)))


@pytest.mark.parametrize("make", [mixture, chains], ids=label)
def test_bald_is_the_mutual_information_integrated_on_a_grid(make, rng):
    X = rng.random((25, 2))
    expected = brute_information(*observed(make, X))
    assert expected.max() > 0.05
    np.testing.assert_allclose(BALD()(make(), X), expected, atol=1e-3)


@pytest.mark.parametrize("make", [mixture, chains], ids=label)
def test_information_gain_is_that_of_a_gaussian_integrated_on_a_grid(make, rng):
    X = rng.random((25, 2))
    expected = brute_information(*observed(make, X), of=normal_density)
    np.testing.assert_allclose(InformationGain()(make(), X), expected, atol=1e-6)


@pytest.mark.parametrize("make", [mixture, chains], ids=label)
def test_eiig_is_ei_and_twice_the_gain_annealed_by_the_square_of_the_step(make, rng):
    X = rng.random((8, 2))
    gain = brute_information(*observed(make, X), of=normal_density)
    for alpha, step in ((1.0, 1), (0.7, 1), (1.0, 3), (2.5, 10)):
        got = EIIG(alpha, BEST, step)(make(), X)
        np.testing.assert_allclose(got, EI(BEST)(make(), X) + 2 * alpha / step**2 * gain, atol=1e-5)


@given(mean=means, std=deviations, weights=shares)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_mutual_information_agrees_with_integration_for_any_components(mean, std, weights):
    """Also where one is hundreds of times narrower than another and lies within it."""
    expected = brute_information(mean, std, weights)
    np.testing.assert_allclose(mutual_information(mean, std, weights)[0], expected, atol=3e-3)


def test_mutual_information_matches_monte_carlo(rng):
    mean, std = rng.normal(size=(K, 1)), np.exp(0.7 * rng.normal(size=(K, 1)))
    weights = np.array([0.1, 0.4, 0.2, 0.3])
    which = rng.choice(K, 400_000, p=weights)
    y = rng.normal(mean[which, 0], std[which, 0])
    each = normal_density(y, mean, std)
    told = np.log(each[which, np.arange(len(y))] / (weights @ each))
    assert mutual_information(mean, std, weights)[0][0] == pytest.approx(told.mean(), abs=0.005)


@given(mean=means, std=deviations, weights=shares)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_information_lies_between_nothing_and_its_bounds(mean, std, weights):
    exact, bound = (f(mean, std, weights)[0] for f in (mutual_information, gaussian_information))
    assert (exact >= -1e-12).all()
    assert (exact <= -(weights @ np.log(weights)) + 1e-3).all()
    assert (bound >= exact - 3e-3).all()
    assert (bound >= -1e-12).all()


@given(mean=means, std=deviations, weights=shares)
@settings(max_examples=50, deadline=None, derandomize=True)
def test_components_that_agree_leave_nothing_to_learn(mean, std, weights):
    same = np.repeat(mean[:1], K, axis=0), np.repeat(std[:1], K, axis=0), weights
    for formula in (mutual_information, gaussian_information):
        np.testing.assert_allclose(formula(*same)[0], 0.0, atol=1e-12)


def test_a_belief_in_one_set_of_hyperparameters_leaves_nothing_to_learn(rng):
    X = rng.random((6, 2))
    part = single()
    for belief in (part, Mixture.single(part), Mixture((part,) * 3, np.array([0.2, 0.5, 0.3]))):
        for acquisition in (BALD(), InformationGain()):
            value, gradient = acquisition.with_gradient(belief, X)
            np.testing.assert_allclose(value, 0.0, atol=1e-12)
            np.testing.assert_allclose(gradient, 0.0, atol=1e-9)


def test_for_little_disagreement_the_gaussian_bound_is_the_information(rng):
    away, stretch, weights = rng.normal(size=(K, M)), rng.normal(size=(K, M)), np.full(K, 0.25)
    little = 0.02 * away, np.exp(0.02 * stretch), weights
    exact, bound = (f(*little)[0] for f in (mutual_information, gaussian_information))
    assert exact.min() > 1e-5
    np.testing.assert_allclose(bound, exact, rtol=5e-3)


@pytest.mark.parametrize("formula", [mutual_information, gaussian_information], ids=label)
def test_derivatives_agree_with_finite_differences(formula, rng):
    mean, std = rng.normal(size=(K, M)), np.exp(rng.normal(size=(K, M)))
    weights = np.array([0.5, 0.2, 0.0, 0.3])
    _, mean_bar, std_bar = formula(mean, std, weights)
    by_mean = central_differences(lambda x: formula(x, std, weights)[0].sum(), mean)
    by_std = central_differences(lambda x: formula(mean, x, weights)[0].sum(), std)
    np.testing.assert_allclose(mean_bar, by_mean, atol=1e-7)
    np.testing.assert_allclose(std_bar, by_std, atol=1e-7)
    assert not mean_bar[2].any()


def test_many_points_at_once_are_as_each_alone(rng):
    mean, std, weights = (
        rng.normal(size=(K, 700)),
        np.exp(rng.normal(size=(K, 700))),
        np.ones(K) / K,
    )
    together = mutual_information(mean, std, weights)
    for j in (0, 333, 699):
        alone = mutual_information(mean[:, j : j + 1], std[:, j : j + 1], weights)
        for one, all_ in zip(alone, together, strict=True):
            np.testing.assert_allclose(one[..., 0], all_[..., j], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("acquisition", READY, ids=label)
def test_everything_is_finite_at_the_data_and_far_away(acquisition):
    belief = mixture()
    X = np.vstack([belief.components[0].data.X, [[40.0, -40.0], [1e6, 1e6]]])
    value, gradient = acquisition.with_gradient(belief, X)
    assert np.isfinite(value).all()
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("offsets", [(0.0, 0.0, 0.0), (0.0, 1.0, 1.0)])
@pytest.mark.parametrize("formula", [mutual_information, gaussian_information], ids=label)
def test_everything_is_finite_where_components_are_certain(formula, offsets):
    mean = 0.3 + np.array(offsets)[:, None]
    for found in formula(mean, np.full((3, 1), 1e-60), np.array([0.2, 0.3, 0.5])):
        assert np.isfinite(found).all()


def test_without_alpha_it_is_ei_to_the_last_bit(rng):
    X, own = rng.random((20, 2)), np.array([-0.9, 0.0, 0.3])
    for best in (BEST, own):
        for got, expected in zip(
            EIIG(0.0, best, step=1).with_gradient(mixture(), X),
            EI(best).with_gradient(mixture(), X),
            strict=True,
        ):
            np.testing.assert_array_equal(got, expected)


def test_observation_noise_hides_what_hyperparameters_differ_in(rng):
    X = rng.random((10, 2))

    def belief(noise):
        parts = [GP(Matern52(scale), noise=noise).condition(data()) for scale in (0.2, 0.6)]
        return Mixture(tuple(parts), np.ones(2))

    for acquisition in (BALD(), InformationGain()):
        assert (acquisition(belief(9.0), X) < 0.2 * acquisition(belief(0.01), X)).all()


def treed(scales, noises):
    """Processes in two leaves, each with a noise of its own."""
    seen = data()
    partition = Partition.of(seen.X, seen.y, (0,), len(seen) // 2)
    leaves = [
        GP(Matern52(scale), noise=noise).condition(seen.rows(rows))
        for scale, noise, rows in zip(scales, noises, partition.leaf_rows, strict=True)
    ]
    return LeafwisePosterior(partition, tuple(leaves))


def test_the_noise_of_every_leaf_counts(rng):
    X = rng.random((30, 2))
    belief = Mixture((treed((0.2, 0.3), (0.1, 0.02)), treed((0.6, 0.4), (0.3, 0.05))), np.ones(2))
    mean, var = belief.predict_each(X)
    leaf = [part.division.leaf_of(X) for part in belief.components]
    noise = np.stack([np.array([0.1, 0.02])[leaf[0]], np.array([0.3, 0.05])[leaf[1]]])
    assert all(len(set(each)) == 2 for each in noise)
    spread = (mean - mean.mean(0)) ** 2 + var + noise
    expected = 0.5 * np.log(spread.mean(0)) - 0.5 * np.log(var + noise).mean(0)
    np.testing.assert_allclose(InformationGain()(belief, X), expected, rtol=1e-12)


def test_the_noise_of_a_new_observation_is_averaged_over_what_is_unknown_of_it(rng):
    seen, X, level = data(), rng.random((10, 2)), 0.2
    logs = rng.standard_normal(len(seen))
    part = HeteroscedasticGP(Matern52(0.4), level, logs).condition(seen)
    drawn = level * np.exp(rng.standard_normal(400_000))
    np.testing.assert_allclose(part.noise_at(X), drawn.mean(), rtol=0.01)
    other = HeteroscedasticGP(Matern52(0.2), 0.01, logs).condition(seen)
    belief = Mixture((part, other), np.ones(2))
    mean, var = belief.predict_each(X)
    total = var + np.array([[level], [0.01]]) * np.exp(0.5)
    expected = 0.5 * np.log(((mean - mean.mean(0)) ** 2 + total).mean(0))
    expected -= 0.5 * np.log(total).mean(0)
    np.testing.assert_allclose(InformationGain()(belief, X), expected, rtol=1e-6)


@pytest.mark.parametrize("variance", ["thesis", "moment"])
def test_a_marginal_process_has_the_noise_of_its_centre(variance, rng):
    part = GP(Matern52(0.4), noise=0.3).condition(data())
    marginal = MarginalPosterior(part, (), (), variance)
    np.testing.assert_array_equal(marginal.noise_at(rng.random((4, 2))), np.full(4, 0.3))


def test_whether_there_is_noise_is_learnt_from_a_repetition():
    parts = [GP(Matern52(0.5), noise=noise).condition(data()) for noise in (1e-8, 0.05)]
    belief, X = Mixture(tuple(parts), np.ones(2)), np.vstack([data().X, [[0.5, 30.0]]])
    score = BALD()(belief, X)
    assert (score[:-1] > 0.9 * np.log(2)).all()
    assert score[-1] < 0.01


def test_preparing_fills_what_is_not_given():
    ready = prepare(EIIG(), single(), incumbent=0.4, step=5)
    assert (ready.best, ready.step) == (0.4, 5)
    ready = prepare(EIIG(best=0.1, step=2), single(), incumbent=0.4, step=5)
    assert (ready.best, ready.step) == (0.1, 2)
    with pytest.raises(ShapeError, match="each of 3 components, got 2"):
        EIIG(1.0, np.zeros(2), step=1)(mixture(), np.zeros((1, 2)))


@pytest.mark.parametrize("acquisition", [EIIG(), EIIG(best=0.1), HandOver()], ids=label)
def test_an_unprepared_acquisition_says_what_to_do(acquisition, rng):
    for evaluate in (acquisition, acquisition.with_gradient):
        with pytest.raises(ModelError, match="`prepare`"):
            evaluate(single(), rng.random((2, 2)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EIIG(alpha=-1.0), r"EIIG\(alpha=-1.0\): expected at least 0"),
        (lambda: EIIG(alpha=np.nan), r"EIIG\(alpha=nan\)"),
        (lambda: EIIG(step=0), r"EIIG\(step=0\): expected a count"),
        (lambda: EIIG(best=np.inf), r"best=inf\): expected a finite value"),
        (lambda: HandOver(steps=0), r"HandOver\(steps=0\): expected a whole number"),
        (lambda: HandOver(steps=2.5), r"HandOver\(steps=2.5\)"),
        (lambda: HandOver(first=BALD), r"HandOver\(first=.*written with \(\)"),
        (lambda: HandOver(then="ei"), r"HandOver\(then='ei'\): expected an acquisition"),
    ],
)
def test_impossible_fields_are_refused_with_a_remedy(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_a_hand_over_begins_with_the_one_and_ends_with_the_other():
    for seed in range(40):
        first = prepare(HandOver(BALD(), EI(), steps=5), mixture(), seed, step=1)
        last = prepare(HandOver(BALD(), EI(), steps=5), mixture(), seed, step=6)
        assert first == BALD()
        assert isinstance(last, EI)
        assert last.best == BEST


def test_between_the_ends_the_odds_fall_linearly():
    belief, hand_over = mixture(), HandOver(InformationGain(), LogEI(), steps=4)
    for step, odds in ((1, 1.0), (2, 0.75), (3, 0.5), (4, 0.25), (5, 0.0), (9, 0.0)):
        assert hand_over.probability(step) == odds
        drawn = [
            isinstance(prepare(hand_over, belief, seed, step=step), InformationGain)
            for seed in range(400)
        ]
        assert np.mean(drawn) == pytest.approx(odds, abs=0.08)


def test_what_is_handed_over_to_may_live_on_another_scale_or_draw_paths():
    assert not prepare(HandOver(then=LogEI()), mixture(), step=1).logarithmic
    assert prepare(HandOver(then=LogEI()), mixture(), step=99).logarithmic
    assert prepare(HandOver(then=Thompson(16)), mixture(), step=99).draw is not None


class Noted(Pointwise):
    """Minus the mean; writes down at which step it is prepared."""

    def __init__(self):
        self.steps = []

    def prepare(self, posterior, incumbent, candidates, rng, step):
        self.steps.append(step)
        return self

    def pointwise(self, mean, std):
        return -mean, np.full_like(mean, -1.0), np.zeros_like(mean)


def test_steps_count_from_the_first_suggestion_of_the_model():
    noted = Noted()
    method = Method(
        acquisition=noted,
        initial=Sobol(size=4),
        inference=Slice(chains=2, burn_in=2),
        maximiser=QUICK,
    )
    optimizer = oc.Optimizer(EVERY_SPACE["box"], method=method, seed=0)
    for value in (1.0, 0.5, 0.7, np.nan, 0.2):  # the fourth fails, which counts
        optimizer.tell(optimizer.ask(), value)
    optimizer.ask(3)  # so do those that run
    assert noted.steps == [1, 2, 3, 4]


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=label)
@pytest.mark.parametrize("acquisition", [EIIG(), BALD(), HandOver()], ids=label)
@pytest.mark.parametrize("space", ["mixed", "conditional"])
def test_they_propose_on_any_space_beside_running_and_failed_trials(space, acquisition, check):
    space = EVERY_SPACE[space]
    rng = np.random.default_rng(0)
    X = space.from_uniform(rng.random((16, len(space.columns))))
    view = view_of(space, X[:12], np.sin(3 * X[:12].sum(1)), X[12:14], X[14:])
    method = Method(acquisition=acquisition, inference=Slice(chains=4, burn_in=2), maximiser=QUICK)
    check(strategy_for(method, space), space, view)
