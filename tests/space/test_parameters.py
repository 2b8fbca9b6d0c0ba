"""Declarations: what may be declared, what may not, and what the messages say."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

import outcrop.space
from outcrop.errors import SpaceError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space

loose: Any = outcrop.space  # for calls that a type checker would refuse


class Thing:
    def __repr__(self):
        return "<thing>"


BAD_DECLARATIONS = [
    # code, then fragments of the message: what was given, and the remedy
    ("Float(3, 1)", ["Float(3, 1)", "swap"]),
    ("Float(2.0, 2.0)", ["Float(2.0, 2.0)", "Fixed(2.0)"]),
    ("Float(0, math.inf)", ["inf", "finite"]),
    ("Float(math.nan, 1)", ["nan", "finite"]),
    ("Float(0, 10**400)", ["finite numbers"]),
    ("Float(True, 2)", ["Float(True, 2)", "numbers"]),
    ('Float("0", 1)', ["'0'", "numbers"]),
    ("Float(None, 1)", ["None", "numbers"]),
    ("Float(0, 1, log=True)", ["Float(0, 1, log=True)", "low above 0", "1e-06", "log=False"]),
    ("Float(-1, 1, log=True)", ["-1", "low above 0"]),
    (
        "Float(1e-5, 1.0000000000000003e-05, log=True)",
        ["same logarithm", "drop log", "Fixed(1e-05)"],
    ),
    ('Float(0, 1, log="yes")', ["'yes'", "True or False"]),
    ("Float(0, 1, step=0)", ["step=0", "above 0", "leave it out"]),
    ("Float(0, 1, step=-0.1)", ["step=-0.1", "above 0"]),
    ('Float(0, 1, step="a")', ["'a'", "above 0"]),
    ("Float(0, 1, step=True)", ["True", "above 0"]),
    ("Float(0, 1, step=0.3)", ["step=0.3", "high=0.9 or 1.2"]),
    ("Float(0, 1, step=2)", ["step=2", "high=2"]),
    ("Float(1, 2, log=True, step=0.5)", ["log and step", "Ordinal"]),
    ("Float(1e16, 1e16 + 10, step=1)", ["below the rounding error", "larger"]),
    ("Int(3, 3)", ["Int(3, 3)", "Fixed(3)"]),
    ("Int(5, 3)", ["Int(5, 3)", "swap"]),
    ("Int(0.5, 3)", ["0.5", "whole", "Float"]),
    ("Int(False, 3)", ["False", "whole"]),
    ('Int("1", 3)', ["'1'", "whole"]),
    ("Int(None, 3)", ["None", "whole"]),
    ("Int(0, math.inf)", ["inf", "whole"]),
    ("Int(0, 8, log=True)", ["Int(0, 8, log=True)", "low above 0", "low=1"]),
    ("Int(0, 8, step=3)", ["step=3", "high=6 or 9"]),
    ("Int(0, 8, step=10)", ["step=10", "high=10"]),
    ("Int(0, 8, step=0)", ["step=0", "above 0"]),
    ("Int(0, 8, step=1.5)", ["step=1.5", "whole number above 0"]),
    ("Int(1, 9, log=True, step=2)", ["log and step", "Ordinal"]),
    ("Int(0, 2**60)", ["2**50", "Float"]),
    ("Int(1, 2**41, log=True)", ["2**40", "Float(log=True)"]),
    ("Categorical([])", ["Categorical([])", "at least two"]),
    ('Categorical(["a"])', ["['a']", "Fixed('a')"]),
    ('Categorical(["a", "b", "a"])', ["'a'", "more than once"]),
    ("Categorical([(1, 2), (1, 2)])", ["(1, 2)", "more than once"]),
    ('Categorical("abc")', ["'abc'", "list"]),
    ('Categorical({"a", "b"})', ["list"]),
    ("Categorical(3)", ["3", "list"]),
    ("Categorical([math.nan, 1])", ["nan", "not finite"]),
    ("Categorical([math.inf, 1])", ["inf", "not finite"]),
    ("Categorical([[1, 2], [3]])", ["[1, 2]", "tuple"]),
    ('Categorical([Thing(), "b"])', ["<thing>", "string"]),
    ('Categorical([(1, Thing()), "b"])', ["<thing>", "string"]),
    ("Ordinal([])", ["Ordinal([])", "at least two"]),
    ("Ordinal([1])", ["[1]", "Fixed(1)"]),
    ("Ordinal([1, 2, 1])", ["1", "more than once"]),
    ("Ordinal([1, 2, 1.0])", ["[1, 2, 1.0]", "equal", "once"]),
    ('Ordinal(["a", None])', ["None", "Categorical"]),
    ("Ordinal([1, True])", ["True", "Categorical"]),
    ("Fixed(Thing())", ["<thing>", "string"]),
    ("Fixed([1, 2])", ["[1, 2]", "tuple"]),
    ("Fixed(math.nan)", ["nan", "not finite"]),
    ("Choice({})", ["Choice({})", "at least one"]),
    ('Choice(["a", "b"])', ["['a', 'b']", "Categorical"]),
    ('Choice({"a.b": {}})', ["'a.b'", "'a_b'"]),
    ('Choice({"": {}})', ["''", "not empty"]),
    ("Choice({1: {}})", ["1", "string"]),
    ('Choice({"a": None})', ["'a'", "None", "{}"]),
    ('Choice({"a": {"x.y": Int(0, 1)}})', ["'x.y'", "'a'", "'x_y'"]),
    ('Choice({"a": {"x": 3}})', ["'a'", "'x'", "Fixed(3)"]),
    ("Space({})", ["Space({})", "at least one"]),
    ('Space([("x", Float(0, 1))])', ["dict", "[('x', Float(0.0, 1.0))]"]),
    ('Space({"a.b": Float(0, 1)})', ["'a.b'", "dot", "'a_b'"]),
    ('Space({"": Float(0, 1)})', ["''", "not empty"]),
    ("Space({3: Float(0, 1)})", ["3", "string"]),
    ('Space({"x": 0.1})', ["'x'", "0.1", "Fixed(0.1)"]),
    ('Space({"x": ["a", "b"]})', ["'x'", "Categorical(['a', 'b'])"]),
    ('Space({"x": (0.0, 1)})', ["'x'", "Float(0.0, 1)"]),
    ('Space({"x": (1, 5)})', ["'x'", "Int(1, 5)"]),
    ('Space({"x": {"a": Float(0, 1)}})', ["'x'", "Choice("]),
    ('Space({"x": Float})', ["'x'", "Float(…)"]),
]


@pytest.mark.parametrize(("code", "fragments"), BAD_DECLARATIONS)
def test_a_bad_declaration_is_refused_with_what_was_given_and_what_to_do(code, fragments):
    with pytest.raises(SpaceError) as caught:
        eval(code, globals())
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_space_error_is_a_value_error():
    with pytest.raises(ValueError, match="swap"):
        Float(1, 0)


@pytest.mark.parametrize(
    "parameter",
    [
        Float(1.0, 1.0 + 1e-12),
        Float(1.0, math.nextafter(1.0, 2.0)),
        Float(-1e308, 1e308),
        Float(0.1, 0.7, step=0.1),
        Float(0, 1, step=1 / 3),
        Float(-1e308, 1e308, step=1e307),
        Float(1000000000.1, 1000000000.7, step=0.1),
        Int(10**18, 10**18 + 7),
        Int(1, 2),
        loose.Int(np.int64(1), 4.0),
    ],
)
def test_extreme_declarations_are_accepted(parameter):
    assert parameter.low < parameter.high


def test_numpy_bounds_become_plain_python():
    parameter = loose.Float(np.float32(0.5), np.int64(2))
    assert (type(parameter.low), type(parameter.high)) == (float, float)
    assert type(loose.Int(np.int32(1), np.int64(2)).high) is int
    assert type(loose.Categorical(np.array([1, 2])).choices[0]) is int


def test_a_step_of_none_is_the_default():
    assert loose.Int(1, 4, step=None) == Int(1, 4)


def test_grid_values_are_the_decimals_a_user_would_write():
    parameter = Float(0, 1, step=0.1)
    assert [parameter.at(i) for i in range(11)] == [i / 10 for i in range(11)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Categorical([1, "a"]), Categorical([True, "a"])),
        (Categorical([1, "a"]), Categorical([1.0, "a"])),
        (Categorical([(1, 2), "a"]), Categorical([(1, 2.0), "a"])),
        (Fixed(0), Fixed(False)),
        (Int(1, 2), Float(1, 2)),
        (Float(1, 2), Float(1, 2, log=True)),
        (Categorical(["a", "b"]), Ordinal(["a", "b"])),
        (Categorical(["a", "b"]), Categorical(["b", "a"])),
        (Choice({"a": {}}), Choice({"a": {"x": Int(0, 1)}})),
        (Choice({"a": {}, "b": {}}), Choice({"b": {}, "a": {}})),
    ],
)
def test_parameters_that_mean_different_things_are_not_equal(one, other):
    assert one != other
    assert one == copy.deepcopy(one)
    assert hash(one) == hash(copy.deepcopy(one))


def test_values_of_different_type_are_different_categories():
    assert Categorical([1, True, 1.0, "1", None]).levels == 5


def test_declarations_are_frozen_and_keep_no_hold_on_what_was_passed():
    inner: Any = {"x": Int(1, 2)}
    options: Any = {"a": inner}
    listed: Any = ["a", "b"]
    declared: Any = {"m": Choice(options), "c": Categorical(listed)}
    space: Any = Space(declared)
    before = repr(space)
    inner["y"] = declared["n"] = Int(1, 2)
    options["b"] = {}
    listed.append("c")
    assert repr(space) == before
    with pytest.raises(TypeError):
        space.parameters["z"] = Int(1, 2)
    with pytest.raises(TypeError):
        space.parameters["m"].options["z"] = {}
    with pytest.raises(AttributeError):
        space.parameters["c"].choices = ("q",)


def test_spaces_survive_pickling_after_use():
    space = Space({"m": Choice({"a": {"x": Int(1, 9), "o": Ordinal([1, 2])}}), "f": Float(0, 1)})
    sample = space.sample(np.random.default_rng(0), 3)
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    assert again.sample(np.random.default_rng(0), 3) == sample
    assert pickle.loads(pickle.dumps(space.columns)) == space.columns
