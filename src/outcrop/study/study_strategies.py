"""The strategies of a study: one for each space that it has had."""

from __future__ import annotations

__all__ = ["Strategies"]

from dataclasses import dataclass, field

from outcrop.errors import MethodError
from outcrop.space import Space
from outcrop.strategies import Strategy, strategy_for
from outcrop.strategies.registry import MakesStrategies, MethodLike


@dataclass(frozen=True, eq=False)
class Strategies:
    """The strategies of one method, each made when its space is first met.

    >>> from outcrop.space import Float
    >>> strategies, space = Strategies("random"), Space({"x": Float(0, 1)})
    >>> strategies.for_space(space) is strategies.for_space(space)
    True
    """

    method: MethodLike
    _made: dict[Space, Strategy] = field(default_factory=dict, init=False, repr=False)

    def for_space(self, space: Space) -> Strategy:
        if space not in self._made:
            self._made[space] = strategy_for(self.method, space)
        return self._made[space]

    def checked_for(self, space: Space) -> None:
        """Refuse a method that has no strategy for another space."""
        if not isinstance(self.method, str | MakesStrategies):
            raise MethodError(
                f"method={self.method!r} is a strategy that was made for one space: the space can "
                "change only with a name, an outcrop.Method or another object that makes strategies"
            )
        self.for_space(space)
