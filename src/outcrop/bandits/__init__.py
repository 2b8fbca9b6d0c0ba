"""Multi-armed bandits: which of K arms to play next if only playing shows their rewards.

A bandit is a frozen value. What it has learnt is a small frozen state that the caller keeps, with
`to_json` and `from_json`; randomness is an argument. A larger reward is better.

>>> import numpy as np
>>> from outcrop import bandits
>>> rng = np.random.default_rng(0)
>>> pays = [0.2, 0.9, 0.4]                          # not given to the bandit
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

`Greedy`, `EpsilonFirst`, `EpsilonGreedy` and `UCB1` assume that the rewards of an arm are
independent draws from one distribution; `EXP3` and `EXP3M`, which plays several arms a round, make
no assumptions. The guarantees of `UCB1`, `EXP3` and `EXP3M` hold for rewards in [0, 1]; with
`raw=False` they refuse others, which `normalised` maps to that range.
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
from outcrop.bandits.exponential import (
    EXP3,
    EXP3M,
    LogWeights,
    dep_round,
    inclusion_probabilities,
    rate,
)
from outcrop.bandits.means import UCB1, EpsilonFirst, EpsilonGreedy, Greedy, Tally
from outcrop.bandits.rewards import best_so_far, normalised
