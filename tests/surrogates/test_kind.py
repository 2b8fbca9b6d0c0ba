"""How a kind of surrogate becomes a surrogate."""

from dataclasses import dataclass

import numpy as np
import pytest

import outcrop as oc
from outcrop.data import Observations
from outcrop.errors import MethodError, ModelError
from outcrop.inference import MAP, Slice
from outcrop.kernels import Matern12, Matern52, Offset, SharedScale
from outcrop.space import Categorical, Choice, Float, Space
from outcrop.strategies import Method, strategy_for
from outcrop.surrogates import GP, Blend, Forest, Inferred, Kind, Plain, Situation
from outcrop.surrogates.kind import GivenModel, GivenSurrogate, fitted_process, kind_of
from outcrop.surrogates.situation import (
    EXACT,
    INFERENCE,
    NoiseFacts,
    Priors,
    refreshed,
)
from tests.strategies.test_strategies import example

BOX = Space({"x": Float(0, 1), "y": Float(0, 1)})
MIXED = Space({"x": Float(0, 1), "c": Categorical(["a", "b"])})
FAST = Slice(chains=2, burn_in=2)


@dataclass(frozen=True)
class Rough(Kind):
    """A kind of the user's own."""

    label = "rough GP"

    def surrogate(self, situation):
        if situation.categories:
            return None
        return fitted_process(situation, situation.kernel(Matern12))


@pytest.mark.parametrize(
    ("facts", "models_places", "is_learnt"),
    [
        (NoiseFacts(), False, None),
        (NoiseFacts(True), False, True),
        (NoiseFacts(False), False, False),
        (NoiseFacts(0.3), False, False),
        (NoiseFacts(is_told=True), False, True),
        (NoiseFacts(False, is_told=True), False, False),
        (NoiseFacts(replicates_differ=True), False, True),
        (NoiseFacts(False, replicates_differ=True), False, True),
        (NoiseFacts(0.3, replicates_differ=True), False, False),
        (NoiseFacts(False, has_uncertain_places=True), False, True),
        (NoiseFacts(0.3, has_uncertain_places=True), False, True),
        (NoiseFacts(False, has_uncertain_places=True), True, False),
        (NoiseFacts(None, has_uncertain_places=True), True, True),
        (NoiseFacts(False, replicates_differ=True, has_uncertain_places=True), True, False),
    ],
)
def test_whether_noise_is_learnt_follows_from_what_is_known_of_it(facts, models_places, is_learnt):
    assert facts.is_learnt(models_places) is is_learnt


def test_noise_is_none_or_learnt_or_both_share_the_belief():
    def made(noise):
        return Plain().surrogate(Situation(BOX, NoiseFacts(noise), FAST))

    assert made(False).model.noise == EXACT
    assert made(True).model.noise.prior == Priors().noise
    both = made(None)
    assert isinstance(both, Blend)
    assert {part.inference.chains for part in both.parts.values()} == {1}


@pytest.mark.parametrize(("size", "is_shared"), [(2, False), (19, False), (20, True), (40, True)])
def test_lengthscales_of_many_numbers_vary_around_a_common_one(size, is_shared):
    space = Space({f"x{i}": Float(0, 1) for i in range(size)})
    kernel = Plain().surrogate(Situation(space, NoiseFacts(False))).model.kernel.kernel.kernel
    assert isinstance(kernel, SharedScale if is_shared else Matern52)
    learnt = kernel.scale.prior if is_shared else kernel.lengthscales.prior.for_size(size)
    assert learnt == Priors().lengthscales.for_size(size)


def test_numbers_of_which_few_are_active_together_have_lengthscales_of_their_own():
    branch = {f"x{i}": Float(0, 1) for i in range(12)}
    space = Space({"c": Choice({"a": branch, "b": branch})})
    kernel = Plain().surrogate(Situation(space, NoiseFacts(False))).model.kernel
    assert not any(isinstance(part, SharedScale) for part in kernel.walk())


def test_a_common_lengthscale_predicts_a_bowl_of_many_numbers_better(rng):
    situation = Situation(Space({f"x{i}": Float(0, 1) for i in range(20)}), NoiseFacts(False))
    X = rng.random((260, 20))
    values = np.square(X - 0.4).sum(1)
    y = (values - values[:60].mean()) / values[:60].std()
    apart = fitted_process(situation, situation.kernel())  # every lengthscale learnt by itself
    errors = []
    for surrogate in (Plain().surrogate(situation), apart):
        belief = surrogate.fit(Observations(X[:60], y[:60]), np.random.default_rng(1))
        mean, _ = belief.moments(X[60:])
        errors.append(np.square(mean - y[60:]).mean())
    assert errors[0] < 0.8 * errors[1] < 0.8


def test_an_inference_of_the_user_goes_before_that_of_the_kind():
    known = NoiseFacts(False)
    assert Plain().surrogate(Situation(BOX, known, MAP())).inference == MAP()
    assert Plain().surrogate(Situation(BOX, known)).inference == INFERENCE
    many = Plain().surrogate(Situation(BOX, known, observations=300))
    assert many.inference == refreshed(INFERENCE, 300) != INFERENCE


def test_priors_reach_the_kernel():
    priors = Priors(level=4.0)
    kernel = Situation(BOX, priors=priors).kernel()
    assert isinstance(kernel, Offset)
    assert kernel.variance == 4.0


def test_a_kind_of_the_users_own_needs_nothing_but_its_class():
    method = Method(surrogate=Rough(), inference=FAST)
    found = strategy_for(method, BOX).propose(example(BOX), np.random.default_rng(0))
    assert found.why["surrogate"] == "rough GP"
    left = strategy_for(method, MIXED).propose(example(MIXED), np.random.default_rng(0))
    assert left.why["surrogate"] == "GP"  # it has nothing to offer in a space with categories


def test_plain_is_what_a_method_without_a_surrogate_has():
    view = example(MIXED)
    one, two = (
        strategy_for(method, MIXED).propose(view, np.random.default_rng(1))
        for method in (Method(), Method(surrogate=Plain()))
    )
    assert one.params == two.params
    assert one.why == two.why


def test_models_and_surrogates_of_the_user_become_kinds():
    model, surrogate = GP(Matern52([0.3])), Inferred(GP(Matern52([0.3])), FAST)
    assert kind_of(None) == Plain()
    assert kind_of(Rough()) == Rough()
    assert kind_of(Forest()) == Forest()
    assert kind_of(model) == GivenModel(model)
    assert kind_of(model).surrogate(Situation(BOX, inference=FAST)).inference == FAST
    assert kind_of(surrogate) == GivenSurrogate(surrogate)
    assert kind_of(surrogate).surrogate(Situation(BOX)) is surrogate
    assert kind_of(surrogate).label == "Inferred"


@pytest.mark.parametrize("wrong", ["gp", 3, Plain, oc.surrogates.GP])
def test_what_is_no_kind_is_refused(wrong):
    with pytest.raises(ModelError, match="expected a kind of surrogate"):
        kind_of(wrong)
    with pytest.raises(MethodError, match=r"Method\(surrogate=.*expected a kind of surrogate"):
        Method(surrogate=wrong)
