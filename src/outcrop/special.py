"""Functions of the normal distribution; SciPy is imported at the first call.

The import of `scipy.special` takes a large part of the import time of Outcrop, and declaring a
space does not need it.
"""

from __future__ import annotations

__all__ = ["erfcx", "log_ndtr", "ndtr"]

from outcrop.typing import Vector


def erfcx(x: Vector) -> Vector:
    """exp(x²) erfc(x)."""
    from scipy import special

    return special.erfcx(x)


def log_ndtr(x: Vector) -> Vector:
    """log Φ(x), which does not underflow."""
    from scipy import special

    return special.log_ndtr(x)


def ndtr(x: Vector) -> Vector:
    """Φ(x), the standard normal distribution function."""
    from scipy import special

    return special.ndtr(x)
