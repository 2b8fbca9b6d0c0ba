"""Multi-armed bandits: which of K options to try next, when only trying shows what they pay.

A bandit is a frozen value. What it learns is a state that the caller keeps, small and frozen too,
with `to_json` and `from_json`; randomness is an argument. A larger reward is better.

>>> import numpy as np
>>> from outcrop import bandits
>>> rng = np.random.default_rng(0)
>>> pays = [0.2, 0.9, 0.4]                          # unknown to the bandit
>>> bandit = bandits.EXP3.for_horizon(n_arms=3, horizon=1000)
>>> state = bandit.init(n_arms=3)
>>> for _ in range(1000):
...     choice = bandit.choose(state, rng)
...     reward = float(rng.random() < pays[choice.arm])
...     state = bandit.update(state, choice, reward)
>>> int(np.argmax(bandit.probabilities(state)))
1
>>> bandits.LogWeights.from_json(state.to_json()) == state
True

`Greedy`, `EpsilonFirst`, `EpsilonGreedy` and `UCB1` take an arm's rewards for independent draws of
one distribution; `EXP3` and `EXP3M`, which plays several arms a round, assume nothing of them. The
guarantees of `UCB1`, `EXP3` and `EXP3M` are for rewards in [0, 1]: they refuse others, which
`normalised` maps there, unless they are made with `raw=True`.
"""

from __future__ import annotations

__all__ = [
    "Bandit",
    "ArmChoice",
    "EXP3",
    "EXP3M",
    "EpsilonFirst",
    "EpsilonGreedy",
    "Greedy",
    "LogWeights",
    "BanditState",
    "Tally",
    "UCB1",
    "best_so_far",
    "dep_round",
    "inclusion_probabilities",
    "normalised",
    "rate",
]

from outcrop.bandits.base import ArmChoice, Bandit, BanditState
from outcrop.bandits.exponential import EXP3, EXP3M, LogWeights, inclusion_probabilities, rate
from outcrop.bandits.means import UCB1, EpsilonFirst, EpsilonGreedy, Greedy, Tally
from outcrop.bandits.rewards import best_so_far, normalised
from outcrop.bandits.rounding import dep_round
