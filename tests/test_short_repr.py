"""No object that a user meets has a `repr` of many lines."""

import numpy as np
import pytest

import outcrop as oc
from outcrop.inference import MAP, Laplace

SPACE = oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])})
ONE = MAP(starts=1)
METHODS = {
    "gp": oc.Method(inference=ONE),
    "marginal": oc.Method(inference=Laplace(starts=1)),
    "treed": oc.Method(surrogate=oc.surrogates.Treed(chance=1.0), inference=ONE),
    "latent": oc.Method(surrogate=oc.surrogates.Latent(spreads=(0.1,)), inference=ONE),
    "forest": oc.Method(surrogate=oc.surrogates.Forest()),
}


def told(method):
    study = oc.Optimizer(SPACE, method=METHODS[method], seed=0)
    params = SPACE.sample(np.random.default_rng(0), 6)
    study.add(params, [p["x"] ** 2 + (p["c"] == "a") for p in params])
    return study


@pytest.mark.parametrize("method", METHODS)
def test_a_belief_and_its_parts_are_lines(method):
    belief = told(method).belief
    mixture = belief.believed.mixture
    assert repr(belief).startswith("ObjectiveBelief(Mixture(")
    assert repr(belief).endswith(", given 6 values)")
    assert len(repr(belief)) < 100
    for part in (belief.believed, mixture, mixture.components[0], belief.state, belief.state.view):
        assert "\n" not in repr(part)
        assert len(repr(part)) < 1500
        assert repr(part).startswith(type(part).__name__ + "(")


def test_what_a_search_returns_is_short():
    study = told("gp")
    for thing in (study, study.ask(), study.recommend(), study.explain(), study.belief.search):
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 800
