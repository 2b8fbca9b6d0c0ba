"""Observations, and the pairs of their points on which kernels are evaluated.

`X` is `(n, d)`, `y` is `(n,)`; `noise` is a variance per observation, or None if the model has the
only noise. `input_cov` is the covariance of the input noise: how far an observation may lie from
its row of `X`. Only the models of `surrogates.noisy` use it.
"""

from __future__ import annotations

__all__ = ["Observations", "Pairs", "Triangle"]

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np

from outcrop.errors import ModelError, ShapeError
from outcrop.linalg import packed_indices
from outcrop.short_repr import short_repr
from outcrop.typing import Indices, Mask, Matrix, Points, Vector

PairIndex: TypeAlias = tuple[Indices, ...]  # selects some pairs of a matrix over all pairs

# Up to these sizes squared differences are cached per dimension: exact for close points and fast to
# reweigh. Beyond, distances are matrix products of centred points.
CACHED_GRAM_ROWS = 300
CACHED_ELEMENTS = 60_000


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of a row of `X1` with a row of `X2`, and distances between them.

    `weights` are `(d,)` and usually
    1/ℓ²; a matrix over the pairs is `(n, m)`. Leading axes stand for several kernels at once.
    """

    X1: Points
    X2: Points
    second_moves: bool = True  # if False, the gradient in `X2` is not computed but zeros

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.X1), len(self.X2)

    @cached_property
    def squared_differences(self) -> Matrix:
        """(x − x')² per dimension, `(d, n·m)`."""
        differences = self.X1.T[:, :, None] - self.X2.T[:, None, :]
        return np.square(differences, out=differences).reshape(self.X1.shape[1], -1)

    @cached_property
    def mismatches(self) -> Matrix:
        """1 where two codes differ, per dimension, `(d, n·m)`."""
        differ = self.X1.T[:, :, None] != self.X2.T[:, None, :]
        return differ.reshape(self.X1.shape[1], -1).astype(float)

    @cached_property
    def is_exact(self) -> bool:
        """Whether distances come from stored differences instead of matrix products."""
        n, m = self.shape
        if self.X1 is self.X2:
            return n <= CACHED_GRAM_ROWS
        return n * m * self.X1.shape[1] <= CACHED_ELEMENTS

    def squared_distances(self, weights: Vector) -> Matrix:
        """Σᵢ wᵢ (xᵢ − x'ᵢ)², `(n, m)`; weights with leading axes give as many matrices."""
        if self.is_exact:
            return (weights @ self.squared_differences).reshape(*weights.shape[:-1], *self.shape)
        X1, X2 = self._centred
        root = np.sqrt(weights)[..., None, :]
        Z1, Z2 = X1 * root, X2 * root
        r2 = Z1 @ np.swapaxes(-2.0 * Z2, -1, -2)
        r2 += np.einsum("...ij,...ij->...i", Z1, Z1)[..., :, None]
        r2 += np.einsum("...ij,...ij->...i", Z2, Z2)[..., None, :]
        np.maximum(r2, 0.0, out=r2)
        if self.X1 is self.X2:
            np.einsum("...ii->...i", r2)[...] = 0.0
        return r2

    def pull_weights(self, r2_bar: Matrix, weights: Vector) -> Vector:
        """The gradient in the weights `(d,)` from that in the squared distances."""
        if self.is_exact:
            return self.squared_differences @ r2_bar.reshape(-1)
        X1, X2 = self._centred
        return (
            r2_bar.sum(1) @ X1**2
            + r2_bar.sum(0) @ X2**2
            - 2 * np.einsum("ij,ij->j", X1, r2_bar @ X2)
        )

    def pull_inputs(self, r2_bar: Matrix, weights: Vector) -> tuple[Points, Points]:
        """The gradients in both sets of points from that in the squared distances."""
        X1, X2 = self._centred
        scale = 2 * weights[..., None, :]
        X1_bar = scale * (r2_bar.sum(-1)[..., None] * X1 - r2_bar @ X2)
        if not self.second_moves:
            return summed(X1_bar), np.zeros_like(self.X2)
        X2_bar = scale * (r2_bar.sum(-2)[..., None] * X2 - np.swapaxes(r2_bar, -1, -2) @ X1)
        return summed(X1_bar), summed(X2_bar)

    def columns(self, columns: tuple[int, ...]) -> Pairs:
        """The same pairs restricted to some of the dimensions."""
        return self.mapped(("columns", columns), lambda X: np.ascontiguousarray(X[:, columns]))

    def mapped(self, key: Hashable, function: Callable[[Points], Points]) -> Pairs:
        """The pairs of mapped points, cached by `key`: a likelihood needs them many times."""
        if key not in self._mapped:
            X1 = function(self.X1)
            self._mapped[key] = self.moved(X1, X1 if self.X1 is self.X2 else function(self.X2))
        return self._mapped[key]

    def among(self, key: Hashable, inside: Callable[[Points], Mask]) -> tuple[Pairs, PairIndex]:
        """The pairs of points that are both `inside`, and their index in a matrix over all pairs.

        Cached by `key`, as in `mapped`.
        """
        if key not in self._among:
            self._among[key] = self._found(inside)
        return self._among[key]

    def _found(self, inside: Callable[[Points], Mask]) -> tuple[Pairs, PairIndex]:
        one = np.flatnonzero(inside(self.X1))
        if self.X1 is self.X2:
            X = self.X1[one]
            return Pairs(X, X, self.second_moves), np.ix_(one, one)
        two = np.flatnonzero(inside(self.X2))
        return Pairs(self.X1[one], self.X2[two], self.second_moves), np.ix_(one, two)

    def moved(self, X1: Points, X2: Points) -> Pairs:
        """The same pairs of rows at other points; `X2` is `X1` if it was before."""
        return Pairs(X1, X2, self.second_moves)

    def products(self, u1: Vector, u2: Vector) -> Matrix:
        """The product u1[i] · u2[j] for each pair (i, j)."""
        return u1[..., :, None] * u2[..., None, :]

    @cached_property
    def latest(self) -> dict[Hashable, Any]:
        """What kernels keep of their latest evaluation here, since the next one changes little."""
        return {}

    @cached_property
    def _mapped(self) -> dict[Hashable, Pairs]:
        return {}

    @cached_property
    def _among(self) -> dict[Hashable, tuple[Pairs, PairIndex]]:
        return {}

    @cached_property
    def _centred(self) -> tuple[Points, Points]:
        centre = self.X2.mean(0) if len(self.X2) else 0.0
        return self.X1 - centre, self.X2 - centre


@dataclass(frozen=True, eq=False)
class Triangle(Pairs):
    """Each unordered pair of rows of `X1` once, in LAPACK's rectangular full packed order.

    A matrix over the pairs is `(n (n + 1) / 2,)`, as `linalg.packed_log_density` takes it: half of
    the numbers, so half of the time.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.ends[0]),)

    @property
    def is_exact(self) -> bool:
        return True

    @cached_property
    def ends(self) -> tuple[Indices, Indices]:
        """Both rows of every pair."""
        rows, columns, _ = packed_indices(len(self.X1))
        return rows, columns

    @cached_property
    def squared_differences(self) -> Matrix:
        return self._differences(self.X1)

    @cached_property
    def mismatches(self) -> Matrix:
        rows, columns = self.ends
        return (self.X1.T[:, rows] != self.X1.T[:, columns]).astype(float)

    def moved(self, X1: Points, X2: Points) -> Pairs:
        """Columns that did not change since the last call keep their differences.

        Inference changes one column at a time.
        """
        known: dict[str, object] = {"ends": self.ends}
        last = self._mapped.get("moved")
        if last is not None and last.X1.shape == X1.shape:
            changed = (last.X1 != X1).any(0)
            if not changed.any():
                return last
            differences = last.squared_differences.copy()
            differences[changed] = self._differences(X1[:, changed])
            known["squared_differences"] = differences
        moved = self._mapped["moved"] = replace(self, X1=X1, X2=X1)
        vars(moved).update(known)
        return moved

    def products(self, u1: Vector, u2: Vector) -> Matrix:
        rows, columns = self.ends
        return u1[..., rows] * u1[..., columns]

    def _found(self, inside: Callable[[Points], Mask]) -> tuple[Pairs, PairIndex]:
        is_inside = inside(self.X1)
        rows, columns = self.ends
        place = np.flatnonzero(is_inside[rows] & is_inside[columns])
        some = replace(self)
        vars(some)["ends"] = rows[place], columns[place]
        return some, (place,)

    def _differences(self, X: Points) -> Matrix:
        rows, columns = self.ends
        return np.square(X.T[:, rows] - X.T[:, columns])


def summed(bars: Points) -> Points:
    """Gradients in the same points from several stacked kernels, added up."""
    return bars if bars.ndim == 2 else bars.sum(axis=tuple(range(bars.ndim - 2)))


def require_covariances(name: str, cov: Matrix, matrices: bool) -> None:
    """Raise unless `cov` holds variances of at least 0, or covariance matrices `(…, d, d)`."""
    scale = np.abs(cov).max(initial=0.0)
    if not np.isfinite(scale):
        raise ModelError(f"{name}: expected finite numbers, got {cov}")
    if not matrices and (cov < 0).any():
        raise ModelError(f"{name}: expected variances of at least 0, got {cov.min():g}")
    if matrices and not np.allclose(cov, np.swapaxes(cov, -1, -2), rtol=1e-8, atol=1e-12 * scale):
        raise ModelError(f"{name}: expected symmetric matrices; average each with its transpose")
    if matrices and (lowest := np.linalg.eigvalsh(cov).min(initial=0.0)) < -1e-10 * scale:
        raise ModelError(f"{name}: expected no negative eigenvalue, got {lowest:g}")


@dataclass(frozen=True, eq=False)
class Observations:
    """Points and the values measured there.

    >>> data = Observations([[0.1], [0.7]], [1.0, 2.0])
    >>> len(data), data.dimension
    (2, 1)
    """

    X: Points
    y: Vector
    noise: Vector | None = None  # variances, one per observation
    input_cov: Matrix | None = None  # covariances (n, d, d) of the points, or variances (n, d)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        X = np.ascontiguousarray(self.X, dtype=float)
        y = np.ascontiguousarray(self.y, dtype=float)
        if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
            raise ShapeError(f"expected X (n, d) and y (n,), got {X.shape} and {y.shape}")
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "y", y)
        if self.noise is not None:
            noise = np.ascontiguousarray(self.noise, dtype=float)
            if noise.shape != y.shape:
                raise ShapeError(
                    f"expected one noise variance per value {y.shape}, got {noise.shape}"
                )
            object.__setattr__(self, "noise", noise)
        if self.input_cov is not None:
            input_cov = np.ascontiguousarray(self.input_cov, dtype=float)
            if input_cov.shape not in (X.shape, (*X.shape, X.shape[1])):
                raise ShapeError(
                    f"expected input_cov {(*X.shape, X.shape[1])}, or variances {X.shape}, "
                    f"got {input_cov.shape}"
                )
            require_covariances("input_cov", input_cov, matrices=input_cov.ndim == 3)
            object.__setattr__(self, "input_cov", input_cov)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def dimension(self) -> int:
        return self.X.shape[1]

    @cached_property
    def pairs(self) -> Pairs:
        """The points paired with themselves; cached, because every likelihood needs them."""
        return Pairs(self.X, self.X)

    @cached_property
    def triangle(self) -> Triangle | None:
        """Each pair once; None if there are too many to cache."""
        return Triangle(self.X, self.X) if 0 < len(self) <= CACHED_GRAM_ROWS else None

    @property
    def mark(self) -> int:
        """A checksum of all points in their order: it changes when any of them does."""
        return crc32(self.X.tobytes())

    @property
    def marks(self) -> list[int]:
        """A checksum of each point; equal points have equal marks."""
        return [crc32(row.tobytes()) for row in self.X]

    @property
    def fingerprints(self) -> list[str]:
        """A name for each observation that does not depend on the order of other points.

        Observations at one point are counted: `"1f0c32aa.0"`, `"1f0c32aa.1"`. Stored states hold
        these names and the marks, so both must stay as they are.
        """
        turns: Counter[int] = Counter()
        names = []
        for mark in self.marks:
            names.append(f"{mark:08x}.{turns[mark]}")
            turns[mark] += 1
        return names

    def rows(self, rows: Indices | slice) -> Observations:
        """The observations at these indices, with their noise and `input_cov`."""
        return Observations(
            self.X[rows],
            self.y[rows],
            None if self.noise is None else self.noise[rows],
            None if self.input_cov is None else self.input_cov[rows],
        )

    def noisier(self, variances: Vector) -> Observations:
        """The observations with `variances` added to their noise; cached pairs are shared."""
        if not variances.any():
            return self
        noisy = replace(self, noise=variances if self.noise is None else self.noise + variances)
        vars(noisy).update(pairs=self.pairs, triangle=self.triangle)
        return noisy

    @cached_property
    def last(self) -> dict[str, Any]:
        """What a model keeps from one likelihood to the next, by its own name for it."""
        return {}

    @cached_property
    def each_with_all(self) -> list[Pairs]:
        """Each point paired with all of them, `(1, n)`."""
        return [Pairs(self.X[[i]], self.X, second_moves=False) for i in range(len(self))]

    def against(self, X: Points) -> Pairs:
        """Points `X`, with respect to which gradients are wanted, paired with these."""
        if X.ndim != 2 or X.shape[1] != self.dimension:
            raise ShapeError(f"expected X (m, {self.dimension}), got {X.shape}")
        return Pairs(X, self.X, second_moves=False)

    def alike(self, others: Sequence[Observations]) -> Observations | None:
        """Observations that stand for all `others` in `against`; None if their points differ."""
        same = all(
            type(other) is type(self) and np.array_equal(other.X, self.X) for other in others
        )
        return self if same else None

    def append(self, X: Points, y: Vector, noise: Vector | None = None) -> Observations:
        """These observations followed by more; rows without a stated noise have none.

        New rows get the mean of `input_cov`.
        """
        more = Observations(X, y, noise)
        if more.dimension != self.dimension:
            raise ShapeError(f"expected X (k, {self.dimension}) to append, got {more.X.shape}")
        if self.noise is None and more.noise is None:
            both = None
        else:
            both = np.concatenate(
                [
                    part.noise if part.noise is not None else np.zeros(len(part))
                    for part in (self, more)
                ]
            )
        input_cov = self.input_cov
        if input_cov is not None:
            more_cov = np.repeat(input_cov.mean(0, keepdims=True), len(more), axis=0)
            input_cov = np.concatenate([input_cov, more_cov])
        X, y = np.vstack([self.X, more.X]), np.concatenate([self.y, more.y])
        return Observations(X, y, both, input_cov)
