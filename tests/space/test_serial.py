"""JSON, repr and differences."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings

import outcrop.space
from outcrop.errors import SpaceError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from tests.space.strategies import spaces

thorough = settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SPACE = Space(
    {
        "lr": Float(1e-5, 1e-1, log=True),
        "c": Categorical([1, True, None, 1.0, (1, (False, "a"))]),
        "m": Choice({"a": {}, "b": {"k": Int(1, 4), "o": Ordinal(["s", "l"]), "f": Fixed((1, 2))}}),
    }
)


@given(spaces())
@thorough
def test_json_brings_back_an_equal_space(space):
    text = json.dumps(space.to_json(), allow_nan=False)
    assert Space.from_json(text) == space
    assert Space.from_json(json.loads(text)) == space
    assert json.dumps(Space.from_json(text).to_json()) == text
    shuffled = json.loads(json.dumps(space.to_json(), sort_keys=True))
    assert Space.from_json(shuffled) == space


@given(spaces())
@settings(thorough, max_examples=80)
def test_repr_evaluates_to_an_equal_space(space):
    assert eval(repr(space), dict(vars(outcrop.space))) == space
    for parameter in space.parameters.values():
        assert eval(repr(parameter), dict(vars(outcrop.space))) == parameter


def test_a_small_space_is_one_line_and_a_large_one_is_laid_out():
    assert repr(Space({"x": Float(0, 1)})) == "Space({'x': Float(0.0, 1.0)})"
    assert repr(SPACE).splitlines() == [
        "Space({",
        "    'lr': Float(1e-05, 0.1, log=True),",
        "    'c': Categorical([1, True, None, 1.0, (1, (False, 'a'))]),",
        "    'm': Choice({",
        "        'a': {},",
        "        'b': {'k': Int(1, 4), 'o': Ordinal(['s', 'l']), 'f': Fixed((1, 2))},",
        "    }),",
        "})",
    ]


def broken(change):
    data = SPACE.to_json()
    change(data)
    return data


BAD_JSON = [
    ("{", ["not JSON"]),
    ("[]", ["object"]),
    (3, ["object", "3"]),
    (broken(lambda d: d.update(version=99)), ["version 99", "reads versions up to 2"]),
    (broken(lambda d: d.pop("version")), ["'version' is missing"]),
    (broken(lambda d: d.update(extra=1)), ["unknown key 'extra'"]),
    (broken(lambda d: d.update(parameters={})), ["list of parameters"]),
    (broken(lambda d: d["parameters"].append(3)), ["type of", "3"]),
    (broken(lambda d: d["parameters"][0].update(type="real")), ["'real'", "'float'"]),
    (broken(lambda d: d["parameters"][0].update(type=[])), ["type of"]),
    (broken(lambda d: d["parameters"][0].update(base=2)), ["unknown key 'base'", "float"]),
    (broken(lambda d: d["parameters"][0].pop("high")), ["'high' is missing"]),
    (broken(lambda d: d["parameters"][0].update(high="x")), ["'x'", "numbers"]),
    (broken(lambda d: d["parameters"][0].update(name="c")), ["'c'", "distinct"]),
    (broken(lambda d: d["parameters"][0].update(name=3)), ["3", "string"]),
    (broken(lambda d: d["parameters"][0].update(name=[])), ["[]", "string"]),
    (broken(lambda d: d["parameters"][1].update(choices=3)), ["list", "3"]),
    (broken(lambda d: d["parameters"][1].update(choices=[{"set": []}, 1])), ["unknown key 'set'"]),
    (broken(lambda d: d["parameters"][2].update(options={})), ["list"]),
    (broken(lambda d: d["parameters"][2]["options"][0].update(name=[])), ["[]", "string"]),
    (broken(lambda d: d["parameters"][2]["options"][0].update(name="b")), ["'b'", "distinct"]),
]


@pytest.mark.parametrize(("data", "fragments"), BAD_JSON)
def test_a_damaged_or_newer_file_is_refused_with_the_reason(data, fragments):
    with pytest.raises(SpaceError) as caught:
        Space.from_json(data)
    for fragment in fragments:
        assert fragment in str(caught.value)


@given(spaces(depth=2), spaces(depth=2))
@settings(thorough, max_examples=80)
def test_spaces_differ_exactly_if_they_are_not_equal(one, other):
    assert one.difference(one) == []
    assert Space.from_json(one.to_json()).difference(one) == []
    assert bool(one.difference(other)) == (one != other)


def test_differences_are_told_by_name():
    other = Space(
        {
            "lr": Float(1e-5, 1.0, log=True),
            "m": Choice({"a": {"z": Int(1, 2)}, "b": {"k": Int(1, 4), "o": Ordinal(["s", "l"])}}),
        }
    )
    assert SPACE.difference(other) == [
        "lr: Float(1e-05, 0.1, log=True) in this space, Float(1e-05, 1.0, log=True) in the other",
        "c: only in this space, Categorical([1, True, None, 1.0, (1, (False, 'a'))])",
        "m.b.f: only in this space, Fixed((1, 2))",
        "m.a.z: only in the other space, Int(1, 2)",
    ]


def test_a_changed_option_and_a_changed_order_are_differences():
    one = Space({"m": Choice({"a": {}, "b": {}}), "x": Int(1, 2)})
    assert one.difference(Space({"m": Choice({"a": {}, "c": {}}), "x": Int(1, 2)})) == [
        "m: Choice of 'a', 'b' in this space, Choice of 'a', 'c' in the other"
    ]
    assert one.difference(Space({"x": Int(1, 2), "m": Choice({"a": {}, "b": {}})})) == [
        "order: 'm', 'x' in this space, 'x', 'm' in the other"
    ]
