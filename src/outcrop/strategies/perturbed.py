"""Simultaneous perturbation: every suggestion is followed by one a random step away.

How fast an objective varies is best learnt from points near each other, which a search for the
optimum rarely proposes. So the suggestion xᵢ of a model is followed by

    xᵢ + c / i^gamma · Δ,    Δ a random vector of ±1,

for the first iterations i [Martinez-Cantin 2015, algorithm 3; Spall 1998]; no model is fitted for
it. A step that would leave the unit cube is reversed: clipped at a border it could vanish. Numbers
on a grid and ordinals move by at least a level. Categories and options have no order, so they are
not changed, nor is what is active.

The state in `Suggestion.warm` has the wrapped strategy's own state, the number of its suggestions,
and the point whose perturbation is due.
"""

from __future__ import annotations

__all__ = ["Perturbed"]

from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from outcrop.errors import MethodError
from outcrop.maximise.candidates import to_another_level
from outcrop.space import Column, Space
from outcrop.strategies.base import Belief, Strategy, Suggestion, View, Why
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.registry import MethodLike, strategy_for
from outcrop.strategies.wrapped_model import model_of, with_model
from outcrop.typing import Params, Rng, Vector

UNPERTURBED = ("initial", "fallback")  # sources of points that fill the space
DRAWS = 32  # of Δ, until a configuration is new


class _Due(TypedDict):
    """A point whose perturbation is due, as it is stored in the state."""

    trial: int
    point: list[float]
    distance: float


@dataclass(frozen=True)
class Perturbed:
    """A method whose first suggestions are each followed by one nearby.

    >>> import outcrop as oc
    >>> method = Perturbed("gp", until=12)  # a quarter of a budget of 50 trials
    >>> optimizer = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), method=method, seed=0)
    >>> for _ in range(6):
    ...     trial = optimizer.ask()
    ...     _ = optimizer.tell(trial, (trial.params["x"] - 0.3) ** 2)
    >>> [trial.why.get("perturbs") for trial in optimizer.trials]  # four belong to the design
    [None, None, None, None, None, 4]

    `method` is whatever `method=` takes. Points of an initial design are not perturbed, nor is a
    point that failed or was released before its perturbation was asked for.
    """

    method: MethodLike = "gp"
    c: float = 0.1  # the first step, in every number, as a share of its range
    gamma: float = 0.101  # how fast steps get shorter
    until: int = 12  # suggestions that are perturbed; about a quarter of the budget

    def __post_init__(self) -> None:
        if not 0 < self.c <= 0.5:
            raise MethodError(
                f"Perturbed(c={self.c!r}): expected a share of the range, above 0 and at most 0.5"
            )
        if not 0 <= self.gamma < np.inf:
            raise MethodError(f"Perturbed(gamma={self.gamma!r}): expected at least 0, such as 0.1")
        if type(self.until) is not int or self.until < 0:
            raise MethodError(
                f"Perturbed(until={self.until!r}): expected a whole number of suggestions"
            )

    def strategy(self, space: Space) -> Strategy:
        return _PerturbedStrategy(space, strategy_for(self.method, space), self)


@dataclass(frozen=True, eq=False)
class _PerturbedStrategy:
    """Alternates between suggestions of a strategy and their perturbations."""

    space: Space
    inner: Strategy
    settings: Perturbed

    def propose(self, view: View, rng: Rng) -> Suggestion:
        due: _Due | None = view.warm.get("due")
        if due is not None:
            params = self._near(np.array(due["point"]), due["distance"], view, rng)
            if params is not None:
                why: Why = {
                    "source": "model",
                    "perturbs": due["trial"],
                    "distance": due["distance"],
                }
                return Suggestion(params, why, {**view.warm, "due": None})
        found = self.inner.propose(view.inside, rng)
        iteration: int = view.warm.get("iteration", 0)
        following: _Due | None = None
        if found.why.get("source") not in UNPERTURBED:
            iteration += 1
            if iteration <= self.settings.until:
                following = {
                    "trial": view.number,
                    "point": self.space.encode([found.params]).X[0].tolist(),
                    "distance": self.settings.c / iteration**self.settings.gamma,
                }
        warm = {"inner": found.warm or view.inside.warm, "iteration": iteration, "due": following}
        return replace(found, warm=warm)

    def belief(self, view: View, rng: Rng) -> Belief:
        return self.inner.belief(view.inside, rng)

    @property
    def model(self) -> ModelBased | None:
        return model_of(self.inner)

    def with_model(self, model: ModelBased) -> Strategy:
        return replace(self, inner=with_model(self.inner, model))

    def _near(self, x: Vector, distance: float, view: View, rng: Rng) -> Params | None:
        """A new configuration a step from `x`; None if there is none, or if `x` failed."""
        centre = self.space.keys(x[None])[0]
        if centre not in view.known or centre in self.space.keys(view.failed):
            return None
        taken = frozenset(self.space.keys(view.pending)) if view.is_noisy else view.known
        active = self.space.active(x[None])[0]
        for _ in range(DRAWS):
            steps = distance * rng.choice([-1.0, 1.0], len(x))
            moved = x.copy()
            for column in self.space.columns:
                j = column.index
                if active[j] and not column.is_code:
                    moved[j] = _moved(column, x[j], steps[j])
            point = self.space.snap(moved[None])
            key = self.space.keys(point)[0]
            if key != centre and key not in taken and self.space.admits(point).all():
                return self.space.decode(point)[0]
        return None


def _moved(column: Column, x: float, step: float) -> float:
    """`x` after `step`, or after the reverse step if that leads out of the cube."""
    if not 0 <= x + step <= 1:
        step = -step
    if column.levels is None:
        return x + step
    return float(to_another_level(column, np.array([x]), np.array([step]), np.array([x + step]))[0])
