"""The method "tree" and its baselines: designs, searches, and every kind of trial."""

import json

import numpy as np
import pytest

import outcrop as oc
from outcrop.acquisition import EI, LogEI
from outcrop.baselines import Arc, CommonNodes, Independent, Marginal, OneHot
from outcrop.errors import MethodError
from outcrop.inference import MAP, Slice
from outcrop.kernels import Fourier
from outcrop.maximise import Maximiser
from outcrop.maximise.sweeps import improved
from outcrop.problems import get
from outcrop.space import Choice, Float, Int, Space
from outcrop.strategies import EachBranch, Method, TopBranches, strategy_for
from outcrop.strategies.initial import OnePerBranch, lead
from outcrop.strategies.method import default_for
from outcrop.strategies.tree_search import OUTSIDE, BranchLevels
from outcrop.surrogates import (
    Ensemble,
    Forest,
    Mixture,
    TreeStructured,
)
from outcrop.surrogates.space_nodes import nodes_of
from outcrop.testing import ACQUISITION_CONTRACT, MAXIMISER_CONTRACT, STRATEGY_CONTRACT, view_of
from tests.strategies.spaces import EVERY_SPACE
from tests.surrogates.trees import bound, random_data, random_points, random_space

FAST = Slice(chains=2, burn_in=1)
METHODS = {
    "tree": Method(surrogate=TreeStructured(), inference=FAST),
    "leaves": Method(surrogate=TreeStructured(chance=1.0), inference=FAST),
    "tree-map": Method(surrogate=TreeStructured(Fourier(5), False), inference=MAP(starts=1)),
    "tree-two-step": Method(
        surrogate=TreeStructured(chance=1.0),
        inference=FAST,
        acquisition=TopBranches(count=1, extras=False, exact_up_to=0),
    ),
    "common-nodes": Method(surrogate=CommonNodes(), inference=FAST),
    "independent": Method(surrogate=Independent(), inference=FAST),
    "marginal": Method(surrogate=Marginal(), inference=FAST),
    "arc": Method(surrogate=Arc(), inference=FAST),
    "blind": Method(surrogate=OneHot(), inference=FAST),
    "forest": Method(surrogate=Forest(trees=8)),
}
CONDITIONAL = EVERY_SPACE["conditional"]


def example(space, n=14, pending=2, failed=0, **more):
    rng = np.random.default_rng(0)
    X = space.from_uniform(rng.random((n + pending + failed, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    return view_of(space, X[:n], y[:n], X[n : n + pending], X[n + pending :], **more)


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_the_contract_of_strategies(method, check):
    strategy = strategy_for(METHODS[method], CONDITIONAL)
    check(strategy, CONDITIONAL, example(CONDITIONAL, noise=False))


@pytest.mark.parametrize(
    ("method", "noise"),
    [
        *(("tree", noise) for noise in (None, True, False, 0.3)),
        *((method, True) for method in ("common-nodes", "independent", "arc")),
    ],
)
def test_every_kind_of_noise_works(method, noise):
    view = example(CONDITIONAL, noise=noise)
    strategy = strategy_for(METHODS[method], CONDITIONAL)
    found = strategy.propose(view, np.random.default_rng(0))
    CONDITIONAL.validate(found.params)
    assert found.why["source"] == "model"
    again = strategy.propose(
        example(CONDITIONAL, noise=noise, warm=found.warm), np.random.default_rng(1)
    )
    assert again.why["source"] == "model"


@pytest.mark.parametrize("space", ["box", "mixed", "categories", "conditional"])
def test_the_name_works_on_every_space_and_is_gp_where_nothing_is_conditional(space):
    space = EVERY_SPACE[space]
    view = example(space, n=10 if space.size is None else 8)
    one, two = (
        strategy_for(method, space).propose(view, np.random.default_rng(3))
        for method in ("tree", "gp")
    )
    space.validate(one.params)
    if space.n_branches == 1:
        assert one.params == two.params
    else:
        assert one.why["surrogate"] == "tree-structured GP"


def test_conditional_spaces_are_searched_by_the_tree_and_others_by_an_ensemble():
    assert default_for(CONDITIONAL).to_json() == Method(surrogate=TreeStructured()).to_json()
    many = Space({f"k{i}": Choice({"a": {"x": Float(0, 1)}, "b": {}}) for i in range(8)})
    for space in (EVERY_SPACE["box"], many):
        assert default_for(space).to_json() == Method(surrogate=Ensemble()).to_json()


@pytest.mark.parametrize("name", ["tree-small", "tree-large", "tree-unbalanced-8"])
def test_a_design_takes_every_branch_before_the_model_is_asked(name):
    space = get(name).space
    design = OnePerBranch()
    n = design.size_for(space)
    assert n >= space.n_branches
    X = design.points(space, n, np.random.default_rng(0))
    np.testing.assert_array_equal(space.snap(X), X)
    for leaf in nodes_of(space)[1]:
        first = X[: space.n_branches]
        inside = np.all([first[:, c] == code for c, code in leaf.conditions], axis=0)
        assert inside.sum() == 1


def test_a_longer_design_begins_as_a_shorter_one():
    space = get("tree-large").space
    one, two = (OnePerBranch().points(space, n, np.random.default_rng(4)) for n in (5, 19))
    np.testing.assert_array_equal(one, two[:5])
    assert OnePerBranch(size=3).size_for(space) == 3


def test_a_design_of_too_many_branches_is_a_plain_one():
    space = Space({f"k{i}": Choice({"0": {"x": Float(0, 1)}, "1": {}}) for i in range(6)})
    assert space.n_branches == 64
    assert OnePerBranch().size_for(space) == 12
    assert len(OnePerBranch().points(space, 12, np.random.default_rng(0))) == 12


class Hills:
    """Each leaf of the large tree has a narrow peak of its own, the last one the highest."""

    def __init__(self, space):
        self.leaves = nodes_of(space)[1]

    def __call__(self, X):
        return self.with_gradient(X)[0]

    def with_gradient(self, X):
        values, gradients = np.full(len(X), -1e3), np.zeros_like(X)
        for i, leaf in enumerate(self.leaves):
            inside = np.all([X[:, c] == code for c, code in leaf.conditions], axis=0)
            (own,) = leaf.own
            away = X[inside, own.index] - 0.371
            values[inside] = i - 300 * away**2
            gradients[inside, own.index] = -600 * away
        return values, gradients


@pytest.mark.parametrize("check", MAXIMISER_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", ["tree-large", "tree-unbalanced-4"])
def test_the_search_of_leaves_keeps_the_contract_of_maximisers(name, check):
    space = get(name).space
    check(EachBranch(), space, Hills(space))


def test_the_search_of_leaves_finds_the_highest_peak():
    space = get("tree-large").space
    found = EachBranch(Maximiser(spread=64))(Hills(space), space, np.random.default_rng(0))
    assert found.value == pytest.approx(7.0, abs=1e-6)
    assert all(found.point[c] == code for c, code in nodes_of(space)[1][-1].conditions)


def belief_of(seed, n=30, components=2):
    rng = np.random.default_rng(seed)
    space = random_space(rng, depth=2, most=12)
    data = random_data(space, n, rng)
    parts = tuple(bound(space, rng, data) for _ in range(components))
    mixture = Mixture(tuple(part.condition(data) for part in parts), np.ones(components))
    return space, data, mixture, rng


def test_few_leaves_are_all_searched():
    space, _, belief, rng = belief_of(0)
    X = random_points(space, 50, rng)
    assert isinstance(TopBranches().prepare(belief, -1.0, X, rng, 1), LogEI)


def test_the_two_steps_choose_the_branch_with_the_best_level_and_search_nothing_else():
    space, _, belief, rng = belief_of(1)
    X = random_points(space, 400, rng)
    ready = TopBranches(count=1, extras=False, exact_up_to=0).prepare(belief, -1.0, X, rng, 1)
    (chosen,) = ready.chosen
    values = LogEI(best=-1.0)(BranchLevels.of(belief), X)
    winner = X[values.argmax()]
    assert all(winner[c] == code for c, code in chosen)
    inside = np.all([X[:, c] == code for c, code in chosen], axis=0)
    scored = ready(belief, X)
    np.testing.assert_array_equal(scored[~inside], OUTSIDE)
    np.testing.assert_allclose(scored[inside], LogEI(best=-1.0)(belief, X[inside]))
    value, gradient = ready.with_gradient(belief, X)
    np.testing.assert_allclose(value, scored)
    assert not gradient[~inside].any()


def test_extras_are_the_incumbents_leaf_and_the_least_known_one():
    space, data, belief, rng = belief_of(2)
    X = random_points(space, 400, rng)
    plain = TopBranches(count=1, extras=False, exact_up_to=0).prepare(belief, -1.0, X, rng, 1)
    more = TopBranches(count=1, exact_up_to=0).prepare(belief, -1.0, X, rng, 1)
    assert set(plain.chosen) <= set(more.chosen)
    assert len(more.chosen) <= 3
    best = data.X[data.y.argmin()]
    assert any(all(best[c] == code for c, code in leaf) for leaf in more.chosen)


def test_a_focused_search_stays_in_the_leaf_of_the_incumbent_as_often_as_told():
    space, function = get("tree-large-shared").space, Hills(get("tree-large-shared").space)
    rng = np.random.default_rng(0)
    leaf = nodes_of(space)[1][2]
    incumbents = np.vstack([_in_leaf(space, leaf, rng), random_points(space, 3, rng)])
    best = EachBranch()(function, space, rng).point
    assert not _is_in(best, leaf)
    for focus, low, high in ((0.0, 0, 0), (0.5, 4, 16), (1.0, 20, 20)):
        search = EachBranch(Maximiser(spread=64, perturbations=32, resamples=16, steps=5), focus)
        found = [search(function, space, rng, incumbents=incumbents).point for _ in range(20)]
        assert low <= sum(_is_in(point, leaf) for point in found) <= high


@pytest.mark.parametrize(("more", "swept"), [({"y": Float(0, 1)}, False), ({"n": Int(1, 3)}, True)])
def test_discrete_columns_are_swept_if_they_are_no_choices(more, swept, monkeypatch):
    space = Space({"k": Choice({"a": {"x": Float(0, 1)}, "b": more}), "r": Float(0, 1)})
    calls = []
    monkeypatch.setattr(
        "outcrop.maximise.maximiser.improved",
        lambda *given: (calls.append(given), improved(*given))[1],
    )
    EachBranch()(Hills(space), space, np.random.default_rng(0))
    assert bool(calls) == swept


def test_a_leaf_without_new_points_is_left():
    space = Space({"c": Choice({"one": {"n": Int(1, 3)}, "other": {"x": Float(0, 1)}})})
    rng = np.random.default_rng(0)
    known = space.encode([{"c": "one", "c.one.n": n} for n in (1, 2, 3)]).X
    found = EachBranch(focus=1.0)(
        Hills(space), space, rng, incumbents=known, forbidden=frozenset(space.keys(known))
    )
    assert space.decode(found.point[None])[0]["c"] == "other"
    assert found.value > OUTSIDE / 2


def _in_leaf(space, leaf, rng):
    U = rng.random((1, len(space.columns)))
    lead(space, U, leaf)
    return space.from_uniform(U)


def _is_in(point, leaf):
    return all(point[c] == code for c, code in leaf.conditions)


# But for finite differences, which step off the codes of choices.
ON_CODES = [
    c for c in ACQUISITION_CONTRACT if c.__name__ != "gradient_agrees_with_finite_differences"
]


@pytest.mark.parametrize("check", ON_CODES, ids=lambda check: check.__name__)
def test_top_branches_keep_the_contract_of_acquisitions(check):
    space, _, belief, rng = belief_of(3)
    chosen = tuple(leaf.conditions for leaf in nodes_of(space)[1][:2])
    check(TopBranches(LogEI(best=-0.5), chosen=chosen), belief, random_points(space, 8, rng))


def test_parts_that_make_no_sense_are_refused():
    with pytest.raises(MethodError, match="log scale"):
        TopBranches(EI())
    with pytest.raises(MethodError, match="count"):
        TopBranches(count=0)
    with pytest.raises(MethodError, match="focus"):
        EachBranch(focus=1.5)


@pytest.mark.parametrize("method", METHODS)
def test_methods_come_back_from_json(method):
    stored = json.dumps(METHODS[method].to_json())
    assert Method.from_json(stored).to_json() == json.loads(stored)


def test_running_and_failed_trials_are_kept_away_from():
    space = Space({"k": Choice({"a": {"n": Int(1, 3)}, "b": {"n": Int(1, 3)}}), "m": Int(0, 1)})
    optimizer = oc.Optimizer(space, method=METHODS["tree"], seed=1)
    seen = set()
    for i in range(space.size):
        trial = optimizer.ask()
        assert space.key(trial.params) not in seen
        seen.add(space.key(trial.params))
        if i % 4 == 3:
            optimizer.fail(trial, "no")
        elif i % 4 != 2:
            optimizer.tell(trial, float(trial.params["m"]))
    with pytest.raises(oc.errors.SpaceExhausted):
        optimizer.ask()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tree", Method(surrogate=CommonNodes())])
def test_the_tree_with_shared_variables_is_solved(method):
    problem = get("tree-small-shared")
    regrets = []
    for seed in range(3):
        optimizer = oc.Optimizer(problem.space, method=method, seed=seed)
        for _ in range(40):
            trial = optimizer.ask()
            optimizer.tell(trial, problem.function(trial.params))
        assert optimizer.best_trial.params["x1"] == "0"
        assert optimizer.best_trial.params["x1.0.x2"] == "0"
        regrets.append(optimizer.best_trial.value - 0.1)
    assert np.median(regrets) <= 1e-2
