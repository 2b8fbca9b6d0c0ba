"""Input noise: how far an observation may lie from its intended point.

Standard deviations and covariances are in units of the unit cube, so that 0.05 is a twentieth of a
parameter's range. Their shapes are those of `kernels.uncertain`.
"""

from __future__ import annotations

__all__ = ["InputNoise", "NoisyInputs", "quadratic_forms", "roots"]

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from outcrop.data import Observations, require_covariances
from outcrop.errors import ModelError, ShapeError
from outcrop.inference import Inference
from outcrop.kernels import Kernel
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.kind import Kind
from outcrop.surrogates.situation import Situation
from outcrop.typing import Matrix, Points, Vector

RANK = 1e-12  # eigenvalues below this share of the largest count as 0


@dataclass(frozen=True)
class InputNoise:
    """The input noise of a model; noise stated with observations takes precedence.

        InputNoise(0.05)                                     # in every column
        InputNoise((0.05, 0.0, 0.1))                         # one number per column
        InputNoise(cov=((0.01, 0.002), (0.002, 0.01)))

    With `columns` the numbers belong to these, and all other columns are exact.
    """

    std: Any = None  # a number, or one per column
    cov: Any = None  # (d, d)
    columns: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.std is not None and self.cov is not None:
            raise ModelError("give input_std or input_cov, not both")
        if self.std is not None:
            std = np.asarray(self.std, dtype=float)
            if std.ndim > 1 or not (np.isfinite(std) & (std >= 0)).all():
                raise ModelError(
                    f"input_std={self.std!r}: expected standard deviations of at least 0, one "
                    "number or one per column"
                )
        if self.cov is not None:
            cov = np.asarray(self.cov, dtype=float)
            if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
                raise ModelError(f"input_cov={self.cov!r}: expected a square matrix")
            require_covariances("input_cov", cov, matrices=True)

    def covariances(self, data: Observations) -> Matrix | None:
        """Those of the rows of `data`, zeros `(1, d)` if they are exact; None if unknown."""
        if data.input_cov is not None:
            cov = data.input_cov
            cov = cov[:1] if len(cov) and (cov == cov[:1]).all() else cov
        elif self.cov is not None:
            places = np.ix_(*(self._places(data.dimension, len(self.cov)),) * 2)
            cov = np.zeros((1, data.dimension, data.dimension))
            cov[0][places] = self.cov
        elif self.std is not None:
            cov = np.zeros((1, data.dimension))
            cov[0, self._places(data.dimension, np.size(self.std))] = np.square(self.std)
        else:
            return None
        if cov.ndim == 3:
            variances = np.einsum("...ii->...i", cov)
            cov = variances if (cov == variances[..., None] * np.eye(cov.shape[1])).all() else cov
        return cov if cov.any() else np.zeros((1, data.dimension))

    def _places(self, dimension: int, size: int) -> list[int]:
        """The columns that `size` numbers belong to."""
        columns = list(range(dimension) if self.columns is None else self.columns)
        if size == dimension:
            return list(range(dimension))
        if size not in (1, len(columns)):
            raise ShapeError(
                f"input noise of {size} columns for points of {dimension}, of which {len(columns)} "
                "are numbers that are always active; give one number, or one per column"
            )
        return columns


def roots(cov: Matrix) -> list[Points]:
    """For each covariance the vectors `(rank, d)` whose outer products add up to it."""
    if cov.ndim == 2:
        return [np.diag(np.sqrt(variances))[variances > 0] for variances in cov]
    values, axes = np.linalg.eigh(cov)
    columns = np.swapaxes(axes, 1, 2) * np.sqrt(np.maximum(values, 0.0))[:, :, None]
    kept = values > RANK * values.max(1, keepdims=True, initial=0.0)
    return [own[keep] for own, keep in zip(columns, kept, strict=True)]


def quadratic_forms(cov: Matrix, G: Points) -> Vector:
    """gᵀ S g for each row of `G` and its covariance."""
    if cov.ndim == 2:
        return (cov * G**2).sum(1)
    return np.einsum("ni,nij,nj->n", G, np.broadcast_to(cov, (len(G), *cov.shape[1:])), G)


@dataclass(frozen=True)
class NoisyInputs(Kind):
    """A kind of Gaussian process that models noise in its inputs.

    Without `input_std` and `input_cov`, the noise is that stated with the observations.
    """

    input_std: float | tuple[float, ...] | None = None  # a number, or one per column
    input_cov: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        InputNoise(self.input_std, self.input_cov)
        if self.input_std is not None:
            std = np.asarray(self.input_std, dtype=float)
            object.__setattr__(self, "input_std", tuple(std.tolist()) if std.ndim else float(std))
        if self.input_cov is not None:
            rows = np.asarray(self.input_cov, dtype=float).tolist()
            object.__setattr__(self, "input_cov", tuple(map(tuple, rows)))

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not situation.numbers:
            return None
        kernel = self.kernel(situation)
        inputs = InputNoise(self.input_std, self.input_cov, situation.unconditional_numbers)
        return situation.over_noise(
            lambda noise, inference: self.fitted(kernel, noise, inputs, inference),
            models_places=True,
        )

    def kernel(self, situation: Situation) -> Kernel:
        """The kernel of all columns."""
        return situation.kernel()

    @abstractmethod
    def fitted(
        self, kernel: Kernel, noise: float, inputs: InputNoise, inference: Inference
    ) -> Surrogate:
        """The surrogate with that kernel, noise of the values and noise of the inputs."""
