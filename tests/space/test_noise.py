"""Noise of inputs: how it is declared, kept, and seen in the unit cube."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop.space
from outcrop.errors import ParamsError, SpaceError
from outcrop.space import Choice, Float, Int, Space
from outcrop.space.noise import checked_number, position, restricted, share

thorough = settings(max_examples=80, deadline=None, derandomize=True)

COVARIANCE = {("x", "model.b.k"): [[4.0, -0.3], [-0.3, 0.25]]}
SPACE = Space(
    {
        "x": Float(-10, 40),
        "y": Float(1e-3, 10.0, log=True, input_std=0.2),
        "model": Choice({"a": {}, "b": {"k": Int(2, 12)}}),
        "n": Int(1, 64, log=True, input_std=0.1),
        "z": Float(0, 1),
    },
    input_covariance=COVARIANCE,
)

BAD = [
    ("Float(0, 1, input_std=-0.1)", ["input_std=-0.1", "at least 0", "leave it out"]),
    ("Float(0, 1, input_std='a')", ["'a'", "finite number"]),
    ("Float(0, 1, input_std=math.inf)", ["inf", "finite number"]),
    ("Float(0, 1, input_std=1.5)", ["input_std=1.5", "wider than the range", "1;"]),
    ("Float(1, 2, log=True, input_std=0.8)", ["0.693147", "natural logarithms", "log=True"]),
    ("Int(0, 5, input_std=6)", ["wider than the range", "5;"]),
    ("Float(-1e308, 1e308, input_std=1.0)", ["wider than the range"]),
    ("Categorical([1, 2], input_std=0.1)", ["Categorical", "0.1", "only numbers"]),
    ("Ordinal([1, 2], input_std=0.1)", ["Ordinal", "only numbers"]),
    ("Choice({'a': {}}, input_std=0.1)", ["Choice", "only numbers"]),
    ("Fixed(1, input_std=0.1)", ["Fixed", "only numbers"]),
    ("noisy([[1.0]])", ["[[1.0]]", "('x', 'y')"]),
    ("noisy({'x': [[1.0]]})", ["'x'", "a tuple of names"]),
    ("noisy({('x', 'w'): np.eye(2)})", ["'w'", "not a parameter"]),
    ("noisy({('x', 'c'): np.eye(2)})", ["'c'", "Categorical", "only numbers"]),
    ("noisy({('x', 's'): np.eye(2)})", ["'s'", "input_std of its own"]),
    ("noisy({('x', 'x'): np.eye(2)})", ["'x'", "twice"]),
    ("noisy({('x',): [[1.0]], ('y', 'x'): np.eye(2)})", ["'x'", "twice"]),
    ("noisy({('x', 'y'): [[1.0]]})", ["(2, 2)", "(1, 1)"]),
    ("noisy({('x', 'y'): [['a', 0], [0, 1]]})", ["matrix of numbers"]),
    ("noisy({('x', 'y'): [[1, math.nan], [math.nan, 1]]})", ["finite"]),
    ("noisy({('x', 'y'): [[1.0, 0.5], [0.4, 1.0]]})", ["symmetric", "transpose"]),
    ("noisy({('x', 'y'): [[1.0, 0.0], [0.0, -1.0]]})", ["variance is -1", "at least 0"]),
    ("noisy({('x', 'y'): [[1.0, 2.0], [2.0, 1.0]]})", ["not a covariance", "-1"]),
    ("noisy({('x', 'y'): [[1.0, 0.0], [0.0, 1e6]]})", ["1000", "'y'", "wider than the range"]),
]


def noisy(input_covariance):
    names = vars(outcrop.space)
    numbers = {"x": Float(0, 100), "y": Float(0, 100), "s": Float(0, 1, input_std=0.1)}
    return Space({**numbers, "c": names["Categorical"]([1, 2])}, input_covariance=input_covariance)


@pytest.mark.parametrize(("code", "fragments"), BAD)
def test_noise_that_cannot_be_is_refused_with_the_remedy(code, fragments):
    names = {**vars(outcrop.space), "math": math, "np": np, "noisy": noisy}
    with pytest.raises(SpaceError) as caught:
        eval(code, names)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_the_unit_covariance_is_that_of_noisy_values_once_they_are_encoded():
    middle = {"x": 3.0, "y": 0.1, "model.b.k": 7.0, "n": 9.0}
    own = np.zeros((4, 4))  # in the order of `middle`
    own[np.ix_([0, 2], [0, 2])] = COVARIANCE["x", "model.b.k"]
    own[1, 1], own[3, 3] = 0.2**2, 0.1**2
    root = 2 * np.linalg.cholesky(own).T
    noise = np.concatenate([root, -root])  # of which `own` is the covariance
    values = np.array([*middle.values()])
    happened = np.where([False, True, False, True], values * np.exp(noise), values + noise)
    columns = {column.name: column for column in SPACE.columns}
    encoded = np.zeros((len(noise), len(columns)))
    for name, drawn in zip(middle, happened.T, strict=True):
        number = columns[name].parameter
        assert isinstance(number, Float | Int)
        encoded[:, columns[name].index] = [position(number, value) for value in drawn]
    covariance = np.cov(encoded.T, bias=True)
    np.testing.assert_allclose(covariance, SPACE.unit_covariance, rtol=1e-9, atol=1e-15)
    assert SPACE.has_input_noise
    assert not Space({"x": Float(0, 1)}).has_input_noise


@pytest.mark.parametrize(
    ("low", "high", "std"), [(1, 1e300, 1e298), (0, 1e-300, 1e-302), (-8e307, 8e307, 8e305)]
)
def test_the_unit_covariance_is_finite_in_any_units(low, high, std):
    space = Space({"x": Float(low, high, input_std=std)})
    exact = (Fraction(std) / (Fraction(high) - Fraction(low))) ** 2
    assert space.unit_covariance[0, 0] == pytest.approx(float(exact), rel=1e-12)


def test_the_length_of_a_narrow_range_is_that_of_its_logarithms():
    number = Float(1e-5, 1e-5 * (1 + 1e-9), log=True)
    exact = float((Fraction(number.high) - Fraction(number.low)) / Fraction(number.low))
    assert number.length == pytest.approx(exact, rel=1e-8)


def test_a_space_without_noise_is_written_as_it_always_was():
    space = Space({"x": Float(0, 1), "n": Int(1, 4, step=3), "z": Float(0, 2, input_std=0)})
    assert json.dumps(space.to_json()) == (
        '{"version": 1, "parameters": ['
        '{"name": "x", "type": "float", "low": 0.0, "high": 1.0, "log": false, "step": null}, '
        '{"name": "n", "type": "int", "low": 1, "high": 4, "log": false, "step": 3}, '
        '{"name": "z", "type": "float", "low": 0.0, "high": 2.0, "log": false, "step": null}]}'
    )


def test_a_space_with_noise_comes_back_from_json_text_and_pickle():
    assert Space.from_json(json.dumps(SPACE.to_json())) == SPACE
    assert pickle.loads(pickle.dumps(SPACE)) == SPACE
    assert eval(repr(SPACE), dict(vars(outcrop.space))) == SPACE
    assert hash(Space.from_json(SPACE.to_json())) == hash(SPACE)
    stored = SPACE.to_json()
    stored["input_covariance"][0]["rows"] = 2
    with pytest.raises(SpaceError, match="unknown key 'rows'"):
        Space.from_json(stored)


def test_other_noise_is_another_space():
    alone = Space(SPACE.declared)
    assert alone != SPACE
    assert SPACE.difference(alone) == [
        "input_covariance of ('x', 'model.b.k'): ((4.0, -0.3), (-0.3, 0.25)) in this space, None "
        "in the other"
    ]
    exact = {**SPACE.declared, "y": replace(SPACE.declared["y"], input_std=None)}  # type: ignore[type-var]
    assert Space(exact).difference(alone) == [
        "y: Float(0.001, 10.0, log=True) in this space, Float(0.001, 10.0, log=True, "
        "input_std=0.2) in the other"
    ]


def test_a_part_of_the_names_has_its_part_of_the_covariance():
    blocks = {("a", "b", "c"): ((1.0, 0.1, 0.2), (0.1, 2.0, 0.3), (0.2, 0.3, 3.0))}
    assert restricted(blocks, ["c", "a"]) == {("a", "c"): ((1.0, 0.2), (0.2, 3.0))}
    assert restricted(blocks, ["d"]) == {}


@given(st.floats(-10, 40))
@thorough
def test_within_the_bounds_a_position_is_that_of_the_encoding(x):
    number = SPACE.parameters["x"]
    assert isinstance(number, Float)
    assert position(number, x) == SPACE.columns[0].codec.encode([x])[0]


@given(st.floats(-30, -10.001) | st.floats(40.001, 70), st.floats(1e-5, 9e-4) | st.floats(11, 99))
@thorough
def test_beyond_the_bounds_positions_go_on_in_their_scale(x, y):
    line, curve = SPACE.parameters["x"], SPACE.parameters["y"]
    assert isinstance(line, Float)
    assert isinstance(curve, Float)
    assert position(line, x) == pytest.approx((x + 10) / 50)
    assert position(curve, y) == pytest.approx(math.log(y / 1e-3) / math.log(1e4))


@pytest.mark.parametrize(
    ("value", "std", "fragments"),
    [
        (-10.1, 0.0, ["'x'", "-10.1", "no input noise", "input_std=", "at_std={'x'"]),
        (53.0, 2.0, ["53.0", "5 standard deviations", "-20 to 50", "at_std={'x'"]),
        ("a", 2.0, ["'a'", "finite number"]),
        (math.nan, 2.0, ["nan", "finite number"]),
    ],
)
def test_a_place_that_noise_does_not_explain_is_refused(value, std, fragments):
    number = SPACE.parameters["x"]
    assert isinstance(number, Float)
    with pytest.raises(ParamsError) as caught:
        checked_number(number, value, "x", std)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_place_that_noise_explains_is_taken():
    line, curve = SPACE.parameters["x"], SPACE.parameters["y"]
    assert isinstance(line, Float)
    assert isinstance(curve, Float)
    assert checked_number(line, 49.5, "x", 2.0) == 49.5
    assert checked_number(curve, 10 * math.exp(0.99), "y", 0.2) > 26
    with pytest.raises(ParamsError, match=r"3\.67879e-05 to"):
        checked_number(curve, -1.0, "y", math.log(1e-3 / 3.67879e-05) / 5)


@pytest.mark.parametrize("value", [-1.75e308, -1.6e308, 0.0, 1.6e308, 1.75e308])
def test_positions_of_the_widest_range_are_finite(value):
    number = Float(-1.7e308, 1.7e308)
    exact = (Fraction(value) - Fraction(-1.7e308)) / (2 * Fraction(1.7e308))
    assert position(number, value) == pytest.approx(float(exact))
    assert share(number, 1.7e308) == pytest.approx(0.5)


@pytest.mark.parametrize("value", [1e-310, 1e-300, 1e307])
def test_places_on_a_long_log_scale_need_no_quotient(value):
    number = Float(1e-200, 1e200, log=True)
    assert checked_number(number, value, "x", number.length) == value
    assert position(number, value) == pytest.approx((math.log10(value) + 200) / 400)


def test_zero_is_no_place_on_a_log_scale():
    number = Float(1e-200, 1e200, log=True)
    with pytest.raises(ParamsError, match=r"'x' is 0\.0"):
        checked_number(number, 0.0, "x", number.length)


@pytest.mark.parametrize(("value", "place"), [(10**18, 0.0), (10**18 + 5, 5 / 7), (1e18, 0.0)])
def test_integers_that_are_one_float_have_positions(value, place):
    assert position(Int(10**18, 10**18 + 7), value) == pytest.approx(place)
