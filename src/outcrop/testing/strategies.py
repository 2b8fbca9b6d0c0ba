"""What every strategy must satisfy."""

from __future__ import annotations

__all__ = ["STRATEGY_CONTRACT", "view_of"]

import json
from typing import Any

import numpy as np

from outcrop.space import Space
from outcrop.strategies.base import Strategy, View
from outcrop.typing import Points, Vector


def view_of(
    space: Space,
    X: Points,
    y: Vector,
    pending: Points | None = None,
    failed: Points | None = None,
    **more: Any,
) -> View:
    """A view of results at `X`, of running trials and of failures, all encoded."""
    nothing = np.zeros((0, len(space.columns)))
    pending = nothing if pending is None else pending
    failed = nothing if failed is None else failed
    seen = np.vstack([X, pending, failed])
    return View(
        number=len(seen),
        X=X,
        y=np.asarray(y, dtype=float),
        std=more.pop("std", np.full(len(y), np.nan)),
        pending=pending,
        failed=failed,
        known=frozenset(space.keys(seen)),
        **more,
    )


def suggests_a_legal_configuration(strategy: Strategy, space: Space, view: View) -> None:
    params = strategy.propose(view, np.random.default_rng(1)).params
    assert space.validate(params) == dict(params)


def suggests_the_same_for_the_same_generator(strategy: Strategy, space: Space, view: View) -> None:
    one = strategy.propose(view, np.random.default_rng(2))
    two = strategy.propose(view, np.random.default_rng(2))
    assert one.params == two.params
    assert json.dumps(one.warm) == json.dumps(two.warm)


def suggests_nothing_known_unless_noisy(strategy: Strategy, space: Space, view: View) -> None:
    params = strategy.propose(view, np.random.default_rng(3)).params
    assert view.is_noisy or space.key(params) not in view.known


def records_are_plain_data(strategy: Strategy, space: Space, view: View) -> None:
    suggestion = strategy.propose(view, np.random.default_rng(4))
    assert json.loads(json.dumps(suggestion.why)) == suggestion.why
    assert json.loads(json.dumps(suggestion.warm)) == suggestion.warm
    assert suggestion.why["source"] in ("initial", "model", "fallback")


STRATEGY_CONTRACT = (
    suggests_a_legal_configuration,
    suggests_the_same_for_the_same_generator,
    suggests_nothing_known_unless_noisy,
    records_are_plain_data,
)
