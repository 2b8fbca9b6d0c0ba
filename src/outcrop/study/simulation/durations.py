"""Durations: how long evaluations take, in virtual seconds.

    oc.durations.HalfNormal(mean=60.0)              random, most of them short
    oc.durations.ConstantDuration(60.0)             60 s for each evaluation
    oc.durations.Proportional("epochs", 2.5)        2.5 s for each epoch
    lambda params, rng: rng.gamma(2.0, 30.0)        any other function

`rng` depends only on the simulation's seed and the trial's number, so that a trial takes equally
long whichever method suggested it and whenever it starts.
"""

from __future__ import annotations

__all__ = ["ConstantDuration", "Duration", "HalfNormal", "Proportional", "checked_duration"]

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from outcrop.errors import MethodError, ParamsError
from outcrop.former_names import offer_former_names
from outcrop.space import Float, Int, Ordinal, Space
from outcrop.space.parameters import Parameter
from outcrop.space.plain import exact_float, listed, nearest
from outcrop.study.argument_checks import checked_seconds
from outcrop.typing import Params, Rng

Duration: TypeAlias = Callable[[Params, Rng], float]


@dataclass(frozen=True)
class HalfNormal:
    """Absolute values of normal numbers: |z| with z of standard deviation mean · √(π/2)."""

    mean: float = 1.0

    def __post_init__(self) -> None:
        checked_seconds(self.mean, "HalfNormal: mean")

    def __call__(self, params: Params, rng: Rng) -> float:
        return abs(float(rng.normal(0.0, self.mean * math.sqrt(math.pi / 2))))


@dataclass(frozen=True)
class ConstantDuration:
    """Every evaluation takes `seconds`."""

    seconds: float

    def __post_init__(self) -> None:
        checked_seconds(self.seconds, "ConstantDuration: seconds")

    def __call__(self, params: Params, rng: Rng) -> float:
        return self.seconds


@dataclass(frozen=True)
class Proportional:
    """`base` seconds, and `factor` seconds for each unit of a parameter where it is active.

    `Proportional("model.mlp.layers", 20.0, base=5.0)` takes 5 s for other models than an mlp.
    """

    parameter: str  # its flat name
    factor: float = 1.0
    base: float = 0.0

    def __post_init__(self) -> None:
        for name in ("factor", "base"):
            if exact_float(getattr(self, name)) is None:
                raise MethodError(
                    f"Proportional: {name} must be a finite number, got {getattr(self, name)!r}"
                )

    def __call__(self, params: Params, rng: Rng) -> float:
        return self.seconds(params.get(self.parameter, 0.0))

    def seconds(self, value: float) -> float:
        """The duration at a value of the parameter; 0 stands for an inactive one."""
        return self.base + self.factor * float(value)

    def check(self, space: Space) -> None:
        """Refuse a space without the parameter, or one where it is not numeric or takes no time."""
        parameter = space.parameters.get(self.parameter)
        if parameter is None:
            raise ParamsError(
                f"{self}: {self.parameter!r} is not in the space; expected one of "
                f"{listed([*space.parameters])}{nearest(self.parameter, space.parameters)}"
            )
        values = _extremes(parameter)
        numbers = [number for value in values if (number := exact_float(value)) is not None]
        if not values or len(numbers) < len(values):
            raise ParamsError(
                f"{self}: {self.parameter!r} is {parameter!r}, which is not numeric; expected a "
                "Float, an Int or an Ordinal of numbers, or pass a function of (params, rng)"
            )
        for value, number in zip(values, numbers, strict=True):
            self._refuse_nothing(self.seconds(number), f"= {value!r}")
        if any(column.name == self.parameter and column.conditions for column in space.columns):
            self._refuse_nothing(self.base, "inactive")

    def _refuse_nothing(self, seconds: float, where: str) -> None:
        if seconds <= 0:
            raise MethodError(
                f"{self}: an evaluation with {self.parameter} {where} would take {seconds!r} "
                "seconds; choose base= such that each takes more than 0"
            )


def _extremes(parameter: Parameter) -> list[object]:
    """The extreme values of a parameter; none of categories."""
    if isinstance(parameter, Float | Int):
        return [parameter.low, parameter.high]
    return list(parameter.values) if isinstance(parameter, Ordinal) else []


def checked_duration(duration: Duration | float, space: Space) -> Duration:
    """A duration from a user's argument; a number is the duration of every evaluation."""
    if isinstance(duration, type):
        raise MethodError(f"duration: {duration.__name__} is a class; write {duration.__name__}(…)")
    if isinstance(duration, Proportional):
        duration.check(space)
    if callable(duration):
        return duration
    if exact_float(duration) is None:
        raise MethodError(
            f"duration={duration!r}: expected oc.durations.HalfNormal(…), ConstantDuration(…), "
            "Proportional(…), a number of seconds, or a function of (params, rng)"
        )
    return ConstantDuration(checked_seconds(duration, "duration"))


offer_former_names(__name__)
