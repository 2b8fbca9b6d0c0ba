"""How a study begins, and whether a stored one is the one that was meant."""

from __future__ import annotations

__all__ = ["created_of", "differences"]

import time
from collections.abc import Mapping
from typing import Any

from outcrop.errors import SpaceError
from outcrop.space import Space
from outcrop.study import checks
from outcrop.study.events import Created


def created_of(
    space: Space, method: Any, direction: str, seed: int | None, noise: bool | float | None
) -> Created:
    """The first event of a study, from what a user gave for it."""
    if not isinstance(space, Space):
        raise SpaceError(f"expected a Space, got {space!r}; write Space({{'name': Float(…)}})")
    return Created(
        space,
        direction=checks.checked_direction(direction),
        method=_described(method),
        seed=checks.checked_seed(seed),
        noise=checks.checked_noise(noise),
        at=time.time(),
    )


def differences(stored: Created, given: Created, seed: int | None) -> list[str]:
    """One line for each thing in which a stored study is not the one that was given.

    A seed or a noise that was left open is that of the stored study.
    """
    lines = stored.space.difference(given.space)
    if stored.direction != given.direction:
        lines.append(f"direction: {stored.direction!r} stored, {given.direction!r} given")
    if stored.method != given.method:
        lines.append(f"method: {stored.method!r} stored, {given.method!r} given")
    if seed is not None and stored.seed != given.seed:
        lines.append(f"seed: {stored.seed} stored, {given.seed} given")
    if given.noise is not None and stored.noise != given.noise:
        lines.append(f"noise: {stored.noise!r} stored, {given.noise!r} given")
    return lines


def _described(method: Any) -> str | Mapping[str, Any]:
    """A method as it is recorded: its name, its own JSON, or the name of its class."""
    if isinstance(method, str):
        return method
    if hasattr(method, "to_json"):
        written: Mapping[str, Any] = method.to_json()
        return written
    return {"custom": type(method).__qualname__}
