"""Several kinds of surrogate side by side: their probabilities, their mixture, their state."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import outcrop as oc
from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Kept, Slice
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
from outcrop.surrogates.ensemble import MEMBERS, MOST_CHANGE, RESOLUTION, TABLE
from outcrop.surrogates.inferred import MOST_ROWS
from outcrop.surrogates.situation import NoiseFacts
from outcrop.testing import view_of
from tests.strategies.spaces import EVERY_SPACE

SPACE = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)})
EXACT = NoiseFacts(False)


@dataclass(frozen=True)
class Constant:
    """A posterior that predicts one mean and one variance everywhere."""

    mean: float
    var: float

    def predict(self, X):
        return np.full(len(X), self.mean), np.full(len(X), self.var)

    def predict_with_pullback(self, X):
        return *self.predict(X), lambda mean_bar, var_bar: np.zeros_like(X)

    def condition(self, X, y):
        return self

    def incumbent(self):
        return 0.0


@dataclass(frozen=True)
class ConstantKind(Kind):
    """A kind that never learns: its density of every result is known."""

    mean: float
    var: float = 1.0

    @property
    def label(self) -> str:
        return f"constant {self.mean}"

    def surrogate(self, situation):
        return self

    def fit(self, observations, rng, previous: Mapping[str, Any] | None = None) -> Mixture:
        return replace(Mixture.single(Constant(self.mean, self.var)), state={"kept": True})


@dataclass(frozen=True)
class WatchedKind(ConstantKind):
    """A constant kind that notes when its chains would move."""

    moved: list[str] = field(default_factory=list, compare=False)
    is_kept: bool = False

    def surrogate(self, situation):
        return replace(self, is_kept=isinstance(situation.inference, Kept))

    def fit(self, observations, rng, previous: Mapping[str, Any] | None = None) -> Mixture:
        if not self.is_kept:
            self.moved.append(self.label)
        return super().fit(observations, rng, previous)


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


def data_of(y, seed=0):
    X = np.random.default_rng(seed).random((len(y), 2))
    return Observations(X, np.asarray(y, dtype=float))


def fitted(ensemble, data, previous=None, seed=0, situation=None):
    surrogate = ensemble.surrogate(situation or Situation(SPACE, EXACT))
    return surrogate.fit(data, np.random.default_rng(seed), previous)


def view(space, n=12, **more):
    X = space.from_uniform(np.random.default_rng(0).random((n, len(space.columns))))
    y = np.sin(5 * X.sum(1)) + X[:, 0]
    return view_of(space, X, y, X[:0], X[:0], noise=False, **more)


def probabilities(means, values, forgetting):
    """Those of constant kinds that predicted these values, by label."""
    expected = np.full(len(means), 1 / len(means))
    for y in values:
        gains = norm.logpdf(y, means, np.sqrt(1 + RESOLUTION**2))
        expected = expected * np.exp(np.clip(gains - gains.mean(), -MOST_CHANGE, MOST_CHANGE))
        expected = (1 - forgetting) * expected / expected.sum() + forgetting / len(means)
    labels = [ConstantKind(mean).label for mean in means]
    return dict(zip(labels, expected.tolist(), strict=True))


@given(
    means=st.lists(st.floats(-2, 2), min_size=2, max_size=5, unique=True),
    new=st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    forgetting=st.floats(0, 1),
)
@settings(max_examples=50, deadline=None)
def test_probabilities_follow_the_densities_of_results_that_were_not_known(means, new, forgetting):
    ensemble = Ensemble(tuple(map(ConstantKind, means)), forgetting=forgetting)
    data = data_of([0.0, 1.0, *new])
    known = fitted(ensemble, data.rows(np.arange(2)))
    found = fitted(ensemble, data, known.state).evidence

    assert found == pytest.approx(probabilities(means, new, forgetting), rel=1e-9)
    assert sum(found.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [TABLE, MOST_ROWS])
def test_the_first_fit_to_a_table_predicts_every_second_result(n):
    means, values = [-0.5, 0.0, 1.0], np.sin(np.arange(n))
    ensemble = Ensemble(tuple(map(ConstantKind, means)))
    assert fitted(ensemble, data_of(values)).evidence == pytest.approx(
        probabilities(means, values[1::2], ensemble.forgetting), rel=1e-9
    )
    before = fitted(ensemble, data_of(values).rows(np.arange(TABLE - 1)))
    assert list(before.evidence.values()) == pytest.approx([1 / 3] * 3)


def test_the_most_probable_members_by_a_long_table_are_fitted_to_all_of_it():
    means = [-1.0, -0.5, 0.0, 0.5, 1.0]
    values = np.random.default_rng(0).normal(0.8, 0.1, MOST_ROWS + 100)
    belief = fitted(Ensemble(tuple(map(ConstantKind, means))), data_of(values))
    assert set(belief.members) == {"constant 0.5", "constant 1.0"}


def test_half_of_the_weight_is_shared_alike_and_half_follows_the_probabilities():
    ensemble = Ensemble((ConstantKind(0.0), ConstantKind(1.0), ConstantKind(2.0)))
    data = data_of([0.0, 1.0, 0.1])
    belief = fitted(ensemble, data, fitted(ensemble, data.rows(np.arange(2))).state)
    probabilities = [belief.evidence[f"constant {mean}"] for mean in (0.0, 1.0, 2.0)]
    assert belief.weights == pytest.approx(1 / 6 + 0.5 * np.array(probabilities))
    assert probabilities[0] > probabilities[1] > probabilities[2]


def test_the_first_fit_has_equal_probabilities():
    belief = fitted(Ensemble(), data_of([0.0, 1.0, -1.0]))
    assert set(belief.evidence) == {kind.label for kind in MEMBERS}
    assert list(belief.evidence.values()) == pytest.approx([1 / 5] * 5)


def test_a_member_that_was_wrong_comes_back_when_it_predicts_better():
    ensemble = Ensemble((ConstantKind(0.0), ConstantKind(2.0)))
    state = fitted(ensemble, data_of([0.0])).state
    values = [0.0] + [0.0] * 30 + [2.0] * 8
    leads = []
    for n in range(2, len(values) + 1):
        belief = fitted(ensemble, data_of(values).rows(np.arange(n)), state)
        state, leads = belief.state, [*leads, belief.evidence["constant 2.0"]]
    assert leads[28] < 0.1
    assert leads[-1] > 0.5


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


def test_many_observations_are_modelled_by_the_two_most_probable_members():
    n = MOST_ROWS + 1
    data = data_of(np.sin(7 * np.random.default_rng(0).random(n)))
    evidence = {kind.label: 0.1 for kind in MEMBERS} | {"Spartan GP": 0.4, "warped GP": 0.3}
    state = {"evidence": evidence, "rows": data.fingerprints, "members": {}}
    situation = Situation(SPACE, EXACT, observations=n)
    surrogate = Ensemble().surrogate(situation)
    weights = surrogate._weights(surrogate._evidence(data, state), n)
    assert set(weights) == {"Spartan GP", "warped GP"}
    assert sum(weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_every_member_moves_in_turn_also_in_batches(batch):
    moved: list[str] = []
    ensemble = Ensemble(tuple(WatchedKind(float(i), moved=moved) for i in range(5)))
    data = data_of(np.sin(np.arange(100)))
    state = fitted(ensemble, data.rows(np.arange(60))).state
    moved.clear()
    for n in range(60, 100, batch):
        for running in range(batch):
            situation = Situation(SPACE, EXACT, observations=n, running=running)
            belief = fitted(ensemble, data.rows(np.arange(n)), state, situation=situation)
            state = belief.state
    assert {moved.count(kind.label) for kind in ensemble.members} == {20}  # every second time


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
