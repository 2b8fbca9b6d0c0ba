"""Numbers off the grid go to the nearest legal value, and only as far as rounding explains."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import ParamsError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal
from outcrop.space.snapping import snapped
from tests.space.strategies import configurations, spaces

COARSE = (
    Float(-1, 2, step=0.25),
    Int(-3, 12, step=5),
    Int(1, 64, log=True),
    Ordinal([8, 16, 32]),
)


@pytest.mark.parametrize("parameter", COARSE, ids=repr)
@given(st.floats(-20, 70))
@settings(deadline=None)
def test_a_number_near_a_grid_becomes_the_nearest_of_all_its_values(parameter, value):
    levels = [parameter.at(index) for index in range(parameter.levels)]
    found = snapped(parameter, value, "x")
    nearest = min(levels, key=lambda level: abs(level - value))
    if isinstance(parameter, Ordinal):
        is_near = levels[0] <= value <= levels[-1]
    else:
        is_near = abs(nearest - value) <= parameter.step / 2
    if is_near:
        legal = parameter.check(found, "x")
        assert abs(legal - value) == pytest.approx(abs(nearest - value), abs=1e-12)
    else:
        assert found == value
        with pytest.raises(ParamsError):
            parameter.check(found, "x")


@given(st.data())
@settings(deadline=None)
def test_what_is_legal_stays_as_it_is(data):
    space = data.draw(spaces(depth=0))
    for name, value in data.draw(configurations(space)).items():
        assert snapped(space.parameters[name], value, name) is value


@pytest.mark.parametrize(
    ("parameter", "value", "expected"),
    [
        (Float(0, 2), 2.0019, 2.0),
        (Float(0, 2), -0.0019, 0.0),
        (Float(0, 2), 2.0021, None),
        (Float(1e-5, 1e-1, log=True), 9.95e-6, 1e-5),
        (Float(1e-5, 1e-1, log=True), 9.8e-6, None),
        (Float(1e-5, 1e-1, log=True), 0.0, None),
        (Float(-1e308, 1e308), 1.0005e308, 1e308),
        (Float(0, 1), math.inf, None),
        (Int(10**18, 10**18 + 10, step=5), 10**18 + 6, 10**18 + 5),
        (Categorical([1, 2]), 1.1, None),
        (Fixed(2), 1.9, None),
        (Choice({"a": {}, "b": {}}), "c", None),
        (Ordinal(["s", "m"]), 1, None),
        (Float(0, 1), "0.5", None),
        (Int(1, 3), True, None),
    ],
)
def test_what_rounding_does_not_explain_stays_wrong(parameter, value, expected):
    assert snapped(parameter, value, "x") == (value if expected is None else expected)
