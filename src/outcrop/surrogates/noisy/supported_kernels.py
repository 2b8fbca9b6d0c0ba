"""Which kernels a model of noisy inputs can work with."""

from __future__ import annotations

__all__ = ["require_stationary", "with_leaves"]

from outcrop.errors import ModelError
from outcrop.kernels import (
    RBF,
    Additive,
    Conditional,
    Constant,
    ExpectedRBF,
    Kernel,
    Matches,
    Offset,
    Overlap,
    Product,
    Scaled,
    Subspace,
    Sum,
    SumProduct,
    TaylorRBF,
)
from outcrop.kernels.stationary import Stationary
from outcrop.params import changed

AROUND_ONE = Offset | Scaled | Subspace | Conditional
AROUND_SEVERAL = Sum | Product | SumProduct
WITHOUT_POINTS = Constant | Overlap | Matches  # to which numbers are nothing


def with_leaves(owner: str, kernel: Kernel, leaf: type[ExpectedRBF] | type[TaylorRBF]) -> Kernel:
    """`kernel` with `leaf` in place of every RBF; a `ModelError` if anything else sees points."""
    if isinstance(kernel, leaf | WITHOUT_POINTS):
        return kernel
    if type(kernel) is RBF:
        return leaf(kernel.lengthscales)
    if isinstance(kernel, AROUND_ONE):
        return changed(kernel, kernel=with_leaves(owner, kernel.kernel, leaf))
    if isinstance(kernel, AROUND_SEVERAL):
        parts = tuple(with_leaves(owner, part, leaf) for part in kernel.kernels)
        seeing = sum(not isinstance(_innermost(part), WITHOUT_POINTS) for part in parts)
        if seeing < 2 or isinstance(kernel, Sum):
            return changed(kernel, kernels=parts)
    raise ModelError(
        f"{owner}(kernel={kernel!r}): its formula holds for an RBF kernel of the numbers, scaled, "
        "added up or times a kernel of categories; use RBF(lengthscales), or NIGP or UTGP, which "
        "take other kernels"
    )


def require_stationary(owner: str, kernel: Kernel) -> None:
    """Raise unless moving all points alike leaves `kernel` as it is."""
    if isinstance(kernel, Stationary | Additive | WITHOUT_POINTS):
        return
    if isinstance(kernel, AROUND_ONE):
        require_stationary(owner, kernel.kernel)
    elif isinstance(kernel, AROUND_SEVERAL):
        for part in kernel.kernels:
            require_stationary(owner, part)
    else:
        raise ModelError(
            f"{owner}(kernel={kernel!r}): expected a stationary kernel such as Matern52; "
            'UTGP(kind="full") takes any'
        )


def _innermost(kernel: Kernel) -> Kernel:
    while isinstance(kernel, AROUND_ONE):
        kernel = kernel.kernel
    return kernel
