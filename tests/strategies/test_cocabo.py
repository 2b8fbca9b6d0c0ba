"""Bandits for the categories, a model for the numbers that go with them."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop.acquisition import UCB
from outcrop.baselines import OneHot
from outcrop.errors import MethodError, ParamsError, SpaceExhausted
from outcrop.inference import Slice
from outcrop.maximise import Maximiser
from outcrop.strategies import CoCaBO, Method, strategy_for
from outcrop.surrogates import CategoryMix
from outcrop.testing import STRATEGY_CONTRACT
from tests.space.strategies import spaces
from tests.strategies.cocabo import FAST, MIXED, WITH_CODES, Loop, example, run, value
from tests.strategies.spaces import EVERY_SPACE


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("space", ["box", *WITH_CODES])
def test_it_keeps_the_contract_on_every_space(space, batch, check):
    space = EVERY_SPACE[space]
    check(strategy_for(CoCaBO(FAST, batch=batch), space), space, example(space))


@pytest.mark.parametrize(
    ("space", "noise"),
    [("mixed", True), ("mixed", False), ("mixed", 0.3), *((space, None) for space in WITH_CODES)],
)
def test_every_kind_of_noise_works_on_every_space(space, noise):
    space = EVERY_SPACE[space]
    strategy = strategy_for(CoCaBO(FAST), space)
    suggestion = strategy.propose(example(space, noise=noise), np.random.default_rng(0))
    space.validate(suggestion.params)
    assert suggestion.why["source"] == "model"


@given(spaces(), st.integers(0, 100), st.integers(1, 4), st.booleans())
@settings(max_examples=15, deadline=None, derandomize=True)
def test_any_space_gives_a_legal_suggestion(space, seed, batch, noise):
    view = example(space, seed, noise=noise)
    try:
        found = strategy_for(CoCaBO(FAST, batch=batch), space).propose(
            view, np.random.default_rng(seed)
        )
    except SpaceExhausted:
        assert space.size is not None
        assert len(view.known) >= space.size
        return
    assert space.validate(found.params) == dict(found.params)
    assert noise or space.key(found.params) not in view.known


@pytest.mark.parametrize("method", ["cocabo", CoCaBO(batch=4)])
def test_without_categories_it_is_gp(method):
    space = EVERY_SPACE["box"]
    view = example(space)
    own, plain = (
        strategy_for(each, space).propose(view, np.random.default_rng(3)) for each in (method, "gp")
    )
    assert own.params == plain.params
    assert own.warm == plain.warm
    assert own.why == plain.why


def test_the_name_is_the_method_with_its_defaults():
    view = example(MIXED)
    one, two = (
        strategy_for(method, MIXED).propose(view, np.random.default_rng(3))
        for method in ("cocabo", CoCaBO())
    )
    assert one.params == two.params
    assert one.warm == two.warm
    assert one.why["surrogate"] == "CoCaBO GP"


# Spaces of all kinds


def test_a_space_of_categories_is_searched_to_its_end_without_repeats():
    space = EVERY_SPACE["categories"]
    optimizer = run(space, CoCaBO(FAST, horizon=15), 15)
    assert len({space.key(trial.params) for trial in optimizer.trials}) == 15
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


def test_when_bandits_draw_only_what_is_known_the_model_finds_the_rest():
    space = EVERY_SPACE["categories"]
    loop = Loop(space, CoCaBO(FAST, gamma=0.0), started=0)
    loop.X = [np.array([0.0, code]) for code in range(3)] + [np.array([1.0, 0.0])]
    loop.y = [0.0, 1.0, 2.0, 3.0]
    loop.warm = {"weights": {"c": {"logs": [800.0, 0, 0, 0, 0]}, "d": {"logs": [0.0, 0, 0]}}}
    found, _ = loop.ask(0)
    assert found.params["c"] != "a"
    assert found.why["drawn"] == {}
    assert loop.warm["running"] == []


@pytest.mark.parametrize("numbers", [{}, {"x": oc.Float(0, 1)}])
@pytest.mark.parametrize("batch", [1, 4])
def test_a_category_may_have_a_thousand_levels(numbers, batch):
    space = oc.Space({"c": oc.Categorical(range(1000)), "d": oc.Categorical(["u", "v"]), **numbers})
    loop = Loop(space, CoCaBO(FAST, batch=batch), started=6)
    for seed in range(6):
        _, x = loop.ask(seed)
        loop.tell(x, float(x.sum() % 7))
    assert len({space.keys(x[None])[0] for x in loop.X}) == 12
    assert len(json.dumps(loop.warm)) < 20_000


def test_integers_and_ordinals_are_found_by_the_model():
    space = oc.Space(
        {
            "n": oc.Int(1, 50),
            "o": oc.Ordinal([1, 2, 4, 8]),
            "g": oc.Float(0, 1, step=0.25),
            "c": oc.Categorical(["u", "v"]),
        }
    )
    optimizer = run(space, CoCaBO(FAST), 12)
    assert {type(trial.params["n"]) for trial in optimizer.trials} == {int}
    assert all(set(trial.why.get("drawn", "c")) == {"c"} for trial in optimizer.trials)


def test_the_model_is_asked_for_the_best_numbers_with_the_levels_that_were_drawn():
    """Against a grid of everything that has those levels."""
    method = replace(FAST, acquisition=UCB(2.0), maximiser=Maximiser())
    strategy = strategy_for(CoCaBO(method), MIXED)
    view = example(MIXED, pending=0, failed=0, noise=False)
    found = strategy.propose(view, np.random.default_rng(5))
    x = MIXED.encode([found.params]).X[0]
    grid = np.column_stack([np.linspace(0, 1, 2001), np.tile(x[1:], (2001, 1))])
    still = replace(strategy.model, inference=Slice(chains=2, burn_in=0, sweeps=0))
    belief = still.belief(replace(view, warm=found.warm["inner"]), np.random.default_rng(0))
    mixture, outcome = belief.mixture, belief.outcome
    score = UCB(2.0)(mixture, grid)
    assert UCB(2.0)(mixture, x[None])[0] >= score.max() - 1e-4
    assert found.why["mean"] == pytest.approx(outcome.restore(*mixture.moments(x[None]))[0][0])


# Studies


def test_the_same_seed_and_values_give_the_same_trials():
    one, two = (run(MIXED, CoCaBO(FAST, batch=2), 14, seed=7) for _ in range(2))
    assert [t.params for t in one.trials] == [t.params for t in two.trials]


def test_a_stored_study_that_is_opened_again_asks_as_an_optimizer_does(tmp_path):
    url, method = f"sqlite:///{tmp_path / 'study.db'}", CoCaBO(FAST, batch=3)
    expected = run(MIXED, method, 10, seed=5)
    for _ in range(10):
        study = oc.Study(MIXED, "s", storage=url, method=method, seed=5, noise=False)
        trial = study.ask()
        study.tell(trial, value(expected, trial))
    trials = oc.load_study("s", storage=url).trials
    assert [t.params for t in trials] == [t.params for t in expected.trials]


def test_running_failed_enqueued_and_added_trials_go_together():
    optimizer = oc.Optimizer(MIXED, method=CoCaBO(FAST, batch=2), seed=1)
    optimizer.add([{"x": 0.5, "a": "p", "b": "u"}, {"x": 0.1, "a": "q", "b": "v"}], [1.0, 2.0])
    optimizer.enqueue({"x": 0.25, "a": "r", "b": "w"})
    running = []
    for number in range(14):
        trial = optimizer.ask()
        if number % 4 == 3:
            optimizer.fail(trial, "crashed")
        elif number % 4 == 2:
            running.append(trial)
        else:
            optimizer.tell(trial, value(optimizer, trial))
    optimizer.release(running[0])
    optimizer.tell(running[1], 0.5)
    last = optimizer.ask()
    keys = Counter(MIXED.key(trial.params) for trial in optimizer.trials)
    assert max(keys.values()) == 1
    assert last.why["source"] == "model"
    mean, std = optimizer.belief.predict(last.params)
    assert np.isfinite(mean)
    assert std > 0
    assert optimizer.recommend().trial.state == "finished"


@pytest.mark.parametrize("method", ["cocabo", CoCaBO(batch=4), Method(surrogate=CategoryMix())])
def test_a_level_never_declared_is_refused_with_its_name(method):
    optimizer = oc.Optimizer(MIXED, method=method, seed=0)
    wrong = {"x": 0.5, "a": "z", "b": "u"}
    calls = [
        lambda: optimizer.add(wrong, 1.0),
        lambda: optimizer.add([wrong], [1.0]),
        lambda: optimizer.enqueue(wrong),
    ]
    for call in calls:
        with pytest.raises(ParamsError, match=r"a.*'z'.*one of 'p', 'q', 'r'"):
            call()
    assert optimizer.trials == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch": 0}, r"batch=0.*at least 1"),
        ({"batch": 2.0}, r"batch=2\.0.*whole number"),
        ({"horizon": -5}, r"horizon=-5.*at least 1"),
        ({"horizon": True}, r"horizon=True.*whole number"),
        ({"reward": "best"}, r"reward='best'.*\"scaled\" or \"raw\""),
        ({"gamma": 1.5}, r"gamma=1\.5.*from 0 to 1"),
        ({"gamma": -0.1}, r"gamma=-0\.1.*from 0 to 1"),
        ({"gamma": float("nan")}, r"gamma=nan.*from 0 to 1"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_expected(settings, message):
    with pytest.raises(MethodError, match=message):
        CoCaBO(**settings)


@pytest.mark.parametrize("method", ["random", "cocabo", Method(surrogate=OneHot())])
def test_a_method_without_a_model_of_the_space_is_refused(method):
    with pytest.raises(MethodError, match="expected a method with a model"):
        strategy_for(CoCaBO(method), MIXED)


@pytest.mark.slow
def test_the_better_level_is_drawn_more_often():
    space = oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(range(5))})
    late = 0
    for seed in range(4):
        optimizer = oc.Optimizer(space, method=CoCaBO(FAST, horizon=100), seed=seed, noise=False)
        for _ in range(100):
            trial = optimizer.ask()
            x, c = trial.params.values()
            optimizer.tell(trial, (x - 0.3) ** 2 + (0.0 if c == 3 else 1.0 + c))
        late += sum(trial.params["c"] == 3 for trial in optimizer.trials[60:])
    assert late > 160 * 0.35  # chance is 0.2; four standard errors are 0.13
