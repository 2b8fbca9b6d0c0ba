"""Models inside wrappers: what they maximise, seen on points of the space."""

from dataclasses import replace

import numpy as np
import pytest

import outcrop as oc
from outcrop.baselines import OneHot
from outcrop.inference import Slice
from outcrop.maximise import Maximiser
from outcrop.strategies import CoCaBO, Hierarchical, Method, Perturbed, WrapsModel, strategy_for
from outcrop.strategies.initial import Sobol
from outcrop.strategies.pending import Believer, Liar
from outcrop.strategies.wrapped_model import maximised_next, model_of, with_model
from tests.strategies.spaces import EVERY_SPACE
from tests.strategies.test_strategies import example

SPACE = EVERY_SPACE["mixed"]
FAST = Method(
    inference=Slice(chains=2, burn_in=2),
    initial=Sobol(size=4),
    maximiser=Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=8, rounds=1),
)
POOLED = Hierarchical(inner=FAST, carried=0, pooled=True)
WRAPPED = {
    "cocabo": CoCaBO(FAST),
    "one-hot": replace(FAST, surrogate=OneHot()),
    "hierarchical": POOLED,
    "perturbed": Perturbed(FAST),
    "perturbed-cocabo": Perturbed(CoCaBO(FAST)),
    "perturbed-one-hot": Perturbed(replace(FAST, surrogate=OneHot())),
}


def strategy_of(name):
    return strategy_for(WRAPPED[name], SPACE)


@pytest.mark.parametrize("name", WRAPPED)
def test_every_wrapper_declares_its_model(name):
    strategy = strategy_of(name)
    assert isinstance(strategy, WrapsModel)
    model = model_of(strategy)
    assert isinstance(model.pending, Believer)
    other = with_model(strategy, replace(model, pending=Liar()))
    assert type(other) is type(strategy)
    assert isinstance(model_of(other).pending, Liar)
    assert isinstance(model_of(strategy).pending, Believer)


@pytest.mark.parametrize("name", WRAPPED)
def test_watching_a_search_does_not_change_its_suggestion(name):
    view, strategy = example(SPACE), strategy_of(name)
    plain = strategy.propose(view, np.random.default_rng(1))
    watched, function = maximised_next(strategy, view, np.random.default_rng(1))
    assert (watched.params, watched.why) == (plain.params, plain.why)
    assert function is not None


@pytest.mark.parametrize("name", WRAPPED)
def test_what_is_maximised_is_a_function_of_points_of_the_space(name):
    view, strategy = example(SPACE), strategy_of(name)
    found, function = maximised_next(strategy, view, np.random.default_rng(1))
    X = SPACE.from_uniform(np.random.default_rng(2).random((200, len(SPACE.columns))))
    x = SPACE.encode([found.params]).X
    values, gradients = function.with_gradient(np.vstack([x, X]))
    assert gradients.shape == (201, len(SPACE.columns))
    np.testing.assert_allclose(values, function(np.vstack([x, X])), rtol=1e-9, atol=1e-9)
    assert np.isfinite(values).all()
    assert len(set(values)) > 100


@pytest.mark.parametrize("name", ["cocabo", "perturbed-cocabo"])
def test_bandits_draw_the_categories_and_the_numbers_are_the_best_with_them(name):
    view = example(SPACE, failed=0)
    found, function = maximised_next(strategy_of(name), view, np.random.default_rng(1))
    x = SPACE.encode([found.params]).X
    X = SPACE.from_uniform(np.random.default_rng(2).random((500, len(SPACE.columns))))
    same = [column.index for column in SPACE.columns if column.is_code]
    X[:, same] = x[:, same]
    assert function(x)[0] >= np.quantile(function(X), 0.99)


def test_a_one_hot_search_is_scored_at_the_codes_of_configurations():
    strategy, view = strategy_of("one-hot"), example(SPACE)
    _, function = maximised_next(strategy, view, np.random.default_rng(1))
    X = view.X[:3]
    assert function.function(strategy.cube.encoded(X)).tolist() == function(X).tolist()


@pytest.mark.parametrize(
    "method", ["random", Hierarchical(FAST, FAST), replace(POOLED, carried=1)], ids=str
)
def test_without_one_function_of_the_space_there_is_none(method):
    strategy, view = strategy_for(method, SPACE), example(SPACE)
    suggestion, function = maximised_next(strategy, view, np.random.default_rng(1))
    assert suggestion.params
    assert function is None


@pytest.mark.parametrize("name", WRAPPED)
def test_the_belief_of_a_study_has_a_search_that_scores_configurations(name):
    study = oc.Optimizer(SPACE, method=WRAPPED[name], seed=0)
    view = example(SPACE)
    study.add(SPACE.decode(view.X), view.y.tolist())
    search = study.belief.search
    assert search.acquisition == "LogEI"
    assert np.isfinite(search.score(SPACE.decode(view.X))).all()


def test_the_belief_of_separate_levels_has_no_search():
    study = oc.Optimizer(SPACE, method=Hierarchical(FAST, FAST), seed=0)
    view = example(SPACE)
    study.add(SPACE.decode(view.X), view.y.tolist())
    assert study.belief.search is None
    assert study.belief.predict(SPACE.decode(view.X))[0].shape == (14,)
