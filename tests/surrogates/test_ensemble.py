"""Several kinds of surrogate side by side: their mixture, their state, where they apply."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import outcrop as oc
from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Slice
from outcrop.params import Layout
from outcrop.problems import get
from outcrop.strategies import Method, strategy_for
from outcrop.surrogates import (
    Ensemble,
    Kind,
    Latent,
    Mixture,
    PartlyAdditive,
    Plain,
    Situation,
    Warped,
)
from outcrop.surrogates.ensemble import MEMBERS
from outcrop.surrogates.inferred import MOST_ROWS
from outcrop.surrogates.situation import NoiseFacts
from outcrop.testing import view_of
from tests.strategies.spaces import EVERY_SPACE
from tests.surrogates.ensembles import EXACT, SPACE, Constant, data_of, fitted


@dataclass(frozen=True)
class Peak(Constant):
    """An improvement of up to `height` is expected around `place`, and next to none elsewhere."""

    place: float
    height: float

    def predict(self, X):
        distance = np.square(X - self.place).sum(1)
        return 0.01 - self.height * np.exp(-20 * distance), np.full(len(X), self.var)

    def predict_with_pullback(self, X):
        mean, var = self.predict(X)
        slope = -40 * (X - self.place) * (mean - 0.01)[:, None]
        return mean, var, lambda mean_bar, var_bar: mean_bar[:, None] * slope


@dataclass(frozen=True)
class PeakKind(Kind):
    name: str
    place: float
    height: float

    @property
    def label(self) -> str:
        return self.name

    def surrogate(self, situation):
        return self

    def fit(self, observations, rng, previous: Mapping[str, Any] | None = None) -> Mixture:
        part = Peak(0.0, 1e-6, self.place, self.height)
        return replace(Mixture.single(part), state={"kept": True})


def view(space, n=12, **more):
    X = space.from_uniform(np.random.default_rng(0).random((n, len(space.columns))))
    y = np.sin(5 * X.sum(1)) + X[:, 0]
    return view_of(space, X, y, X[:0], X[:0], noise=False, **more)


@pytest.mark.parametrize(("balance", "place"), [(0.0, 0.8), (1.0, 0.2)])
def test_balanced_members_that_agree_outvote_one_that_expects_more(balance, place):
    members = PeakKind("a", 0.2, 0.02), PeakKind("b", 0.2, 0.02), PeakKind("c", 0.8, 2.0)
    method = Method(surrogate=Ensemble(members, balance=balance))
    found = strategy_for(method, SPACE).propose(view(SPACE), np.random.default_rng(3))
    assert [found.params[name] for name in ("x", "y")] == pytest.approx([place] * 2, abs=0.1)
    averaged = 0.01 * 2 / 3 if place == 0.2 else 1.99 / 3
    assert found.why["improvement"] == pytest.approx(
        averaged * view(SPACE).outcome.unit, rel=0.1
    )  # by the evidence alone


@pytest.mark.parametrize("kind", MEMBERS, ids=lambda kind: kind.label)
def test_an_ensemble_of_one_member_is_that_member(kind):
    one, other = (
        strategy_for(Method(surrogate=surrogate), SPACE).propose(
            view(SPACE), np.random.default_rng(3)
        )
        for surrogate in (Ensemble((kind,)), kind)
    )
    assert one.params == other.params
    assert one.warm == other.warm


def test_the_order_of_members_does_not_matter():
    members = MEMBERS[:3]
    data = data_of(np.sin(np.arange(9)))
    X = np.random.default_rng(1).random((5, 2))
    moments = []
    for order in permutations(members):
        first = fitted(Ensemble(order), data.rows(np.arange(7)))
        moments.append(fitted(Ensemble(order), data, first.state, seed=1).moments(X))
    for mean, var in moments[1:]:
        assert mean.tolist() == moments[0][0].tolist()
        assert var.tolist() == moments[0][1].tolist()


def test_the_belief_of_groups_of_members_is_that_of_each_component():
    belief = fitted(Ensemble(), data_of(np.sin(np.arange(12))))
    X = np.random.default_rng(1).random((4, 2))
    means, variances, pull = belief.predict_each_with_pullback(X)
    assert len(belief) == len(means) == 2 * len(MEMBERS)
    for part, mean, var in zip(belief.components, means, variances, strict=True):
        own_mean, own_var = part.predict(X)
        assert mean == pytest.approx(own_mean, rel=1e-9, abs=1e-9)
        assert var == pytest.approx(own_var, rel=1e-6, abs=1e-9)
    rng = np.random.default_rng(2)
    mean_bar, var_bar = rng.normal(size=(2, *means.shape))
    expected = sum(
        part.predict_with_pullback(X)[2](mean_bar[i], var_bar[i])
        for i, part in enumerate(belief.components)
    )
    assert pull(mean_bar, var_bar) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_uncertain_inputs_are_left_to_the_plain_process():
    situation = Situation(SPACE, NoiseFacts(has_uncertain_places=True))
    assert Ensemble().surrogate(situation) is None


def test_a_suggestion_of_the_plain_process_alone_is_called_so():
    space = oc.Space({"kind": oc.Categorical(list("abcdefghijklmnop"))})
    found = strategy_for("auto", space).propose(view(space, 6), np.random.default_rng(0))
    assert found.why["surrogate"] == "GP"


def test_twenty_numbers_are_left_to_the_plain_process():
    wide = oc.Space({f"x{i}": oc.Float(0, 1) for i in range(20)})
    assert Ensemble().surrogate(Situation(wide, EXACT)) is None
    narrow = oc.Space({f"x{i}": oc.Float(0, 1) for i in range(19)})
    assert Ensemble().surrogate(Situation(narrow, EXACT)) is not None


@pytest.mark.parametrize("name", ["box", "mixed", "conditional", "categories"])
def test_every_space_is_searched_and_asked_again_alike(name):
    space = EVERY_SPACE[name]
    strategy = strategy_for(Method(surrogate=Ensemble()), space)
    one, two = (strategy.propose(view(space, 14), np.random.default_rng(0)) for _ in range(2))
    assert one.params == two.params
    assert one.warm == two.warm
    space.validate(one.params)


def test_the_state_of_a_long_study_is_small():
    problem = get("hartmann-6")
    rng = np.random.default_rng(0)
    params = problem.space.sample(rng, MOST_ROWS)
    still = Slice(chains=2, burn_in=0, sweeps=0)  # as many numbers as the default stores
    method = Method(surrogate=Ensemble(), inference=still)
    optimizer = oc.Optimizer(problem.space, method=method, noise=False)
    optimizer.add(params, [problem(each) for each in params])
    optimizer.ask()
    assert len(json.dumps(dict(optimizer._state.view.warm))) < 64_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"members": ()}, "one kind or more"),
        ({"members": (Plain(), Plain())}, "each once"),
        ({"members": ("gp", "warped")}, "a tuple of kinds"),
        ({"members": (Plain, Warped)}, r"written with \(\)"),
        ({"members": Plain()}, "a tuple of kinds"),
        ({"shared": 1.5}, "shared=1.5.*from 0 to 1"),
        ({"shared": "half"}, "shared='half'.*from 0 to 1"),
        ({"forgetting": -0.1}, "forgetting=-0.1.*from 0 to 1"),
        ({"balance": 2}, "balance=2.*from 0 to 1"),
        ({"chains": 0}, "chains=0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ModelError, match=message):
        Ensemble(**arguments)


def test_effects_that_add_up_need_two_numbers():
    line = oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])})
    assert PartlyAdditive().surrogate(Situation(line)) is None
    assert PartlyAdditive().surrogate(Situation(SPACE)) is not None


def test_effects_vary_as_fast_in_many_dimensions_as_in_few():
    medians = []
    for d in (2, 9):
        space = oc.Space({f"x{i}": oc.Float(0, 1) for i in range(d)})
        data = Observations(np.zeros((1, d)), np.zeros(1))
        layout = Layout.of(PartlyAdditive().kernel(Situation(space)), data)
        thetas = layout.sample_prior(np.random.default_rng(0), 4000)
        scales = [layout.bind(theta).kernel.kernel.kernel.lengthscales for theta in thetas]
        assert np.shape(scales) == (4000, d)
        medians.append(np.median(scales))
    np.testing.assert_allclose(medians, 0.25, rtol=0.05)


def test_a_sum_of_effects_is_learnt_from_few_points():
    space = oc.Space({name: oc.Float(0, 1) for name in "abcd"})
    X = np.random.default_rng(0).random((130, 4))
    y = np.sin(9 * X).sum(1)
    y = (y - y.mean()) / y.std()
    errors = {}
    for kind in (Plain(), PartlyAdditive()):
        surrogate = kind.surrogate(Situation(space, EXACT))
        belief = surrogate.fit(Observations(X[:30], y[:30]), np.random.default_rng(0))
        errors[kind.label] = np.sqrt(np.mean((belief.moments(X[30:])[0] - y[30:]) ** 2))
    assert errors["partly additive GP"] < 0.6 * errors["GP"]


def test_the_density_of_a_new_observation_includes_its_own_latent():
    """Against Monte Carlo over the latent, by a process with one more input."""
    kernel = oc.kernels.Matern52(np.array([0.3, 0.3]))
    data = data_of([0.0, 1.0, -0.5, 0.3])
    latents = (np.array([0.5, -1.0, 0.2, 1.5]),)
    model = oc.surrogates.LatentGP(kernel, 0.2, latents, 1e-6)
    X = np.array([[0.4, 0.6], [0.9, 0.1]])
    weights, means, variances = model.condition(data).new_observations(X)

    wide = oc.surrogates.GP(oc.kernels.Matern52(np.array([0.3, 0.3, 0.3])), 1e-6)
    seen = Observations(np.column_stack([data.X, 0.2 * latents[0]]), data.y)
    h = 0.2 * np.random.default_rng(0).standard_normal(4000)
    y = np.array([0.3, -0.2])
    for i in range(2):
        mean, var = wide.condition(seen).predict(np.column_stack([np.tile(X[i], (4000, 1)), h]))
        sampled = norm.pdf(y[i], mean, np.sqrt(var)).mean()
        found = weights @ norm.pdf(y[i], means[:, i], np.sqrt(variances[:, i]))
        assert found == pytest.approx(sampled, rel=0.03)
    assert weights.sum() == pytest.approx(1.0)


def test_latents_of_two_spreads_are_one_member():
    belief = fitted(Ensemble((Plain(), Latent(together=True))), data_of([0.0, 1.0, 0.3, 0.2]))
    assert set(belief.evidence) == {"GP", "latent GP"}
