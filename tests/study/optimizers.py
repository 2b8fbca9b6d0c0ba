"""Optimizers with a simple strategy."""

from __future__ import annotations

from typing import Any

import pytest

from outcrop.space import Choice, Float, Int, Space
from outcrop.study import Optimizer
from tests.study.doubles import Roaming

SPACE = Space({"x": Float(0, 4), "m": Choice({"a": {}, "b": {"k": Int(1, 3)}})})


def made(space: Space = SPACE, **options) -> Optimizer:
    chosen: dict[str, Any] = {"method": Roaming(space), "seed": 5} | options
    return Optimizer(space, **chosen)


def refused(optimizer: Optimizer, error: type[Exception], message: str, call) -> None:
    """The call raises, says so, and changes nothing."""
    before = optimizer._state
    with pytest.raises(error, match=message):
        call()
    assert optimizer._state is before
