"""Hyperparameters as free slots of a model, and the flat vector θ that inference moves.

A model is written once, with `free(prior)` where a number is to be inferred:

    GP(kernel=Matern52(lengthscales=free(LogNormal(), size=Per.DIMENSION)), noise=free(Gamma(1, 9)))

`Layout.of(model, data)` names the slots ("kernel.lengthscales", "noise") and maps them to θ, which
is unconstrained: slots with positive support through exp, bounded ones through the logistic
function, the rest as they are. `bind(θ)` returns the same model with numbers in place.
"""

from __future__ import annotations

__all__ = [
    "Free",
    "Layout",
    "Per",
    "Slot",
    "built_alike",
    "changed",
    "free",
    "member",
    "require_at_least_0",
    "shaped",
    "stacked",
]

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cached_property
from math import inf, log, pi
from operator import is_
from typing import Any, Generic, TypeVar

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.former_names import offer_former_names
from outcrop.priors import Normal, Prior
from outcrop.typing import Mask, Matrix, Rng, Vector

M = TypeVar("M")
T = TypeVar("T")


class Per(Enum):
    """Slot sizes that are known only with the data."""

    DIMENSION = "dimension"
    OBSERVATION = "observation"


@dataclass(frozen=True)
class Free:
    """A slot of a model that inference fills; made by `free`."""

    prior: Prior
    size: int | Per | None  # None is a scalar, not a vector of one

    def size_for(self, data: Observations) -> int:
        """The number of values, given the data."""
        match self.size:
            case Per.DIMENSION:
                return data.dimension
            case Per.OBSERVATION:
                return len(data)
            case None:
                return 1
            case size:
                return size


def free(prior: Prior, size: int | Per | None = None) -> Any:
    """Leave this number (or vector of `size` independent ones) to inference, under `prior`."""
    if not isinstance(prior, Prior):
        raise ModelError(f"free({prior!r}): expected a prior such as LogNormal(0, 1)")
    if isinstance(size, int) and size < 1:
        raise ModelError(f"free(size={size}): expected at least 1, or None for a single number")
    return Free(prior, size)


def require_at_least_0(owner: object, name: str, what: str = "a variance") -> None:
    """Raise unless a field of the model `owner` is free, or a finite number of at least 0."""
    value = getattr(owner, name)
    if not isinstance(value, Free) and not 0 <= value < inf:
        raise ModelError(f"{type(owner).__name__}({name}={value!r}): expected {what} of at least 0")


def shaped(like: T, **values: Any) -> T:
    """An instance of the class of `like` with these fields, unchecked."""
    return _instance(type(like), values)


def _instance(kind: type[T], *values: Mapping[str, Any]) -> T:
    """An instance with these fields, unchecked."""
    made = object.__new__(kind)
    for some in values:
        made.__dict__.update(some)
    return made


def changed(node: T, **values: Any) -> T:
    """`node` with some fields replaced, unchecked; `node` itself if no field changes."""
    own = dict(_children(node))
    same = all(_is_same(own[name], value) for name, value in values.items())
    return node if same else shaped(node, **{**own, **values})


def _is_same(one: object, other: object) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(map(is_, one, other))
    return one is other


def stacked(nodes: Sequence[T]) -> T:
    """Values of the same structure as one, whose numbers have a leading axis `(len(nodes), …)`."""
    return _stacked(nodes)


def _stacked(nodes: Sequence[Any]) -> Any:
    first = nodes[0]
    if isinstance(first, float | np.ndarray):
        return np.stack(nodes)
    if isinstance(first, tuple) or (is_dataclass(first) and not isinstance(first, type)):
        parts = [
            _stacked(children)
            for children in zip(*([c for _, c in _children(node)] for node in nodes), strict=True)
        ]
        if isinstance(first, tuple):
            return tuple(parts)
        names = (name for name, _ in _children(first))
        return shaped(first, **dict(zip(names, parts, strict=True)))
    return first


def built_alike(one: object, other: object) -> bool:
    """Whether two values differ in their numbers only, and so can be `stacked`."""
    if isinstance(one, float):
        return isinstance(other, float)
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape
    if isinstance(one, tuple) or is_dataclass(one):
        own, others = ([child for _, child in _children(node)] for node in (one, other))
        return len(own) == len(others) and all(map(built_alike, own, others))
    return one is other or repr(one) == repr(other)


def member(node: Any, i: int) -> Any:
    """The `i`-th of the values that `stacked` combined."""
    if isinstance(node, np.ndarray):
        return float(node[i]) if node.ndim == 1 else node[i]
    if isinstance(node, tuple):
        return tuple(member(child, i) for child in node)
    if is_dataclass(node) and not isinstance(node, type):
        return shaped(node, **{name: member(child, i) for name, child in _children(node)})
    return node


@dataclass(frozen=True)
class Slot:
    """A free slot: its name in the model, its prior, and the part of θ that fills it."""

    name: str
    prior: Prior
    part: slice
    scalar: bool
    latent: bool  # one standard normal per observation

    @property
    def size(self) -> int:
        return int(self.part.stop - self.part.start)


@dataclass(frozen=True, eq=False)
class Layout(Generic[M]):
    """The free slots of a model in order, and the maps between θ and the model.

    >>> from outcrop.priors import Normal
    >>> @dataclass(frozen=True)
    ... class Line:
    ...     slope: float
    >>> layout = Layout.of(Line(slope=free(Normal())), Observations([[0.0]], [1.0]))
    >>> layout.names, layout.bind(np.array([3.0]))
    (('slope',), Line(slope=3.0))
    """

    model: M
    slots: tuple[Slot, ...]

    @classmethod
    def of(cls, model: M, data: Observations) -> Layout[M]:
        slots: list[Slot] = []
        start = 0
        for name, hole in _holes(model, ""):
            size = hole.size_for(data)
            latent = hole.size is Per.OBSERVATION and hole.prior == Normal(0.0, 1.0)
            part = slice(start, start + size)
            slots.append(Slot(name, hole.prior.for_size(size), part, hole.size is None, latent))
            start += size
        return cls(model, tuple(slots))

    @property
    def dim(self) -> int:
        return self.slots[-1].part.stop if self.slots else 0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(slot.name for slot in self.slots)

    def bind(self, theta: Vector) -> M:
        """The model with θ's numbers in place."""
        return self._build(theta)

    def gradient(self, theta: Vector, model_bar: Any) -> Vector:
        """The gradient in θ from one that is shaped like the model."""
        pieces = [np.zeros(0)]
        for slot in self.slots:
            value = model_bar
            for part in slot.name.split("."):
                value = value[int(part)] if isinstance(value, tuple) else getattr(value, part)
            pieces.append(value * slot.prior.derivative(theta[slot.part]))
        return np.concatenate(pieces)

    def log_prior(self, theta: Vector) -> float:
        """Log density of θ, the Jacobian of the transform included."""
        centre, precision, constant, others = self._fused
        z = (theta - centre) * precision
        total = constant - 0.5 * float(z @ z)
        for log_prior in others:
            total += log_prior(theta)
        return total if total == total else -inf

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        return self._sum_over_slots(
            [s.prior.log_prior_with_gradient(theta[s.part]) for s in self.slots]
        )

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        """log |d natural / dθ|: what a MAP estimate in natural coordinates subtracts."""
        return self._sum_over_slots([s.prior.log_jacobian(theta[s.part]) for s in self.slots])

    @property
    def gaussian(self) -> Mask:
        """Coordinates of θ that are standard normal latents, one per observation."""
        mask = np.zeros(self.dim, dtype=bool)
        for slot in self.slots:
            mask[slot.part] = slot.latent
        return mask

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        """Independent draws of θ, `(n, dim)`."""
        theta = np.empty((n, self.dim))
        for slot in self.slots:
            x = slot.prior.sample(rng, n * slot.size)
            theta[:, slot.part] = slot.prior.unconstrained(x).reshape(n, -1)
        return theta

    def natural(self, theta: Vector) -> dict[str, Vector]:
        """Slot name to the slot's own values."""
        return {slot.name: slot.prior.natural(theta[slot.part]) for slot in self.slots}

    def unconstrained(self, values: Mapping[str, Any]) -> Vector:
        """θ at the given values of every slot."""
        theta = np.empty(self.dim)
        for slot in self.slots:
            theta[slot.part] = slot.prior.unconstrained(np.asarray(values[slot.name], dtype=float))
        return theta

    def split(self, theta: Vector) -> dict[str, list[float]]:
        """θ by slot name, as plain lists: how a chain is stored."""
        return {slot.name: theta[slot.part].tolist() for slot in self.slots}

    def join(self, parts: Mapping[str, list[float]]) -> Vector:
        """θ from parts by name; entries without a stored value are NaN."""
        theta = np.full(self.dim, np.nan)
        for slot in self.slots:
            known = parts.get(slot.name, [])[: slot.size]
            theta[slot.part.start : slot.part.start + len(known)] = known
        return theta

    def _sum_over_slots(self, values: list[tuple[float, Vector]]) -> tuple[float, Vector]:
        total = sum(value for value, _ in values)
        gradient = np.concatenate([np.zeros(0), *(piece for _, piece in values)])
        return (total if total == total else -inf), gradient

    @cached_property
    def _fused(self) -> tuple[Vector, Vector, float, list[Callable[[Vector], float]]]:
        """Slots with Gaussian θ as one density (centre, 1/sd, constant), and `log_prior` of others.

        The latter are functions of the whole θ.
        """
        centre, precision, constant = np.zeros(self.dim), np.zeros(self.dim), 0.0
        for slot in self.slots:
            if slot.prior.gaussian is not None:
                location, scale = slot.prior.gaussian
                centre[slot.part], precision[slot.part] = location, 1 / scale
                constant -= slot.size * (log(scale) + 0.5 * log(2 * pi))
        others = [s for s in self.slots if s.prior.gaussian is None]
        return centre, precision, constant, [remembered(s.part, s.prior.log_prior) for s in others]

    @cached_property
    def _build(self) -> Callable[[Vector], Any]:
        slots = {slot.name: slot for slot in self.slots}
        return _builder(self.model, "", slots) or (lambda theta: self.model)


def _holes(node: object, prefix: str) -> Iterator[tuple[str, Free]]:
    """Every free slot below `node`, depth first in field order."""
    if isinstance(node, Free):
        yield prefix, node
        return
    for name, child in _children(node):
        yield from _holes(child, f"{prefix}.{name}" if prefix else name)


def _children(node: object) -> Iterator[tuple[str, Any]]:
    if isinstance(node, tuple):
        yield from ((str(i), child) for i, child in enumerate(node))
    elif is_dataclass(node) and not isinstance(node, type):
        yield from ((field.name, getattr(node, field.name)) for field in fields(node))


def remembered(part: slice, function: Callable[[Vector], T]) -> Callable[[Vector], T]:
    """`function` of a part of θ, evaluated only if the part differs from that of the latest call.

    Inference changes one number at a time, so that most parts stay as they are.
    """
    latest: tuple[bytes, Any] = b"", None

    def of(theta: Vector) -> T:
        nonlocal latest
        own = theta[part]
        values = own.tobytes()
        before, found = latest
        if found is None or values != before:
            found = function(own.copy())  # since callers overwrite θ
            latest = values, found
        return found

    return of


def _builder(node: object, prefix: str, slots: dict[str, Slot]) -> Callable[[Vector], Any] | None:
    """The function from θ to a filled copy of `node`; None if nothing below it is free.

    Parts that are filled as in the latest call are the objects of that call, by which kernels know
    what they have computed already.
    """
    if isinstance(node, Free):
        slot = slots[prefix]
        if slot.scalar:
            return remembered(slot.part, lambda own: float(slot.prior.natural(own)[0]))
        return remembered(slot.part, slot.prior.natural)
    children = dict(_children(node))
    builders = {
        name: build
        for name, child in children.items()
        if (build := _builder(child, f"{prefix}.{name}" if prefix else name, slots))
    }
    if not builders:
        return None
    names, builds = tuple(builders), tuple(builders.values())
    latest: tuple[list[Any], Any] = [], None

    def filled(theta: Vector) -> Any:
        nonlocal latest
        parts = [build(theta) for build in builds]
        before, found = latest
        if found is None or not all(map(is_, parts, before)):
            own = dict(zip(names, parts, strict=True))
            if isinstance(node, tuple):
                found = tuple({**children, **own}.values())
            else:
                found = _instance(type(node), children, own)
            latest = parts, found
        return found

    return filled


offer_former_names(__name__)
