"""Games to play a bandit in: tables `(T, K)` of what each arm would pay in each round."""

import numpy as np


def play(bandit, table, rng):
    """The arms that were played, `(T, k)`."""
    state = bandit.init(table.shape[1])
    arms = []
    for paid in table:
        choice = bandit.choose(state, rng)
        state = bandit.update(state, choice, [paid[arm] for arm in choice.arms])
        arms.append(choice.arms)
    return np.array(arms)


def bernoulli(means, rounds, rng):
    """Independent rewards of 0 or 1."""
    return (rng.random((rounds, len(means))) < means).astype(float)


def regrets(bandit, means, rounds, runs, seed):
    """What was lost up to each round by not playing the best of arms with these means, `(runs, T)`.

    The arms are shuffled in every run, so that no bandit gains from their order.
    """
    gaps = np.max(means) - np.array(means)
    lost = []
    for run in range(runs):
        rng = np.random.default_rng([seed, run])
        order = rng.permutation(len(means))
        arms = play(bandit, bernoulli(np.array(means)[order], rounds, rng), rng)
        lost.append(np.cumsum(gaps[order][arms[:, 0]]))
    return np.array(lost)
