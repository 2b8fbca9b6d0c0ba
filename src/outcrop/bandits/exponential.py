"""Bandits with exponential weights, for arms whose rewards may change arbitrarily.

K arms, k of them played in a round, weights w, rate γ. Weights are kept as logarithms, and their
maximum is subtracted before they are exponentiated: they neither overflow nor all vanish.
"""

from __future__ import annotations

__all__ = ["EXP3", "EXP3M", "LogWeights", "dep_round", "inclusion_probabilities", "rate"]

from collections.abc import Sequence
from dataclasses import dataclass
from math import e, inf, isfinite, log, sqrt

import numpy as np
from numpy.typing import ArrayLike

from outcrop.bandits.base import (
    ArmChoice,
    Bandit,
    BanditState,
    is_number,
    require_share,
    require_whole,
)
from outcrop.errors import BanditError
from outcrop.typing import Rng, Vector

TOLERANCE = 1e-9  # of probabilities and of their sum, for rounding errors


@dataclass(frozen=True)
class LogWeights(BanditState):
    """The logarithm of each arm's weight, 0 at first."""

    logs: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.logs or not all(is_number(w) and isfinite(w) for w in self.logs):
            raise BanditError(f"LogWeights(logs={self.logs!r}): expected a finite number per arm")

    @classmethod
    def equal(cls, n_arms: int) -> LogWeights:
        """No arm is preferred."""
        require_whole("n_arms", n_arms, 1)
        return cls((0.0,) * n_arms)

    @property
    def n_arms(self) -> int:
        return len(self.logs)


def rate(n_arms: int, gain: float, plays: int = 1) -> float:
    """The γ that minimises the bound on the regret, if the best arm pays at most `gain` in all.

        γ = min(1, √(K ln(K/k) / ((e − 1) k g)))

    [Auer et al. 2002, corollary 3.2; Uchiya et al. 2010]. It is 0 if every arm is played in every
    round, and 1 if there are more plays than arms, so that no arm can be preferred.
    """
    require_whole("n_arms", n_arms, 1)
    require_whole("plays", plays, 1)
    if not is_number(gain) or not 0 < gain < inf:
        raise BanditError(f"gain={gain!r}: expected a positive number, at most the rounds")
    if plays > n_arms:
        return 1.0
    return min(1.0, sqrt(n_arms * log(n_arms / plays) / ((e - 1) * plays * gain)))


@dataclass(frozen=True)
class EXP3(Bandit[LogWeights]):
    """One arm a round, with probability (1 − γ) w / Σw + γ/K.

        bandit = EXP3.for_horizon(n_arms=5, horizon=200)

    A played arm's weight is multiplied by exp(γ r̂ / K), where r̂ = r/p estimates its reward without
    bias. The regret against the best single arm is at most 2.63 √(g K ln K) on average, whatever
    the rewards do, if they lie in [0, 1]; others are refused unless `raw` [Auer et al. 2002].
    """

    gamma: float
    raw: bool = False

    def __post_init__(self) -> None:
        require_share("gamma", self.gamma)

    @classmethod
    def for_horizon(cls, n_arms: int, horizon: int, share: float = 1.0, raw: bool = False) -> EXP3:
        """The best rate if the best arm pays at most `share` in each of `horizon` rounds."""
        return cls(rate(n_arms, _gain(horizon, share)), raw)

    def init(self, n_arms: int) -> LogWeights:
        return LogWeights.equal(n_arms)

    def probabilities(self, state: LogWeights) -> Vector:
        return (1 - self.gamma) * _softmax(np.array(state.logs)) + self.gamma / state.n_arms

    def learn(self, state: LogWeights, choice: ArmChoice, rewards: Sequence[float]) -> LogWeights:
        return _reweighted(state, choice, rewards, self.gamma)


@dataclass(frozen=True)
class EXP3M(Bandit[LogWeights]):
    """`plays` different arms a round; EXP3 for one.

        bandit = EXP3M.for_horizon(n_arms=17, horizon=80, plays=4)

    Weights that are too large for a probability below 1 are capped (`inclusion_probabilities`), and
    the arms are drawn by `dep_round`. Their order is random, so that the choices of several bandits
    can be combined elementwise. A capped arm has probability 1 and keeps its weight; the other
    weights are multiplied by exp(k γ r̂ / K) as in EXP3. On average the regret against the best k
    arms is at most 2.63 √(k g K ln(K/k)) [Uchiya, Nakamura & Kudo 2010].
    """

    gamma: float
    plays: int
    raw: bool = False

    def __post_init__(self) -> None:
        require_share("gamma", self.gamma)
        require_whole("plays", self.plays, 1)

    @classmethod
    def for_horizon(
        cls, n_arms: int, horizon: int, plays: int, share: float = 1.0, raw: bool = False
    ) -> EXP3M:
        """The best rate if each of the best arms pays at most `share` in `horizon` rounds."""
        _require_enough(n_arms, plays)
        return cls(rate(n_arms, _gain(horizon, share), plays), plays, raw)

    def init(self, n_arms: int) -> LogWeights:
        _require_enough(n_arms, self.plays)
        return LogWeights.equal(n_arms)

    def probabilities(self, state: LogWeights) -> Vector:
        return inclusion_probabilities(np.array(state.logs), self.gamma, self.plays)

    def choose(self, state: LogWeights, rng: Rng) -> ArmChoice:
        p = self.probabilities(state)
        arms = rng.permutation(dep_round(p, rng))
        return ArmChoice(tuple(arms.tolist()), tuple(p[arms].tolist()))

    def learn(self, state: LogWeights, choice: ArmChoice, rewards: Sequence[float]) -> LogWeights:
        return _reweighted(state, choice, rewards, self.plays * self.gamma)


def inclusion_probabilities(logs: Vector, gamma: float, plays: int) -> Vector:
    """The probability that EXP3.M plays each arm, from the logarithms of the weights.

        p = k ((1 − γ) w' / Σw' + γ/K),    w' = min(w, α)

    α is the cap that makes the largest probabilities exactly 1, if they would exceed it. A capped
    weight's share of Σw' is then c = (1/k − γ/K) / (1 − γ). If the m largest are capped, the others
    share 1 − m c in proportion, which is α = c · (sum of the others) / (1 − m c); and m is right as
    soon as the largest of the others is below α, that is, its share below c.

    >>> inclusion_probabilities(np.log([6.0, 1.0, 1.0]), gamma=0.0, plays=2)
    array([1. , 0.5, 0.5])
    """
    n_arms = len(logs)
    _require_enough(n_arms, plays)
    if plays == n_arms or gamma == 1:
        return np.full(n_arms, plays / n_arms)
    c = (1 / plays - gamma / n_arms) / (1 - gamma)
    descending = np.argsort(-logs)
    for m in range(plays):  # at most k − 1 arms are capped
        others = descending[m:]
        shares = (1 - m * c) * _softmax(logs[others])
        if shares[0] < c:
            break
    p = np.ones(n_arms)
    p[others] = np.minimum(plays * ((1 - gamma) * shares + gamma / n_arms), 1.0)
    return p


def dep_round(probabilities: ArrayLike, rng: Rng) -> tuple[int, ...]:
    """A random set of arms, ascending, that contains arm i with probability `probabilities[i]`.

    Its size is always the sum of the probabilities, which must be a whole number. Two fractional
    probabilities at a time are changed until one of them is 0 or 1, so that neither changes on
    average [Gandhi et al. 2006]. The draws of different arms are negatively correlated.

    >>> len(dep_round([0.5, 0.25, 1.0, 0.25], np.random.default_rng(0)))
    2
    """
    p = np.asarray(probabilities, dtype=float)
    if p.ndim != 1 or not np.all((p >= -TOLERANCE) & (p <= 1 + TOLERANCE)):
        raise BanditError(f"probabilities={probabilities!r}: expected numbers from 0 to 1")
    size = round(float(p.sum()))
    if abs(p.sum() - size) > TOLERANCE * max(len(p), 1):
        raise BanditError(
            f"probabilities sum to {float(p.sum())!r}: expected the whole number of arms to draw"
        )
    chosen = np.flatnonzero(p >= 1).tolist()
    fractional = np.flatnonzero((p > 0) & (p < 1)).tolist()
    if fractional:
        chosen += _exchanged(p.tolist(), fractional, size - len(chosen), rng)
    return tuple(sorted(chosen))


def _exchanged(p: list[float], fractional: list[int], size: int, rng: Rng) -> list[int]:
    """Which `size` of the arms with fractional probabilities are drawn."""
    chosen = []
    held, *others = fractional
    mass = p[held]
    for other, uniform in zip(others, rng.random(len(others)), strict=True):
        if mass + p[other] <= 1:  # one of the two gets the sum
            if uniform * (mass + p[other]) >= mass:
                held = other
            mass += p[other]
        else:  # one of the two gets 1
            room, other_room = 1 - mass, 1 - p[other]
            if uniform * (room + other_room) < other_room:
                chosen.append(held)
                held = other
            else:
                chosen.append(other)
            mass = 1 - (room + other_room)
    # The rest is 0 or 1 up to rounding.
    return [*chosen, held] if len(chosen) < size else chosen


def _reweighted(
    state: LogWeights, choice: ArmChoice, rewards: Sequence[float], strength: float
) -> LogWeights:
    """The weights of the played arms times exp(strength · r̂ / K)."""
    logs = list(state.logs)
    unit = strength / state.n_arms  # at most p, so that an exponent is at most its reward
    for arm, p, reward in zip(choice.arms, choice.probabilities, rewards, strict=True):
        if p < 1:  # an arm of probability 1 was capped, or all arms were played
            logs[arm] += unit / p * reward
    return LogWeights(tuple(logs))


def _softmax(logs: Vector) -> Vector:
    weights: Vector = np.exp(logs - logs.max())
    return weights / weights.sum()


def _gain(horizon: int, share: float) -> float:
    require_whole("horizon", horizon, 1)
    require_share("share", share)
    return horizon * share


def _require_enough(n_arms: int, plays: int) -> None:
    require_whole("n_arms", n_arms, 1)
    if plays > n_arms:
        raise BanditError(
            f"plays={plays!r}: expected at most n_arms={n_arms!r}, since the arms of a round are "
            "different; for more, draw from EXP3 several times"
        )
