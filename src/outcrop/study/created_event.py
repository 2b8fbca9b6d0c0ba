"""The first event of a study, and its comparison with that of a stored study."""

from __future__ import annotations

__all__ = ["created_of", "differences"]

import time

from outcrop.errors import SpaceError
from outcrop.space import Space
from outcrop.strategies.method_text import described, difference
from outcrop.strategies.registry import MethodLike
from outcrop.study import argument_checks
from outcrop.study.events import Created
from outcrop.study.state import State


def created_of(
    space: Space,
    method: MethodLike,
    direction: str,
    seed: int | None,
    noise: bool | float | None,
    robust: bool = False,
) -> Created:
    """The first event of a study, from a user's arguments."""
    if not isinstance(space, Space):
        raise SpaceError(f"expected a Space, got {space!r}; write Space({{'name': Float(…)}})")
    return Created(
        space,
        direction=argument_checks.checked_direction(direction),
        method=described(method),
        seed=argument_checks.checked_seed(seed),
        noise=argument_checks.checked_noise(noise),
        robust=argument_checks.checked_robust(robust, space),
        at=time.time(),
    )


def differences(state: State, given: Created, seed: int | None) -> list[str]:
    """One line for each property in which a stored study differs from the given one.

    A seed or a noise that is None is not compared.
    """
    stored, lines = state.created, state.space.difference(given.space)
    if stored.direction != given.direction:
        lines.append(f"direction: {stored.direction!r} stored, {given.direction!r} given")
    lines += difference(stored.method, given.method)
    if seed is not None and stored.seed != given.seed:
        lines.append(f"seed: {stored.seed} stored, {given.seed} given")
    if given.noise is not None and stored.noise != given.noise:
        lines.append(f"noise: {stored.noise!r} stored, {given.noise!r} given")
    if stored.robust != given.robust:
        lines.append(f"robust: {stored.robust} stored, {given.robust} given")
    return lines
