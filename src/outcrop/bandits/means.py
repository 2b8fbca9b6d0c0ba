"""Bandits that compare mean rewards, for arms whose rewards have a fixed distribution.

Arms that were never played are played first, and ties are broken at random.
"""

from __future__ import annotations

__all__ = ["EpsilonFirst", "EpsilonGreedy", "Greedy", "Tally", "UCB1"]

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, log

import numpy as np

from outcrop.bandits.base import (
    ArmChoice,
    Bandit,
    BanditState,
    is_number,
    require_share,
    require_whole,
)
from outcrop.errors import BanditError
from outcrop.typing import Vector


@dataclass(frozen=True)
class Tally(BanditState):
    """How often each arm was played, and the sum of its rewards."""

    counts: tuple[int, ...]
    totals: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.counts or len(self.counts) != len(self.totals):
            raise BanditError(
                f"Tally: expected a count and a total for each arm, got {len(self.counts)} and "
                f"{len(self.totals)}"
            )
        for count in self.counts:
            require_whole("count", count, 0)
        if not all(is_number(total) and isfinite(total) for total in self.totals):
            raise BanditError(f"Tally(totals={self.totals!r}): expected finite numbers")

    @classmethod
    def empty(cls, n_arms: int) -> Tally:
        """The tally before the first round."""
        require_whole("n_arms", n_arms, 1)
        return cls((0,) * n_arms, (0.0,) * n_arms)

    @property
    def n_arms(self) -> int:
        return len(self.counts)

    @property
    def rounds(self) -> int:
        """The number of plays in the tally."""
        return sum(self.counts)

    @property
    def is_complete(self) -> bool:
        """Whether every arm was played."""
        return min(self.counts) > 0

    def means(self) -> Vector:
        """Mean reward of each arm, +inf for one that was never played."""
        counts = np.array(self.counts, dtype=float)
        means = np.full(len(counts), inf)
        return np.divide(self.totals, counts, out=means, where=counts > 0)

    def plus(self, choice: ArmChoice, rewards: Sequence[float]) -> Tally:
        """The tally with one more choice and its rewards."""
        counts, totals = list(self.counts), list(self.totals)
        for arm, reward in zip(choice.arms, rewards, strict=True):
            counts[arm] += 1
            totals[arm] += reward
        return Tally(tuple(counts), tuple(totals))


class MeanBased(Bandit[Tally]):
    """A bandit whose state is a tally."""

    def init(self, n_arms: int) -> Tally:
        return Tally.empty(n_arms)

    def learn(self, state: Tally, choice: ArmChoice, rewards: Sequence[float]) -> Tally:
        return state.plus(choice, rewards) if self.is_learning(state) else state

    def is_learning(self, state: Tally) -> bool:
        """Whether rewards still change the state."""
        return True


@dataclass(frozen=True)
class Greedy(MeanBased):
    """Each arm once, then always the one with the largest reward.

    One reward is a poor estimate of an arm's mean, so that the regret grows linearly.
    """

    def probabilities(self, state: Tally) -> Vector:
        return _largest(state.means())

    def is_learning(self, state: Tally) -> bool:
        return not state.is_complete


@dataclass(frozen=True)
class EpsilonFirst(MeanBased):
    """Random arms for a share `epsilon` of the rounds, then always the one with the best mean.

        bandit = EpsilonFirst(epsilon=0.1, horizon=1000)

    An arm that was not drawn is played once afterwards: `epsilon = 0` is `Greedy`.
    """

    epsilon: float
    horizon: int  # rounds in all

    def __post_init__(self) -> None:
        require_share("epsilon", self.epsilon)
        require_whole("horizon", self.horizon, 1)

    def probabilities(self, state: Tally) -> Vector:
        if self._is_early(state):
            return np.full(state.n_arms, 1 / state.n_arms)
        return _largest(state.means())

    def is_learning(self, state: Tally) -> bool:
        return self._is_early(state) or not state.is_complete

    def _is_early(self, state: Tally) -> bool:
        return state.rounds < int(self.epsilon * self.horizon + 1e-9)  # 0.29 · 100 is below 29


@dataclass(frozen=True)
class EpsilonGreedy(MeanBased):
    """A random arm with probability ε, otherwise the one with the best mean so far.

        EpsilonGreedy(0.1)                      # ε = 0.1 in every round
        EpsilonGreedy(20.0, decreasing=True)    # ε = min(1, 20 / t) in round t = 1, 2, …

    A fixed ε never stops exploring. A decreasing one has logarithmic regret if rewards are in
    [0, 1] and `epsilon` is at least 5 K / d², with d a lower bound on the gap between the best arm
    and the next one [Auer, Cesa-Bianchi & Fischer 2002, theorem 3].
    """

    epsilon: float
    decreasing: bool = False

    def __post_init__(self) -> None:
        if not self.decreasing:
            require_share("epsilon", self.epsilon)
        elif not is_number(self.epsilon) or not 0 <= self.epsilon < inf:
            raise BanditError(
                f"epsilon={self.epsilon!r}: expected a number of at least 0, which is divided by "
                "the number of the round"
            )

    def probabilities(self, state: Tally) -> Vector:
        epsilon = min(1.0, self.epsilon / (state.rounds + 1)) if self.decreasing else self.epsilon
        return epsilon / state.n_arms + (1 - epsilon) * _largest(state.means())


@dataclass(frozen=True)
class UCB1(MeanBased):
    """The arm with the largest upper bound, mean + √(2 ln t / n) after n of t plays.

    The regret is logarithmic for rewards in [0, 1], the scale of the second term; others are
    refused unless `raw` [Auer, Cesa-Bianchi & Fischer 2002, theorem 1].
    """

    raw: bool = False

    def probabilities(self, state: Tally) -> Vector:
        if not state.is_complete:
            return _largest(state.means())
        return _largest(state.means() + np.sqrt(2 * log(state.rounds) / np.array(state.counts)))


def _largest(scores: Vector) -> Vector:
    """Equal probabilities for the arms of the largest score."""
    best = scores == scores.max()
    return best / best.sum()
