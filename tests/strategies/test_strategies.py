import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.acquisition import EI, UCB, LogEI, MaxValueEntropy, Thompson
from outcrop.errors import MethodError, NoBelief, NumericalError, SpaceExhausted
from outcrop.inference import MAP, Laplace, Slice
from outcrop.kernels import Matern32
from outcrop.params import Per, free
from outcrop.priors import LogNormal
from outcrop.space import Categorical, Float, Int, Space
from outcrop.strategies import METHODS, Method, strategy_for
from outcrop.strategies.initial import LatinHypercube
from outcrop.strategies.pending import Believer
from outcrop.surrogates import GP, Inferred
from outcrop.testing import STRATEGY_CONTRACT, view_of
from tests.space.strategies import spaces
from tests.strategies.spaces import EVERY_NOISE, EVERY_SPACE

FAST = Slice(chains=2, burn_in=1)
PARTS = {
    "gp": Method(inference=FAST),
    "ei": Method(inference=FAST, acquisition=EI()),
    "ucb-lhs": Method(inference=FAST, acquisition=UCB(), initial=LatinHypercube()),
    "mes": Method(inference=FAST, acquisition=MaxValueEntropy(samples=4)),
    "thompson": Method(inference=FAST, acquisition=Thompson(features=64)),
    "map": Method(inference=MAP(starts=2)),
    "laplace": Method(inference=Laplace(starts=2)),
    "random": "random",
    "sobol": "sobol",
}


def example(space, seed=0, n=14, pending=2, failed=0, **more):
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((n + pending + failed, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    return view_of(space, X[:n], y[:n], X[n : n + pending], X[n + pending :], **more)


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("method", PARTS)
@pytest.mark.parametrize("space", ["box", "mixed", "conditional"])
def test_every_method_keeps_the_contract(space, method, check):
    space = EVERY_SPACE[space]
    # Failures and noise left open take models of their own, which are the same for all.
    more = {"failed": 2} if method == "gp" else {"noise": False}
    check(strategy_for(PARTS[method], space), space, example(space, **more))


@pytest.mark.parametrize(("space", "noise"), EVERY_NOISE)
def test_every_kind_of_noise_works_on_every_space(space, noise):
    space = EVERY_SPACE[space]
    view = example(space, noise=noise)
    suggestion = strategy_for(PARTS["gp"], space).propose(view, np.random.default_rng(0))
    space.validate(suggestion.params)


def test_before_the_design_is_complete_points_come_from_it():
    space = EVERY_SPACE["box"]
    strategy = strategy_for("gp", space)
    for n in range(9):
        view = example(space, n=n, pending=0, failed=0, seed=n)
        source = strategy.propose(view, np.random.default_rng(n)).why["source"]
        assert source == ("initial" if n < 6 else "model")


@pytest.mark.parametrize(
    ("n", "pending", "failed", "source"),
    [(4, 2, 0, "model"), (1, 0, 5, "model"), (3, 1, 1, "initial"), (0, 4, 9, "initial")],
)
def test_running_and_failed_trials_count_towards_the_design_once_there_is_a_value(
    n, pending, failed, source
):
    space = EVERY_SPACE["box"]
    view = example(space, n=n, pending=pending, failed=failed)
    suggestion = strategy_for("gp", space).propose(view, np.random.default_rng(0))
    assert suggestion.why["source"] == source


def test_design_points_are_one_sequence_for_the_whole_study():
    space = EVERY_SPACE["box"]
    expected = LatinHypercube().points(space, 6, np.random.default_rng([11, 7]))
    X = np.zeros((0, 2))
    for i in range(6):
        view = view_of(space, X, np.zeros(i), seed=11)
        params = strategy_for("gp", space).propose(view, np.random.default_rng(i)).params
        X = np.vstack([X, space.encode([params]).X])
    np.testing.assert_allclose(X, expected, atol=1e-12)


@pytest.mark.parametrize("power", [-900, 5])
def test_values_scaled_by_a_power_of_two_give_the_same_suggestion(power):
    space = EVERY_SPACE["mixed"]
    plain = example(space, failed=2)
    scaled = view_of(space, plain.X, plain.y * 2.0**power, plain.pending, plain.failed)
    one, two = (
        strategy_for(PARTS["gp"], space).propose(view, np.random.default_rng(5))
        for view in (plain, scaled)
    )
    assert one.params == two.params
    assert two.why["mean"] == one.why["mean"] * 2.0**power
    assert two.why["improvement"] == one.why["improvement"] * 2.0**power > 0


def test_warm_chains_travel_from_suggestion_to_suggestion():
    space = EVERY_SPACE["box"]
    strategy = strategy_for(Method(inference=Slice(chains=2, burn_in=3, sweeps=0)), space)
    first = strategy.propose(example(space), np.random.default_rng(0))
    again = strategy.propose(example(space, warm=first.warm), np.random.default_rng(1))
    assert again.warm["exact"]["thetas"] == first.warm["exact"]["thetas"]


def test_left_open_noise_is_believed_in_by_half_of_the_belief():
    space = EVERY_SPACE["box"]
    view = example(space)
    belief = strategy_for(Method(inference=Slice(chains=6, burn_in=1)), space).belief(
        view, np.random.default_rng(0)
    )
    exact = [part.model.noise == 1e-8 for part in belief.mixture.components]
    assert sum(exact) == 3
    assert belief.mixture.weights[exact].sum() == pytest.approx(0.5)


def test_replicates_that_differ_make_the_objective_noisy():
    space = EVERY_SPACE["box"]
    plain = example(space, n=8, pending=0, failed=0)
    X, y = np.vstack([plain.X, plain.X[:1]]), np.append(plain.y, plain.y[0] + 0.5)
    view = view_of(space, X, y)
    assert view.is_noisy
    belief = strategy_for(PARTS["gp"], space).belief(view, np.random.default_rng(0))
    assert all(part.model.noise >= 1e-6 for part in belief.mixture.components)
    assert not view_of(space, X, np.append(plain.y, plain.y[0])).is_noisy


def test_told_standard_deviations_reach_the_model():
    space = EVERY_SPACE["box"]
    plain = example(space, n=8, pending=0, failed=0)
    std = np.full(8, np.nan)
    std[3] = 0.4
    view = view_of(space, plain.X, plain.y, std=std)
    belief = strategy_for(PARTS["gp"], space).belief(view, np.random.default_rng(0))
    own = belief.mixture.components[0].data.noise
    assert own[3] == pytest.approx((0.4 / plain.y.std()) ** 2)
    assert own[0] == 0


def test_known_noise_is_used_in_the_objectives_units():
    space = EVERY_SPACE["box"]
    view = example(space, noise=0.2)
    belief = strategy_for(PARTS["gp"], space).belief(view, np.random.default_rng(0))
    own = belief.mixture.components[0].data.noise
    np.testing.assert_allclose(own, (0.2 / view.y.std()) ** 2)


def test_a_told_deviation_counts_once_beside_a_known_noise():
    space = EVERY_SPACE["box"]
    plain = example(space, n=8, pending=0, failed=0)
    view = view_of(space, plain.X, plain.y, std=np.full(8, 0.3), noise=0.3)
    belief = strategy_for(PARTS["gp"], space).belief(view, np.random.default_rng(0))
    part = belief.mixture.components[0]
    total = np.sqrt(part.data.noise + part.model.noise) * plain.y.std()
    np.testing.assert_allclose(total, 0.3, rtol=1e-4)


@pytest.mark.parametrize(("scale", "noise"), [(1e-200, 0.1), (1.0, 1e200), (1e200, 1e-9)])
def test_noise_of_another_size_than_the_values_does_no_harm(scale, noise):
    space = EVERY_SPACE["box"]
    plain = example(space)
    view = view_of(space, plain.X, plain.y * scale, noise=noise)
    suggestion = strategy_for(PARTS["gp"], space).propose(view, np.random.default_rng(0))
    assert suggestion.why["source"] == "model"


def test_an_observation_of_huge_deviation_says_nothing():
    space = EVERY_SPACE["box"]
    plain = example(space, n=9, pending=0, failed=0)
    y, std = plain.y.copy(), np.full(9, np.nan)
    y[4], std[4] = 1000.0, 1e200
    view = view_of(space, plain.X, y, std=std)
    belief = strategy_for(PARTS["gp"], space).belief(view, np.random.default_rng(0))
    assert abs(belief.predict(plain.X[4:5])[0][0]) < 100


def test_running_trials_are_not_repeated_even_under_noise():
    space = Space({"a": Int(0, 9), "b": Int(0, 9)})
    X = space.from_uniform(np.random.default_rng(0).random((20, 2)))
    y, pending = X.sum(1), np.zeros((0, 2))
    for i in range(6):
        view = view_of(space, X, y, pending, noise=True)
        params = strategy_for(PARTS["gp"], space).propose(view, np.random.default_rng(i)).params
        pending = np.vstack([pending, space.encode([params]).X])
    assert len(np.unique(pending, axis=0)) == 6


def test_after_trouble_previous_hyperparameters_are_used_before_giving_up(monkeypatch):
    space = EVERY_SPACE["box"]
    strategy = strategy_for("gp", space)
    warm = strategy.propose(example(space), np.random.default_rng(0)).warm
    real, calls = Slice.infer, []

    def troubled(self, *args):
        calls.append(self.sweeps)
        if self.sweeps:
            raise NumericalError("sampling failed")
        return real(self, *args)

    monkeypatch.setattr(Slice, "infer", troubled)
    suggestion = strategy.propose(example(space, failed=0, warm=warm), np.random.default_rng(1))
    assert suggestion.why["source"] == "fallback"
    assert suggestion.why["acquisition"] == "LogEI"
    assert calls == [1, 0, 0]


def test_belief_samples_agree_with_its_predictions():
    space = EVERY_SPACE["box"]
    view = example(space, n=8)
    rng = np.random.default_rng(0)
    belief = strategy_for(PARTS["gp"], space).belief(view, rng)
    X = rng.random((4, 2))
    mean, std = belief.predict(X)
    draws = belief.sample(X, rng, 20_000)
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.05 * std.max())
    np.testing.assert_allclose(draws.std(0), std, rtol=0.1)


class Broken:
    def fit(self, observations, rng, previous=None):
        raise NumericalError("nothing factorises")


def test_numerical_trouble_gives_a_space_filling_point_and_says_so(caplog):
    space = EVERY_SPACE["box"]
    view = example(space, warm={"kept": 1})
    suggestion = strategy_for(Method(surrogate=Broken()), space).propose(
        view, np.random.default_rng(0)
    )
    space.validate(suggestion.params)
    assert suggestion.why["source"] == "fallback"
    assert "nothing factorises" in suggestion.why["reason"]
    assert suggestion.warm == {"kept": 1}
    assert "numerical trouble" in caplog.text


def test_a_model_of_ones_own_is_inferred():
    space = EVERY_SPACE["box"]
    model = GP(Matern32(free(LogNormal(), size=Per.DIMENSION)), noise=1e-4)
    for surrogate in (model, Inferred(model, FAST)):
        strategy = strategy_for(Method(surrogate=surrogate, inference=FAST), space)
        belief = strategy.belief(example(space), np.random.default_rng(0))
        assert isinstance(belief.mixture.components[0].model.kernel, Matern32)


def test_a_used_up_space_is_exhausted_unless_the_objective_is_noisy():
    space = Space({"a": Int(1, 3), "b": Categorical(["x", "y"])})
    X = space.from_uniform(np.array([[i / 3 + 0.1, j / 2] for i in range(3) for j in range(2)]))
    for method in ("gp", "random", "sobol"):
        with pytest.raises(SpaceExhausted):
            strategy_for(method, space).propose(
                view_of(space, X, np.arange(6.0)), np.random.default_rng(0)
            )
        noisy = view_of(space, X, np.arange(6.0), noise=True)
        space.validate(strategy_for(method, space).propose(noisy, np.random.default_rng(0)).params)


def test_methods_without_a_model_have_no_belief():
    space = EVERY_SPACE["box"]
    with pytest.raises(NoBelief, match="method='gp'"):
        strategy_for("random", space).belief(example(space), np.random.default_rng(0))
    with pytest.raises(NoBelief, match="nothing was told"):
        strategy_for("gp", space).belief(example(space, n=0), np.random.default_rng(0))


def test_an_unknown_method_is_refused_with_those_that_are_known():
    for wrong in ("gaussian", "", 3):
        with pytest.raises(MethodError) as caught:
            strategy_for(wrong, EVERY_SPACE["box"])
        if isinstance(wrong, str):
            assert all(name in str(caught.value) for name in METHODS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"acquisition": LogEI},
        {"acquisition": "ei"},
        {"inference": 8},
        {"pending": Believer},
        {"initial": "sobol"},
        {"maximiser": 3},
        {"surrogate": 1.0},
        {"acquisition": Thompson(), "inference": Laplace()},
    ],
    ids=str,
)
def test_parts_that_are_none_are_refused_by_name(wrong):
    name = next(iter(wrong))
    with pytest.raises(MethodError, match=f"Method\\({name}="):
        Method(**wrong)


@given(space=spaces(depth=2), seed=st.integers(0, 10**6))
@settings(max_examples=30, deadline=None, derandomize=True)
def test_any_space_and_any_data_give_a_legal_suggestion(space, seed):
    """Constant, huge, tiny and mixed values; few and many failures; on any space."""
    rng = np.random.default_rng(seed)
    n, failed = int(rng.integers(1, 16)), int(rng.integers(0, 4))
    X = space.from_uniform(rng.random((n + failed, len(space.columns))))
    y = rng.choice([0.0, 1.0, -1e300, 1e-300, 3.5], n) * rng.choice([1.0, rng.random()])
    view = view_of(space, X[:n], y, None, X[n:], noise=bool(rng.integers(2)))
    try:
        suggestion = strategy_for(PARTS["gp"], space).propose(view, rng)
    except SpaceExhausted:
        assert space.size is not None
        assert len(view.known) >= space.size
    else:
        assert space.validate(suggestion.params) == dict(suggestion.params)


def test_pictures_of_dimensions_do_not_matter():
    """Permuted columns give the permuted belief, up to the order in which slots are sampled."""
    space, swapped = (
        Space({"x": Float(0, 1), "y": Float(0, 1)}),
        Space({"y": Float(0, 1), "x": Float(0, 1)}),
    )
    view = example(space, pending=0, failed=0)
    other = view_of(swapped, view.X[:, ::-1].copy(), view.y)
    map_method = Method(inference=MAP(starts=16))
    X = np.random.default_rng(9).random((5, 2))
    one = strategy_for(map_method, space).belief(view, np.random.default_rng(0)).predict(X)
    two = (
        strategy_for(map_method, swapped)
        .belief(other, np.random.default_rng(0))
        .predict(X[:, ::-1].copy())
    )
    np.testing.assert_allclose(one[0], two[0], rtol=0.02, atol=0.02)
