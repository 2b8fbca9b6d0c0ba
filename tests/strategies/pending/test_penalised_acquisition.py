from dataclasses import replace

import numpy as np
import pytest

from outcrop.acquisition import (
    BALD,
    EI,
    EIIG,
    PI,
    UCB,
    HandOver,
    InformationGain,
    LogEI,
    MaxValueEntropy,
    ScaledEI,
    SrinivasUCB,
    Thompson,
)
from outcrop.data import Observations
from outcrop.kernels import Matern52, Scaled
from outcrop.space import Float, Space
from outcrop.strategies import TopBranches
from outcrop.strategies.pending import HardPenalisation, LocalPenalisation
from outcrop.strategies.pending.penalised_acquisition import Penalised
from outcrop.surrogates import GP, Mixture
from outcrop.testing import central_differences, view_of
from tests.strategies.pending.beliefs import belief, waves, with_running
from tests.strategies.spaces import EVERY_SPACE

PLANE = Space({"x": Float(0, 1), "y": Float(0, 1)})
BUSY = np.array([[0.2, 0.3], [0.9, 0.1], [0.5, 0.8]])
ACQUISITIONS = [
    LogEI(),
    EI(),
    PI(),
    ScaledEI(),
    UCB(2.0),
    SrinivasUCB(),
    MaxValueEntropy(samples=4),
    BALD(),
    InformationGain(),
    EIIG(),
    HandOver(BALD(), LogEI(), steps=2),
    Thompson(64),
    TopBranches(),
]
MAY_BE_NEGATIVE = UCB, SrinivasUCB, Thompson
BY_COMPONENT = [LogEI(), EI(), PI(), ScaledEI(), UCB(2.0), MaxValueEntropy(samples=4)]
POLICIES = [
    HardPenalisation(local=True),
    HardPenalisation(positivity="offset"),
    LocalPenalisation(local=True),
]  # a clipped product is tested with the factors


def ready(acquisition, policy, mixture, candidates):
    """The acquisition as it would be maximised with `BUSY` running, and as it was without."""
    data = mixture.components[0].data
    view = view_of(PLANE, data.X, data.y, BUSY)
    incumbent = np.array([part.incumbent() for part in mixture.components])
    _, penalised = policy.account(view, PLANE, mixture, acquisition, np.random.default_rng(0))
    assert isinstance(penalised, Penalised)
    return tuple(
        each.prepare(mixture, incumbent, candidates, np.random.default_rng(1), 2)
        for each in (penalised, acquisition)
    )


@pytest.mark.parametrize("policy", POLICIES, ids=["hard", "offset", "local"])
@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=lambda a: type(a).__name__)
def test_gradients_agree_with_finite_differences(acquisition, policy, rng):
    mixture, X = waves(), rng.random((80, 2))
    penalised, _ = ready(acquisition, policy, mixture, X)
    X = X[penalised(mixture, X) > -100][:12]  # farther down differences are rounding
    assert len(X) > 2
    value, gradient = penalised.with_gradient(mixture, X)
    np.testing.assert_allclose(value, penalised(mixture, X), rtol=1e-9)
    expected = central_differences(lambda x: float(penalised(mixture, x).sum()), X)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("policy", POLICIES, ids=["hard", "offset", "local"])
@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=lambda a: type(a).__name__)
def test_nothing_is_worth_more_than_it_was(acquisition, policy, rng):
    mixture, X = waves(), np.vstack([rng.random((40, 2)), BUSY, BUSY + 0.03])
    penalised, plain = ready(acquisition, policy, mixture, X)
    scores = plain(mixture, X)
    if isinstance(acquisition, MAY_BE_NEGATIVE):
        assert scores.min() < 0
        each = penalised._values(mixture, X)
        positive = np.log1p(np.exp(each)) if policy.positivity == "softplus" else None
        each = each - each.min(1)[:, None] + 1e-3 if positive is None else positive
        scores = each[0] if len(each) == 1 else mixture.weights @ each
    assert (penalised(mixture, X) <= scores * (1 + 1e-12 * np.sign(scores))).all()


@pytest.mark.parametrize("acquisition", [UCB(2.0), Thompson(64)], ids=str)
@pytest.mark.parametrize("positivity", ["softplus", "offset"])
def test_a_negative_score_is_lowered_too(acquisition, positivity, rng):
    """A factor below 1 alone would raise it, and busy points would be the best of all."""
    mixture, X = waves(), np.vstack([rng.random((40, 2)), BUSY])
    policy = HardPenalisation(positivity=positivity)
    penalised, plain = ready(acquisition, policy, mixture, X)
    assert plain(mixture, BUSY).min() < 0
    assert penalised(mixture, BUSY).max() < 1e-12 < np.median(penalised(mixture, X))


@pytest.mark.parametrize("acquisition", BY_COMPONENT, ids=lambda a: type(a).__name__)
@pytest.mark.parametrize("policy", POLICIES, ids=["hard", "offset", "local"])
def test_every_component_meets_its_own_penalty_before_the_mean_is_taken(acquisition, policy, rng):
    mixture, X = waves(), rng.random((10, 2))
    penalised, plain = ready(acquisition, policy, mixture, X)
    penalty = np.exp(penalised.penalty.log(X))
    each = []
    for i, part in enumerate(mixture.components):
        own = {
            name: np.asarray(getattr(plain, name))[i : i + 1]
            for name in ("best", "minima")
            if getattr(plain, name, None) is not None
        }
        alone = replace(plain, **own)
        scores = alone(Mixture.single(part), X)
        if isinstance(acquisition, UCB):
            low = scores.min()
            softplus = np.log(1 + np.exp(scores))
            scores = scores - low + 1e-3 if policy.positivity == "offset" else softplus
        each.append((np.exp(scores) if plain.logarithmic else scores) * penalty[i])
    expected = mixture.weights @ np.array(each)
    value = penalised(mixture, X)
    np.testing.assert_allclose(np.exp(value) if plain.logarithmic else value, expected, rtol=1e-9)


@pytest.mark.parametrize("acquisition", [BALD(), EIIG(), InformationGain()], ids=str)
def test_a_score_of_the_whole_mixture_meets_the_mean_penalty(acquisition, rng):
    mixture, X = waves(), rng.random((10, 2))
    penalised, plain = ready(acquisition, POLICIES[0], mixture, X)
    factor = mixture.weights @ np.exp(penalised.penalty.log(X))
    np.testing.assert_allclose(penalised(mixture, X), plain(mixture, X) * factor, rtol=1e-9)


def test_penalties_follow_from_each_components_own_prediction_incumbent_and_constant():
    mixture = waves()
    penalised, _ = ready(LogEI(), HardPenalisation(gamma=2.0), mixture, BUSY)
    order = np.lexsort(BUSY.T[::-1])
    for i, part in enumerate(mixture.components):
        mean, var = part.predict(BUSY[order])
        wide = (
            np.abs(mean - part.incumbent()) + 2 * np.sqrt(var)
        ) / penalised.penalty.shape.radius[i]
        np.testing.assert_allclose(wide, wide[0], rtol=1e-6)  # which is the constant
        grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 81)] * 2), -1).reshape(-1, 2)
        slopes = np.linalg.norm(part.mean_gradient(grid), axis=1)
        assert wide[0] == pytest.approx(slopes.max(), rel=0.01)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_known_optimum_in_the_users_units_takes_the_place_of_the_incumbent(sign):
    """The model's units are those in which the values that it was fitted to are standardised."""
    mixture, optimum = waves(), sign * 70.0
    X = mixture.components[0].data.X
    z = mixture.components[0].data.y
    y = 200.0 + 40.0 * (z - z.mean()) / z.std()  # standardised by 200 and 40
    view = view_of(PLANE, X, y, BUSY, sign=sign)
    radii = []
    for known in (optimum, None, sign * 1e6):
        policy = HardPenalisation(gamma=0.0, optimum=known)
        _, penalised = policy.account(view, PLANE, mixture, UCB(), np.random.default_rng(0))
        radii.append(penalised.penalty.shape.radius)
    order = np.lexsort(BUSY.T[::-1])
    for i, part in enumerate(mixture.components):
        mean, _ = part.predict(BUSY[order])
        ratio = (mean + 130.0 / 40.0) / (mean - part.incumbent())
        np.testing.assert_allclose(radii[0][i] / radii[1][i], ratio, rtol=1e-9)
    np.testing.assert_array_equal(radii[2], radii[1])  # an optimum worse than what is known


def test_a_local_constant_penalises_no_farther_than_it_was_searched():
    """Small constants on a plateau once gave radii longer than the diagonal of the cube."""
    space = Space({f"x{i}": Float(0, 1) for i in range(5)})
    rng = np.random.default_rng(3)
    X = rng.random((20, 5))
    y = np.where(np.linalg.norm(X - 0.5, axis=1) < 0.5, -2.0, 0.7) + 0.05 * rng.normal(size=20)
    scales = np.array([0.05, 0.1, 0.2, 0.25, 0.4])
    part = GP(Scaled(1.0, Matern52(scales)), noise=1e-6).condition(Observations(X, y))
    view, mixture = view_of(space, X, y, rng.random((15, 5))), Mixture.single(part)
    reach = np.sqrt((scales**2).mean())
    for policy in (HardPenalisation(local=True), LocalPenalisation(local=True)):
        _, penalised = policy.account(view, space, mixture, UCB(), np.random.default_rng(0))
        shape = penalised.penalty.shape
        if isinstance(policy, HardPenalisation):
            radius = shape.radius
        else:
            radius = (shape.gap + shape.std) / shape.slope
        assert radius.max() == pytest.approx(reach)
        assert (radius <= reach * (1 + 1e-12)).all()
    _, penalised = HardPenalisation().account(view, space, mixture, UCB(), rng)
    assert penalised.penalty.shape.radius.max() < reach  # one constant for all needs no limit


@pytest.mark.parametrize("policy", POLICIES, ids=["hard", "offset", "local"])
def test_order_of_running_trials_does_not_show_in_any_digit(policy, rng):
    mixture, X = waves(), rng.random((10, 2))
    data = mixture.components[0].data
    scores = []
    for order in ([0, 1, 2], [2, 0, 1]):
        view = view_of(PLANE, data.X, data.y, BUSY[order])
        _, acquisition = policy.account(view, PLANE, mixture, UCB(), np.random.default_rng(0))
        prepared = acquisition.prepare(mixture, 0.0, X, np.random.default_rng(1), 1)
        scores.append(prepared(mixture, X))
    np.testing.assert_array_equal(*scores)


def test_leaves_are_ruled_out_as_before_and_the_others_are_penalised():
    mixture, space = belief("conditional", "tree"), EVERY_SPACE["conditional"]
    view = with_running(space, 5)
    incumbent = np.array([part.incumbent() for part in mixture.components])
    plain = TopBranches(count=1, extras=False, exact_up_to=0)
    _, penalised = HardPenalisation().account(view, space, mixture, plain, np.random.default_rng(0))
    X = space.from_uniform(np.random.default_rng(2).random((60, len(space.columns))))
    before, after = (
        each.prepare(mixture, incumbent, X, np.random.default_rng(1), 1)(mixture, X)
        for each in (plain, penalised)
    )
    assert 0 < (before > -1e14).sum() < 60
    np.testing.assert_array_equal(before > -1e14, after > -1e14)
    assert (after <= before).all()
