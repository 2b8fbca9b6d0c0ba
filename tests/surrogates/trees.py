"""Random conditional spaces, and models of them with numbers in place."""

from math import log

import numpy as np

from outcrop.data import Observations
from outcrop.kernels import Linear
from outcrop.params import Layout
from outcrop.priors import LogNormal
from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.situation import Priors, Situation
from outcrop.surrogates.tree_structured import leaf_kernels

PRIORS = Priors(LogNormal(log(0.5), 0.5), LogNormal(0.0, 0.5), LogNormal(0.0, 0.5), 1.0)


def random_group(rng, depth):
    """Parameters declared together: a few of their own, and perhaps choices that open more."""
    group = {}
    for i in range(rng.integers(0, 3)):
        group[f"x{i}"] = Float(0, 1)
    if rng.random() < 0.3:
        group["n"] = Int(1, 50)
    if rng.random() < 0.3:
        group["c"] = Categorical(["u", "v", "w"][: rng.integers(2, 4)])
    choices = 1 if rng.random() < 0.8 else 2
    for i in range(choices if depth and (rng.random() < 0.7) else 0):
        options = {f"o{j}": random_group(rng, depth - 1) for j in range(rng.integers(2, 4))}
        group[f"k{i}"] = Choice(options)
    return group


def random_space(rng, depth=4, most=40):
    """A space of up to `most` branches with a tree of choices up to `depth` deep."""
    while True:
        group = {"r": Float(0, 1), **random_group(rng, depth)}
        if any(isinstance(value, Choice) for value in group.values()):
            space = Space(group)
            if 1 < space.n_branches <= most:
                return space


def random_points(space, n, rng):
    return space.from_uniform(rng.random((n, len(space.columns))))


def random_data(space, n, rng, noise=False):
    X = random_points(space, n, rng)
    y = np.sin(3 * X.sum(1)) + X[:, 0] + rng.normal(size=n)
    return Observations(X, y, rng.random(n) if noise else None)


def situation(space, **more):
    return Situation(space, priors=PRIORS, **more)


def bound(space, rng, data, noise=0.05, mean=0.3, basis=None, sees_shared=True):
    """A model of the space with hyperparameters drawn from its priors."""
    shared, leaves = leaf_kernels(situation(space), basis or Linear(), sees_shared)
    layout = Layout.of(BranchGP(shared, leaves, noise, mean), data)
    return layout.bind(layout.sample_prior(rng, 1)[0])
