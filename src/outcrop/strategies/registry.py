"""Methods by name, and the strategy that a name or an object stands for.

A module whose strategies have names lists them in its `NAMED`; `registered` joins these lists.
"""

from __future__ import annotations

__all__ = ["MakesStrategies", "MethodLike", "Registered", "registered", "strategy_for"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Protocol, TypeAlias, runtime_checkable

from outcrop.errors import MethodError
from outcrop.space import Space
from outcrop.strategies.base import Strategy


@runtime_checkable
class MakesStrategies(Protocol):
    """A method that is independent of the space, such as `Method`, `CoCaBO` and `Perturbed`."""

    def strategy(self, space: Space) -> Strategy: ...


MethodLike: TypeAlias = str | MakesStrategies | Strategy  # what `method=` takes


@dataclass(frozen=True)
class Registered:
    """A method that has a name."""

    name: str
    what: str  # one line for the list of methods
    make: Callable[[Space], Strategy]


@cache
def registered() -> Mapping[str, Registered]:
    """Every method that has a name, in the order in which methods are listed."""
    # Imported here, because wrappers take methods by name: they import this module.
    from outcrop.strategies import cocabo, hierarchical, method, sequence

    modules = method, cocabo, hierarchical, sequence
    return {entry.name: entry for module in modules for entry in module.NAMED}


def strategy_for(method: MethodLike, space: Space) -> Strategy:
    """The strategy for a space, of a name, a `Method` or another maker, or a strategy itself."""
    if isinstance(method, type):
        raise MethodError(f"method={method!r}: expected an object, not its class; write it with ()")
    if isinstance(method, MakesStrategies):
        return method.strategy(space)
    if not isinstance(method, str):
        if hasattr(method, "propose"):
            return method
        remedy = ""
        if hasattr(method, "surrogate"):
            remedy = f"; a kind of surrogate goes into one: outcrop.Method(surrogate={method!r})"
        raise MethodError(
            f"method={method!r}: expected a name, an outcrop.Method or a strategy{remedy}"
        )
    entry = registered().get(method)
    if entry is None:
        known = ", ".join(registered())
        alike = get_close_matches(method.lower(), registered(), n=1)
        hint = f"did you mean {alike[0]!r}? " if alike else ""
        raise MethodError(f"method={method!r} is not known; {hint}known are {known}")
    return entry.make(space)
