"""Every surrogate on spaces of three kinds, fitted once, and views with running trials."""

from functools import lru_cache

import numpy as np

from outcrop import pending
from outcrop.baselines import Arc, CommonNodes, Independent, Marginal
from outcrop.data import Observations
from outcrop.inference import MAP, Laplace, Slice
from outcrop.kernels import Matern52, Scaled
from outcrop.strategies import Method
from outcrop.surrogates import (
    GP,
    CategoryMix,
    Forest,
    Heteroscedastic,
    Latent,
    Mixture,
    Spartan,
    Treed,
    TreeStructured,
    Warped,
)
from outcrop.testing import view_of
from tests.strategies.spaces import EVERY_SPACE

QUICK = Slice(chains=2, burn_in=1, sweeps=1)
N = 14

SPACES = ("box", "mixed", "conditional")
SURROGATES = {
    "gp": Method(inference=QUICK),
    "map": Method(inference=MAP(starts=1, iterations=20)),
    "laplace": Method(inference=Laplace(starts=1, iterations=20)),
    "warped": Method(Warped(), QUICK),
    "spartan": Method(Spartan(), QUICK),
    "treed": Method(Treed(), QUICK),
    "treed-warped": Method(Treed(leaves=Warped()), QUICK),
    "latent": Method(Latent(together=True), QUICK),
    "heteroscedastic": Method(Heteroscedastic(), QUICK),
    "cocabo": Method(CategoryMix(), QUICK),
    "tree": Method(TreeStructured(), QUICK),
    "marginal": Method(Marginal(), QUICK),
    "independent": Method(Independent(), QUICK),
    "common nodes": Method(CommonNodes(), QUICK),
    "arc": Method(Arc(), QUICK),
    "forest": Method(Forest(trees=8)),
}
STRUCTURED = ("tree", "marginal", "independent", "common nodes", "arc")
PAIRS = [
    (space, surrogate)
    for space in SPACES
    for surrogate in SURROGATES
    if (surrogate not in STRUCTURED or space == "conditional")
    and (surrogate != "cocabo" or space != "box")
]
HOME = dict.fromkeys([*STRUCTURED, "gp"], "conditional")
ONE_SPACE_EACH = [pair for pair in PAIRS if pair[0] == HOME.get(pair[1], "mixed")]
BELIEVING = [pending.Believer(), *(pending.Liar(value) for value in ("min", "mean", "max"))]
PENALISING = [
    pending.LocalPenalisation(),
    pending.HardPenalisation(),
    *(pending.PLAyBOOK(kind) for kind in ("L", "LL", "H", "HL")),
]
POLICIES = [*BELIEVING, pending.ThompsonSampling(), *PENALISING]


def name(policy):
    """What tests call a policy."""
    which = getattr(policy, "kind", getattr(policy, "value", ""))
    return f"{type(policy).__name__}{which}"


def with_running(space, count, seed=3):
    """A view of `N` values and of `count` running trials."""
    rng = np.random.default_rng(seed)
    X = space.from_uniform(rng.random((N + count, len(space.columns))))
    y = np.sin(5 * X).sum(1) + X[:, 0]
    return view_of(space, X[:N], y[:N], X[N:], noise=False)


@lru_cache
def belief(space, surrogate):
    """What the surrogate believes of the values of such a view, in its own units."""
    strategy = SURROGATES[surrogate].strategy(EVERY_SPACE[space])
    view = with_running(EVERY_SPACE[space], 0)
    return strategy.belief(view, np.random.default_rng(8)).mixture


def waves(d=2, n=12, scales=(0.2, 0.4, 0.7)):
    """Processes that see a multimodal function differently."""
    X = np.random.default_rng(20).random((n, d))
    data = Observations(X, np.sin(9 * X[:, 0]) + np.cos(7 * X[:, -1]))
    parts = [GP(Scaled(1.0, Matern52(s)), noise=1e-6).condition(data) for s in scales]
    return Mixture(tuple(parts), np.array([0.5, 0.3, 0.2])[: len(parts)])
