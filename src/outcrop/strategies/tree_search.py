"""A search of every leaf of a conditional space, and a choice of leaves where there are many.

A leaf is one way through the choices, see `surrogates.structured`.
"""

from __future__ import annotations

__all__ = ["EachBranch", "TopBranches"]

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from outcrop.acquisition import Acquisition, LogEI
from outcrop.acquisition.base import Belief
from outcrop.errors import MethodError
from outcrop.kernels.within import holding
from outcrop.maximise import Function, Maximiser, Maximum
from outcrop.maximise.ascent import ascend
from outcrop.maximise.base import Scored
from outcrop.maximise.candidates import distinct, perturbed
from outcrop.maximise.lattice import lattice
from outcrop.maximise.maximiser import SHORTEST_SCALE
from outcrop.maximise.mixed import climbed
from outcrop.space import Space
from outcrop.strategies.initial.per_branch import lead
from outcrop.surrogates import LeafwisePosterior, Mixture
from outcrop.surrogates.division import Branches
from outcrop.surrogates.structured import MOST_LEAVES, places
from outcrop.typing import Conditions, Matrix, Points, Rng, Vector

LEAST = 32  # candidates in every leaf
CLIMBING = 2  # of them climb
KEPT = 256  # candidates that the search of the whole space goes on with
OUTSIDE = -1e15  # below any log acquisition: a point in a leaf that is not searched
ANCHORS = 5  # points of a leaf whose shared parameters are searched for the best level
STEPS = 20


@dataclass(frozen=True)
class EachBranch:
    """A maximiser that climbs in every leaf before it compares them.

    Candidates are spread over each leaf alike, the best of each leaf climb, and then `maximiser`
    goes on from there. Beyond 128 leaves, or where all configurations can be listed, it is
    `maximiser` itself.
    """

    maximiser: Maximiser = field(default_factory=Maximiser)

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        if not 1 < space.n_branches <= MOST_LEAVES:
            return self.maximiser.candidates(space, rng, incumbents)
        _, leaves = places(space)
        each = max(self.maximiser.spread // len(leaves), LEAST)
        blocks = []
        for leaf in leaves:
            U = lattice(rng, each, len(space.columns))
            lead(space, U, leaf)
            blocks.append(space.from_uniform(U))
        if incumbents is not None and len(incumbents):
            near = space.snap(incumbents)
            blocks.append(perturbed(space, near, self.maximiser.perturbations, rng))
        return distinct(np.vstack(blocks))

    def __call__(
        self,
        function: Function,
        space: Space,
        rng: Rng,
        *,
        incumbents: Points | None = None,
        forbidden: Collection[str] = frozenset(),
        scales: Vector | None = None,
        candidates: Points | None = None,
    ) -> Maximum:
        """As any maximiser."""
        is_small = space.size is not None and space.size <= self.maximiser.enumerate_up_to
        maximiser, climbs = self.maximiser, 0
        if not is_small and 1 < space.n_branches <= MOST_LEAVES:
            if candidates is None:
                candidates = self.candidates(space, rng, incumbents)
            scored = Scored.by(function, candidates)
            ends = self._climbed(function, space, scored, scales)
            candidates = distinct(np.vstack([ends.X, scored.top(KEPT).X]))
            maximiser, climbs = replace(maximiser, starts=CLIMBING), len(scored)
        found = maximiser(
            function, space, rng, forbidden=forbidden, scales=scales, candidates=candidates
        )
        return replace(found, evaluations=found.evaluations + climbs)

    def _climbed(
        self, function: Function, space: Space, scored: Scored, scales: Vector | None
    ) -> Scored:
        """The ends of climbs from the best candidates of every leaf that is to be searched."""
        inside = holding([leaf.conditions for leaf in places(space)[1]], scored.X)
        starts: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
        for own in inside.T:
            rows = np.flatnonzero(own & (scored.values > OUTSIDE / 2))
            starts.append(rows[np.argsort(-scored.values[rows], kind="stable")[:CLIMBING]])
        points = scored.at(np.concatenate(starts))
        if not len(points):
            return points
        lengths = np.ones(len(space.columns)) if scales is None else scales
        lengths = np.clip(lengths, SHORTEST_SCALE, 1.0)
        return climbed(function, space, points, lengths, self.maximiser.steps, relax=True)[0]


@dataclass(frozen=True, eq=False)
class TopBranches(Acquisition):
    """A log acquisition where it is worth most to look: in the `count` best leaves.

        oc.Method(surrogate=oc.surrogates.TreeStructured(), acquisition=TopBranches(exact_up_to=0))
        TopBranches(count=1, extras=False, exact_up_to=0)  # two steps: a way, then a point

    Ways are ranked by the expected improvement of their level, maximised over the parameters they
    share [Jenatton et al. 2017, section 3.2], or by the acquisition itself if the belief has no
    levels. A level is a mean, so a leaf with a deep narrow minimum may rank low: the leaf of the
    incumbent and the one whose level is least known are `extras`, and where there are few leaves,
    `exact_up_to` of them, all are searched.
    """

    acquisition: Acquisition = field(default_factory=LogEI)
    count: int = 8
    extras: bool = True
    exact_up_to: int = 64
    chosen: tuple[Conditions, ...] | None = None

    logarithmic = True

    def __post_init__(self) -> None:
        if not getattr(self.acquisition, "logarithmic", False):
            raise MethodError(
                f"TopBranches(acquisition={self.acquisition!r}): expected an acquisition on a log "
                "scale, such as LogEI()"
            )
        if type(self.count) is not int or self.count < 1:
            raise MethodError(f"TopBranches(count={self.count!r}): expected a whole number above 0")

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Acquisition:
        inner = self.acquisition.prepare(posterior, incumbent, candidates, rng, step)
        parts: Any = getattr(posterior, "components", (posterior,))
        leaves = _leaves(parts[0])
        if len(leaves) <= max(self.exact_up_to, 1):
            return inner
        is_levelled = all(isinstance(p, LeafwisePosterior) and p.shared for p in parts)
        belief: Any = posterior
        if is_levelled:
            belief = BranchLevels(
                posterior if isinstance(posterior, Mixture) else Mixture.single(parts[0])
            )
        ranked: Any = LogEI(best=incumbent) if is_levelled else inner
        inside = holding(leaves, candidates)
        values = ranked(belief, candidates)
        scores, spreads = np.full((2, len(leaves)), -np.inf)
        for i, own in enumerate(inside.T):
            rows = np.flatnonzero(own)
            if not len(rows):
                continue
            best = rows[np.argsort(-values[rows], kind="stable")[:ANCHORS]]
            scores[i], top = _refined(ranked, belief, candidates[best], is_levelled)
            spreads[i] = _spread(belief, top)
        order = np.argsort(-scores, kind="stable")[: self.count].tolist()
        if self.extras:
            order.append(parts[0].best_leaf())
            order.append(int(spreads.argmax()))
        chosen = tuple(leaves[i] for i in dict.fromkeys(order))
        return replace(self, acquisition=inner, chosen=chosen)

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        inside = self._inside(X)
        values = np.full(len(X), OUTSIDE)
        if inside.any():
            values[inside] = self.acquisition(posterior, X[inside])
        return values

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        inside = self._inside(X)
        values, gradients = np.full(len(X), OUTSIDE), np.zeros_like(X)
        if inside.any():
            values[inside], gradients[inside] = self.acquisition.with_gradient(posterior, X[inside])
        return values, gradients

    def _inside(self, X: Points) -> NDArray[np.bool_]:
        if self.chosen is None:
            return np.ones(len(X), dtype=np.bool_)
        return np.asarray(holding(self.chosen, X).any(1))


@dataclass(frozen=True, eq=False)
class BranchLevels:
    """A mixture that predicts the level of a way instead of the objective."""

    mixture: Mixture

    @property
    def weights(self) -> Vector:
        return self.mixture.weights

    def predict_each(self, X: Points) -> tuple[Matrix, Matrix]:
        mean, var, _ = self.predict_each_with_pullback(X)
        return mean, var

    def predict_each_with_pullback(self, X: Points) -> tuple[Matrix, Matrix, Any]:
        each = [part.predict_levels(X) for part in self.mixture.components]  # type: ignore[attr-defined]
        means, variances, pulls = zip(*each, strict=True)

        def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
            bars = zip(pulls, mean_bar, var_bar, strict=True)
            return np.sum([pull(m, v) for pull, m, v in bars], axis=0)

        return np.stack(means), np.stack(variances), pull_back


@dataclass(frozen=True, eq=False)
class _OfLevels:
    """An acquisition of levels as a function to climb."""

    acquisition: Acquisition
    belief: Any

    def __call__(self, X: Points) -> Vector:
        return self.acquisition(self.belief, X)

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        return self.acquisition.with_gradient(self.belief, X)


def _leaves(part: Any) -> Sequence[Conditions]:
    """The ways that a posterior tells apart, () if it knows nothing of them."""
    if isinstance(part, LeafwisePosterior) and isinstance(part.division, Branches):
        return part.division.conditions
    return ()


def _refined(
    acquisition: Acquisition, belief: Any, X: Points, is_levelled: bool
) -> tuple[float, Vector]:
    """The best value in a leaf, and where; levels climb in the parameters that ways share."""
    function = _OfLevels(acquisition, belief)
    if not is_levelled:
        return float(function(X[:1])[0]), X[0]
    free = np.broadcast_to((function.with_gradient(X)[1] != 0).any(0), X.shape)
    end = ascend(function, X, free, np.ones(X.shape[1]), STEPS)
    top = int(end.values.argmax())
    return float(end.values[top]), end.X[top]


def _spread(belief: Any, x: Vector) -> float:
    _, var = belief.predict_each(x[None])
    return float(belief.weights @ var[:, 0])
