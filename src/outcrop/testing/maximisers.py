"""Checks that every maximiser must pass, given a space and a function on it. Seeds are fixed."""

from __future__ import annotations

__all__ = ["MAXIMISER_CONTRACT"]

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from outcrop.errors import SpaceExhausted
from outcrop.maximise import Function, Maximum
from outcrop.space import Space
from outcrop.typing import Points

AnyMaximiser: TypeAlias = Callable[..., Maximum]  # called as a `Maximiser` is

FORBIDDEN = 4  # maxima forbidden in turn


def the_point_is_legal(maximiser: AnyMaximiser, space: Space, function: Function) -> None:
    for incumbents in (None, _random(space, 3)):
        found = maximiser(function, space, np.random.default_rng(1), incumbents=incumbents)
        point = found.point[None]
        np.testing.assert_array_equal(space.snap(point), point)
        params = space.decode(point)[0]
        assert space.validate(params) == params


def the_value_is_that_of_the_point(
    maximiser: AnyMaximiser, space: Space, function: Function
) -> None:
    found = maximiser(function, space, np.random.default_rng(2))
    value = function(found.point[None])[0] if space.columns else -np.inf
    if np.isfinite(value):
        assert np.isclose(found.value, value, rtol=1e-6, atol=1e-9)
    else:
        assert found.value == -np.inf


def nothing_scored_is_better(maximiser: AnyMaximiser, space: Space, function: Function) -> None:
    found = maximiser(function, space, np.random.default_rng(3), incumbents=_random(space, 2))
    assert found.value == found.values.max()
    assert len(found.candidates) == len(found.values)


def a_forbidden_key_is_never_returned(
    maximiser: AnyMaximiser, space: Space, function: Function
) -> None:
    known: set[str] = set()
    for seed in range(FORBIDDEN):
        try:
            found = maximiser(function, space, np.random.default_rng(seed), forbidden=known)
        except SpaceExhausted:
            assert space.size is None or space.size == len(known)  # a continuum may be two floats
            return
        (key,) = space.keys(found.point[None])
        assert key not in known
        known.add(key)


def the_same_generator_gives_the_same_point(
    maximiser: AnyMaximiser, space: Space, function: Function
) -> None:
    one, two = (
        maximiser(function, space, np.random.default_rng(4), incumbents=_random(space, 2))
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.point, two.point)
    assert one.value == two.value
    assert one.evaluations == two.evaluations


MAXIMISER_CONTRACT = (
    the_point_is_legal,
    the_value_is_that_of_the_point,
    nothing_scored_is_better,
    a_forbidden_key_is_never_returned,
    the_same_generator_gives_the_same_point,
)


def _random(space: Space, n: int) -> Points:
    return space.from_uniform(np.random.default_rng(5).random((n, len(space.columns))))
