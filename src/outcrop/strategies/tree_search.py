"""A search of every leaf of a conditional space, and a choice of leaves if there are many.

A leaf holds the configurations of one branch of the choices, see `surrogates.space_nodes`.
"""

from __future__ import annotations

__all__ = ["EachBranch", "TopBranches"]

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from outcrop.acquisition import Acquisition, LogEI
from outcrop.acquisition.base import Belief, each
from outcrop.effort import UNLIMITED, UNSTORED, Effort
from outcrop.errors import MethodError
from outcrop.kernels.within import holding
from outcrop.maximise import Function, Maximiser, Maximum
from outcrop.maximise.ascent import ascend
from outcrop.maximise.base import Scored
from outcrop.maximise.candidates import distinct, with_neighbours
from outcrop.maximise.constrained import Admissible
from outcrop.maximise.lattice import lattice
from outcrop.maximise.maximiser import checked_scales
from outcrop.maximise.mixed import climbed
from outcrop.space import Choice, Space
from outcrop.strategies.acquisition_function import AcquisitionFunction
from outcrop.strategies.initial import admissible_leaves, lead
from outcrop.surrogates import LeafwisePosterior, Mixture
from outcrop.surrogates.division import Branches
from outcrop.surrogates.space_nodes import has_leaves, nodes_of
from outcrop.typing import Conditions, Indices, Mask, Matrix, Points, PredictionPull, Rng, Vector

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
    goes on from there. With probability `focus` only the leaf of the best incumbent gets
    candidates; where all candidates are in one leaf no other is searched. Beyond 128 leaves, or
    where all configurations can be listed, it is `maximiser` itself.
    """

    maximiser: Maximiser = field(default_factory=Maximiser)
    focus: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.focus <= 1:
            raise MethodError(f"EachBranch(focus={self.focus!r}): expected a share from 0 to 1")

    def candidates(self, space: Space, rng: Rng, incumbents: Points | None = None) -> Points:
        if not has_leaves(space):
            return self.maximiser.candidates(space, rng, incumbents)
        leaves = admissible_leaves(space)
        only = None
        if self.focus and incumbents is not None and len(incumbents) and rng.random() < self.focus:
            inside = holding([leaf.conditions for leaf in leaves], incumbents[:1])
            only = leaves[int(inside[0].argmax())]
            leaves = (only,)
        count = max(self.maximiser.spread // len(leaves), LEAST)
        blocks = []
        for leaf in leaves:
            U = lattice(rng, count, len(space.columns))
            lead(space, U, leaf)
            if space.constraints:
                blocks.append(space.region.branch(leaf.conditions).mended(U, rng))
            else:
                blocks.append(space.from_uniform(U))
        near = self.maximiser.perturbations
        points = with_neighbours(space, np.vstack(blocks), incumbents, near, rng)
        return points if only is None else points[holding([only.conditions], points)[:, 0]]

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
        maximiser, climbs, searched = self.maximiser, 0, function
        if not is_small and has_leaves(space):
            if candidates is None:
                candidates = self.candidates(space, rng, incumbents)
            searched = InLeaves.of(function, space, candidates)
            inside = Admissible.part(searched, space)
            scored = Scored.by(searched, candidates)
            ends = self._climbed(inside, space, scored, scales)
            candidates = distinct(np.vstack([ends.X, scored.top(KEPT).X]))
            rounds = maximiser.rounds if _has_other_levels(space) else 0
            maximiser, climbs = replace(maximiser, starts=CLIMBING, rounds=rounds), len(scored)
        found = maximiser(
            searched, space, rng, forbidden=forbidden, scales=scales, candidates=candidates
        )
        if isinstance(searched, InLeaves) and found.value <= OUTSIDE / 2:  # nothing is left in it
            if len(admissible_leaves(space)) == 1:  # there is no other
                return maximiser(function, space, rng, forbidden=forbidden, scales=scales)
            every = replace(self, focus=0.0)
            return every(function, space, rng, forbidden=forbidden, scales=scales)
        return replace(found, evaluations=found.evaluations + climbs)

    def _climbed(
        self, function: Function, space: Space, scored: Scored, scales: Vector | None
    ) -> Scored:
        """The ends of climbs from the best candidates of every leaf that is to be searched."""
        inside = holding([leaf.conditions for leaf in nodes_of(space)[1]], scored.X)
        starts: list[Indices] = [np.zeros(0, dtype=np.int64)]
        for own in inside.T:
            rows = np.flatnonzero(own & (scored.values > OUTSIDE / 2))
            starts.append(rows[np.argsort(-scored.values[rows], kind="stable")[:CLIMBING]])
        points = scored.at(np.concatenate(starts))
        if not len(points):
            return points
        lengths = checked_scales(scales, len(space.columns))
        return climbed(function, space, points, lengths, self.maximiser.steps, relax=True)[0]


@dataclass(frozen=True, eq=False)
class InLeaves:
    """A function restricted to some leaves; `OUTSIDE` elsewhere."""

    function: Function
    leaves: tuple[Conditions, ...]

    @classmethod
    def of(cls, function: Function, space: Space, X: Points) -> Function:
        """`function` restricted to the leaf of all rows of `X`, or as it is if they are in more."""
        leaves = [leaf.conditions for leaf in nodes_of(space)[1]]
        common = np.flatnonzero(holding(leaves, X).all(0))
        return cls(function, (leaves[common[0]],)) if len(common) else function

    def __call__(self, X: Points) -> Vector:
        inside, values = self._inside(X), np.full(len(X), OUTSIDE)
        if inside.any():
            values[inside] = self.function(X[inside])
        return values

    def with_gradient(self, X: Points) -> tuple[Vector, Points]:
        inside, values = self._inside(X), np.full(len(X), OUTSIDE)
        gradients = np.zeros_like(X)
        if inside.any():
            values[inside], gradients[inside] = self.function.with_gradient(X[inside])
        return values, gradients

    def _inside(self, X: Points) -> Mask:
        return np.asarray(holding(self.leaves, X).any(1))


@dataclass(frozen=True, eq=False)
class TopBranches(Acquisition):
    """A log acquisition restricted to the `count` best leaves.

        oc.Method(surrogate=oc.surrogates.TreeStructured(), acquisition=TopBranches(exact_up_to=0))
        TopBranches(count=1, extras=False, exact_up_to=0)  # two steps: a branch, then a point

    Branches are ranked by the expected improvement of their level, maximised over the parameters
    they share [Jenatton et al. 2017, section 3.2], or by the acquisition itself if the belief has
    no levels. A level is a mean, so a leaf with a deep narrow minimum may rank low: `extras` adds
    the leaf of the incumbent and the leaf whose level is least known. If there are at most
    `exact_up_to` leaves, all are searched. `chosen` is filled by `prepare`.
    """

    acquisition: Acquisition = field(default_factory=LogEI)
    count: int = 8
    extras: bool = True
    exact_up_to: int = 64
    chosen: tuple[Conditions, ...] | None = None
    effort: Effort = field(default=UNLIMITED, repr=False, metadata=UNSTORED)

    logarithmic = True

    def __post_init__(self) -> None:
        if not getattr(self.acquisition, "logarithmic", False):
            raise MethodError(
                f"TopBranches(acquisition={self.acquisition!r}): expected an acquisition on a log "
                "scale, such as LogEI()"
            )
        if type(self.count) is not int or self.count < 1:
            raise MethodError(f"TopBranches(count={self.count!r}): expected a whole number above 0")

    def within(self, effort: Effort) -> TopBranches:
        return replace(self, effort=effort)

    def prepare(
        self,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        rng: Rng,
        step: int,
    ) -> Acquisition:
        inner = self.acquisition.prepare(posterior, incumbent, candidates, rng, step)
        first = _components(posterior)[0]
        if not isinstance(first, LeafwisePosterior) or not isinstance(first.division, Branches):
            return inner  # a belief that does not tell branches apart
        leaves = first.division.conditions
        if len(leaves) <= max(self.exact_up_to, 1):
            return inner
        order, spreads = self._ranked(inner, posterior, incumbent, candidates, leaves)
        if self.extras:
            order += [first.best_leaf(), int(spreads.argmax())]
        chosen = tuple(leaves[i] for i in dict.fromkeys(order))
        return replace(self, acquisition=inner, chosen=chosen)

    def _ranked(
        self,
        inner: Acquisition,
        posterior: Belief,
        incumbent: float | Vector,
        candidates: Points,
        leaves: Sequence[Conditions],
    ) -> tuple[list[int], Vector]:
        """The `count` best leaves, best first, and how uncertain the best point of each leaf is."""
        levels = BranchLevels.of(posterior)
        belief = posterior if levels is None else levels
        function = AcquisitionFunction(inner if levels is None else LogEI(best=incumbent), belief)
        inside = holding(leaves, candidates)
        values = function(candidates)
        scores, spreads = np.full((2, len(leaves)), -np.inf)
        for i, own in enumerate(inside.T):
            rows = np.flatnonzero(own)
            if not len(rows):
                continue
            if self.effort.is_spent("searches for the best point of a branch"):
                scores[i] = values[rows].max()
                continue
            X = candidates[rows[np.argsort(-values[rows], kind="stable")[:ANCHORS]]]
            scores[i], top = (
                (float(function(X[:1])[0]), X[0]) if levels is None else _best_level(function, X)
            )
            spreads[i] = _spread(belief, top)
        return np.argsort(-scores, kind="stable")[: self.count].tolist(), spreads

    def __call__(self, posterior: Belief, X: Points) -> Vector:
        return self._function(posterior)(X)

    def with_gradient(self, posterior: Belief, X: Points) -> tuple[Vector, Points]:
        return self._function(posterior).with_gradient(X)

    def _function(self, posterior: Belief) -> Function:
        function = AcquisitionFunction(self.acquisition, posterior)
        return function if self.chosen is None else InLeaves(function, self.chosen)


@dataclass(frozen=True, eq=False)
class BranchLevels:
    """A mixture that predicts the level of a branch instead of the objective."""

    components: tuple[LeafwisePosterior, ...]  # with shared features
    weights: Vector

    @classmethod
    def of(cls, belief: Belief) -> BranchLevels | None:
        """The levels that a belief predicts; None if a component of it predicts none."""
        parts = _components(belief)
        own = tuple(part for part in parts if isinstance(part, LeafwisePosterior) and part.shared)
        return cls(own, each(belief).weights) if len(own) == len(parts) else None

    def predict_each(self, X: Points) -> tuple[Matrix, Matrix]:
        mean, var, _ = self.predict_each_with_pullback(X)
        return mean, var

    def predict_each_with_pullback(self, X: Points) -> tuple[Matrix, Matrix, PredictionPull]:
        predicted = [part.predict_levels(X) for part in self.components]
        means, variances, pulls = zip(*predicted, strict=True)

        def pull_back(mean_bar: Matrix, var_bar: Matrix) -> Points:
            bars = zip(pulls, mean_bar, var_bar, strict=True)
            return np.sum([pull(m, v) for pull, m, v in bars], axis=0)

        return np.stack(means), np.stack(variances), pull_back


def _has_other_levels(space: Space) -> bool:
    """Whether discrete columns other than choices are to be swept.

    Another option of a choice is another leaf, in which the best candidates have climbed.
    """
    columns = space.columns
    return any(c.levels is not None and not isinstance(c.parameter, Choice) for c in columns)


def _components(belief: Belief) -> Sequence[object]:
    return belief.components if isinstance(belief, Mixture) else (belief,)


def _best_level(function: Function, X: Points) -> tuple[float, Vector]:
    """The best value found by climbs from each row of `X` in the parameters that branches share."""
    free = np.broadcast_to((function.with_gradient(X)[1] != 0).any(0), X.shape)
    end = ascend(function, X, free, np.ones(X.shape[1]), STEPS)
    top = int(end.values.argmax())
    return float(end.values[top]), end.X[top]


def _spread(belief: Belief, x: Vector) -> float:
    """The variance at a point, as the mean over components."""
    mixture = each(belief)
    _, var = mixture.predict_each(x[None])
    return float(mixture.weights @ var[:, 0])
