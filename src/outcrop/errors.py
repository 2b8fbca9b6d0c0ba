"""Every exception Outcrop raises on purpose.

    OutcropError
    ├── SpaceError(ValueError)        a search space or parameter was declared wrongly
    ├── ParamsError(ValueError)       given parameters do not fit the space
    ├── ShapeError(ValueError)        arrays whose shapes do not go together
    ├── ModelError(ValueError)        a kernel, prior or model was put together wrongly
    ├── NumericalError(ArithmeticError)   no stated remedy made the computation possible
    └── MissingExtra(ImportError)     an optional part is not installed

Each is also the built-in error a caller would expect, and its message says what was expected, what
came, and what to do.
"""

from __future__ import annotations

__all__ = [
    "MissingExtra",
    "ModelError",
    "NumericalError",
    "OutcropError",
    "ParamsError",
    "ShapeError",
    "SpaceError",
]


class OutcropError(Exception):
    """Root of everything Outcrop raises on purpose."""


class SpaceError(OutcropError, ValueError):
    """A search space or one of its parameters was declared wrongly."""


class ParamsError(OutcropError, ValueError):
    """Given parameters do not fit the space: unknown, missing, inactive or illegal."""


class ShapeError(OutcropError, ValueError):
    """Arrays whose shapes do not go together."""


class ModelError(OutcropError, ValueError):
    """A kernel, prior or model was put together wrongly."""


class NumericalError(OutcropError, ArithmeticError):
    """A computation failed after every stated remedy was tried."""


class MissingExtra(OutcropError, ImportError):
    """An optional part of Outcrop is not installed."""
