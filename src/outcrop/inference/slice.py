"""Slice sampling along one coordinate at a time, in chains that continue from call to call.

An update draws a level under the density, steps out from the present point in units of a width
until the bracket leaves the slice, and shrinks the bracket onto points above the level [Neal 2003,
figures 3 and 5]. A width affects the cost of an update and not what it converges to, as long as it
does not depend on the past of the chain: widths are adapted during burn-in and frozen afterwards.

`theta` is `(dim,)`, `thetas` and `widths` are `(chains, dim)`.
"""

from __future__ import annotations

__all__ = ["Slice", "Swept", "slice_chain", "slice_sweep"]

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from math import inf, log1p, nan
from typing import NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from outcrop.effort import UNLIMITED, UNSTORED, Effort
from outcrop.errors import ModelError
from outcrop.inference.elliptical import elliptical_step
from outcrop.inference.optimise import MAP
from outcrop.inference.starts import from_previous, from_prior, prior_widths
from outcrop.inference.target import (
    Draws,
    HasUnseen,
    Inference,
    LogDensity,
    MovesGaussian,
    SampledDensity,
    TargetDensity,
    guarded,
    log_posterior,
    require,
)
from outcrop.typing import Matrix, Rng, Vector

SHRINKS = 100  # a bracket shrunk this often is the present point up to rounding
DRAWS_PER_UPDATE = 8  # uniforms fetched at once for each coordinate: 3 to set up, 1 per shrink
BEST_WIDTH = 0.6  # of the mean bracket: gives a normal the width 3.5 σ, where updates cost least
CATCHING_UP = 4  # sweeps of every chain that was started given a small part of the data
BLOCKS = "moves of all latents"  # that an effort counts
UPDATES = "updates of single hyperparameters"  # likewise
STEPS_TO_MODE = 30  # most steps of an ascent; the sweeps that follow correct the rest
NARROWEST = 1e-3  # smallest width that burn-in may choose, in units of the prior's


class Swept(NamedTuple):
    """The end of a sweep, and the brackets of its updates."""

    theta: Vector
    log_value: float
    brackets: Vector  # (dim,), lengths from which points were accepted; NaN if not moved
    evaluations: int


def slice_sweep(
    log_density: LogDensity,
    theta: Vector,
    log_value: float,
    widths: Vector,
    rng: Rng,
    coordinates: NDArray[np.intp] | None = None,
    max_steps_out: int = 16,
    effort: Effort = UNLIMITED,
) -> Swept:
    """One update of each of `coordinates` (all by default), in random order.

    `log_value` is `log_density(theta)`. A bracket is at most `max_steps_out` widths long. Once
    `effort` is spent, the other coordinates stay where they are.

    >>> rng = np.random.default_rng(0)
    >>> swept = slice_sweep(lambda t: float(-t @ t), np.zeros(2), 0.0, np.ones(2), rng)
    >>> swept.theta.shape, bool(swept.log_value == -swept.theta @ swept.theta)
    ((2,), True)
    """
    theta = theta.copy()  # the vector that every evaluation below is given
    order = rng.permutation(len(theta) if coordinates is None else coordinates).tolist()
    draw = _uniforms(rng, DRAWS_PER_UPDATE * len(order)).__next__
    lengths, brackets = widths.tolist(), [nan] * len(theta)
    evaluations = 0
    for i in order:
        if effort.is_spent(UPDATES):
            break
        origin, width = float(theta[i]), lengths[i]
        level = log_value + log1p(-draw())
        left = origin - width * draw()
        right = left + width
        out_left = int(max_steps_out * draw())
        out_right = max_steps_out - 1 - out_left
        while out_left > 0:
            theta[i] = left
            evaluations += 1
            if log_density(theta) <= level:
                break
            left -= width
            out_left -= 1
        while out_right > 0:
            theta[i] = right
            evaluations += 1
            if log_density(theta) <= level:
                break
            right += width
            out_right -= 1
        for _ in range(SHRINKS):
            theta[i] = proposal = left + (right - left) * draw()
            evaluations += 1
            value = log_density(theta)
            if value > level:
                log_value = value
                break
            if proposal < origin:
                left = proposal
            else:
                right = proposal
        else:
            theta[i] = origin
        brackets[i] = right - left
    return Swept(theta, log_value, np.array(brackets), evaluations)


@dataclass(frozen=True)
class Slice(Inference):
    """Several slice sampling chains, and one or more draws of each.

    Started cold, chains begin at prior draws of high likelihood, adapt their widths for `burn_in`
    sweeps, and make `sweeps` more. Given the previous draws, `moved` chains chosen at random (all,
    if None) continue from there with `sweeps` sweeps: a new observation changes the target little,
    so the chains follow. A chain that is new, or whose point has lost its density, starts cold. So
    does one whose log density lies more than `patience` per coordinate below the best: it is stuck
    in a mode that the data no longer support. With `rejoins` it continues from the best chain's
    point instead, which costs less; many data leave one mode only. Coordinates that the target
    declares `gaussian` are moved before each sweep of the others, by a move of the target's own or,
    if it has none, all together by `elliptical_steps` elliptical steps. Coordinates that it
    declares `unseen` are drawn from their prior in each sweep, without a likelihood.

    With `from_mode` all cold chains start at one mode of the density instead of at prior draws, for
    which the target needs gradients. With many observations a mode is close to where chains
    converge to, and one or two sweeps of burn-in are enough.

    A chain gives its end as a draw and, with `kept`, also its points after that many of its last
    sweeps: two chains of five sweeps with `kept=5` cost as much as ten chains of one sweep, give as
    many draws, and follow the data better.

    Once the effort of a suggestion is spent, chains stay where they are, and the next suggestion
    continues from there.

    >>> Slice(chains=4) == Slice(chains=4, burn_in=8, sweeps=1)
    True
    """

    chains: int = 8
    burn_in: int = 8
    sweeps: int = 1
    moved: int | None = None
    elliptical_steps: int = 4
    max_steps_out: int = 16
    patience: float = inf
    kept: int = 1
    rejoins: bool = False
    from_mode: bool = False
    effort: Effort = field(default=UNLIMITED, compare=False, repr=False, metadata=UNSTORED)

    def __post_init__(self) -> None:
        require(self, chains=1, burn_in=0, sweeps=0, elliptical_steps=1, max_steps_out=1, kept=1)
        if self.moved is not None:
            require(self, moved=1)
        if not self.patience > 0:
            raise ModelError(f"Slice(patience={self.patience!r}): expected a number above 0")

    @np.errstate(all="ignore")
    def infer(self, target: SampledDensity, rng: Rng, previous: Draws | None = None) -> Draws:
        """Draws of all chains, which have equal weights; the ends of the chains come first."""
        log_density = log_posterior(target)
        thetas = np.full((self.chains, target.dim), np.nan)
        values = np.full(self.chains, -np.inf)
        widths = np.full((self.chains, target.dim), np.nan)
        if previous is not None:
            warm = from_previous(target, rng, previous)[: self.chains]
            thetas[: len(warm)] = warm
            values[: len(warm)] = [log_density(theta) for theta in warm]
            if previous.widths is not None:
                widths[: len(warm)] = previous.widths[: len(warm)]
        stuck = values < values.max() - self.patience * target.dim
        rejoined = np.flatnonzero(stuck & self.rejoins)
        if len(rejoined) > 0:
            best = values.argmax()
            thetas[rejoined], values[rejoined] = thetas[best], values[best]
            widths[rejoined] = widths[best]
            stuck[rejoined] = False
        cold = np.flatnonzero((values == -inf) | stuck)
        widths[cold] = np.nan
        unknown = ~(widths > 0)
        if unknown.any():
            widths = np.where(unknown, prior_widths(target, rng), widths)

        move = _transition(
            target, log_density, self.elliptical_steps, self.max_steps_out, self.effort
        )
        evaluations = 0
        if len(cold) > 0:
            thetas[cold], values[cold] = self._started(target, log_density, rng, len(cold))
            state = thetas[cold], values[cold], widths[cold[0]]
            thetas[cold], values[cold], widths[cold], evaluations = _burn_in(
                move, *state, rng, self.burn_in
            )
        earlier: list[tuple[int, Vector, float]] = []  # of chain i, a point before its end
        for chain in self._moving(np.union1d(cold, rejoined), rng):
            for left in reversed(range(self.sweeps)):
                swept = move(thetas[chain], float(values[chain]), widths[chain], rng)
                thetas[chain], values[chain] = swept.theta, swept.log_value
                evaluations += swept.evaluations
                if 0 < left < self.kept:
                    earlier.append((chain, swept.theta, swept.log_value))
        counts = {"sweep_evaluations": evaluations, "cold_chains": len(cold)}
        of_chain = np.array([*range(self.chains), *(chain for chain, _, _ in earlier)])
        return Draws(
            np.vstack([thetas, *(theta for _, theta, _ in earlier)]),
            1 / (self.chains * np.bincount(of_chain)[of_chain]),
            np.append(values, [value for _, _, value in earlier]),
            widths[of_chain],
            diagnostics=counts,
            chains=self.chains,
        )

    def divided(self, parts: int) -> Slice:
        moved = self.moved and max(self.moved // parts, 1)
        return replace(self, chains=max(self.chains // parts, 1), moved=moved)

    def moving_one(self) -> Slice:
        return replace(self, moved=1)

    def catching_up(self) -> Slice:
        return replace(self, moved=None, sweeps=max(self.sweeps, CATCHING_UP))

    def within(self, effort: Effort) -> Slice:
        return replace(self, effort=effort)

    def without_restarts(self) -> Slice:
        return replace(self, patience=inf)

    def _started(
        self, target: SampledDensity, log_density: LogDensity, rng: Rng, n: int
    ) -> tuple[Matrix, Vector]:
        """The points that `n` cold chains start from, and their log densities."""
        if self.from_mode:
            ascent = MAP(starts=1, iterations=STEPS_TO_MODE, jacobian=True, effort=self.effort)
            mode = ascent.infer(cast(TargetDensity, target), rng)
            if mode.log_densities[0] > -inf:
                return np.repeat(mode.thetas, n, axis=0), np.repeat(mode.log_densities, n)
        return from_prior(target, log_density, rng, n, self.effort)

    def _moving(self, restarted: NDArray[np.intp], rng: Rng) -> list[int]:
        """The chains that make sweeps: those that restarted, and randomly chosen others."""
        if self.moved is None or self.moved >= self.chains:
            return list(range(self.chains))
        lot = rng.permutation(self.chains)[: self.moved]
        return sorted({*lot.tolist(), *restarted.tolist()})


def slice_chain(
    target: SampledDensity,
    rng: Rng,
    n: int,
    start: Vector | None = None,
    widths: Vector | None = None,
    burn_in: int = 50,
    elliptical_steps: int = 1,
    max_steps_out: int = 16,
) -> Matrix:
    """A chain `(n, dim)`, one row per sweep, after `burn_in` sweeps that adapt the widths.

    It starts at `start` or at a prior draw, with `widths` or the prior's.
    """
    with np.errstate(all="ignore"):
        log_density = log_posterior(target)
        if start is None:
            thetas, values = from_prior(target, log_density, rng, 1)
        else:
            thetas = np.array([start], dtype=np.float64)
            values = np.array([log_density(thetas[0])])
        widths = prior_widths(target, rng) if widths is None else widths
        move = _transition(target, log_density, elliptical_steps, max_steps_out)
        thetas, values, widths, _ = _burn_in(move, thetas, values, widths, rng, burn_in)
        theta, log_value = thetas[0], float(values[0])
        chain = np.empty((n, target.dim))
        for i in range(n):
            theta, log_value, _, _ = move(theta, log_value, widths, rng)
            chain[i] = theta
    return chain


_Move: TypeAlias = Callable[[Vector, float, Vector, Rng], Swept]


def _transition(
    target: SampledDensity,
    log_density: LogDensity,
    elliptical_steps: int,
    max_steps_out: int,
    effort: Effort = UNLIMITED,
) -> _Move:
    """The update that leaves `target` invariant: the gaussian block, then the other coordinates.

    Unseen coordinates are independent of all others, so that a prior draw is a draw of them. A
    chain at a point without density stays there, as do all once `effort` is spent.
    """
    gaussian = np.asarray(target.gaussian, dtype=np.bool_)
    unseen = target.unseen if isinstance(target, HasUnseen) else np.zeros_like(gaussian)
    others, are_drawn = np.flatnonzero(~gaussian & ~unseen), bool(unseen.any())
    prior, likelihood = guarded(target.log_prior), guarded(target.log_likelihood)

    def sweep(theta: Vector, log_value: float, widths: Vector, rng: Rng) -> Swept:
        if log_value == -inf:
            return Swept(theta, log_value, np.full(len(theta), nan), 0)
        if are_drawn:
            drawn = np.where(unseen, target.sample_prior(rng, 1)[0], theta)
            theta, log_value = drawn, log_value + prior(drawn) - prior(theta)
        return slice_sweep(
            log_density, theta, log_value, widths, rng, others, max_steps_out, effort
        )

    def alternate(theta: Vector, log_value: float, widths: Vector, rng: Rng) -> Swept:
        if log_value == -inf or effort.is_spent(BLOCKS):
            return Swept(theta, log_value, np.full(len(theta), nan), 0)
        moved = target.moved_gaussian(theta, rng) if isinstance(target, MovesGaussian) else None
        if moved is not None:
            return sweep(moved, log_density(moved), widths, rng)
        whole = theta.copy()

        def block_likelihood(block: Vector) -> float:
            whole[gaussian] = block
            return likelihood(whole)

        block, value, evaluations = theta[gaussian], log_value - prior(theta), 0
        for _ in range(elliptical_steps):
            block, value, used = elliptical_step(block, block_likelihood, rng, value)
            evaluations += used
        whole[gaussian] = block
        swept = sweep(whole, value + prior(whole), widths, rng)
        return swept._replace(evaluations=swept.evaluations + evaluations)

    return alternate if gaussian.any() else sweep


def _burn_in(
    move: _Move, thetas: Matrix, values: Vector, widths: Vector, rng: Rng, sweeps: int
) -> tuple[Matrix, Vector, Vector, int]:
    """All chains after `sweeps` sweeps, the widths they share `(dim,)`, and evaluations.

    After each sweep the widths go half of the way, in logarithm, to `BEST_WIDTH` of the brackets
    that points were accepted from, averaged over chains: too wide a bracket shrinks to the slice's
    scale, too narrow a one steps out to it. With half of the way the start is
    forgotten in a few sweeps and the noise stays small.
    """
    thetas, values = thetas.copy(), values.copy()
    narrowest = NARROWEST * widths
    evaluations = 0
    for _ in range(sweeps):
        brackets = np.zeros_like(widths)
        for chain, theta in enumerate(thetas):
            swept = move(theta, float(values[chain]), widths, rng)
            thetas[chain], values[chain] = swept.theta, swept.log_value
            brackets += swept.brackets / len(thetas)
            evaluations += swept.evaluations
        adapted = np.maximum(np.sqrt(widths * BEST_WIDTH * brackets), narrowest)
        widths = np.where(np.isnan(brackets), widths, adapted)
    return thetas, values, widths, evaluations


def _uniforms(rng: Rng, block: int) -> Iterator[float]:
    """Uniform draws, fetched in blocks: a call of `rng` costs as much as fifty of its numbers."""
    while True:
        yield from rng.random(block).tolist()
