"""Policies as parts of methods."""

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

import outcrop as oc
from outcrop.acquisition import EI, UCB
from outcrop.baselines import OneHot
from outcrop.errors import MethodError, SpaceExhausted
from outcrop.inference import MAP, Laplace
from outcrop.maximise import Maximiser
from outcrop.strategies import CoCaBO, Hierarchical, Method, Perturbed
from outcrop.strategies.initial import RandomDesign
from outcrop.strategies.pending import (
    HardPenalisation,
    Liar,
    LocalPenalisation,
    PLAyBOOK,
    ThompsonSampling,
)
from outcrop.strategies.pending.penalty_factors import Gaussian
from outcrop.surrogates import Forest
from outcrop.testing import STRATEGY_CONTRACT
from tests.strategies.pending.beliefs import PENALISING, POLICIES, QUICK, name, waves, with_running
from tests.strategies.spaces import EVERY_SPACE

SMALL = Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=8, rounds=1)
MIXED = EVERY_SPACE["mixed"]


def method(policy, **parts):
    return Method(inference=QUICK, pending=policy, maximiser=SMALL, **parts)


def value(params):
    return sum(v for v in params.values() if isinstance(v, float))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: HardPenalisation(gamma=-0.1), r"HardPenalisation\(gamma=-0.1\)"),
        (lambda: HardPenalisation(gamma=nan), r"HardPenalisation\(gamma=nan\)"),
        (lambda: HardPenalisation(gamma=inf), r"HardPenalisation\(gamma=inf\)"),
        (lambda: HardPenalisation(p=1.0), r"HardPenalisation\(p=1.0\)"),
        (lambda: HardPenalisation(p=0), r"HardPenalisation\(p=0\)"),
        (lambda: HardPenalisation(p=nan), r"HardPenalisation\(p=nan\)"),
        (lambda: LocalPenalisation(constants="all"), r"constants='all'.*\"mean\" or \"draws\""),
        (lambda: LocalPenalisation(positivity="exp"), r"positivity='exp'.*\"softplus\""),
        (lambda: HardPenalisation(clip="all"), r"clip='all'.*\"each\" or \"product\""),
        (lambda: LocalPenalisation(optimum=nan), r"LocalPenalisation\(optimum=nan\)"),
        (lambda: PLAyBOOK("L", optimum=-inf), "optimum=-inf"),
        (lambda: PLAyBOOK("HH"), r"PLAyBOOK\('HH'\): expected \"L\", \"LL\", \"H\" or \"HL\""),
        (lambda: PLAyBOOK("L", gamma=-1.0), "gamma=-1.0"),
        (lambda: PLAyBOOK("H", p=2.0), "p=2.0"),
        (lambda: PLAyBOOK("H", constants=None), "constants=None"),
    ],
)
def test_impossible_settings_are_refused_by_name(wrong, message):
    with pytest.raises(MethodError, match=message):
        wrong()


@pytest.mark.parametrize("policy", PENALISING, ids=name)
def test_penalising_a_forest_is_refused_when_the_method_is_made(policy):
    with pytest.raises(MethodError, match=r"pending=.*Forest.*no gradients.*Believer\(\)"):
        Method(surrogate=Forest(), pending=policy)
    Method(surrogate=Forest(), pending=Liar())


def test_constants_of_draws_that_the_belief_cannot_make_are_refused_when_the_method_is_made():
    for policy in (PLAyBOOK("L", constants="draws"), HardPenalisation(constants="draws")):
        with pytest.raises(MethodError, match=r"Laplace\(\).*cannot be drawn"):
            Method(inference=Laplace(), pending=policy)
        Method(inference=MAP(), pending=policy)


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("L", LocalPenalisation()),
        ("LL", LocalPenalisation(local=True)),
        ("H", HardPenalisation(2.0, -3.0, "product")),
        ("HL", HardPenalisation(2.0, -3.0, "product", local=True)),
    ],
)
@pytest.mark.parametrize("optimum", [None, -7.5])
def test_playbook_is_its_kind_of_penalisation(kind, policy, optimum, rng):
    policy = replace(policy, optimum=optimum)
    mixture, X = waves(), rng.random((9, 2))
    view, space = with_running(EVERY_SPACE["box"], 4), EVERY_SPACE["box"]
    scores = [
        each.account(view, space, mixture, UCB(), np.random.default_rng(3))[1](mixture, X)
        for each in (PLAyBOOK(kind, 2.0, -3.0, clip="product", optimum=optimum), policy)
    ]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    "policy",
    [
        *POLICIES,
        HardPenalisation(p=-inf, clip="product"),
        LocalPenalisation(optimum=0.5),
        PLAyBOOK("HL", clip="product", optimum=-2.0),
    ],
    ids=name,
)
def test_a_method_comes_back_from_json_with_its_policy(policy):
    again = Method.from_json(Method(pending=policy).to_json())
    assert again.pending == policy


@pytest.mark.parametrize("space", ["mixed", "conditional"])
@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_a_batch_holds_different_configurations(policy, space):
    optimizer = oc.Optimizer(EVERY_SPACE[space], method=method(policy), seed=1, noise=False)
    trials = optimizer.ask(8)
    for trial in trials:
        optimizer.tell(trial, value(trial.params))
    batch = optimizer.ask(4)
    keys = {EVERY_SPACE[space].key(trial.params) for trial in [*trials, *batch]}
    assert len(keys) == 12


@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_workers_that_do_not_wait_get_different_configurations(policy):
    optimizer = oc.Optimizer(MIXED, method=method(policy), seed=2, noise=False)
    busy = optimizer.ask(4)
    for step in range(7):
        done = busy.pop(step % 4)
        optimizer.tell(done, value(done.params))
        busy.append(optimizer.ask())
    keys = [MIXED.key(trial.params) for trial in optimizer.trials]
    assert len(set(keys)) == len(keys) == 11


@pytest.mark.parametrize(
    "policy", [Liar(), ThompsonSampling(), PLAyBOOK("LL"), PLAyBOOK("HL")], ids=name
)
@pytest.mark.parametrize(
    "around",
    [
        lambda inner: CoCaBO(inner, batch=2),
        lambda inner: Hierarchical(inner, inner, trials=3),
        lambda inner: Hierarchical(inner, inner, trials=3, pooled=True),
        Perturbed,
    ],
    ids=["cocabo", "hierarchical", "pooled", "perturbed"],
)
def test_strategies_around_methods_take_every_policy(policy, around):
    optimizer = oc.Optimizer(MIXED, method=around(method(policy)), seed=3, noise=False)
    for trial in optimizer.ask(9):
        optimizer.tell(trial, value(trial.params))
    batch = optimizer.ask(3)
    optimizer.tell(batch[0], 0.5)
    optimizer.ask()
    keys = [MIXED.key(trial.params) for trial in optimizer.trials]
    assert len(set(keys)) == len(keys) == 13


@pytest.mark.parametrize(
    "policy", [Liar(), ThompsonSampling(), PLAyBOOK("L"), PLAyBOOK("HL")], ids=name
)
@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
def test_one_hot_codes_take_every_policy(policy, check):
    strategy = method(policy, surrogate=OneHot()).strategy(MIXED)
    check(strategy, MIXED, with_running(MIXED, 5))


@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_more_workers_than_configurations_exhaust_the_space(policy):
    space = EVERY_SPACE["categories"]  # of 15 configurations
    optimizer = oc.Optimizer(space, method=method(policy), seed=4, noise=False)
    for i, trial in enumerate(optimizer.ask(8)):
        optimizer.tell(trial, float(i % 3))
    optimizer.ask(7)
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_a_noisy_objective_may_be_repeated_but_not_while_it_runs(policy):
    space = EVERY_SPACE["categories"]
    optimizer = oc.Optimizer(space, method=method(policy), seed=5, noise=True)
    for i, trial in enumerate(optimizer.ask(12)):
        optimizer.tell(trial, float(i % 3))
    batch = optimizer.ask(6)
    assert len({space.key(trial.params) for trial in batch}) == 6


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_a_known_optimum_has_the_sign_and_units_of_the_study(direction, monkeypatch):
    gaps = []

    def shape(self, gap, std, slope, reach):
        gaps.append(gap)
        return Gaussian(gap, std, slope)

    monkeypatch.setattr(LocalPenalisation, "shape", shape)
    sign = -1.0 if direction == "maximize" else 1.0
    for optimum in (None, sign * 50.0, sign * -1000.0):
        policy = method(LocalPenalisation(optimum=optimum), initial=RandomDesign(size=8))
        optimizer = oc.Optimizer(MIXED, method=policy, direction=direction, seed=3, noise=False)
        for i, trial in enumerate(optimizer.ask(8)):
            optimizer.tell(trial, sign * (100.0 + 10.0 * i))
        optimizer.ask(2)
    unknown, near, far = gaps
    unit = np.std([100.0 + 10.0 * i for i in range(8)])
    np.testing.assert_allclose(far - near, 1050.0 / unit, rtol=1e-9)
    assert (near > unknown).all()


def test_the_record_says_what_was_penalised():
    view, box = with_running(EVERY_SPACE["box"], 3), EVERY_SPACE["box"]
    strategy = method(PLAyBOOK("H"), acquisition=EI()).strategy(box)
    why = strategy.propose(view, np.random.default_rng(0)).why
    assert why["acquisition"] == "penalised EI"
    assert why["pending"] == 3


def test_a_policy_of_ones_own_will_do():
    class Ignoring:
        def account(self, view, space, posterior, acquisition, rng):
            assert len(view.pending) == 3
            assert space is EVERY_SPACE["box"]
            return posterior, acquisition

    view = with_running(EVERY_SPACE["box"], 3)
    strategy = method(Ignoring()).strategy(EVERY_SPACE["box"])
    assert strategy.propose(view, np.random.default_rng(0)).why["source"] == "model"
