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
from outcrop.errors import MethodError, ParamsError, SpaceExhausted
from outcrop.inference import Slice
from outcrop.kernels import Matern52
from outcrop.maximise import Maximiser
from outcrop.strategies import CoCaBO, Method, strategy_for
from outcrop.strategies.held import Held, Part
from outcrop.strategies.initial import Sobol
from outcrop.surrogates import GP, OneHot
from outcrop.surrogates import CoCaBO as CoCaBOFamily
from outcrop.testing import STRATEGY_CONTRACT, view_of
from tests.maximise.functions import Waves
from tests.space.strategies import spaces
from tests.strategies.spaces import EVERY_SPACE

TINY = Maximiser(spread=48, perturbations=24, resamples=8, starts=2, steps=8, rounds=1)
FAST = Method(
    surrogate=CoCaBOFamily(),
    inference=Slice(chains=2, burn_in=2),
    initial=Sobol(size=4),
    maximiser=TINY,
)
STILL = replace(FAST, surrogate=GP(Matern52([0.5]), noise=1e-3))  # nothing to be inferred
MIXED = oc.Space(
    {"x": oc.Float(0, 1), "a": oc.Categorical(list("pqr")), "b": oc.Categorical(list("uvwxy"))}
)
WITH_CODES = [name for name, space in EVERY_SPACE.items() if any(c.is_code for c in space.columns)]


def example(space, seed=0, n=9, pending=2, failed=2, **more):
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((n + pending + failed, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    return view_of(space, X[:n], y[:n], X[n : n + pending], X[n + pending :], **more)


def value(optimizer, trial):
    x = optimizer.space.encode([trial.params]).X[0]
    return float(np.sin(3 * x.sum()) + 0.1 * x[0])


def run(space, method, n, seed=0, noise=False):
    optimizer = oc.Optimizer(space, method=method, seed=seed, noise=noise)
    for _ in range(n):
        trial = optimizer.ask()
        optimizer.tell(trial, value(optimizer, trial))
    return optimizer


class Loop:
    """Asks and tells without a study, so that warm states can be looked at."""

    def __init__(self, space, method, started, seed=3, noise=False):
        rng = np.random.default_rng(seed)
        X = space.from_uniform(rng.random((started, len(space.columns))))
        self.space, self.strategy, self.noise = space, strategy_for(method, space), noise
        self.X, self.y = list(X), list(np.sin(5 * X.sum(1)))
        self.pending, self.failed, self.warm = [], [], {}

    def view(self):
        width = len(self.space.columns)
        X, pending, failed = (
            np.array(rows).reshape(-1, width) for rows in (self.X, self.pending, self.failed)
        )
        return view_of(self.space, X, self.y, pending, failed, noise=self.noise, warm=self.warm)

    def ask(self, seed):
        found = self.strategy.propose(self.view(), np.random.default_rng(seed))
        self.warm = json.loads(json.dumps(found.warm))
        x = self.space.encode([found.params]).X[0]
        self.pending.append(x)
        return found, x

    def tell(self, x, y):
        self._end(x)
        self.X.append(x)
        self.y.append(y)

    def fail(self, x):
        self._end(x)
        self.failed.append(x)

    def _end(self, x):
        self.pending = [other for other in self.pending if other is not x]

    def weights(self):
        """The bandits' weights as the next suggestion would have them."""
        warm = self.strategy.propose(self.view(), np.random.default_rng(0)).warm
        return {name: np.array(state["logs"]) for name, state in warm["weights"].items()}


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("space", EVERY_SPACE)
def test_it_keeps_the_contract_on_every_space(space, batch, check):
    space = EVERY_SPACE[space]
    check(strategy_for(CoCaBO(FAST, batch=batch), space), space, example(space))


@pytest.mark.parametrize("noise", [None, True, False, 0.3])
@pytest.mark.parametrize("space", WITH_CODES)
def test_every_kind_of_noise_works_on_every_space(space, noise):
    space = EVERY_SPACE[space]
    strategy = strategy_for(CoCaBO(FAST), space)
    suggestion = strategy.propose(example(space, noise=noise), np.random.default_rng(0))
    space.validate(suggestion.params)
    assert suggestion.why["source"] == "model"


@given(spaces(), st.integers(0, 100), st.integers(1, 4), st.booleans())
@settings(max_examples=25, deadline=None, derandomize=True)
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


# What bandits learn


def test_weights_are_those_of_exp3_on_the_best_value_of_each_level():
    loop = Loop(MIXED, CoCaBO(FAST, horizon=50), started=6)
    gamma = {k: min(1.0, np.sqrt(k * np.log(k) / ((np.e - 1) * 2 / 3 * 50))) for k in (3, 5)}
    expected = {"a": np.zeros(3), "b": np.zeros(5)}
    for seed in range(12):
        found, x = loop.ask(seed)
        for name, column in (("a", 1), ("b", 2)):
            arms = len(expected[name])
            odds = np.exp(expected[name]) / np.exp(expected[name]).sum()
            odds = (1 - gamma[arms]) * odds + gamma[arms] / arms
            arm = int(x[column])
            assert found.why["drawn"][name] == pytest.approx(odds[arm], rel=1e-12)
            worst, best = max([*loop.y, y := np.sin(9 * x.sum())]), min([*loop.y, y])
            seen = [v for row, v in zip(loop.X, loop.y, strict=True) if row[column] == arm]
            reward = (worst - min([*seen, y])) / (worst - best)
            expected[name][arm] += gamma[arms] * reward / (odds[arm] * arms)
        loop.tell(x, np.sin(9 * x.sum()))
    for name, logs in loop.weights().items():
        np.testing.assert_allclose(logs, expected[name], rtol=1e-12)


def test_a_level_is_rewarded_once_and_when_its_trial_has_a_value():
    loop = Loop(MIXED, CoCaBO(FAST), started=6)
    first, x = loop.ask(0)
    _, other = loop.ask(1)
    assert not any(logs.any() for logs in loop.weights().values())  # both are running
    loop.tell(x, -1.0)
    after = loop.weights()
    assert {name for name, logs in after.items() if logs.any()} == set(first.why["drawn"])
    for name, column in (("a", 1), ("b", 2)):
        assert np.flatnonzero(after[name]).tolist() == [x[column]]
    _, third = loop.ask(2)
    np.testing.assert_equal(loop.weights(), after)
    loop.fail(other)
    loop._end(third)  # given back
    np.testing.assert_equal(loop.weights(), after)
    assert loop.strategy.propose(loop.view(), np.random.default_rng(0)).warm["running"][:-1] == []


def test_a_category_that_is_not_active_earns_nothing():
    space = EVERY_SPACE["conditional"]
    loop = Loop(space, CoCaBO(STILL, gamma=0.9), started=6)
    before = {name: np.zeros_like(logs) for name, logs in loop.weights().items()}
    assert list(before) == ["model", "model.mlp.act", "model.mlp.opt"]
    seen = set()
    for seed in range(12):
        found, x = loop.ask(seed)
        assert set(found.why["drawn"]) == {name for name in before if name in found.params}
        loop.tell(x, float(-seed))  # the best yet, so that each level it has earns 1
        after = loop.weights()
        changed = {name for name in before if (after[name] != before[name]).any()}
        assert changed == set(found.why["drawn"])
        before = after
        seen.add(len(changed))
    assert seen == {1, 3}


def test_results_from_elsewhere_count_towards_what_is_best_but_reward_no_draw():
    loop = Loop(MIXED, CoCaBO(FAST), started=6)
    _, x = loop.ask(0)
    loop.X.append(np.array([0.77, x[1], x[2]]))
    loop.y.append(-50.0)
    assert not any(logs.any() for logs in loop.weights().values())
    loop.tell(x, 1.0)
    logs, odds = loop.weights()["a"], 1 / 3
    gamma = strategy_for(CoCaBO(FAST), MIXED).settings.bandit(3).gamma
    assert logs[int(x[1])] == pytest.approx(gamma / (odds * 3))  # a reward of 1


def test_equal_values_teach_nothing():
    loop = Loop(MIXED, CoCaBO(FAST), started=6)
    loop.y = [2.5] * 6
    for seed in range(3):
        _, x = loop.ask(seed)
        loop.tell(x, 2.5)
    assert not any(logs.any() for logs in loop.weights().values())


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_values_are_rewarded_as_others(scale):
    loops = [Loop(MIXED, CoCaBO(FAST, gamma=0.5), started=6) for _ in range(2)]
    loops[1].y = [scale * y for y in loops[1].y]
    for loop, unit in zip(loops, (1.0, scale), strict=True):
        _, x = loop.ask(0)
        loop.tell(x, unit * 0.3)
    one, two = (loop.weights() for loop in loops)
    for name, logs in one.items():
        np.testing.assert_allclose(two[name], logs, rtol=1e-9)


@pytest.mark.parametrize(
    ("settings", "levels", "gamma"),
    [
        ({}, 17, np.sqrt(17 * np.log(17) / ((np.e - 1) * 2 / 3 * 200))),
        ({"horizon": 10}, 17, 1.0),
        (
            {"batch": 4, "horizon": 320},
            17,
            np.sqrt(17 * np.log(17 / 4) / ((np.e - 1) * 4 * 160 / 3)),
        ),
        ({"batch": 4}, 4, 0.0),
        ({"batch": 4}, 3, 1.0),
        ({"batch": 4, "gamma": 0.3}, 3, 0.3),
        ({"gamma": 0.0}, 5, 0.0),
    ],
)
def test_the_rate_follows_from_the_horizon_unless_it_is_given(settings, levels, gamma):
    assert CoCaBO(**settings).bandit(levels).gamma == pytest.approx(gamma, rel=1e-12)


# Batches


@pytest.mark.parametrize("batch", [1, 2, 4, 8])
@pytest.mark.parametrize("noise", [False, True])
def test_points_asked_for_together_are_unique(batch, noise):
    optimizer = run(MIXED, CoCaBO(STILL, batch=batch), 5, noise=noise)
    trials = optimizer.ask(4) + optimizer.ask(4)
    assert len({MIXED.key(trial.params) for trial in trials}) == 8


def test_levels_of_a_batch_are_drawn_together_and_differ_if_there_are_enough():
    optimizer = run(MIXED, CoCaBO(FAST, batch=4), 4)
    for _ in range(3):
        trials = optimizer.ask(4)
        assert len({trial.params["b"] for trial in trials}) == 4
        for trial in trials:
            optimizer.tell(trial, value(optimizer, trial))


def test_a_batch_goes_on_as_it_was_drawn_whatever_is_told_meanwhile():
    loop = Loop(MIXED, CoCaBO(FAST, batch=4), started=6)
    _, x = loop.ask(0)
    drawn = [(row["a"][0], row["b"][0]) for row in loop.warm["plan"]]
    assert len(drawn) == 3
    loop.tell(x, -5.0)
    found = []
    for seed in range(3):
        _, x = loop.ask(seed)
        found.append((x[1], x[2]))
        loop.tell(x, -6.0 - seed)
    assert found == drawn
    assert loop.warm["plan"] == []


def test_a_batch_holds_nothing_twice_though_noise_would_allow_it():
    space = oc.Space({"n": oc.Int(1, 4), "c": oc.Categorical(["u", "v"])})
    loop = Loop(space, CoCaBO(FAST, batch=8, gamma=1.0), started=5, noise=True)
    found = []
    for seed in range(8):
        _, x = loop.ask(seed)
        found.append(tuple(x))
        loop.tell(x, float(seed))  # at once, so that nothing is running
    assert len(set(found)) == 8
    _, again = loop.ask(9)
    assert tuple(again) in set(found)  # the next batch may look twice


def test_rows_of_a_batch_are_not_sorted():
    """Sets of levels are drawn in order, and would pair low levels with low ones."""
    space = oc.Space({"x": oc.Float(0, 1), **{n: oc.Categorical(range(8)) for n in "ab"}})
    strategy = strategy_for(CoCaBO(STILL, batch=4, gamma=1.0), space)
    view = example(space, failed=0)
    pairs = []
    for seed in range(40):
        warm = strategy.propose(view, np.random.default_rng(seed)).warm
        pairs += [(row["a"][0], row["b"][0]) for row in warm["plan"]]
    correlation = np.corrcoef(np.array(pairs).T)[0, 1]
    assert abs(correlation) < 0.35  # of sorted ones 0.7; four standard errors of 120 pairs


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


# Parts of a space


def test_a_part_holds_the_active_numbers_of_its_levels():
    space = EVERY_SPACE["conditional"]
    names = {c.name: c.index for c in space.columns}
    codes = {"model": 2, "model.mlp.act": 1, "model.mlp.opt": 0}
    part = Part.of(space, codes)
    assert part.numbers == (names["lr"], names["model.mlp.opt.sgd.mu"])
    assert Part.of(space, {**codes, "model": 0}).numbers == (names["lr"],)
    Z = np.random.default_rng(0).random((5, 2))
    X = part.raised(Z)
    np.testing.assert_array_equal(space.snap(X), X)
    np.testing.assert_array_equal(part.lowered(X), Z)
    assert part.keys(X) == set(part.space.keys(Z))
    assert part.keys(Part.of(space, {**codes, "model.mlp.act": 0}).raised(Z)) == set()


def test_a_part_without_numbers_holds_one_configuration():
    space = EVERY_SPACE["categories"]
    part = Part.of(space, {"c": 2, "d": 1})
    point = np.array([[2.0, 1.0]])
    np.testing.assert_array_equal(part.raised(np.zeros((1, 0))), point)
    assert part.has_more_than(np.zeros((0, 2)))
    assert part.has_more_than(np.array([[2.0, 0.0]]))
    assert not part.has_more_than(point)


@pytest.mark.parametrize("seed", range(4))
def test_a_held_search_finds_the_maximum_of_its_part(seed):
    space = EVERY_SPACE["mixed"]
    function = Waves.on(space, seed)
    part = Part.of(space, {"c": 1})
    held = Held(Maximiser(), part, frozenset())
    rng = np.random.default_rng(seed)
    candidates = held.candidates(space, rng, example(space).X)
    found = held(function, space, rng, candidates=candidates, scales=np.ones(4), forbidden=())
    levels = [np.linspace(0, 1, 401), np.linspace(0, 1, 8), [1.0], np.linspace(0, 1, 4)]
    everything = np.stack(np.meshgrid(*levels, indexing="ij"), -1).reshape(-1, 4)
    assert found.value >= function(everything).max() - 1e-9
    assert found.value == pytest.approx(function(found.point[None])[0])
    assert found.point[2] == 1
    (key,) = part.keys(found.point[None])
    other = replace(held, taken=frozenset({key}))
    again = other(function, space, rng, candidates=candidates, scales=None, forbidden=())
    assert key not in part.keys(again.point[None])
    repeated = other(function, space, rng)  # candidates are its own, and nothing is forbidden
    assert repeated.value == pytest.approx(found.value, abs=1e-6)


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


@pytest.mark.parametrize("method", ["cocabo", CoCaBO(batch=4), Method(surrogate=CoCaBOFamily())])
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
