"""The components of a study's belief, and the kernels inside their kernels.

A component of the belief, usually one chain of the sampler, has a kernel that is composed of other
kernels. Such an inner kernel may get only some of the columns, or transformed ones.
"""

from __future__ import annotations

__all__ = ["InnerKernel", "inner_kernels", "lacking", "parts_of", "warped"]

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from outcrop.errors import MethodError
from outcrop.kernels import Conditional, Kernel, Subspace, Warp
from outcrop.kernels.warp import LEAST
from outcrop.space import Column, Space
from outcrop.strategies.method_text import worded
from outcrop.strategies.model_based import UnitBelief
from outcrop.study import ObjectiveBelief
from outcrop.study.study_reader import StudyReader
from outcrop.typing import Points, Vector


@dataclass(frozen=True, eq=False)
class InnerKernel:
    """A kernel within a component, and its inputs as a function of encoded points."""

    kernel: Any
    weight: float  # in the belief
    columns: tuple[int, ...]  # of encoded points, one for each dimension of the kernel
    seen: Callable[[Points], Points]
    space: Space

    def sees(self, column: Column) -> bool:
        return column.index in self.columns

    def seen_along(self, column: Column, u: Vector) -> Points:
        """The kernel's inputs at points with `u` in one column, which is active there."""
        X = np.zeros((len(u), len(self.space.columns)))
        for choice, code in column.conditions:
            X[:, choice] = code
        X[:, column.index] = u
        return self.seen(X)


def inner_kernels(study: StudyReader, kind: type[Kernel], hint: str) -> list[InnerKernel]:
    """All kernels of a kind in the belief of a study; `MethodError` with a hint if there are none.

    The kernels of one component share its weight equally.
    """
    space, found = study.space, list[InnerKernel]()
    columns = tuple(range(len(space.columns)))
    for part, weight in parts_of(study.belief):
        kernel = getattr(getattr(part, "model", None), "kernel", None)
        if not isinstance(kernel, Kernel):
            continue
        every = list(_within(InnerKernel(kernel, weight, columns, lambda X: X, space), kind))
        found += [replace(inner, weight=inner.weight / len(every)) for inner in every]
    if not found:
        raise lacking(study, f"{kind.__name__} kernel", hint)
    return found


def parts_of(belief: ObjectiveBelief) -> list[tuple[Any, float]]:
    """The component posteriors of a belief and their weights; of a marginal one, its centre."""
    if not isinstance(belief.believed, UnitBelief):
        return []
    mixture = belief.believed.mixture
    parts = zip(mixture.components, mixture.weights, strict=True)
    return [(getattr(part, "centre", part), float(weight)) for part, weight in parts]


def lacking(study: StudyReader, what: str, hint: str) -> MethodError:
    """The error for a picture of something that the study's method does not have."""
    return MethodError(f"the method {worded(study.method)} has no {what} to draw; {hint}")


def _within(inner: InnerKernel, kind: type[Kernel]) -> Iterator[InnerKernel]:
    """Kernels of a kind at or below one."""
    if isinstance(inner.kernel, kind):
        yield inner
        return
    below = _as_seen_below(inner)
    for child in inner.kernel.children():
        yield from _within(replace(below, kernel=child), kind)


def _as_seen_below(inner: InnerKernel) -> InnerKernel:
    """The inputs of the kernels that a kernel is composed of."""
    kernel, seen = inner.kernel, inner.seen
    if isinstance(kernel, Subspace):
        columns = tuple(inner.columns[own] for own in kernel.columns)
        return replace(inner, columns=columns, seen=lambda X: seen(X)[:, kernel.columns])
    if isinstance(kernel, Warp):
        return replace(inner, seen=lambda X: warped(kernel, seen(X)))
    if isinstance(kernel, Conditional):
        return replace(inner, seen=lambda X: np.where(inner.space.active(X), seen(X), 0.5))
    return inner


def warped(kernel: Warp, X: Points) -> Points:
    """Points after a warp."""
    return kernel.curve(np.clip(X, LEAST, 1 - LEAST), kernel.a, kernel.b)
