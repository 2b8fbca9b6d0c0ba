"""Checks that every strategy must pass."""

from __future__ import annotations

__all__ = ["STRATEGY_CONTRACT", "view_of"]

import json
from typing import Any

import numpy as np

from outcrop.space import Space
from outcrop.strategies.base import Strategy, Suggestion, View
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
    _assert_legal(strategy.propose(view, np.random.default_rng(1)), space)


def suggests_what_is_legal_new_plain_and_repeatable(
    strategy: Strategy, space: Space, view: View
) -> None:
    """All checks of one suggestion, made twice: most of the time goes into making it."""
    suggestion, again = (strategy.propose(view, np.random.default_rng(2)) for _ in range(2))
    _assert_legal(suggestion, space)
    assert view.is_noisy or space.key(suggestion.params) not in view.known
    assert json.loads(json.dumps(suggestion.why)) == suggestion.why
    assert json.loads(json.dumps(suggestion.warm)) == suggestion.warm
    assert suggestion.why["source"] in ("initial", "model", "fallback")
    assert suggestion.params == again.params
    assert json.dumps(suggestion.warm) == json.dumps(again.warm)


STRATEGY_CONTRACT = (suggests_what_is_legal_new_plain_and_repeatable,)


def _assert_legal(suggestion: Suggestion, space: Space) -> None:
    assert space.validate(suggestion.params) == dict(suggestion.params)
