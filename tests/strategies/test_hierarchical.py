from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import outcrop as oc
from outcrop.errors import MethodError, NoBelief, SpaceExhausted
from outcrop.inference import Slice
from outcrop.maximise import Maximiser
from outcrop.strategies import (
    Hierarchical,
    Method,
    Perturbed,
    Suggestion,
    method_json,
    strategy_for,
)
from outcrop.strategies.initial import Sobol
from outcrop.surrogates import Forest
from outcrop.testing import STRATEGY_CONTRACT, view_of
from tests.strategies.spaces import EVERY_SPACE

MAXIMISER = Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=10)
GP = Method(inference=Slice(chains=2, burn_in=1), initial=Sobol(size=2), maximiser=MAXIMISER)
TREES = Method(surrogate=Forest(trees=4), initial=Sobol(size=2), maximiser=MAXIMISER)
FAST = Hierarchical(GP, TREES, trials=4)
EVERY_KIND = {"fresh": FAST, "pooled": replace(FAST, pooled=True)}
MIXED = oc.Space(
    {
        "x": oc.Float(0, 1),
        "a": oc.Categorical(list("uvw")),
        "n": oc.Int(0, 99),
        "b": oc.Categorical([True, False]),
    }
)


@dataclass
class Scripted:
    """Proposes given configurations in turn, and keeps the views that it is shown."""

    script: list[Any]
    views: list[Any] = field(default_factory=list)

    def propose(self, view, rng):
        self.views.append(view)
        count = view.warm.get("count", 0)
        return Suggestion(self.script[count], {"source": "model"}, {"count": count + 1})

    def belief(self, view, rng):
        raise NoBelief("not this one")


def loss(params):
    wrong = (params["a"] != "w") + 0.5 * (params["b"] is True)
    return wrong + (params["x"] - 0.3) ** 2 + (params["n"] / 99 - 0.8) ** 2


def outer_of(trial):
    return trial.params["x"], trial.params["n"]


def inner_of(trial):
    return trial.params["a"], trial.params["b"]


def run(method, n, space=MIXED, value=loss, seed=0, noise=False):
    optimizer = oc.Optimizer(space, method=method, seed=seed, noise=noise)
    for _ in range(n):
        trial = optimizer.ask()
        optimizer.tell(trial, value(trial.params))
    return optimizer


def example(space, seed=0, warm=None, noise=None):
    """Results, running trials and failures, some of them at the same numbers."""
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((13, len(space.columns))))
    numbers = [c.index for c in space.columns if not c.is_code and not c.conditions]
    if len(numbers) < len(space.columns):
        X[np.ix_([1, 2, 9, 11], numbers)] = X[0, numbers]
    return view_of(
        space, X[:9], np.sin(3 * X[:9].sum(1)), X[9:11], X[11:], warm=warm or {}, noise=noise
    )


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("space", EVERY_SPACE)
def test_it_keeps_the_contract_on_every_space(space, check):
    space = EVERY_SPACE[space]
    check(strategy_for(FAST, space), space, example(space))


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("space", ["mixed", "conditional"])
def test_it_keeps_the_contract_while_an_outer_point_is_held(space, kind, check):
    space = EVERY_SPACE[space]
    numbers = [c.index for c in space.columns if not c.is_code and not c.conditions]
    point = example(space).X[0, numbers].tolist()
    warm = {"held": {"point": point, "since": 0, "from": 0, "until": 8}}
    check(strategy_for(EVERY_KIND[kind], space), space, example(space, warm=warm))


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_each_outer_point_is_held_for_the_trials_it_gets(kind):
    optimizer = run(EVERY_KIND[kind], 22)
    held = [list(group) for _, group in groupby(optimizer.trials, outer_of)]
    assert [len(group) for group in held] == [4, 4, 4, 4, 4, 2]
    for group in held:
        assert len({inner_of(trial) for trial in group}) == len(group)
        assert {trial.why["held"] for trial in group} == {group[0].number}
        assert ["outer" in trial.why for trial in group] == [True] + [False] * (len(group) - 1)


def test_there_are_no_more_trials_at_a_point_than_inner_configurations():
    optimizer = run(replace(FAST, trials=10), 18)
    assert [len(list(group)) for _, group in groupby(optimizer.trials, outer_of)] == [6, 6, 6]


def test_the_outer_search_sees_the_best_value_at_each_of_its_points():
    outer = Scripted([{"x": 0.1 * i, "n": i} for i in range(1, 5)])
    optimizer = run(replace(FAST, outer=outer, trials=3), 10)
    for done, view in enumerate(outer.views):
        finished = optimizer.trials[: 3 * done]
        best = [min(trial.value for trial in finished[i : i + 3]) for i in range(0, 3 * done, 3)]
        np.testing.assert_allclose(view.y, best)
        i = np.arange(1, done + 1)
        np.testing.assert_allclose(view.X, np.column_stack([0.1 * i, i / 99]))
        assert len(view.known) == done
        assert len(view.pending) == len(view.failed) == 0


def test_the_inner_search_starts_afresh_at_each_outer_point():
    script = [{"a": a, "b": b} for a in "uvw" for b in (True, False)] * 2
    inner = Scripted(script)
    run(replace(FAST, inner=inner, trials=3, carried=0), 8)
    assert [len(view.y) for view in inner.views] == [0, 1, 2, 0, 1, 2, 0, 1]
    assert len({view.seed for view in inner.views}) == 3  # no two points share a design
    np.testing.assert_array_equal(inner.views[2].X, [[0, 0], [0, 1]])


def test_the_first_trials_at_a_point_repeat_what_was_best_elsewhere():
    optimizer = run(replace(FAST, trials=3, carried=2), 12)
    for start in (3, 6, 9):
        before = sorted(optimizer.trials[:start], key=lambda trial: trial.value)
        best = list(dict.fromkeys(inner_of(trial) for trial in before))
        assert [inner_of(trial) for trial in optimizer.trials[start : start + 1]] == best[:1]
        assert all(trial.why["carried"] for trial in optimizer.trials[start : start + 2])
        assert "carried" not in optimizer.trials[start + 2].why


def test_several_trials_at_once_differ_and_fill_one_outer_point_after_the_other():
    optimizer = oc.Optimizer(MIXED, method=FAST, seed=0)
    trials = optimizer.ask(10)
    for trial in trials[1:7]:
        optimizer.tell(trial, loss(trial.params))
    trials += optimizer.ask(6)
    assert len({MIXED.key(trial.params) for trial in trials}) == 16
    assert [len(list(group)) for _, group in groupby(trials, outer_of)] == [4, 4, 4, 4]


def test_an_outer_point_counts_as_running_until_half_of_its_trials_have_ended():
    outer = Scripted([{"x": 0.5, "n": 3}, {"x": 0.25, "n": 8}, {"x": 0.75, "n": 9}])
    optimizer = oc.Optimizer(MIXED, method=replace(FAST, outer=outer), seed=0)
    first = optimizer.ask(4)
    optimizer.tell(first[1], 7.0)
    second = optimizer.ask(4)
    optimizer.tell(first[0], 9.0)
    optimizer.tell(second[0], 1.0)
    optimizer.ask()
    early, late = outer.views[1:]
    np.testing.assert_allclose(early.pending, [[0.5, 3 / 99]])
    assert len(early.y) == 0
    np.testing.assert_allclose(late.X, [[0.5, 3 / 99]])
    np.testing.assert_allclose(late.y, [7.0])
    np.testing.assert_allclose(late.pending, [[0.25, 8 / 99]])


def test_an_outer_point_where_everything_fails_is_left_and_counts_as_failed():
    outer = Scripted([{"x": 0.5, "n": 3}, {"x": 0.25, "n": 8}])
    optimizer = oc.Optimizer(MIXED, method=replace(FAST, outer=outer, trials=6), seed=0)
    for _ in range(3):
        optimizer.fail(optimizer.ask(), "diverged")
    trial = optimizer.ask()
    assert trial.params["x"] == 0.25
    np.testing.assert_allclose(outer.views[-1].failed, [[0.5, 3 / 99]])
    # Where something was told, failures only use up trials.
    optimizer.tell(trial, 1.0)
    for _ in range(5):
        trial = optimizer.ask()
        assert trial.params["x"] == 0.25
        optimizer.fail(trial, "diverged")


def test_a_trial_given_back_leaves_room_for_another():
    optimizer = oc.Optimizer(MIXED, method=FAST, seed=0)
    trials = optimizer.ask(4)
    optimizer.release(trials[2])
    again, other = optimizer.ask(2)
    assert outer_of(again) == outer_of(trials[0])
    assert outer_of(other) != outer_of(trials[0])


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("seed", range(2))
def test_a_small_space_is_used_up_without_repeats(kind, seed):
    space = oc.Space(
        {"n": oc.Int(0, 2), "a": oc.Categorical(list("uvw")), "m": oc.Choice({"p": {}, "q": {}})}
    )
    optimizer = run(
        EVERY_KIND[kind], 18, space, lambda p: p["n"] + (p["a"] == "v") + (p["m"] == "p"), seed
    )
    assert len({space.key(trial.params) for trial in optimizer.trials}) == 18
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_numbers_that_belong_to_an_option_are_searched_inside(kind):
    space = oc.Space(
        {
            "lr": oc.Float(0, 1),
            "model": oc.Choice({"plain": {}, "deep": {"width": oc.Float(0, 1)}}),
            "fixed": oc.Fixed("here"),
        }
    )
    optimizer = run(EVERY_KIND[kind], 20, space, lambda p: p["lr"] - p.get("model.deep.width", 0))
    lengths = [len(list(g)) for _, g in groupby(optimizer.trials, lambda t: t.params["lr"])]
    assert lengths == [4] * 5
    assert len({trial.params.get("model.deep.width") for trial in optimizer.trials}) > 5
    assert all(trial.params["fixed"] == "here" for trial in optimizer.trials)


@pytest.mark.parametrize(("space", "level"), [("box", GP), ("categories", TREES)])
def test_a_space_of_one_level_is_left_to_the_search_of_that_level(space, level):
    space = EVERY_SPACE[space]

    def value(params):
        return float(np.sin(space.encode([params]).X.sum()))

    nested, alone = run(FAST, 8, space, value), run(level, 8, space, value)
    assert [t.params for t in nested.trials] == [t.params for t in alone.trials]


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_the_same_seed_and_results_give_the_same_trials(kind):
    one, two = run(EVERY_KIND[kind], 14, seed=3), run(EVERY_KIND[kind], 14, seed=3)
    assert [t.params for t in one.trials] == [t.params for t in two.trials]
    other = run(EVERY_KIND[kind], 14, seed=4)
    assert [t.params for t in one.trials] != [t.params for t in other.trials]


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_study_that_is_left_in_the_middle_of_a_point_goes_on_there(kind, tmp_path):
    url = f"sqlite:///{tmp_path}/studies.db"
    oc.Study(MIXED, "s", storage=url, method=EVERY_KIND[kind], seed=5, noise=False)
    for n in (6, 5):  # each time by another process, as it were
        study = oc.load_study("s", storage=url)
        for _ in range(n):
            trial = study.ask()
            study.tell(trial, loss(trial.params))
    study = oc.load_study("s", storage=url)
    alone = run(EVERY_KIND[kind], 11, seed=5)
    assert [t.params for t in study.trials] == [t.params for t in alone.trials]
    assert study.replay().identical


def test_results_that_were_added_are_outer_points_too():
    outer = Scripted([{"x": 0.5, "n": 3}])
    optimizer = oc.Optimizer(MIXED, method=replace(FAST, outer=outer), seed=0)
    optimizer.add({"x": 0.1, "a": "u", "n": 5, "b": True}, 2.0)
    optimizer.add({"x": 0.1, "a": "v", "n": 5, "b": True}, 1.0)
    trial = optimizer.ask()
    np.testing.assert_allclose(outer.views[0].X, [[0.1, 5 / 99]])
    np.testing.assert_allclose(outer.views[0].y, [1.0])
    assert inner_of(trial) == ("v", True)  # carried over


def test_under_noise_values_of_one_configuration_are_averaged():
    outer = Scripted([{"x": 0.5, "n": 3}])
    view = view_of(
        MIXED,
        MIXED.encode([{"x": 0.1, "a": a, "n": 5, "b": True} for a in "uuv"]).X,
        np.array([0.0, 2.0, 1.5]),
        noise=True,
    )
    strategy_for(replace(FAST, outer=outer), MIXED).propose(view, np.random.default_rng(0))
    np.testing.assert_allclose(outer.views[0].y, [1.0])
    assert outer.views[0].noise is True


def test_averages_of_values_near_the_largest_float_are_finite():
    space = oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])})
    optimizer = oc.Optimizer(space, method="hierarchical", noise=True, seed=0)
    for value in (-1.5e308, -1.2e308):
        optimizer.add({"x": 0.5, "c": "a"}, value)
    for _ in range(12):
        optimizer.tell(optimizer.ask(), 0.0)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_noisy_study_goes_on_whatever_was_tried(kind):
    space = oc.Space({"n": oc.Int(0, 1), "a": oc.Categorical(["u", "v"])})
    rng = np.random.default_rng(0)
    optimizer = run(EVERY_KIND[kind], 14, space, lambda p: p["n"] + rng.normal(), noise=True)
    numbers = [trial.params["n"] for trial in optimizer.trials]
    assert numbers[::2] == numbers[1::2]  # as many trials at a point as there are levels
    assert len({space.key(trial.params) for trial in optimizer.trials}) > 2


@pytest.mark.parametrize("level", [GP, TREES, "random", Perturbed(GP), FAST])
def test_either_level_takes_whatever_method_takes(level):
    optimizer = run(Hierarchical(outer=level, inner=level, trials=3), 9)
    assert [len(list(group)) for _, group in groupby(optimizer.trials, outer_of)] == [3, 3, 3]


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_its_belief_is_one_of_the_whole_space(kind):
    optimizer = run(EVERY_KIND[kind], 12)
    best = optimizer.recommend()
    assert MIXED.validate(best.params) == dict(best.params)
    mean, std = optimizer.belief.predict(best.params)
    assert np.isfinite(mean)
    assert std > 0


@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
def test_it_finds_categories_and_numbers(pooled):
    for seed in range(3):
        optimizer = run(Hierarchical(trials=4, pooled=pooled), 60, seed=seed)
        assert inner_of(optimizer.best_trial) == ("w", False)
        assert optimizer.best_value < 0.02


def test_it_has_a_name():
    optimizer = run("hierarchical", 3)
    assert len({outer_of(trial) for trial in optimizer.trials}) == 1
    assert "hierarchical" in oc.strategies.METHODS


@pytest.mark.parametrize("method", [Hierarchical(), *EVERY_KIND.values()])
def test_it_comes_back_from_json_and_suggests_the_same(method):
    again = method_json.from_json(method_json.to_json(method))
    assert method_json.to_json(again) == method_json.to_json(method)
    assert [t.params for t in run(again, 7).trials] == [t.params for t in run(method, 7).trials]


@pytest.mark.parametrize(
    "wrong",
    [{"trials": 0}, {"trials": 2.5}, {"carried": -1}, {"carried": 11}, {"pooled": "yes"}],
)
def test_impossible_settings_are_refused_by_name(wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(MethodError, match=rf"Hierarchical\({name}={value!r}\): expected"):
        Hierarchical(**wrong)


def test_levels_that_cannot_be_searched_are_refused():
    with pytest.raises(MethodError, match="'gaussian' is not known"):
        strategy_for(Hierarchical(outer="gaussian"), MIXED)
    with pytest.raises(MethodError, match=r"pooled=True\): expected a method with a model"):
        strategy_for(Hierarchical(inner="random", pooled=True), MIXED)
    with pytest.raises(MethodError, match=r"not its class; write it with \(\)"):
        strategy_for(Hierarchical, MIXED)
