"""Searching for the best average over input noise: what is believed, and that all parts take it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import outcrop as oc
from outcrop import acquisition, pending
from outcrop.baselines.one_hot import Cube
from outcrop.data import Observations
from outcrop.inference import MAP, Slice
from outcrop.maximise import Maximiser
from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.strategies import Method, strategy_for
from outcrop.strategies.hierarchical_levels import SpaceLevels
from outcrop.strategies.initial import LatinHypercube
from outcrop.strategies.model_based import ModelBased
from outcrop.surrogates import GP, Inferred, Mixture
from outcrop.surrogates.robust.averaged_posterior import AveragedPosterior
from outcrop.testing import STRATEGY_CONTRACT, view_of
from outcrop.testing.strategies import suggests_a_legal_configuration

FAST = Slice(chains=2, burn_in=1)
QUICK = Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=10)
LINE = Space({"x": Float(0, 10, input_std=0.8)})
BOX = Space(
    {"x": Float(-2, 3), "y": Float(1e-3, 10, log=True)},
    input_covariance={("x", "y"): [[0.09, 0.05], [0.05, 0.16]]},
)
MIXED = Space(
    {
        "x": Float(0, 1, input_std=0.1),
        "n": Int(1, 8),
        "c": Categorical(["u", "v", "w"]),
        "m": Choice({"a": {}, "b": {"z": Float(0, 1, input_std=0.05)}}),
    }
)


def method(**parts: Any) -> Method:
    return Method(**{"inference": FAST, "maximiser": QUICK, "initial": LatinHypercube(3), **parts})


def example(space, n=12, pending=2, **more):
    rng = np.random.default_rng(1)
    X = space.from_uniform(rng.random((n + pending, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    cov = np.repeat(space.unit_covariance[None], n, axis=0)
    more = {"robust": True, "input_cov": cov, **more}
    return view_of(space, X[:n], y[:n], X[n:], **more)


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("space", [BOX, MIXED], ids=["box", "mixed"])
def test_a_robust_strategy_keeps_the_contract(space, check):
    check(strategy_for(method(), space), space, example(space))


@pytest.mark.parametrize(
    "scores",
    [
        acquisition.EI(),
        acquisition.UCB(),
        acquisition.PI(),
        acquisition.MaxValueEntropy(samples=4),
        acquisition.Thompson(features=32),
        acquisition.EIIG(),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_acquisition_scores_the_average(scores):
    suggests_a_legal_configuration(strategy_for(method(acquisition=scores), BOX), BOX, example(BOX))


@pytest.mark.parametrize(
    "policy",
    [
        pending.Liar("max"),
        pending.ThompsonSampling(),
        pending.PLAyBOOK("L"),
        pending.PLAyBOOK("HL"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("space", [BOX, MIXED], ids=["box", "mixed"])
def test_every_pending_policy_takes_the_average(space, policy):
    suggests_a_legal_configuration(
        strategy_for(method(pending=policy), space), space, example(space)
    )


@pytest.mark.parametrize(
    "surrogate",
    [
        oc.surrogates.Warped(),
        oc.surrogates.Treed(),
        oc.surrogates.Forest(trees=8),
        oc.surrogates.TreeStructured(),
        oc.baselines.OneHot(),
        oc.surrogates.NIGP(),
    ],
    ids=lambda each: type(each).__name__,
)
def test_every_surrogate_is_averaged(surrogate):
    own: Any = method(surrogate=surrogate)
    suggests_a_legal_configuration(strategy_for(own, MIXED), MIXED, example(MIXED))


@pytest.mark.parametrize("name", ["cocabo", "hierarchical"])
def test_searches_of_mixed_spaces_take_noise_of_their_numbers(name):
    at = example(MIXED).X + np.array([0.03, 0.0, 0.0, 0.0, 0.0])
    view = example(MIXED, at=at)
    suggests_a_legal_configuration(strategy_for(name, MIXED), MIXED, view)


def test_the_belief_is_the_average_and_the_objective_is_left_as_it_was():
    strategy: Any = strategy_for(method(), LINE)
    view = example(LINE, pending=0)
    robust = strategy.belief(view, np.random.default_rng(0))
    nominal = strategy.belief(replace(view, robust=False), np.random.default_rng(0))
    nodes, weights = np.polynomial.hermite_e.hermegauss(9)
    X = np.array([[0.3], [0.62]])
    each = [nominal.predict(X + 0.08 * node)[0] for node in nodes]
    np.testing.assert_allclose(robust.predict(X)[0], weights @ each / weights.sum(), rtol=1e-9)
    draws = robust.sample(X, np.random.default_rng(1), 4000)
    np.testing.assert_allclose(draws.mean(0), robust.predict(X)[0], atol=0.02)


@pytest.mark.parametrize("space", [BOX, MIXED], ids=["box", "mixed"])
def test_every_point_has_the_variance_of_its_own_average(space):
    strategy: Any = strategy_for(method(), space)
    belief = strategy.belief(example(space), np.random.default_rng(0)).mixture
    X = space.from_uniform(np.random.default_rng(2).random((12, len(space.columns))))
    for part in belief.components:
        w, points = part.around.weights, part.around.points(X).reshape(12, -1, X.shape[1])
        own = [w @ part.posterior.predict_joint(around)[1] @ w for around in points]
        np.testing.assert_allclose(part.predict(X)[1], own, rtol=1e-6)


def test_the_incumbent_and_the_record_are_those_of_the_average():
    strategy: Any = strategy_for(method(), LINE)
    view = example(LINE, pending=0)
    suggestion = strategy.propose(view, np.random.default_rng(0))
    assert suggestion.why["robust"] is True
    belief = strategy.belief(view, np.random.default_rng(0))
    mean, std = belief.predict(LINE.encode([suggestion.params]).X)
    assert suggestion.why["mean"] == pytest.approx(mean[0])
    assert suggestion.why["std"] == pytest.approx(std[0])
    part = belief.mixture.components[0]
    assert isinstance(part, AveragedPosterior)
    assert part.incumbent() == part.predict(view.X)[0].min()
    assert (
        "robust" not in strategy.propose(replace(view, robust=False), np.random.default_rng(0)).why
    )


def test_an_average_is_in_the_units_of_the_objective_however_long_its_tail():
    strategy: Any = strategy_for(method(), LINE)
    view = example(LINE, pending=0)
    tailed = replace(view, y=np.exp(8 * view.y))
    assert strategy.belief(tailed, np.random.default_rng(0)).outcome.tail == 1.0
    nominal = strategy.belief(replace(tailed, robust=False), np.random.default_rng(0))
    assert nominal.outcome.tail < 1.0


@dataclass(frozen=True, eq=False)
class Recording:
    """A surrogate that keeps what it was fitted to."""

    seen: list[Observations]

    def fit(self, observations, rng, previous=None) -> Mixture:
        self.seen.append(observations)
        model = GP(oc.kernels.Matern52([0.3]), noise=1e-4)
        return Inferred(model, MAP()).fit(observations, rng, previous)


def test_a_model_is_fitted_where_evaluations_happened_and_told_how_surely():
    seen: list[Observations] = []
    view = example(LINE, pending=0)
    at = view.X + 0.01
    cov = np.linspace(0, 0.01, len(at))[:, None]
    strategy = strategy_for(method(surrogate=Recording(seen)), LINE)
    strategy.belief(replace(view, at=at, input_cov=cov), np.random.default_rng(0))
    np.testing.assert_array_equal(seen[0].X, at)
    np.testing.assert_array_equal(seen[0].input_cov, cov)


@pytest.mark.parametrize(
    ("kind", "noise", "is_learnt"),
    [
        (None, False, True),
        (None, 0.1, True),
        (oc.surrogates.Warped(), False, True),
        (oc.surrogates.NIGP(), False, False),
        (oc.surrogates.NIGP(), 0.1, False),
        (oc.surrogates.NIGP(), None, True),
    ],
)
def test_uncertain_places_are_noise_to_models_that_know_nothing_of_them(kind, noise, is_learnt):
    strategy = strategy_for(method(surrogate=kind), LINE)
    assert isinstance(strategy, ModelBased)
    belief = strategy.belief(example(LINE, pending=0, noise=noise), np.random.default_rng(0))
    levels = {part.posterior.model.noise for part in belief.mixture.components}  # type: ignore[attr-defined]
    assert (min(levels) > 1e-8) == is_learnt


def test_chance_in_the_inputs_makes_a_second_look_worth_it():
    view = example(LINE, pending=0)
    assert view.is_noisy
    assert not replace(view, input_cov=np.zeros((12, 1))).is_noisy


def test_levels_and_cubes_keep_the_noise_of_their_numbers():
    both = {("x", "m.b.z"): [[0.01, 0.001], [0.001, 0.02]]}
    exact = {name: MIXED.declared[name] for name in ("n", "c")}
    option = Choice({"a": {}, "b": {"z": Float(0, 1)}})
    space = Space({"x": Float(0, 2), **exact, "m": option}, input_covariance=both)
    levels = SpaceLevels(space)
    assert levels is not None
    assert dict(levels.outer.input_covariance) == {("x",): ((0.01,),)}
    assert dict(levels.inner.input_covariance) == {("m.b.z",): ((0.02,),)}
    cube = Cube(space)
    full = space.unit_covariance[None]
    np.testing.assert_allclose(cube.widened(full)[0], cube.wide.unit_covariance)
    variances = np.diagonal(full, axis1=1, axis2=2)
    np.testing.assert_allclose(cube.widened(variances)[0], cube.wide.unit_covariance.diagonal())


def test_a_space_without_noise_is_searched_as_it_is():
    space = Space({"x": Float(0, 1)})
    strategy: Any = strategy_for(method(), space)
    view = example(space, pending=0, input_cov=None)
    same = strategy.propose(replace(view, robust=False), np.random.default_rng(0)).params
    assert strategy.propose(view, np.random.default_rng(0)).params == same
