"""Searches within constraints: by every method, in every kind of space, checked by Python alone."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import outcrop as oc
from benchmarks.constrained_spaces import random_constrained
from benchmarks.constraints import METHODS, branin_regret, checked_asks, reference
from outcrop.errors import ParamsError, SpaceError, SpaceExhausted
from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.testing.strategies import STRATEGY_CONTRACT, view_of

TREE = Space(
    {
        "x": Float(0, 1),
        "m": Choice({"a": {"u": Float(0, 1), "v": Float(0, 1)}, "b": {"n": Int(1, 9)}, "c": {}}),
        "k": Categorical(["s", "t"]),
    },
    constraints=[
        "m.a.u + m.a.v + x <= 0.7",
        "m.b.n >= 5 * x",
        "m != 'c' or x > 2",
        "k == 's' or x < 0.5",
    ],
)
QUICK = ["cocabo", "δ-cover"]
SLOW = ["gp", "hierarchical", "pooled", "perturbed", "one-hot"]
KINDS = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


def checked(params):
    """The constraints of `TREE` in Python."""
    p = dict(params)
    return (
        p.get("m.a.u", 0) + p.get("m.a.v", 0) + p["x"] * (p["m"] == "a") <= 0.7 + 1e-9
        and p.get("m.b.n", 9) >= 5 * p["x"] - 1e-9
        and p["m"] != "c"
        and (p["k"] == "s" or p["x"] < 0.5)
    )


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_search_keeps_to_constraints(name, rng):
    X = TREE.region.points(rng, 15)
    view = view_of(TREE, X[:12], rng.random(12), pending=X[12:14], failed=X[14:], noise=False)
    strategy = oc.strategies.strategy_for(METHODS[name], TREE)
    for contract in STRATEGY_CONTRACT:
        contract(strategy, TREE, view)
    assert checked(strategy.propose(view, rng).params)


@pytest.mark.parametrize("seed", range(12))
def test_random_searches_in_random_spaces_are_never_outside(seed):
    constrained = random_constrained(seed)
    optimizer = oc.Optimizer(constrained.space, method="random", seed=seed)
    for trial in optimizer.ask(20):
        assert constrained.is_satisfied(trial.params)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(len(METHODS)))
def test_no_method_asks_outside_a_random_space(seed):
    asks, violations = Counter(), []
    checked_asks(seed, [*METHODS][seed], asks, violations)
    assert asks.total() >= 100
    assert not violations


def test_the_optimum_on_a_border_is_found():
    optimum = reference()
    assert optimum["x1 + x2"] == pytest.approx(0.6, abs=1e-9)  # it is on the border
    assert optimum["value"] == pytest.approx(optimum["by the grid"], abs=1e-4)
    assert branin_regret(0, optimum["value"], trials=25) <= 1e-3


@pytest.mark.slow
def test_the_optimum_on_a_border_is_found_in_every_run():
    optimum = reference()["value"]
    assert max(branin_regret(seed, optimum) for seed in range(10)) <= 1e-3


def test_a_finite_space_is_searched_to_its_end():
    space = Space(
        {"a": Int(1, 9), "b": Int(1, 9), "k": Categorical(["u", "v"])},
        constraints=["a + b == 10", "k == 'u' or a < 3"],
    )
    for method in ("random", "gp", "cocabo"):
        optimizer = oc.Optimizer(space, method=method, seed=0, noise=False)
        for value in range(11):
            optimizer.tell(optimizer.ask(), value)
        with pytest.raises(SpaceExhausted, match="all 11 configurations"):
            optimizer.ask()


def test_a_function_restricts_a_search_too():
    space = Space(
        {"x": Float(0, 1), "y": Float(0, 1)},
        constraints=[lambda p: (p["x"] - 0.5) ** 2 + (p["y"] - 0.5) ** 2 <= 0.04],
    )
    optimizer = oc.Optimizer(space, seed=0, noise=False)
    for _ in range(16):
        trial = optimizer.ask()
        optimizer.tell(trial, trial.params["x"] + trial.params["y"])
    best = 1 - np.sqrt(0.08)
    assert best <= optimizer.best_value <= best + 0.02


def test_a_belief_may_be_asked_outside_and_nothing_else():
    space = Space({"x": Float(0, 1), "y": Float(0, 1)}, constraints=["x + y <= 0.5"])
    optimizer = oc.Optimizer(space, seed=0)
    optimizer.add(space.sample(np.random.default_rng(0), 5), [1.0, 2.0, 3.0, 2.5, 0.0])
    mean, std = optimizer.belief.predict({"x": 1.0, "y": 1.0})
    assert np.isfinite([mean, std]).all()
    with pytest.raises(ParamsError, match="result 1: the constraint"):
        optimizer.add([{"x": 0.1, "y": 0.1}, {"x": 0.6, "y": 0.1}], [1.0, 2.0])
    with pytest.raises(ParamsError, match="is violated"):
        optimizer.enqueue({"x": 0.6, "y": 0.1})


def test_a_stored_study_within_constraints_is_replayed(tmp_path):
    space = Space({"x": Float(0, 1), "y": Float(0, 1)}, constraints=["0 <= x - y <= 0.001"])
    study = oc.Study(space, "s", f"sqlite:///{tmp_path / 's.db'}", seed=3)
    for _ in range(8):
        trial = study.ask()
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    assert oc.load_study("s", f"sqlite:///{tmp_path / 's.db'}").replay().identical


def test_a_sampler_of_optuna_refuses_constraints():
    pytest.importorskip("optuna")
    from outcrop.integrations.optuna import OutcropSampler

    space = Space({"x": Float(0, 1)}, constraints=["x <= 0.5"])
    with pytest.raises(SpaceError, match="cannot keep the constraints"):
        OutcropSampler(space)
