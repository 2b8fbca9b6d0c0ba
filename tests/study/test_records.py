"""Events and the values in them, as JSON and back."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import StorageError
from outcrop.records import KINDS, read, write
from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.study import events
from outcrop.study.events import (
    Added,
    Amended,
    Asked,
    Created,
    Discarded,
    Enqueued,
    Expired,
    Failed,
    Late,
    Released,
    SpaceChanged,
    Stopped,
    Told,
    from_text,
    to_text,
)

thorough = settings(max_examples=150, deadline=None, derandomize=True)

SPACE = Space(
    {
        "é µ": Float(1e-5, 1e-1, log=True),
        "c": Categorical([1, True, None, 1.0, (1, (False, "a"))]),
        "m": Choice({"a": {}, "b": {"k": Int(1, 4)}}),
    }
)

numbers = st.integers(0, 10**9)
floats = st.floats() | st.sampled_from(
    [math.nan, math.inf, -math.inf, 1.7976931348623157e308, -0.0]
)
keys = st.text(max_size=5) | st.sampled_from(sorted(KINDS))
scalars = st.none() | st.booleans() | st.integers() | floats | st.text(max_size=10)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=8,
)
mappings = st.dictionaries(keys, values, max_size=3)
params = st.dictionaries(st.text(max_size=5), scalars.map(lambda v: (v, 1)) | scalars, max_size=3)

any_text = st.text(st.characters(codec=None))  # lone surrogates too, as in names of odd files

every_event = st.one_of(
    st.builds(
        Asked,
        numbers,
        params,
        mappings,
        mappings,
        st.integers(1, 3),
        st.booleans(),
        numbers,
        floats,
    ),
    st.builds(Told, numbers, floats, st.none() | floats, mappings, floats),
    st.builds(Failed, numbers, any_text, mappings, floats),
    st.builds(Expired, numbers, any_text, floats),
    st.builds(Late, numbers, st.none() | floats, st.none() | floats, any_text, mappings, floats),
    st.builds(Stopped, any_text, floats),
    st.builds(Released, numbers, floats),
    st.builds(Added, numbers, params, floats, st.none() | floats, floats),
    st.builds(
        Amended,
        numbers,
        st.none() | floats,
        st.none() | floats,
        st.none() | params,
        st.none() | params,
        any_text,
        floats,
    ),
    st.builds(Discarded, numbers, any_text, floats),
    st.builds(SpaceChanged, st.just(SPACE), params, floats),
    st.builds(Enqueued, params, floats),
    st.builds(
        Created,
        st.just(SPACE),
        st.sampled_from(["minimize", "maximize"]),
        st.text() | mappings,
        st.integers(0, 2**128),
        st.none() | st.booleans() | floats,
        floats,
    ),
)


def marked(value: Any) -> Any:
    """A value in a form in which NaN equals itself, and 1, 1.0, True and -0.0 are told apart."""
    if isinstance(value, dict):
        return {key: marked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value).__name__, [marked(item) for item in value]
    return type(value).__name__, repr(value)


@given(every_event)
@thorough
def test_json_brings_back_every_event(event):
    text = to_text(event)
    assert text.isascii()
    again = from_text(text)
    assert type(again) is type(event)
    assert marked(vars(again)) == marked(vars(event))
    assert to_text(again) == text


@given(values)
@thorough
def test_json_brings_back_every_value(value):
    assert marked(read(json.loads(json.dumps(write(value), allow_nan=False)))) == marked(value)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_arrays_come_back_with_their_type_and_shape(dtype):
    array = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    again = read(json.loads(json.dumps(write({"theta": array}))))["theta"]
    assert again.dtype == array.dtype
    np.testing.assert_array_equal(again, array)


def test_arrays_of_non_finite_numbers_and_without_entries_come_back():
    for array in (np.array([np.nan, np.inf, -0.0]), np.empty((0, 3))):
        again = read(json.loads(json.dumps(write(array), allow_nan=False)))
        np.testing.assert_array_equal(again, array)
        assert again.shape == array.shape


def test_numpy_scalars_and_enumerations_are_written_as_plain_values():
    class Colour(StrEnum):
        RED = "red"

    assert marked(write([np.float64(0.5), np.int64(3), np.bool_(True), Colour.RED])) == marked(
        [0.5, 3, True, "red"]
    )


def test_what_json_cannot_hold_is_named_with_its_place():
    with pytest.raises(TypeError, match=r"info\['a'\]\[1\] is of type set"):
        write({"a": [1, {2}]}, "info")
    with pytest.raises(TypeError, match="key 3"):
        write({3: 1}, "info")
    with pytest.raises(TypeError, match="complex128 array"):
        write(np.array([1j]))


def test_events_of_one_kind_and_content_are_equal():
    assert Told(1, 0.5) == Told(1, 0.5) != Told(1, 0.25)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object with the keys"),
        ({"event": "Told"}, "expected an object with the keys"),
        ({"event": "Sung", "version": 1}, "expected one of .*'Told'.*, got 'Sung'"),
        ({"event": ["Told"], "version": 1}, "expected one of"),
        ({"event": "Released", "version": 3, "number": 1, "at": 0.0}, "version 3.*newer"),
        ({"event": "Released", "version": "1", "number": 1, "at": 0.0}, "version '1'"),
        ({"event": "Released", "version": 1, "number": 1}, r"keys \['at', 'number'\], got"),
        ({"event": "Released", "version": 1, "number": 1, "at": 0, "by": ""}, "'by'"),
    ],
)
def test_an_event_that_cannot_be_read_is_refused_with_the_reason(stored, message):
    with pytest.raises(StorageError, match=message):
        from_text(stored if isinstance(stored, str) else json.dumps(stored))


def test_every_event_is_in_the_vocabulary():
    kinds = {kind.__name__ for kind in events.Event.__subclasses__()}
    assert kinds == set(events.KINDS)
