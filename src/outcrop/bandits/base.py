"""The interface of bandits: pure functions of a state that the caller keeps.

K arms are numbered from 0. One round is `choose`, play, `update`; a larger reward is better. Rounds
may overlap: a choice contains its probabilities, so that its rewards can be used later, in any
order, or one arm at a time.
"""

from __future__ import annotations

__all__ = [
    "Bandit",
    "ArmChoice",
    "StoredTuples",
    "BanditState",
    "is_number",
    "require_share",
    "require_whole",
]

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, ClassVar, Generic, Self, TypeGuard, TypeVar

import numpy as np

from outcrop.errors import BanditError
from outcrop.typing import Rng, Vector

LARGEST = 1e300  # absolute value of a reward, so that sums stay finite

S = TypeVar("S", bound="BanditState")


class StoredTuples(ABC):
    """A frozen dataclass whose fields are tuples of numbers, with its conversion to JSON."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def to_json(self) -> dict[str, list[float]]:
        """An object of lists, by the names of the fields."""
        return {field.name: np.array(getattr(self, field.name)).tolist() for field in fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`."""
        names = [field.name for field in fields(cls)]
        if not isinstance(data, Mapping) or set(data) != set(names):
            raise BanditError(
                f"a stored {cls.__name__}: expected an object with {names}, got {data!r}"
            )
        try:
            return cls(**{name: tuple(values) for name, values in data.items()})
        except TypeError as error:
            raise BanditError(f"a stored {cls.__name__} cannot be read: {error}") from None


class BanditState(StoredTuples):
    """What a bandit has learnt from the rounds so far."""

    @property
    @abstractmethod
    def n_arms(self) -> int: ...


@dataclass(frozen=True)
class ArmChoice(StoredTuples):
    """The arms of one round, each with its probability of being among them.

    >>> ArmChoice((2, 0), (0.75, 0.5)).each()
    (ArmChoice(arms=(2,), probabilities=(0.75,)), ArmChoice(arms=(0,), probabilities=(0.5,)))
    """

    arms: tuple[int, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        for arm in self.arms:
            require_whole("arm", arm, 0)
        if not self.arms or len(set(self.arms)) < len(self.arms):
            raise BanditError(f"ArmChoice(arms={self.arms!r}): expected one or more different arms")
        if len(self.probabilities) != len(self.arms):
            raise BanditError(
                f"ArmChoice: expected one probability for each of {len(self.arms)} arms, "
                f"got {len(self.probabilities)}"
            )
        for probability in self.probabilities:
            require_share("probability", probability)
            if probability == 0:
                raise BanditError(
                    "ArmChoice(probabilities=…): an arm of probability 0 cannot be drawn"
                )

    @property
    def arm(self) -> int:
        """The arm, if there is only one."""
        if len(self.arms) > 1:
            raise BanditError(f"the choice has {len(self.arms)} arms, {self.arms}: use `arms`")
        return self.arms[0]

    def each(self) -> tuple[ArmChoice, ...]:
        """The same arms one by one, for rewards that do not arrive together."""
        return tuple(
            ArmChoice((arm,), (probability,))
            for arm, probability in zip(self.arms, self.probabilities, strict=True)
        )


class Bandit(ABC, Generic[S]):
    """How arms are chosen, and how a state is updated with their rewards."""

    raw: bool = True  # whether rewards outside [0, 1] are accepted

    @abstractmethod
    def init(self, n_arms: int) -> S:
        """The state before the first round."""

    @abstractmethod
    def probabilities(self, state: S) -> Vector:
        """The probability of each arm in the next round, `(K,)`; the sum is the arms per round."""

    def choose(self, state: S, rng: Rng) -> ArmChoice:
        """The arms of the next round."""
        p = self.probabilities(state)
        cumulative = np.cumsum(p)
        arm = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        return ArmChoice((arm,), (float(p[arm]),))

    def update(self, state: S, choice: ArmChoice, reward: float | Sequence[float] | Vector) -> S:
        """The state after `choice` and its rewards: one number for each of its arms, in order."""
        if max(choice.arms) >= state.n_arms:
            raise BanditError(
                f"arm {max(choice.arms)} does not exist: this state has {state.n_arms} arms, "
                "numbered from 0"
            )
        return self.learn(state, choice, self._checked(choice, reward))

    @abstractmethod
    def learn(self, state: S, choice: ArmChoice, rewards: Sequence[float]) -> S:
        """`update` with checked arguments."""

    def _checked(self, choice: ArmChoice, reward: float | Sequence[float] | Vector) -> list[float]:
        try:
            rewards = np.atleast_1d(np.asarray(reward, dtype=float)).tolist()
        except (TypeError, ValueError):
            raise BanditError(f"reward={reward!r}: expected a number for each arm") from None
        if len(rewards) != len(choice.arms) or not all(isinstance(r, float) for r in rewards):
            raise BanditError(
                f"reward={reward!r}: expected one number for each of the arms {choice.arms}"
            )
        for r in rewards:
            if not (isfinite(r) and abs(r) <= LARGEST):
                raise BanditError(
                    f"reward={r!r}: expected a finite number of at most {LARGEST:g} in size; give "
                    "a failure the smallest possible reward, or leave its arm out"
                )
            if not self.raw and not 0 <= r <= 1:
                raise BanditError(
                    f"reward={r!r}: expected a number from 0 to 1; use `bandits.normalised`, "
                    f"or {type(self).__name__}(…, raw=True) to use it unchanged"
                )
        return rewards


def is_number(value: object) -> TypeGuard[float]:
    """Whether `value` is a real number and not a boolean."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def require_whole(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number of at least `least`."""
    if not is_number(value) or not isinstance(value, int | np.integer) or value < least:
        raise BanditError(f"{name}={value!r}: expected a whole number of at least {least}")


def require_share(name: str, value: object) -> None:
    """Refuse what is not a number in [0, 1]."""
    if not is_number(value) or not 0 <= value <= 1:
        raise BanditError(f"{name}={value!r}: expected a number from 0 to 1")
