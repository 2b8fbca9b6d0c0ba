"""Methods that are "gp" with another kind of Gaussian process."""

import json

import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.errors import MethodError, ModelError
from outcrop.inference import MAP, Slice
from outcrop.kernels import BetaCDF, LocalGlobal, Matern52, Region
from outcrop.priors import LogNormal
from outcrop.problems import get
from outcrop.strategies import METHODS, Method, strategy_for
from outcrop.study import Optimizer
from outcrop.surrogates import (
    GP,
    Grounded,
    Inferred,
    Latent,
    Situation,
    Spartan,
    Treed,
    Warped,
)
from outcrop.surrogates.inferred import ModelTarget
from outcrop.surrogates.situation import INFERENCE, LATENT_INFERENCE, refreshed
from outcrop.testing import STRATEGY_CONTRACT, view_of
from tests.strategies.spaces import EVERY_NOISE, EVERY_SPACE

FAST = Slice(chains=2, burn_in=1, patience=2.5)
KINDS = {
    "warped": Warped(),
    "warped-beta": Warped(BetaCDF(), LogNormal(0.0, 0.75**0.5)),
    "spartan": Spartan(),
    "spartan-two-regions": Spartan(regions=2),
    "spartan-variances": Spartan(widths=(0.05**0.5, 10**0.5)),
    "latent": Latent(),
}
NAMED = {
    "warped": Warped(),
    "spartan": Spartan(),
    "latent": Latent(),
    "treed": Treed(),
    "treed-warped": Treed(leaves=Warped()),
}


def example(space, n=14, pending=2, failed=0, **more):
    rng = np.random.default_rng(0)
    X = space.from_uniform(rng.random((n + pending + failed, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    return view_of(space, X[:n], y[:n], X[n : n + pending], X[n + pending :], **more)


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["mixed", "conditional"])
def test_every_kind_keeps_the_contract_of_strategies(space, kind, check):
    space = EVERY_SPACE[space]
    method = Method(surrogate=KINDS[kind], inference=FAST)
    check(strategy_for(method, space), space, example(space, noise=False))


@pytest.mark.parametrize("kind", ["warped", "spartan"])
@pytest.mark.parametrize(("space", "noise"), EVERY_NOISE)
def test_every_kind_of_noise_works_on_every_space(space, kind, noise):
    space = EVERY_SPACE[space]
    method = Method(surrogate=KINDS[kind], inference=FAST)
    suggestion = strategy_for(method, space).propose(
        example(space, noise=noise), np.random.default_rng(0)
    )
    space.validate(suggestion.params)
    assert suggestion.why["source"] == "model"


@pytest.mark.parametrize("name", NAMED)
def test_a_name_is_the_method_with_its_family(name):
    space, rng = EVERY_SPACE["box"], np.random.default_rng
    view = example(space, n=8, noise=False)
    method = Method(surrogate=NAMED[name])
    one, two = (strategy_for(m, space).propose(view, rng(3)) for m in (name, method))
    assert one.params == two.params
    assert one.warm == two.warm
    assert one.why["surrogate"] == NAMED[name].label
    assert name in METHODS


@pytest.mark.parametrize("name", NAMED)
def test_a_space_without_numbers_is_searched_as_by_gp(name):
    space = EVERY_SPACE["categories"]
    assert NAMED[name].surrogate(Situation(space)) is None
    view = example(space, n=8, pending=1, failed=0)
    named, plain = (
        strategy_for(method, space).propose(view, np.random.default_rng(3))
        for method in (name, "gp")
    )
    assert named.params == plain.params
    assert named.warm == plain.warm
    assert named.why == plain.why


@pytest.mark.parametrize(("noise", "parts"), [(None, {"exact", "noisy"}), (False, None)])
def test_noise_is_left_open_or_ruled_out_as_by_gp(noise, parts):
    space = EVERY_SPACE["box"]
    view = example(space, n=7, pending=0, failed=0, noise=noise)
    warm = {
        name: strategy_for(name, space).propose(view, np.random.default_rng(0)).warm
        for name in ("gp", "spartan", "warped")
    }
    for state in warm.values():
        assert set(state) == (parts or {"thetas", "widths"})


@pytest.mark.parametrize(
    ("kind", "slots"),
    [
        ("warped", {"a", "b", "kernel.lengthscales"}),
        (
            "spartan",
            {
                "regions.0.centre",
                "regions.0.width",
                "regions.0.kernel.lengthscales",
                "elsewhere.lengthscales",
            },
        ),
    ],
)
def test_chains_go_on_from_trial_to_trial_by_the_names_of_their_slots(kind, slots):
    space = EVERY_SPACE["box"]
    still = Slice(chains=2, burn_in=0, sweeps=0)
    strategy = strategy_for(Method(surrogate=KINDS[kind], inference=still), space)
    view = example(space, pending=0, failed=0, noise=False)
    first = strategy.propose(view, np.random.default_rng(0))
    inner = "kernel.kernel.kernel."
    found = {name.removeprefix(inner) for name in first.warm["thetas"][0]}
    assert found == {"kernel.kernel.variance", *slots}
    stored = json.loads(json.dumps(first.warm))
    again = strategy.propose(
        example(space, pending=0, failed=0, noise=False, warm=stored), np.random.default_rng(1)
    )
    assert again.warm["thetas"] == first.warm["thetas"]


@pytest.mark.parametrize("kind", ["warped", "spartan"])
def test_the_value_of_an_inactive_parameter_changes_nothing(kind):
    space = EVERY_SPACE["conditional"]
    kernel = bound(KINDS[kind].kernel(Situation(space)), space)
    X = example(space).X
    changed = np.where(space.active(X), X, 0.77)
    assert (changed != X).any()
    np.testing.assert_array_equal(kernel.gram(changed), kernel.gram(X))
    assert np.linalg.eigvalsh(kernel.gram(X)).min() >= -1e-10


def bound(kernel, space):
    """The kernel with its free slots at a draw from their priors."""
    target = ModelTarget(GP(kernel, noise=0.1), space_data(space))
    return target.layout.bind(target.sample_prior(np.random.default_rng(4), 1)[0]).kernel


def space_data(space):
    view = example(space)
    return Observations(view.X, view.y)


def test_a_belief_does_without_regions_that_hold_no_observation():
    data = space_data(EVERY_SPACE["line"])
    corner = data.X[:, 0].max() + 0.5
    kernel = LocalGlobal((Region([corner], 0.1, Matern52(0.05)),), Matern52(0.4))
    surrogate = Grounded(Inferred(GP(kernel, noise=1e-6), MAP()))
    plain = GP(Matern52(0.4), noise=1e-6).condition(data)
    X = np.array([[corner], [0.3]])
    mean, var = surrogate.fit(data, np.random.default_rng(0)).predict_each(X)
    np.testing.assert_allclose(mean[0], plain.predict(X)[0], rtol=1e-9)
    np.testing.assert_allclose(var[0], plain.predict(X)[1], rtol=1e-7, atol=1e-11)


@pytest.mark.parametrize("inference", [INFERENCE, LATENT_INFERENCE])
def test_fewer_chains_move_as_data_get_many(inference):
    assert refreshed(inference, 50) == inference
    fewer = refreshed(inference, 100)
    assert fewer.moved == 3
    assert fewer.patience == inference.patience


def test_kinds_need_an_instance_and_sensible_settings():
    with pytest.raises(MethodError, match="expected a kind of surrogate"):
        Method(surrogate=Spartan)
    for wrong in ({"regions": 0}, {"widths": (0.1,)}, {"widths": (0.0, 1.0)}):
        with pytest.raises(ModelError, match="expected"):
            Spartan(**wrong)


@pytest.mark.slow
def test_spartan_finds_the_corner_of_a_flat_square_where_gp_mostly_does_not():
    problem = get("exp-2d-wide")
    gaps = [gap_after(problem, "spartan", trials=50, seed=seed) for seed in range(50, 54)]
    assert sum(gap >= 0.99 for gap in gaps) >= 3


def gap_after(problem, method, trials, seed):
    optimizer = Optimizer(problem.space, method=method, seed=seed)
    for _ in range(trials):
        trial = optimizer.ask()
        optimizer.tell(trial, problem(trial.params))
    values = [trial.value for trial in optimizer.trials]
    first = min(values[:6])
    return (first - min(values)) / (first - problem.minimum)
