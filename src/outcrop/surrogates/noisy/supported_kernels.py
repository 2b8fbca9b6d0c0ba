"""Which kernels a model of noisy inputs can work with."""

from __future__ import annotations

__all__ = ["require_stationary", "with_leaves"]

from outcrop.errors import ModelError
from outcrop.kernels import ExpectedRBF, Kernel, TaylorRBF


def with_leaves(owner: str, kernel: Kernel, leaf: type[ExpectedRBF] | type[TaylorRBF]) -> Kernel:
    """`kernel` with `leaf` in place of every RBF; a `ModelError` if it has no closed form."""
    expected = kernel.expected(leaf)
    if expected is None:
        raise ModelError(
            f"{owner}(kernel={kernel!r}): its formula holds for an RBF kernel of the numbers, "
            "scaled, added up or times a kernel of categories; use RBF(lengthscales), or NIGP or "
            "UTGP, which take other kernels"
        )
    return expected


def require_stationary(owner: str, kernel: Kernel) -> None:
    """Raise a `ModelError` unless `kernel` is stationary."""
    if not kernel.is_stationary:
        raise ModelError(
            f"{owner}(kernel={kernel!r}): expected a stationary kernel such as Matern52; "
            'UTGP(kind="full") takes any'
        )
