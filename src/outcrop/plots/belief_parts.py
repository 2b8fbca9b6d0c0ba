"""Parts that a study's belief is made of, and kernels inside their kernels.

A component of the belief, usually one chain of the sampler, has a kernel, which is made of others.
An inner kernel sees some of the columns only, or sees them through something.
"""

from __future__ import annotations

__all__ = ["InnerKernel", "inner_kernels", "lacking", "parts_of", "warped"]

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
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
    """A kernel within a component, and what it sees of encoded points."""

    kernel: Any
    weight: float  # its share of the belief
    columns: tuple[int, ...]  # of encoded points, one for each dimension of the kernel
    seen: Callable[[Points], Points]
    space: Space

    def sees(self, column: Column) -> bool:
        return column.index in self.columns

    def seen_along(self, column: Column, u: Vector) -> Points:
        """What it sees of points at `u` along a column, where that is active."""
        X = np.zeros((len(u), len(self.space.columns)))
        for choice, code in column.conditions:
            X[:, choice] = code
        X[:, column.index] = u
        return self.seen(X)


def inner_kernels(study: StudyReader, kind: type[Kernel], hint: str) -> list[InnerKernel]:
    """All kernels of a kind in the belief of a study; `MethodError` with a hint if there are none.

    Those of one component share its weight.
    """
    space, found = study.space, list[InnerKernel]()
    columns = tuple(range(len(space.columns)))
    for part, weight in parts_of(study.belief):
        kernel = getattr(getattr(part, "model", None), "kernel", None)
        every = list(_within(InnerKernel(kernel, weight, columns, lambda X: X, space), kind))
        found += [replace(inner, weight=inner.weight / len(every)) for inner in every]
    if not found:
        raise lacking(study, f"{kind.__name__} kernel", hint)
    return found


def parts_of(belief: ObjectiveBelief) -> list[tuple[Any, float]]:
    """The posteriors that a belief is made of, and their weights; a marginal one at its centre."""
    if not isinstance(belief.believed, UnitBelief):
        return []
    mixture = belief.believed.mixture
    parts = zip(mixture.components, mixture.weights, strict=True)
    return [(getattr(part, "centre", part), float(weight)) for part, weight in parts]


def lacking(study: StudyReader, what: str, hint: str) -> MethodError:
    """The error of a picture whose subject a study's method does not have."""
    return MethodError(f"the method {worded(study.method)} has no {what} to draw; {hint}")


def _within(inner: InnerKernel, kind: type[Kernel]) -> Iterator[InnerKernel]:
    """Kernels of a kind at or below one."""
    if isinstance(inner.kernel, kind):
        yield inner
        return
    below = _as_seen_below(inner)
    for child in _children(inner.kernel):
        yield from _within(replace(below, kernel=child), kind)


def _as_seen_below(inner: InnerKernel) -> InnerKernel:
    """What the kernels see that a kernel is made of."""
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
    """Where a warp moves points to."""
    return kernel.curve(np.clip(X, LEAST, 1 - LEAST), kernel.a, kernel.b)


def _children(node: Any) -> list[Any]:
    if isinstance(node, tuple):
        return list(node)
    if is_dataclass(node) and not isinstance(node, type):
        return [getattr(node, field.name) for field in fields(node)]
    return []
