"""Random spaces and configurations for property tests.

`spaces()` draws spaces whose Choices nest up to four deep, with the awkward cases included: narrow
and huge ranges, log scales, steps, categories that differ only in type. `configurations(space)`
draws legal flat configurations of a space, its bounds more often than chance would.
"""

from __future__ import annotations

__all__ = ["configurations", "parameters", "spaces"]

import math
from dataclasses import replace
from functools import cache
from typing import Any

from hypothesis import strategies as st

from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Parameter, Space
from outcrop.typing import Params

names = st.text("abcxyz_ µ'\"\\=,0", min_size=1, max_size=4)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, 1e-300]),
    st.text("ab é", max_size=3),
)
levels: st.SearchStrategy[int | float | str] = st.sampled_from([1, 2, 8, 1.0, 0.5, "s", "m", "l"])
plain_values = st.recursive(scalars, lambda inner: st.tuples(inner, inner), max_leaves=3)


def _typed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_typed(item) for item in value)
    return type(value).__name__, value


@st.composite
def _floats(draw: st.DrawFn) -> Float:
    log = draw(st.booleans())
    if log:
        low = draw(st.sampled_from([5e-324, 1e-300, 1e-5, 0.3, 1.0, 7.0, 1e5]))
        factor = draw(st.sampled_from([1 + 1e-12, 1.1, 1.9, 2.0, 10.0, 1e4, 1e200]))
        return Float(low, max(low * factor, 1.5e-323), log=True)
    if draw(st.booleans()):
        step, count = draw(st.sampled_from([0.1, 0.25, 1 / 3, 7.0, 1e-3])), draw(st.integers(1, 9))
        low = draw(st.sampled_from([-1.0, 0.0, 0.1, 12.5]))
        return Float(low, low + step * count, step=step)
    wide = [(-1e308, 1e308), (1.0, 1.0 + 1e-12), (0.0, 5e-324), (-1.0, 0.0), (-5.0, 10.0)]
    low = draw(st.floats(-1e6, 1e6))
    width = draw(st.floats(1e-6, 1e6))
    return Float(*draw(st.sampled_from([*wide, (low, low + width), (0.0, width)])))


@st.composite
def _ints(draw: st.DrawFn) -> Int:
    count = draw(st.sampled_from([1, 2, 3, 10, 100, 5000, 10**9]))
    if draw(st.booleans()):
        low = draw(st.integers(1, 1000))
        return Int(low, low + count, log=True)
    step = draw(st.integers(1, 5))
    low = draw(st.one_of(st.integers(-100, 100), st.just(10**18)))
    return Int(low, low + count * step, step=step)


@st.composite
def _noisy(draw: st.DrawFn, numbers: st.SearchStrategy[Float | Int]) -> Float | Int:
    """One number in three is only met by chance."""
    number, share = draw(numbers), draw(st.sampled_from([None, None, 1e-3, 0.1, 1.0]))
    if share is None or not number.length < math.inf:
        return number
    return replace(number, input_std=share * number.length)


@cache
def parameters(depth: int = 4) -> st.SearchStrategy[Parameter]:
    """Any parameter; Choices nest up to `depth`."""
    simple: list[st.SearchStrategy[Parameter]] = [
        _noisy(_floats()),
        _noisy(_ints()),
        st.lists(plain_values, min_size=2, max_size=4, unique_by=_typed).map(Categorical),
        st.lists(levels, min_size=2, max_size=4, unique=True).map(Ordinal),
        plain_values.map(Fixed),
    ]
    return st.one_of(*simple, *([_choices(depth - 1)] * 2 if depth > 0 else []))


def _groups(depth: int, min_size: int, max_size: int) -> st.SearchStrategy[dict[str, Parameter]]:
    return st.dictionaries(names, parameters(depth), min_size=min_size, max_size=max_size)


def _choices(depth: int) -> st.SearchStrategy[Parameter]:
    return st.dictionaries(names, _groups(depth, 0, 2), min_size=1, max_size=3).map(Choice)


@cache
def spaces(depth: int = 4) -> st.SearchStrategy[Space]:
    """Spaces of one to three parameters, with Choices nested up to `depth`."""
    return _groups(depth, 1, 3).map(Space)


@st.composite
def configurations(draw: st.DrawFn, space: Space) -> dict[str, Any]:
    """A legal flat configuration of `space`, in declaration order."""

    def fill(group: Params, prefix: str) -> dict[str, Any]:
        flat: dict[str, Any] = {}
        for short, parameter in group.items():
            name = prefix + short
            flat[name] = draw(_values(parameter))
            if isinstance(parameter, Choice):
                flat |= fill(parameter.options[flat[name]], f"{name}.{flat[name]}.")
        return flat

    return fill(space.declared, "")


def _values(parameter: Parameter) -> st.SearchStrategy[Any]:
    match parameter:
        case Float(low, high, step=None):
            ends = st.sampled_from([low, high])
            return st.one_of(ends, st.floats(low, high).map(lambda value: value + 0.0))
        case Float():
            return st.integers(0, (parameter.levels or 1) - 1).map(parameter.at)
        case Int():
            return st.integers(0, parameter.levels - 1).map(parameter.at)
        case Categorical(choices):
            return st.sampled_from(choices)
        case Ordinal(values):
            return st.sampled_from(values)
        case Choice():
            return st.sampled_from(parameter.names)
        case Fixed(value):
            return st.just(value)
    raise TypeError(f"no values for {parameter!r}")
