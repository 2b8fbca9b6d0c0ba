"""Checks that every pending policy must pass.

`view` holds the observations that `belief` was fitted to, and at least one running trial; values
are in the units of the belief.
"""

from __future__ import annotations

__all__ = ["PENDING_CONTRACT"]

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outcrop.acquisition import LogEI
from outcrop.data import Observations
from outcrop.maximise import Maximiser
from outcrop.space import Space
from outcrop.strategies.base import View
from outcrop.strategies.initial import RandomDesign
from outcrop.strategies.model_based import ModelBased
from outcrop.strategies.pending import Pending
from outcrop.surrogates import Mixture
from outcrop.surrogates.kind import GivenSurrogate
from outcrop.typing import Points, Rng, Vector

POINTS = 12
SMALL = Maximiser(spread=64, perturbations=32, resamples=16, starts=2, steps=8, rounds=1)


def nothing_running_changes_nothing(
    policy: Pending, space: Space, view: View, belief: Mixture
) -> None:
    plain, nobody = LogEI(), replace(view, pending=view.pending[:0])
    posterior, acquisition = policy.account(nobody, space, belief, plain, np.random.default_rng(0))
    assert posterior is belief
    assert acquisition is plain


def accounting_leaves_the_belief_untouched(
    policy: Pending, space: Space, view: View, belief: Mixture
) -> None:
    before = belief.predict_each(view.pending)
    policy.account(view, space, belief, LogEI(), np.random.default_rng(0))
    after = belief.predict_each(view.pending)
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_array_equal(after[1], before[1])


def scores_are_finite(policy: Pending, space: Space, view: View, belief: Mixture) -> None:
    X = np.vstack([_elsewhere(space), view.pending])
    values, gradients = _scored(policy, space, view, belief, X)
    assert np.isfinite(values).all()
    assert np.isfinite(gradients).all()


def order_of_pending_is_irrelevant(
    policy: Pending, space: Space, view: View, belief: Mixture
) -> None:
    X = _elsewhere(space)
    backwards = replace(view, pending=view.pending[::-1])
    one, _ = _scored(policy, space, view, belief, X)
    other, _ = _scored(policy, space, backwards, belief, X)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def suggests_what_is_legal_and_new(
    policy: Pending, space: Space, view: View, belief: Mixture
) -> None:
    params = suggested(policy, space, view, belief)
    assert space.validate(params) == dict(params)
    assert space.key(params) not in view.known


PENDING_CONTRACT = (
    nothing_running_changes_nothing,
    accounting_leaves_the_belief_untouched,
    scores_are_finite,
    order_of_pending_is_irrelevant,
    suggests_what_is_legal_and_new,
)


def suggested(policy: Pending, space: Space, view: View, belief: Mixture) -> Mapping[str, Any]:
    """The suggestion if `belief` is the belief given the observations."""
    strategy = ModelBased(
        space,
        GivenSurrogate(_Given(belief)),
        pending=policy,
        initial=RandomDesign(size=1),
        maximiser=SMALL,
    )
    suggestion = strategy.propose(view, np.random.default_rng(5))
    assert suggestion.why["source"] == "model"
    return suggestion.params


@dataclass(frozen=True, eq=False)
class _Given:
    """A surrogate with a given belief."""

    belief: Mixture

    def fit(
        self, observations: Observations, rng: Rng, previous: Mapping[str, Any] | None = None
    ) -> Mixture:
        return self.belief


def _elsewhere(space: Space) -> Points:
    uniform = np.random.default_rng(6).random((POINTS, len(space.columns)))
    return space.from_uniform(uniform)


def _scored(
    policy: Pending, space: Space, view: View, belief: Mixture, X: Points
) -> tuple[Vector, Points]:
    """Values and gradients at `X` of the acquisition that accounts for running trials."""
    rng = np.random.default_rng(7)
    posterior, acquisition = policy.account(view, space, belief, LogEI(), rng)
    incumbent = np.array([part.incumbent() for part in posterior.components])
    ready = acquisition.prepare(posterior, incumbent, X, rng, 1)
    return ready.with_gradient(posterior, X)
