"""The unit cube: encode, decode, snap, from_uniform and the active mask."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop.errors import ParamsError, ShapeError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from tests.space.strategies import configurations, spaces

slow_draws = [HealthCheck.too_slow, HealthCheck.data_too_large]
thorough = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=slow_draws
)
brief = settings(thorough, max_examples=80)

TREE = Space(
    {
        "x": Float(0, 2),
        "m": Choice(
            {
                "a": {},
                "b": {
                    "k": Int(1, 3),
                    "f": Fixed("z"),
                    "n": Choice({"p": {}, "q": {"y": Float(0, 1)}}),
                },
            }
        ),
        "c": Categorical(["u", "v", "w"]),
    }
)


def same(parameter, one, other):
    """Whether a round trip kept a value, as exactly as is promised."""
    if not isinstance(parameter, Float) or parameter.step is not None:
        return one == other and type(one) is type(other)
    if parameter.log:
        return math.isclose(one, other, rel_tol=1e-9)
    ulp = math.ulp(max(abs(parameter.low), abs(parameter.high)))
    return abs(one / 4 - other / 4) <= ulp


def random_points(space, seed, n=8):
    return np.random.default_rng(seed).uniform(-0.2, 3.2, (n, len(space.columns)))


@given(st.data())
@thorough
def test_decode_inverts_encode(data):
    space = data.draw(spaces())
    rows = data.draw(st.lists(configurations(space), min_size=1, max_size=3))
    X, active = space.encode(rows)
    assert X.dtype == np.float64
    assert X.shape == active.shape == (len(rows), len(space.columns))
    for before, after in zip(rows, space.decode(X), strict=True):
        assert list(before) == list(after)
        for name, value in before.items():
            parameter = space.parameters[name]
            assert same(parameter, value, after[name])
            if isinstance(parameter, Float):
                assert parameter.low <= after[name] <= parameter.high
    np.testing.assert_array_equal(space.active(X), active)
    assert not X[~active].any()
    for column in space.columns:
        x = X[active[:, column.index], column.index]
        assert (x >= 0).all()
        assert (x <= (column.levels - 1 if column.is_code else 1)).all()


@given(st.data(), st.integers(0, 2**32))
@brief
def test_snap_is_idempotent_and_is_encode_after_decode(data, seed):
    space = data.draw(spaces())
    X = random_points(space, seed)
    snapped = space.snap(X)
    decoded = space.decode(X)
    np.testing.assert_array_equal(space.snap(snapped), snapped)
    np.testing.assert_allclose(space.encode(decoded).X, snapped, rtol=0, atol=1e-12)
    assert space.keys(snapped) == space.keys(X) == [space.key(params) for params in decoded]


@pytest.mark.parametrize(
    "parameter", [Float(1.0, 1.0 + 1e-12), Float(5e-324, 1e-120, log=True)], ids=repr
)
def test_where_floats_are_sparse_a_coordinate_goes_to_one_of_them(parameter):
    space = Space({"x": parameter})
    X = np.linspace(0, 1, 1001)[:, None]
    snapped = space.snap(X)
    assert (snapped != X).any()
    np.testing.assert_array_equal(space.encode(space.decode(X)).X, snapped)
    np.testing.assert_array_equal(space.snap(snapped), snapped)


@given(st.data(), st.integers(0, 2**32))
@brief
def test_from_uniform_gives_legal_points(data, seed):
    space = data.draw(spaces())
    U = np.random.default_rng(seed).random((8, len(space.columns)))
    U[0], U[1] = 0.0, 1.0
    X = space.from_uniform(U)
    np.testing.assert_array_equal(space.snap(X), X)
    for params in space.decode(X):
        assert space.validate(params) == params


@given(st.data(), st.integers(0, 2**32))
@brief
def test_inactive_entries_change_nothing(data, seed):
    space = data.draw(spaces())
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((6, len(space.columns))))
    noisy = np.where(space.active(X), X, rng.uniform(-3, 3, X.shape))
    assert space.decode(noisy) == space.decode(X)
    assert space.keys(noisy) == space.keys(X)
    np.testing.assert_array_equal(space.snap(noisy), X)
    np.testing.assert_array_equal(space.active(noisy), space.active(X))


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.1, 0.7),
        (1.0, 1.0 + 1e-12),
        (5e-324, 1.7976931348623157e308),
        (3.0, 5.9),
        (1e-300, 1e300),
        (1e5, 1e5 * (1 + 1e-12)),
    ],
)
def test_bounds_are_exactly_zero_and_one_and_come_back_exactly(low, high, log):
    space = Space({"x": Float(low, high, log=log)})
    X = space.encode([{"x": low}, {"x": high}]).X
    assert X.tolist() == [[0.0], [1.0]]
    assert space.decode(X) == [{"x": low}, {"x": high}]
    assert space.decode(np.array([[-0.5], [1.5]])) == [{"x": low}, {"x": high}]


def test_a_range_wider_than_the_largest_float_is_encoded_without_overflow():
    space = Space({"x": Float(-1.7e308, 1.7e308)})
    values = [-1.7e308, -1e308, 0.0, 1.3e308, 1.7e308]
    X = space.encode([{"x": value} for value in values]).X
    np.testing.assert_allclose(X[:, 0], [0, 0.7 / 3.4, 0.5, 3.0 / 3.4, 1], rtol=1e-15)
    assert [row["x"] for row in space.decode(X)] == pytest.approx(values, rel=1e-15)


@pytest.mark.parametrize("low", [-1.7976931348623157e308, -1e16, 0.0])
@pytest.mark.parametrize("high", [1.7976931348623157e308, 1e16])
def test_ranges_up_to_the_largest_float_come_back_without_a_warning(low, high, rng):
    space = Space({"x": Float(low, high)})
    X = np.concatenate([[0.0, 1.0], rng.random(200)])[:, None]
    np.testing.assert_allclose(space.encode(space.decode(X)).X, X, atol=1e-15)


def test_numbers_are_encoded_by_their_place_on_their_scale():
    space = Space(
        {
            "lin": Float(-1, 3),
            "log": Float(1e-4, 1.0, log=True),
            "int": Int(10, 20, step=5),
            "logint": Int(1, 100, log=True),
            "ord": Ordinal(["s", "m", "l"]),
            "cat": Categorical(["u", "v", "w"]),
        }
    )
    params = {"lin": 0.0, "log": 1e-3, "int": 15, "logint": 10, "ord": "l", "cat": "w"}
    X = space.encode([params]).X
    np.testing.assert_allclose(X, [[0.25, 0.25, 0.5, 0.5, 1.0, 2.0]], rtol=1e-14)


def test_the_columns_of_a_tree_name_their_conditions():
    assert [column.name for column in TREE.columns] == [
        "x",
        "m",
        "m.b.k",
        "m.b.n",
        "m.b.n.q.y",
        "c",
    ]
    assert [column.index for column in TREE.columns] == list(range(6))
    assert [column.conditions for column in TREE.columns] == [
        (),
        (),
        ((1, 1),),
        ((1, 1),),
        ((1, 1), (3, 1)),
        (),
    ]
    assert [column.levels for column in TREE.columns] == [None, 2, 3, 2, None, 3]
    assert [column.is_code for column in TREE.columns] == [False, True, False, True, False, True]


def test_the_mask_follows_the_options_through_every_level():
    rows = [
        {"x": 1, "m": "a", "c": "v"},
        {"x": 1, "m": {"b": {"k": 2, "n": "p"}}, "c": "v"},
        {"x": 1, "m": {"b": {"k": 2, "n": {"q": {"y": 1}}}}, "c": "v"},
    ]
    X, active = TREE.encode(rows)
    np.testing.assert_array_equal(
        X, [[0.5, 0, 0, 0, 0, 1], [0.5, 1, 0.5, 0, 0, 1], [0.5, 1, 0.5, 1, 1, 1]]
    )
    np.testing.assert_array_equal(
        active,
        np.array([[1, 1, 0, 0, 0, 1], [1, 1, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1]], dtype=bool),
    )
    assert [list(row) for row in TREE.decode(X)] == [
        ["x", "m", "c"],
        ["x", "m", "m.b.k", "m.b.f", "m.b.n", "c"],
        ["x", "m", "m.b.k", "m.b.f", "m.b.n", "m.b.n.q.y", "c"],
    ]


@pytest.mark.parametrize(
    "parameter",
    [
        Int(3, 17),
        Int(2, 40, log=True),
        Int(100, 150, log=True),
        Float(0, 1, step=0.05),
        Ordinal([1, 2, 8]),
    ],
    ids=repr,
)
def test_a_coordinate_goes_to_the_nearest_legal_position(parameter):
    space = Space({"x": parameter})
    (column,) = space.columns
    u = np.random.default_rng(3).random(2000)
    assert column.grid is not None
    nearest = column.grid[np.abs(u[:, None] - column.grid).argmin(1)]
    np.testing.assert_array_equal(space.snap(u[:, None])[:, 0], nearest)
    assert len(column.grid) == column.levels
    grid = space.decode(column.grid[:, None])
    np.testing.assert_array_equal(space.encode(grid).X[:, 0], column.grid)
    assert len({row["x"] for row in grid}) == column.levels


def test_long_grids_and_other_columns_have_none():
    space = Space(
        {
            "a": Int(1, 4096),
            "b": Int(1, 4097),
            "c": Int(1, 4096, log=True),
            "d": Int(1, 4097, log=True),
            "e": Float(0, 1),
            "f": Categorical([1, 2]),
            "g": Choice({"a": {}}),
        }
    )
    assert [column.grid is not None for column in space.columns] == [
        True,
        False,
        True,
        *[False] * 4,
    ]


@pytest.mark.parametrize(
    "parameter", [Int(1, 2**40, log=True), Int(0, 2**50 - 1), Int(10**18, 10**18 + 9)]
)
def test_large_integers_come_back_exactly(parameter):
    space = Space({"x": parameter})
    offsets = [0, 1, 2, parameter.levels // 3, parameter.levels - 2, parameter.levels - 1]
    rows = [{"x": parameter.low + offset} for offset in offsets]
    assert space.decode(space.encode(rows).X) == rows
    assert len({space.key(row) for row in rows}) == len(rows)


def test_codes_are_rounded_into_range():
    space = Space({"c": Categorical(["u", "v", "w"]), "m": Choice({"a": {}})})
    X = np.array([[-1.0, 4.0], [1.4, 0.0], [9.0, -9.0]])
    assert space.snap(X).tolist() == [[0, 0], [1, 0], [2, 0]]


@pytest.mark.parametrize("method", ["decode", "snap", "from_uniform", "active", "keys"])
@pytest.mark.parametrize("X", [np.zeros(6), np.zeros((2, 5)), np.zeros((1, 2, 6)), [["a"] * 6]])
def test_points_of_another_shape_are_refused(method, X):
    with pytest.raises(ShapeError, match=r"expected .*\(n, 6\)"):
        getattr(TREE, method)(X)


def test_nan_is_refused():
    with pytest.raises(ParamsError, match="NaN"):
        TREE.decode(np.full((1, 6), np.nan))


def test_no_rows_are_fine():
    assert TREE.encode([]).X.shape == (0, 6)
    assert TREE.decode(np.zeros((0, 6))) == []
    assert TREE.snap(np.zeros((0, 6))).shape == (0, 6)
    assert TREE.sample(np.random.default_rng(0), 0) == []
    assert TREE.keys(np.zeros((0, 6))) == []


def test_arguments_are_left_as_they_were():
    X = np.random.default_rng(0).uniform(0, 2, (5, 6))
    X.flags.writeable = False
    for method in (TREE.decode, TREE.snap, TREE.from_uniform, TREE.active, TREE.keys):
        method(X)
