import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop.acquisition import EI
from outcrop.errors import MethodError, NoBelief, SpaceExhausted
from outcrop.inference import Slice
from outcrop.maximise import Maximiser
from outcrop.strategies import Method, Perturbed, Suggestion, strategy_for
from outcrop.strategies.initial import Sobol
from outcrop.testing import STRATEGY_CONTRACT, view_of
from tests.space.strategies import spaces
from tests.strategies.spaces import EVERY_SPACE

FAST = Method(
    inference=Slice(chains=2, burn_in=1),
    initial=Sobol(size=3),
    maximiser=Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=10),
)


@dataclass
class Scripted:
    """Proposes given configurations in turn, and notes the warm states that it is shown."""

    script: list[Any]
    source: str = "model"
    shown: list[Any] = field(default_factory=list)

    def propose(self, view, rng):
        self.shown.append(dict(view.warm))
        count = view.warm.get("count", 0)
        return Suggestion(self.script[count], {"source": self.source}, {"count": count + 1})

    def belief(self, view, rng):
        self.shown.append(dict(view.warm))
        raise NoBelief("not this one")


def bowl(optimizer, trial):
    x = optimizer.space.encode([trial.params]).X[0]
    return float(((x - 0.4) ** 2).sum())


def run(space, method, n, seed=0, noise=False):
    optimizer = oc.Optimizer(space, method=method, seed=seed, noise=noise)
    for _ in range(n):
        trial = optimizer.ask()
        optimizer.tell(trial, bowl(optimizer, trial))
    return optimizer


def example(space, seed=0, n=9, pending=2, failed=2, **more):
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((n + pending + failed, len(space.columns))))
    y = np.sin(3 * X.sum(1))
    return view_of(space, X[:n], y[:n], X[n : n + pending], X[n + pending :], **more)


def due(space, view, row=0, distance=0.1):
    """A view in which the perturbation of a told point comes next."""
    warm = {"trial": row, "point": view.X[row].tolist(), "distance": distance}
    state = {"inner": {}, "iteration": 1, "due": warm}
    return view_of(space, view.X, view.y, view.pending, view.failed, noise=view.noise, warm=state)


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("waiting", [False, True])
@pytest.mark.parametrize("space", EVERY_SPACE)
def test_it_keeps_the_contract_on_every_space(space, waiting, check):
    space = EVERY_SPACE[space]
    view = example(space)
    strategy = strategy_for(Perturbed(FAST), space)
    check(strategy, space, due(space, view) if waiting else view)


@pytest.mark.parametrize("method", ["gp", "random", Method(acquisition=EI()), Perturbed(FAST)])
def test_it_goes_around_whatever_method_takes(method):
    space = EVERY_SPACE["box"]
    suggestion = strategy_for(Perturbed(method), space).propose(
        example(space), np.random.default_rng(0)
    )
    space.validate(suggestion.params)


def test_each_suggestion_of_the_model_is_followed_by_a_step_in_every_number():
    optimizer = run(EVERY_SPACE["box"], Perturbed(FAST, c=0.1, gamma=0.3, until=3), 12)
    follows = [trial.why.get("perturbs") for trial in optimizer.trials]
    assert follows == [None] * 3 + [None, 3, None, 5, None, 7] + [None] * 3
    X = optimizer.space.encode([trial.params for trial in optimizer.trials]).X
    for i, (number, of) in enumerate(((4, 3), (6, 5), (8, 7)), start=1):
        np.testing.assert_allclose(np.abs(X[number] - X[of]), 0.1 / i**0.3, rtol=1e-9)
        assert optimizer.trials[number].why["distance"] == 0.1 / i**0.3


def test_without_perturbations_it_proposes_what_the_method_does():
    plain = run(EVERY_SPACE["mixed"], FAST, 9)
    wrapped = run(EVERY_SPACE["mixed"], Perturbed(FAST, until=0), 9)
    assert [t.params for t in wrapped.trials] == [t.params for t in plain.trials]


@pytest.mark.parametrize("source", ["initial", "fallback"])
def test_points_that_fill_the_space_are_not_perturbed(source):
    script = [{"x": value} for value in (0.1, 0.2, 0.3)]
    optimizer = run(EVERY_SPACE["line"], Perturbed(Scripted(script, source)), 3)
    assert [trial.params for trial in optimizer.trials] == script


def test_signs_are_drawn_by_lot_and_apart():
    space = oc.Space({name: oc.Float(0, 1) for name in "abc"})
    view = due(space, view_of(space, np.full((1, 3), 0.5), np.zeros(1)))
    strategy = strategy_for(Perturbed(FAST), space)
    found = [strategy.propose(view, np.random.default_rng(i)).params for i in range(800)]
    signs = np.sign(space.encode(found).X - 0.5)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    # Means and correlations of 800 fair coins: 4 standard errors are 0.14.
    np.testing.assert_allclose(signs.mean(0), 0.0, atol=0.14)
    np.testing.assert_allclose(signs.T @ signs / 800, np.eye(3), atol=0.14)


@given(x=st.floats(0, 1), distance=st.floats(1e-3, 0.5), seed=st.integers(0, 1000))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_at_a_border_a_step_goes_the_other_way_and_keeps_its_length(x, distance, seed):
    space = oc.Space({"x": oc.Float(0, 1)})
    view = due(space, view_of(space, np.array([[x]]), np.zeros(1)), distance=distance)
    params = strategy_for(Perturbed(FAST), space).propose(view, np.random.default_rng(seed)).params
    assert 0 <= params["x"] <= 1
    assert abs(params["x"] - x) == pytest.approx(distance, rel=1e-9, abs=1e-12)


def test_log_parameters_move_on_their_log_scale():
    space = oc.Space({"lr": oc.Float(1e-6, 1.0, log=True)})
    view = due(space, view_of(space, np.array([[0.5]]), np.zeros(1)), distance=1 / 6)
    lr = strategy_for(Perturbed(FAST), space).propose(view, np.random.default_rng(0)).params["lr"]
    assert min(abs(lr / 1e-4 - 1), abs(lr / 1e-2 - 1)) < 1e-9


def test_numbers_on_a_grid_move_by_a_level_at_least_and_categories_stay():
    space = oc.Space(
        {
            "coarse": oc.Int(1, 3),
            "fine": oc.Int(0, 1000),
            "log": oc.Int(1, 1000, log=True),
            "grid": oc.Float(0, 1, step=0.25),
            "ordinal": oc.Ordinal(["s", "m", "l"]),
            "kind": oc.Categorical(["a", "b", "c"]),
            "model": oc.Choice({"plain": {"never": oc.Float(0, 1)}, "deep": {"n": oc.Int(1, 9)}}),
        }
    )
    for seed in range(60):
        rng = np.random.default_rng(seed)
        start = space.sample(rng)
        view = due(space, view_of(space, space.encode([start]).X, np.zeros(1)), distance=0.08)
        found = strategy_for(Perturbed(FAST), space).propose(view, rng).params
        assert found.keys() == start.keys()
        for name, before in start.items():
            if name in ("kind", "model"):
                assert found[name] == before
            else:
                assert found[name] != before
        assert abs(found["coarse"] - start["coarse"]) == 1
        assert abs(found["fine"] - start["fine"]) == 80
        assert abs(found["grid"] - start["grid"]) == 0.25


def test_a_space_without_numbers_has_nothing_to_perturb():
    optimizer = run(EVERY_SPACE["categories"], Perturbed(FAST), 15)
    assert all("perturbs" not in trial.why for trial in optimizer.trials)
    assert len({optimizer.space.key(trial.params) for trial in optimizer.trials}) == 15


@pytest.mark.parametrize("seed", range(3))
def test_a_small_space_is_used_up_without_repeats(seed):
    space = oc.Space({"a": oc.Int(0, 3), "b": oc.Int(0, 2), "c": oc.Categorical(["u", "v"])})
    optimizer = run(space, Perturbed(FAST, until=24), 24, seed)
    assert len({space.key(trial.params) for trial in optimizer.trials}) == 24
    assert any("perturbs" in trial.why for trial in optimizer.trials)
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


def test_under_noise_neither_the_centre_nor_what_runs_is_repeated():
    space = oc.Space({"a": oc.Int(0, 2)})
    X = np.array([[0.0], [0.5], [1.0]])
    strategy = strategy_for(Perturbed(FAST), space)
    for seed in range(20):
        view = due(space, view_of(space, X[1:], np.zeros(2), X[:1], noise=True))
        assert strategy.propose(view, np.random.default_rng(seed)).params == {"a": 2}


def test_trials_asked_for_together_come_in_pairs():
    optimizer = run(EVERY_SPACE["box"], Perturbed(FAST), 3)
    trials = optimizer.ask(6)
    assert [trial.why.get("perturbs") for trial in trials] == [None, 3, None, 5, None, 7]
    for trial in reversed(trials):  # results come in any order
        optimizer.tell(trial, bowl(optimizer, trial))
    assert "perturbs" not in optimizer.ask().why
    assert optimizer.ask().why["perturbs"] == 9


def test_a_queued_trial_between_does_not_break_a_pair():
    optimizer = run(EVERY_SPACE["line"], Perturbed(FAST), 4)
    optimizer.enqueue({"x": 0.123})
    assert optimizer.ask().params == {"x": 0.123}
    assert optimizer.ask().why["perturbs"] == 3


@pytest.mark.parametrize("end", ["fail", "release"])
def test_what_came_to_nothing_is_not_perturbed(end):
    optimizer = run(EVERY_SPACE["line"], Perturbed(FAST), 3)
    getattr(optimizer, end)(optimizer.ask())
    assert "perturbs" not in optimizer.ask().why
    assert optimizer.ask().why["perturbs"] == 4


def test_the_wrapped_strategy_sees_its_own_newest_state():
    inner = Scripted([{"x": 0.2}, {"x": 0.5}, {"x": 0.8}])
    optimizer = run(EVERY_SPACE["line"], Perturbed(inner), 5)
    assert inner.shown == [{}, {"count": 1}, {"count": 2}]
    with pytest.raises(NoBelief, match="not this one"):
        _ = optimizer.belief
    assert inner.shown[-1] == {"count": 3}


def test_chains_stay_warm_across_perturbations():
    space = EVERY_SPACE["box"]
    still = Method(inference=Slice(chains=2, burn_in=3, sweeps=0))
    strategy, told = strategy_for(Perturbed(still), space), example(space)
    found, pending = [], told.pending
    for i in range(3):
        warm = found[-1].warm if found else {}
        view = view_of(space, told.X, told.y, pending, warm=warm)
        found.append(strategy.propose(view, np.random.default_rng(i)))
        pending = np.vstack([pending, space.encode([found[-1].params]).X])
    assert ["perturbs" in each.why for each in found] == [False, True, False]
    first, last = (each.warm["inner"]["exact"]["thetas"] for each in (found[0], found[2]))
    assert last == first


def test_a_suggestion_follows_from_the_view_alone():
    """A state that went through JSON, in another process, goes on as if nothing had happened."""
    space = EVERY_SPACE["mixed"]
    view = due(space, example(space))
    stored = json.loads(json.dumps(view.warm))
    again = view_of(space, view.X, view.y, view.pending, view.failed, warm=stored)
    one, two = (
        strategy_for(Perturbed(FAST), space).propose(each, np.random.default_rng(4))
        for each in (view, again)
    )
    assert one.params == two.params
    assert one.why == two.why


@given(space=spaces(depth=2), seed=st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_space_gives_legal_and_new_perturbations(space, seed):
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((3, len(space.columns))))
    inner = Scripted(space.decode(X[:1]))
    view = due(space, view_of(space, X, np.zeros(3)), distance=float(rng.uniform(0.01, 0.5)))
    found = strategy_for(Perturbed(inner), space).propose(view, rng)
    assert space.validate(found.params) == dict(found.params)
    if "perturbs" in found.why:
        assert space.key(found.params) not in view.known
    else:  # nothing new was near
        assert found.params == inner.script[0]


@pytest.mark.parametrize(
    "wrong", [{"c": 0.0}, {"c": 0.6}, {"c": np.nan}, {"gamma": -1}, {"until": -1}, {"until": 2.0}]
)
def test_impossible_settings_are_refused_by_name(wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(MethodError, match=rf"Perturbed\({name}={value}\): expected"):
        Perturbed(**wrong)


def test_an_unknown_method_inside_and_a_class_are_refused():
    with pytest.raises(MethodError, match="'gaussian' is not known"):
        strategy_for(Perturbed("gaussian"), EVERY_SPACE["box"])
    with pytest.raises(MethodError, match=r"not its class; write it with \(\)"):
        strategy_for(Perturbed, EVERY_SPACE["box"])
