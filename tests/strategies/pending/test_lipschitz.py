import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.kernels import RBF, Matern52, Offset, Scaled
from outcrop.params import Layout
from outcrop.space import Choice, Float, Space
from outcrop.strategies.pending.lipschitz import STEEP, estimated, mean_gradient
from outcrop.surrogates import GP, Mixture
from outcrop.surrogates.situation import standard_kernel
from outcrop.testing import central_differences
from tests.strategies.pending.beliefs import ONE_SPACE_EACH, PAIRS, belief, waves, with_running
from tests.strategies.spaces import EVERY_SPACE


def box(d):
    return Space({f"x{i}": Float(0, 1) for i in range(d)})


def on_grid(part, low, high, points):
    """The largest norm of the mean's gradient, by differences of means on a grid."""
    lines = [np.linspace(*ends, points) for ends in zip(low, high, strict=True)]
    X = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, len(low))
    h = 1e-5
    slopes = [
        (part.predict(X + h * e)[0] - part.predict(X - h * e)[0]) / (2 * h)
        for e in np.eye(len(low))
    ]
    return np.sqrt(np.square(slopes).sum(0)).max()


@pytest.mark.parametrize(("d", "points"), [(1, 1001), (2, 81)])
@pytest.mark.parametrize("seed", range(3))
def test_constants_are_those_of_a_search_on_a_grid(d, points, seed):
    rng = np.random.default_rng(seed)
    mixture = waves(d, n=10, scales=(0.25, 0.5))
    busy = rng.random((4, d))
    found = estimated(mixture, box(d), busy, rng, "mean", True, "test")
    for i, part in enumerate(mixture.components):
        whole = on_grid(part, np.zeros(d), np.ones(d), points)
        assert found.whole[i] == pytest.approx(whole, rel=0.01)
        for j, x in enumerate(busy):
            scale = part.scales()
            own = on_grid(part, np.maximum(x - scale, 0), np.minimum(x + scale, 1), points)
            assert found.around[i, j] == pytest.approx(own, rel=0.03)
            assert found.reach[i, j] == pytest.approx(np.sqrt((scale**2).mean()))


@pytest.mark.parametrize(("space", "surrogate"), [p for p in ONE_SPACE_EACH if "forest" not in p])
@pytest.mark.parametrize("by", ["mean", "draws"])
def test_none_around_a_point_exceeds_the_one_everywhere(space, surrogate, by):
    mixture, space = belief(space, surrogate), EVERY_SPACE[space]
    if by == "draws" and surrogate == "laplace":
        pytest.skip("functions cannot be drawn from a marginal process")
    busy = with_running(space, 6).pending
    found = estimated(mixture, space, busy, np.random.default_rng(0), by, True, "test")
    assert (found.around > 0).all()
    assert (found.around <= found.whole[:, None]).all()


@pytest.mark.parametrize(("space", "surrogate"), [p for p in PAIRS if "forest" not in p])
def test_mean_gradients_agree_with_finite_differences(space, surrogate):
    mixture, space = belief(space, surrogate), EVERY_SPACE[space]
    numbers = [c.index for c in space.columns if not c.is_code]
    X = with_running(space, 5).pending * 0.98 + np.isin(np.arange(len(space.columns)), numbers) / 99
    X = np.where([c.is_code for c in space.columns], np.round(X), X)
    active = space.active(X)[:, numbers]
    for part in mixture.components:

        def total(numeric, part=part):
            moved = X.copy()
            moved[:, numbers] = numeric
            return float(part.predict(moved)[0].sum())

        expected = np.where(active, central_differences(total, X[:, numbers]), 0.0)
        own = np.where(active, mean_gradient(part)(X)[:, numbers], 0.0)
        np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-5)


def test_without_local_constants_there_is_one_for_all():
    mixture, busy = waves(), np.random.default_rng(1).random((5, 2))
    found = estimated(mixture, box(2), busy, np.random.default_rng(0), "mean", False, "test")
    np.testing.assert_array_equal(found.around, np.repeat(found.whole[:, None], 5, axis=1))
    assert np.isinf(found.reach).all()


def test_a_flat_belief_has_the_constant_that_says_nothing():
    data = Observations(np.array([[0.2], [0.7]]), np.zeros(2))
    flat = Mixture.single(GP(Matern52(0.3), noise=1e-6).condition(data))
    for local in (False, True):
        found = estimated(
            flat, box(1), np.array([[0.5]]), np.random.default_rng(0), "mean", local, "test"
        )
        assert found.whole == found.around == STEEP


@pytest.mark.parametrize("seed", range(4))
def test_a_mean_that_varies_by_rounding_only_is_flat(seed):
    """Next to nothing is left of the data at a lengthscale of next to nothing but the level."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=40)
    data = Observations(rng.random((40, 2)), y - y.mean())
    kernel = Offset(1.0, Scaled(2.0, Matern52([0.5, 1e-11])))
    flat = GP(kernel, noise=1e-8).condition(data)
    pool = rng.random((200, 2))
    assert np.ptp(flat.predict(pool)[0]) < 1e-12
    found = estimated(Mixture.single(flat), box(2), pool[:3], rng, "mean", False, "test")
    assert found.whole == STEEP


def test_a_flat_neighbourhood_has_the_constant_of_the_whole():
    """The mean is flat far away from data, and no lengthscale reaches there."""
    data = Observations(np.array([[0.05], [0.1]]), np.array([1.0, -1.0]))
    part = GP(RBF(0.02), noise=1e-6).condition(data)
    busy = np.array([[0.9]])
    found = estimated(
        Mixture.single(part), box(1), busy, np.random.default_rng(0), "mean", True, "test"
    )
    assert found.around[0, 0] == found.whole[0] > 10
    assert np.isinf(found.reach)


def test_paths_are_as_steep_as_the_mean_where_there_is_no_doubt_left():
    X = np.linspace(0, 1, 40)[:, None]
    data = Observations(X, np.sin(6 * X[:, 0]))
    mixture = Mixture.single(GP(Scaled(1.0, RBF(0.3)), noise=1e-8).condition(data))
    busy = np.array([[0.3], [0.8]])
    mean, draws = (
        estimated(mixture, box(1), busy, np.random.default_rng(0), by, True, "test")
        for by in ("mean", "draws")
    )
    np.testing.assert_allclose(mean.whole, 6.0, rtol=0.02)
    np.testing.assert_allclose(draws.whole, mean.whole, rtol=0.02)
    np.testing.assert_allclose(draws.around, mean.around, rtol=0.02)


def test_paths_are_steeper_than_the_mean_where_there_is_doubt():
    mixture, busy = waves(n=6), np.random.default_rng(1).random((3, 2))
    mean, draws = (
        estimated(mixture, box(2), busy, np.random.default_rng(0), by, False, "test")
        for by in ("mean", "draws")
    )
    assert (draws.whole > mean.whole).all()


def test_only_active_numbers_count():
    """Along a number of an option the mean is steep, but that is for this option only."""
    space = Space({"x": Float(0, 1), "m": Choice({"a": {}, "b": {"y": Float(0, 1)}})})
    rows = [{"x": x, "m": "a"} for x in (0.1, 0.5, 0.9)]
    rows += [{"x": x, "m": {"b": {"y": y}}} for x in (0.2, 0.8) for y in (0.1, 0.5, 0.9)]
    X = space.encode(rows).X
    data = Observations(X, 0.5 * X[:, 0] + 20 * X[:, 2] * (X[:, 1] == 1))
    part = GP(_bound(standard_kernel(space)), noise=1e-8).condition(data)
    busy = space.encode([{"x": 0.5, "m": "a"}, {"x": 0.5, "m": {"b": {"y": 0.5}}}]).X
    found = estimated(
        Mixture.single(part), space, busy, np.random.default_rng(0), "mean", True, "test"
    )
    line = space.encode([{"x": x, "m": "a"} for x in np.linspace(0, 1, 2001)]).X
    steps = np.diff(part.predict(line)[0]) / np.diff(line[:, 0])
    assert found.around[0, 0] == pytest.approx(np.abs(steps).max(), rel=0.01)
    assert found.around[0, 1] > 5 * found.around[0, 0]
    scales = part.scales()
    np.testing.assert_allclose(found.reach[0], [scales[0], np.sqrt((scales[[0, 2]] ** 2).mean())])


def _bound(kernel):
    """A kernel with numbers in its free slots."""
    layout = Layout.of(GP(kernel, noise=1e-8), Observations(np.zeros((2, 3)), np.zeros(2)))
    return layout.bind(np.log(np.full(layout.dim, 0.7))).kernel
