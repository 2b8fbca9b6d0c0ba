"""Kinds for numbers and categories, by the kernels they give to spaces."""

import numpy as np
import pytest

from outcrop.baselines import OneHot
from outcrop.baselines.one_hot import OneLengthscale
from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.inference import Slice
from outcrop.kernels import Matches, Matern52, Offset, Product, Scaled, Subspace, Sum
from outcrop.params import Layout
from outcrop.space import Float, Space
from outcrop.strategies import Method, strategy_for
from outcrop.surrogates import GP, CategoryMix, Situation
from outcrop.surrogates.inferred import ModelTarget
from outcrop.surrogates.situation import AMPLITUDE, LENGTHSCALES, standard_kernel
from outcrop.testing import STRATEGY_CONTRACT, view_of
from tests.strategies.spaces import EVERY_SPACE

FAST = Slice(chains=2, burn_in=1, patience=2.5)
KINDS = {
    "learnt": CategoryMix(),
    "fixed": CategoryMix(mix=0.5),
    "sum": CategoryMix(mix=0.0),
    "product": CategoryMix(mix=1.0),
    "one-hot": OneHot(),
}
MIXED = EVERY_SPACE["mixed"]
NUMBERS, CODES = (0, 1, 3), (2,)
LENGTHS = np.array([0.3, 0.6, 1.1])


def example(space, n=14, pending=2, failed=0, **more):
    rng = np.random.default_rng(0)
    X = space.from_uniform(rng.random((n + pending + failed, len(space.columns))))
    y = np.sin(3 * X.sum(1)) + 0.1 * X[:, 0]
    return view_of(space, X[:n], y[:n], X[n : n + pending], X[n + pending :], **more)


def bound(kernel, space, **slots):
    """The kernel with given numbers in its free slots, by the ends of their names."""
    layout = Layout.of(GP(kernel, noise=0.1), Observations(example(space).X, example(space).y))
    values = {
        name: value for name in layout.names for end, value in slots.items() if name.endswith(end)
    }
    return layout.bind(layout.unconstrained(values)).kernel


@pytest.mark.parametrize("check", STRATEGY_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("space", ["box", "categories", "mixed", "conditional"])
def test_every_kind_keeps_the_contract_of_strategies(space, kind, check):
    space = EVERY_SPACE[space]
    method = Method(surrogate=KINDS[kind], inference=FAST)
    failed = 1 if kind == "one-hot" else 0  # the model of failures is another one here
    check(strategy_for(method, space), space, example(space, n=9, failed=failed, noise=False))


@pytest.mark.parametrize("noise", [None, True, False, 0.3])
@pytest.mark.parametrize("kind", ["learnt", "one-hot"])
@pytest.mark.parametrize("space", ["mixed", "conditional"])
def test_every_kind_of_noise_works(space, kind, noise):
    space = EVERY_SPACE[space]
    strategy = strategy_for(Method(surrogate=KINDS[kind], inference=FAST), space)
    found = strategy.propose(example(space, noise=noise), np.random.default_rng(0))
    space.validate(found.params)
    assert found.why["source"] == "model"
    assert found.why["surrogate"] == KINDS[kind].label


@pytest.mark.parametrize(
    ("mix", "limit"),
    [
        (0.0, lambda numbers, codes: Scaled(0.5, Sum((numbers, codes)))),
        (1.0, lambda numbers, codes: Product((numbers, codes))),
    ],
)
def test_the_kernel_of_a_space_has_the_limits_of_the_mix(mix, limit):
    kernel = bound(
        mixed_kernel(MIXED, CategoryMix(mix)), MIXED, lengthscales=LENGTHS, variance=np.array([2.0])
    )
    parts = Subspace(NUMBERS, Matern52(LENGTHS)), Subspace(CODES, Matches())
    expected = Offset(1.0, Scaled(2.0, limit(*parts)))
    X = example(MIXED).X
    np.testing.assert_allclose(kernel.gram(X), expected.gram(X), rtol=1e-12)


def mixed_kernel(space, kind):
    return standard_kernel(space, joined=kind.joined)


def test_without_categories_the_kernel_is_that_of_the_numbers():
    space = EVERY_SPACE["box"]
    for kind in (CategoryMix(), CategoryMix(0.3)):
        slots = {"lengthscales": LENGTHS[:2], "variance": np.array([2.0])}
        kernels = mixed_kernel(space, kind), standard_kernel(space)
        kernel, plain = (bound(each, space, **slots) for each in kernels)
        X = example(space).X
        np.testing.assert_array_equal(kernel.gram(X), plain.gram(X))


@pytest.mark.parametrize("kind", ["learnt", "one-hot"])
def test_a_space_that_a_kind_has_nothing_to_say_about_is_searched_as_by_gp(kind):
    kind = KINDS[kind]
    for name in ("box", *(["categories"] if kind == CategoryMix() else [])):
        space = EVERY_SPACE[name]
        assert kind.surrogate(Situation(space)) is None
        view = example(space, n=8, pending=1, failed=0)
        own, plain = (
            strategy_for(method, space).propose(view, np.random.default_rng(3))
            for method in (Method(surrogate=kind), "gp")
        )
        assert own.params == plain.params
        assert own.warm == plain.warm
        assert own.why == plain.why


def test_the_mix_is_inferred_unless_it_is_given():
    data = Observations(example(MIXED).X, example(MIXED).y)
    learnt, given = (
        Layout.of(GP(mixed_kernel(MIXED, kind)), data).names
        for kind in (CategoryMix(), CategoryMix(1))
    )
    assert set(learnt) - set(given) == {"kernel.kernel.kernel.mix"}
    assert set(given) == {
        "kernel.kernel.variance",
        "kernel.kernel.kernel.kernels.0.kernel.lengthscales",
    }


def test_the_value_of_an_inactive_parameter_changes_nothing():
    space = EVERY_SPACE["conditional"]
    view = example(space)
    target = ModelTarget(
        GP(mixed_kernel(space, CategoryMix()), noise=0.1), Observations(view.X, view.y)
    )
    theta = target.sample_prior(np.random.default_rng(4), 1)[0]
    kernel = target.layout.bind(theta).kernel
    changed = np.where(space.active(view.X), view.X, 0.77)
    assert (changed != view.X).any()
    np.testing.assert_array_equal(kernel.gram(changed), kernel.gram(view.X))
    assert np.linalg.eigvalsh(kernel.gram(view.X)).min() >= -1e-10


def test_the_mix_of_additive_data_is_learnt_to_be_low_and_of_other_data_to_be_high():
    """Where numbers and categories have effects of their own, a sum explains them best."""
    rng = np.random.default_rng(2)
    n = 60
    X = np.column_stack([rng.random(n), rng.integers(0, 4, n)])
    shifts = np.array([0.0, 2.0, -1.0, 1.0])[X[:, 1].astype(int)]
    added = np.sin(6 * X[:, 0]) + shifts
    turned = np.sin(6 * X[:, 0] + 1.7 * X[:, 1])
    kernel = CategoryMix().joined(Subspace((0,), Matern52([0.3])), Subspace((1,), Matches()))
    means = []
    for y in (added, turned):
        data = Observations(X, (y - y.mean()) / y.std())
        grid = np.linspace(0.02, 0.98, 25)
        logs = np.array(
            [GP(kernel_at(kernel, mix), noise=1e-4).log_likelihood(data) for mix in grid]
        )
        weights = np.exp(logs - logs.max())
        means.append(weights @ grid / weights.sum())
    assert means[0] < 0.2
    assert means[1] > 0.8


def kernel_at(kernel, mix):
    return type(kernel)(mix, kernel.kernels)


def test_one_hot_has_one_lengthscale_for_everything():
    space = Space({f"x{i}": Float(0, 1) for i in range(9)})
    lengthscales = OneLengthscale().kernel(Situation(space)).kernel.kernel.lengthscales
    assert lengthscales.size == 1
    assert lengthscales.prior == LENGTHSCALES.for_size(9)


def test_the_amplitude_and_level_stay_those_of_gp():
    kernel = mixed_kernel(MIXED, CategoryMix())
    assert isinstance(kernel, Offset)
    assert kernel.kernel.variance.prior == AMPLITUDE


@pytest.mark.parametrize("mix", [-0.1, 1.1, float("nan")])
def test_a_mix_outside_0_to_1_is_refused(mix):
    with pytest.raises(ModelError, match="from 0 to 1, or None to learn it"):
        CategoryMix(mix)
