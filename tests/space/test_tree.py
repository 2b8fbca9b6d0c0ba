"""Branches and counts, checked by enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings

from outcrop.errors import SpaceError
from outcrop.space import Branch, Categorical, Choice, Fixed, Float, Int, Space
from tests.space.strategies import spaces

brief = settings(max_examples=80, deadline=None, derandomize=True)


def test_parameters_are_listed_in_declaration_order_with_flat_names():
    space = Space(
        {
            "m": Choice({"a": {"x": Int(1, 2), "n": Choice({"p": {"y": Fixed(1)}})}}),
            "z": Float(0, 1),
        }
    )
    assert list(space.parameters) == ["m", "m.a.x", "m.a.n", "m.a.n.p.y", "z"]
    assert space.parameters["m.a.x"] == Int(1, 2)


def test_paths_go_from_the_root_to_every_leaf():
    space = Space(
        {
            "x": Float(0, 1),
            "m": Choice({"a": {}, "b": {"n": Choice({"p": {"y": Int(1, 2)}, "q": {}})}}),
        }
    )
    assert space.branches == (
        Branch((("m", "a"),), ("x", "m")),
        Branch((("m", "b"), ("m.b.n", "p")), ("x", "m", "m.b.n", "m.b.n.p.y")),
        Branch((("m", "b"), ("m.b.n", "q")), ("x", "m", "m.b.n")),
    )


def test_choices_side_by_side_multiply():
    space = Space({"m": Choice({"a": {}, "b": {}}), "n": Choice({"p": {}, "q": {}, "r": {}})})
    pairs = [tuple(option for _, option in branch.options) for branch in space.branches]
    assert pairs == list(itertools.product("ab", "pqr"))
    assert space.n_branches == 6


def test_a_space_without_choices_has_one_path():
    assert Space({"x": Float(0, 1)}).branches == (Branch((), ("x",)),)


def test_a_huge_product_is_counted_but_not_listed():
    space = Space({f"m{i}": Choice({"a": {}, "b": {"x": Int(1, 3)}}) for i in range(60)})
    assert space.n_branches == 2**60
    assert space.size == 4**60
    space.sample(np.random.default_rng(0))
    with pytest.raises(SpaceError, match="too many to list"):
        _ = space.branches


@given(spaces())
@brief
def test_paths_are_what_samples_can_be(space):
    assume(space.n_branches <= 50)
    assert len(space.branches) == space.n_branches == len(set(space.branches))
    branches = {branch.names: branch.options for branch in space.branches}
    for row in space.sample(np.random.default_rng(0), 20):
        choices = [name for name in row if isinstance(space.parameters[name], Choice)]
        # two options that open nothing give the same names, so options are compared as well
        options = tuple((name, row[name]) for name in choices)
        assert Branch(options, tuple(row)) in space.branches
        assert tuple(row) in branches


@given(spaces())
@brief
def test_size_counts_the_distinct_configurations(space):
    if any(isinstance(p, Float) and p.step is None for p in space.parameters.values()):
        assert space.size is None
        return
    assume(math.prod(column.levels for column in space.columns) <= 500)
    places = [np.arange(c.levels) if c.is_code else c.grid for c in space.columns]
    X = np.array(list(itertools.product(*places)))
    assert len(set(space.keys(X))) == space.size
    assert len({repr(params) for params in space.decode(X)}) == space.size


def test_size_of_a_finite_space():
    space = Space(
        {
            "k": Int(1, 9, step=2),
            "c": Categorical(["u", "v", "w"]),
            "f": Fixed(0),
            "m": Choice({"a": {}, "b": {"s": Float(0, 1, step=0.25), "t": Int(1, 2)}}),
        }
    )
    assert space.size == 5 * 3 * (1 + 5 * 2)
    keys = {space.key(row) for row in space.sample(np.random.default_rng(0), 5000)}
    assert len(keys) == space.size
