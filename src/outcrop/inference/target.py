"""Input and output of inference: targets and draws.

`theta` is an unconstrained vector `(dim,)`: a model's free numbers, mapped to the whole real line.
`natural` is the same point in the model's own coordinates. A density that cannot be computed counts
as zero: NaN, ±inf and arithmetic errors from a target all become −inf, so that inference moves
elsewhere instead of failing.
"""

from __future__ import annotations

__all__ = [
    "Draws",
    "HasUnseen",
    "Inference",
    "LogDensity",
    "MovesGaussian",
    "SampledDensity",
    "TargetDensity",
    "guarded",
    "log_posterior",
    "require",
]

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np

from outcrop.effort import UNLIMITED, Effort
from outcrop.errors import ModelError, ShapeError
from outcrop.typing import Mask, Matrix, Rng, Vector

LogDensity: TypeAlias = Callable[[Vector], float]


class SampledDensity(Protocol):
    """An unnormalised posterior over an unconstrained vector `theta` `(dim,)`, without gradients.

    Densities may be −inf or NaN. A sampler changes `theta` after the call returns, so a
    target that caches it must copy it.
    """

    @property
    def dim(self) -> int: ...

    @property
    def gaussian(self) -> Mask:
        """Coordinates `(dim,)` that are a priori standard normal and independent of all others."""
        ...

    def log_prior(self, theta: Vector) -> float:
        """Density in `theta`: the Jacobian of the transformation is included."""
        ...

    def log_likelihood(self, theta: Vector) -> float: ...

    def sample_prior(self, rng: Rng, n: int) -> Matrix:
        """Exact draws `(n, dim)` of the prior."""
        ...


@runtime_checkable
class MovesGaussian(Protocol):
    """A target that may have a move of its `gaussian` coordinates of its own."""

    def moved_gaussian(self, theta: Vector, rng: Rng) -> Vector | None:
        """`theta` after a move that leaves the target invariant; None if there is no such move."""
        ...


@runtime_checkable
class HasUnseen(Protocol):
    """A target whose likelihood does not depend on some coordinates."""

    @property
    def unseen(self) -> Mask:
        """These coordinates `(dim,)`, which are a priori independent of all others."""
        ...


class TargetDensity(SampledDensity, Protocol):
    """The same with gradients."""

    def log_prior_with_gradient(self, theta: Vector) -> tuple[float, Vector]: ...

    def log_likelihood_with_gradient(self, theta: Vector) -> tuple[float, Vector]: ...

    def log_jacobian_with_gradient(self, theta: Vector) -> tuple[float, Vector]:
        """log |∂ natural / ∂ theta|: subtracted, it turns the prior into a density in `natural`."""
        ...


@dataclass(frozen=True, eq=False)
class Draws:
    """Weighted points that stand for a posterior over `theta`.

    Given back to `infer` as `previous` it is the warm start of the next call. There, and only
    there, an entry of `thetas` or `widths` may be NaN: a slot that did not exist before.

    >>> draws = Draws.equal(np.zeros((4, 2)), log_densities=np.zeros(4))
    >>> len(draws), draws.weights
    (4, array([0.25, 0.25, 0.25, 0.25]))
    """

    thetas: Matrix  # (k, dim)
    weights: Vector  # (k,), sum 1
    log_densities: Vector  # (k,), log prior + log likelihood in theta, unnormalised
    widths: Matrix | None = None  # (k, dim), step sizes of each chain's slice sampler
    covariance: Matrix | None = None  # (dim, dim), of a Gaussian around thetas[0]
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    chains: int | None = None  # leading draws from which a next call continues; None is all

    def __post_init__(self) -> None:
        if np.ndim(self.thetas) != 2 or len(self.thetas) == 0:
            raise ShapeError(f"expected thetas (k, dim) with k ≥ 1, got {np.shape(self.thetas)}")
        k, dim = self.thetas.shape
        expected = {"weights": (k,), "log_densities": (k,), "widths": (k, dim)}
        expected["covariance"] = (dim, dim)
        for name, shape in expected.items():
            value = getattr(self, name)
            if value is not None and np.shape(value) != shape:
                raise ShapeError(
                    f"expected {name} {shape} beside thetas {(k, dim)}, got {np.shape(value)}"
                )
        if not (np.all(self.weights >= 0) and abs(float(np.sum(self.weights)) - 1) < 1e-8):
            raise ModelError(
                f"expected weights ≥ 0 with sum 1, got {self.weights}: divide them by their sum"
            )

    @classmethod
    def equal(
        cls,
        thetas: Matrix,
        log_densities: Vector,
        widths: Matrix | None = None,
        diagnostics: Mapping[str, float] | None = None,
    ) -> Draws:
        """Draws of equal weight."""
        weights = np.full(len(thetas), 1 / max(len(thetas), 1))
        return cls(thetas, weights, log_densities, widths, diagnostics=dict(diagnostics or {}))

    def __len__(self) -> int:
        return len(self.thetas)


class Inference(ABC):
    """A way to turn a target into draws; a frozen value of plain numbers."""

    has_covariance: ClassVar[bool] = False  # whether draws have the covariance of a Gaussian
    effort: Effort = UNLIMITED  # of one suggestion; a field of inferences that can be cut short

    @abstractmethod
    def infer(self, target: TargetDensity, rng: Rng, previous: Draws | None = None) -> Draws:
        """Draws of `target`, started from `previous` when there is one of the same `dim`."""

    def divided(self, parts: int) -> Inference:
        """The inference of each of `parts` surrogates that together cost as much as one."""
        return self

    def moving_one(self) -> Inference:
        """The same, moving only one of several chains in each call."""
        return self

    def catching_up(self) -> Inference:
        """The same for a start from draws that were made given a small part of the data."""
        return self

    def within(self, effort: Effort) -> Inference:
        """The same, which leaves steps out once `effort` is spent, if it can be cut short."""
        return self

    def in_turns(self, n: int) -> list[Inference]:
        """The same for each of `n` fits that follow each other and share the effort."""
        return [self.within(effort) for effort in self.effort.parts(*[1.0] * n)]

    def without_restarts(self) -> Inference:
        """The same, continuing every chain, however unlikely its point has become."""
        return self


def log_posterior(target: SampledDensity) -> LogDensity:
    """The density for samplers: log prior + log likelihood, −inf wherever it has no finite value.

    The likelihood is not evaluated outside the support of the prior.
    """
    prior, likelihood = target.log_prior, target.log_likelihood

    def log_density(theta: Vector) -> float:
        value = float(prior(theta))
        return value + float(likelihood(theta)) if value > -inf else -inf  # false for NaN too

    return guarded(log_density)


def guarded(function: LogDensity) -> LogDensity:
    """`function`, −inf wherever it has no finite value."""

    def log_density(theta: Vector) -> float:
        try:
            value = float(function(theta))
        except ArithmeticError:  # overflow in `math`, or a factorisation no jitter could save
            return -inf
        return value if -inf < value < inf else -inf

    return log_density


def require(owner: object, **least: int) -> None:
    """Raise unless each named field of `owner` is an integer no smaller than given."""
    for name, bound in least.items():
        value = getattr(owner, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < bound:
            raise ModelError(
                f"expected {type(owner).__name__}({name}=) to be an integer ≥ {bound}, "
                f"got {value!r}: pass a whole number such as {name}={max(bound, 1)}"
            )
