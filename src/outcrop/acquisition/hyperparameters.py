"""Acquisitions that score the information of a trial about the hyperparameters.

A mixture holds one component per set of hyperparameters, so learning them means to identify the
right component. Scores depend on how the components disagree and are not means over components.
Under a belief with a single component the information is 0 everywhere: sample hyperparameters
(`Slice`), do not optimise them.

The exact score is the mutual information I(component; y). It lies between 0, where all components
agree, and the entropy of the weights, where one observation identifies the component. The functions
of arrays take `k` components with `weights` `(k,)`, which predict observations N(mean, std²) at `m`
points, `mean` and `std` being `(k, m)`. They return a value `(m,)` in nats, and its derivatives in
`mean` and in `std`.
"""

from __future__ import annotations

__all__ = [
    "BALD",
    "EIIG",
    "HandOver",
    "InformationGain",
    "gaussian_information",
    "mutual_information",
]

from dataclasses import dataclass, field, replace
from math import inf
from typing import NoReturn

import numpy as np

from outcrop.acquisition.base import Acquisition, Belief, OfComponents, deviation
from outcrop.acquisition.formulas import Derived
from outcrop.acquisition.improvement import EI, LogEI
from outcrop.effort import Effort
from outcrop.errors import ModelError
from outcrop.typing import Matrix, Points, Rng, Vector

# Nodes of quadrature, in deviations from the mean of each component: dense in the middle, out to
# where the density vanishes.
NODES = 6.0 * np.sinh(np.linspace(-2.0, 2.0, 33))[:, None] / np.sinh(2.0)
NUMBERS_AT_ONCE = 100_000  # so that a few such arrays fit into the cache of a core


class _Information(OfComponents):
    """An acquisition that scores the disagreement of components."""

    averages = False
    non_negative = True  # information cannot be negative, nor can an improvement


@dataclass(frozen=True)
class BALD(_Information):
    """The information of an observation about the hyperparameters, in nats [Houlsby et al. 2011].

    The mutual information between the observation and the component of the mixture, by quadrature:
    where the components agree it is 0, where one observation would identify the component it is the
    entropy of their weights. It does not optimise; with `HandOver` it is the first phase of a
    search that does.

        oc.Method(acquisition=oc.acquisition.HandOver(oc.acquisition.BALD(), steps=20))
    """

    def jointly(self, mean: Matrix, var: Matrix, noise: Matrix, weights: Vector) -> Derived:
        std = deviation(var + noise)
        value, mean_bar, std_bar = mutual_information(mean, std, weights)
        return value, mean_bar, std_bar / (2 * std)


@dataclass(frozen=True)
class InformationGain(_Information):
    """A fast bound of that information [Martinez-Cantin 2015, eq. 4].

        ½ log Σᵢ wᵢ [(mᵢ − m̄)² + sᵢ²] − ½ Σᵢ wᵢ log sᵢ²

    An upper bound of `BALD`, with a Gaussian of the same variance in place of the mixture. It is
    maximised, so its sign is opposite to the paper; the weights put both terms on one scale.

    >>> HandOver(first=InformationGain(), steps=10).first
    InformationGain()
    """

    def jointly(self, mean: Matrix, var: Matrix, noise: Matrix, weights: Vector) -> Derived:
        std = deviation(var + noise)
        value, mean_bar, std_bar = gaussian_information(mean, std, weights)
        return value, mean_bar, std_bar / (2 * std)


@dataclass(frozen=True, eq=False)
class EIIG(_Information):
    """Expected improvement that first also learns the hyperparameters [ibid., eq. 5].

        EI + 2 alpha/n² · InformationGain,    n = 1, 2, … from the first suggestion of the model

    With `alpha` 0 it is `EI`; with 1 the search learns first, and the bonus has 1 % of its weight
    after ten suggestions.

    >>> from outcrop.strategies import Method
    >>> Method(acquisition=EIIG(alpha=0.5)).acquisition
    EIIG(alpha=0.5, best=None, step=None)
    """

    alpha: float = 1.0
    best: float | Vector | None = None  # as that of `EI`; filled by `prepare`
    step: int | None = None  # n; filled by `prepare`

    def __post_init__(self) -> None:
        if not 0 <= self.alpha < inf:
            raise ModelError(f"EIIG(alpha={self.alpha!r}): expected at least 0, such as 1.0")
        if self.step is not None and self.step < 1:
            raise ModelError(f"EIIG(step={self.step!r}): expected a count of suggestions from 1")
        EI(self.best)  # checks the value

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> EIIG:
        return replace(
            self,
            best=incumbent if self.best is None else self.best,
            step=max(step, 1) if self.step is None else self.step,
        )

    def jointly(self, mean: Matrix, var: Matrix, noise: Matrix, weights: Vector) -> Derived:
        value, mean_bar, var_bar = EI(self.best).jointly(mean, var, noise, weights)
        if self.alpha == 0:
            return value, mean_bar, var_bar
        if self.step is None:
            raise ModelError(
                "EIIG(step=None) depends on how many suggestions came before; evaluate what its "
                "`prepare` returns"
            )
        bonus, *bars = InformationGain().jointly(mean, var, noise, weights)
        scale = 2 * self.alpha / self.step**2
        return value + scale * bonus, mean_bar + scale * bars[0], var_bar + scale * bars[1]


@dataclass(frozen=True, eq=False)
class HandOver(Acquisition):
    """Active learning first, optimisation later, chosen at random [Alvi 2019, section 6.2.2].

    A suggestion is made by `first` with a probability that falls linearly, from 1 at the first
    suggestion of the model to 0 after `steps` of them, and by `then` otherwise. In the thesis it
    falls until the budget is spent: set `steps` to the budget for that.

    >>> from outcrop.strategies import Method
    >>> method = Method(acquisition=HandOver(first=BALD(), then=EI(), steps=20))
    >>> method.acquisition.probability(1), method.acquisition.probability(11)
    (1.0, 0.5)
    """

    first: Acquisition = field(default_factory=BALD)
    then: Acquisition = field(default_factory=LogEI)
    steps: int = 20

    def __post_init__(self) -> None:
        for name in ("first", "then"):
            part = getattr(self, name)
            if not isinstance(part, Acquisition):
                raise ModelError(
                    f"HandOver({name}={part!r}): expected an acquisition such as BALD() or "
                    "LogEI(), written with ()"
                )
        if type(self.steps) is not int or self.steps < 1:
            raise ModelError(
                f"HandOver(steps={self.steps!r}): expected a whole number of at least 1"
            )

    def probability(self, step: int) -> float:
        """The probability that `first` makes suggestion number `step`, counted from 1."""
        return max(1 - (step - 1) / self.steps, 0.0)

    def within(self, effort: Effort) -> HandOver:
        return replace(self, first=self.first.within(effort), then=self.then.within(effort))

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Acquisition:
        chosen = self.first if rng.random() < self.probability(step) else self.then
        return chosen.prepare(posterior, incumbent, candidates, rng, step)

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        self._refuse()

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise ModelError(
            "HandOver has not chosen between its acquisitions yet; evaluate what its `prepare` "
            "returns"
        )


def gaussian_information(mean: Matrix, std: Matrix, weights: Vector) -> Derived:
    """The information if the mixture were a Gaussian of the same variance.

        ½ log Σᵢ wᵢ [(mᵢ − m̄)² + sᵢ²] − ½ Σᵢ wᵢ log sᵢ²

    No distribution of that variance has more entropy than the Gaussian, so this is an upper bound:
    tight where components disagree little, and unlimited where they disagree much.
    """
    away = mean - weights @ mean
    total = weights @ (away**2 + std**2)
    value = 0.5 * np.log(total) - weights @ np.log(std)
    share = weights[:, None]
    return value, share * away / total, share * (std / total - 1 / std)


def mutual_information(mean: Matrix, std: Matrix, weights: Vector) -> Derived:
    """I(component; y) = E[KL(r(y) ‖ weights)], r(y) being the weights once y was observed.

    The expectation is a trapezoidal sum over the nodes of all components together, so that a narrow
    one is resolved within a wide one. Its error is about 1e-3 nats; it is 0 where components agree.
    """
    used = np.flatnonzero(weights)
    mean_bar, std_bar = np.zeros_like(mean), np.zeros_like(std)
    value = np.zeros(mean.shape[1])
    rows = max(NUMBERS_AT_ONCE // (len(used) ** 2 * len(NODES)), 1)
    for start in range(0, len(value), rows):
        some = np.arange(start, min(start + rows, len(value)))
        part = np.ix_(used, some)
        value[some], mean_bar[part], std_bar[part] = _mutual_information(
            mean[part], std[part], weights[used]
        )
    return value, mean_bar, std_bar


def _mutual_information(mean: Matrix, std: Matrix, weights: Vector) -> Derived:
    """The same for positive weights; arrays are `(k, N, m)` or `(N, m)` for N nodes in all."""
    # Relative to one of the means, nodes stay distinct even if all deviations are tiny.
    m, s, w = (mean - mean[0])[:, None], std[:, None], weights[:, None, None]
    spread = (m + s * NODES).reshape(-1, mean.shape[1])
    order = spread.argsort(axis=0)
    y = np.take_along_axis(spread, order, axis=0)
    z = (y - m) / s
    log_density = -0.5 * z * z - np.log(s)
    joint = log_density + np.log(w)
    top = joint.max(0)
    log_p = top + np.log(np.exp(joint - top).sum(0))
    r, surprise = np.exp(joint - log_p), log_density - log_p  # log(r/w)
    told = (r * surprise).sum(0)  # KL(r ‖ w)
    gaps = np.diff(y, axis=0)
    share = np.exp(log_p)
    total = (0.5 * gaps * (share[1:] + share[:-1])).sum(0)
    share /= total
    mass = share.copy()  # of the probability around each node
    mass[0] *= 0.5 * gaps[0]
    mass[1:-1] *= 0.5 * (gaps[1:] + gaps[:-1])
    mass[-1] *= 0.5 * gaps[-1]
    value = (mass * told).sum(0)

    density_bar = mass * r * (surprise - value)
    slope = density_bar * z / s
    mean_bar, std_bar = slope.sum(1), (density_bar * (z * z - 1) / s).sum(1)
    width_bar = share * (told - value)
    gap_bar = 0.5 * (width_bar[1:] + width_bar[:-1])
    y_bar = -slope.sum(0)
    y_bar[1:] += gap_bar
    y_bar[:-1] -= gap_bar
    node_bar = np.empty_like(y_bar)
    np.put_along_axis(node_bar, order, y_bar, axis=0)
    node_bar = node_bar.reshape(len(mean), len(NODES), -1)  # nodes move with their component
    return value, mean_bar + node_bar.sum(1), std_bar + (NODES * node_bar).sum(1)
