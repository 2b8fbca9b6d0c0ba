"""Functions drawn from a Gaussian process whose observations have latent inputs."""

from __future__ import annotations

__all__ = ["LatentDraw", "augmented"]

from dataclasses import dataclass, replace

import numpy as np

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.kernels import Kernel, Subspace
from outcrop.kernels.stationary import Stationary
from outcrop.params import changed
from outcrop.surrogates.draws import ProcessDraw
from outcrop.surrogates.gp import GPPosterior
from outcrop.typing import Matrix, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class LatentDraw(ProcessDraw):
    """A function of points and latents, at h = 0; the latents are further columns of `X`."""

    @classmethod
    def of(cls, posterior: GPPosterior, latents: Matrix, rng: Rng, features: int) -> LatentDraw:
        data = posterior.data
        kernel = augmented(posterior.model.kernel, data.dimension, latents.shape[1])
        whole = GPPosterior(
            replace(posterior.model, kernel=kernel),
            Observations(np.hstack([data.X, latents]), data.y, data.noise),
            posterior.chol,
            posterior.white,
            posterior.jitter,
        )
        return cls(**vars(whole.draw(rng, features)))

    def __call__(self, X: Points) -> Vector:
        return super().__call__(self._at_zero(X))

    def gradient(self, X: Points) -> Points:
        return super().gradient(self._at_zero(X))[:, : X.shape[1]]

    def _at_zero(self, X: Points) -> Points:
        return np.hstack([X, np.zeros((len(X), self.X.shape[1] - X.shape[1]))])


def augmented(kernel: Kernel, dimension: int, count: int) -> Kernel:
    """`kernel` of `dimension` columns, extended by `count` columns of latents."""
    if not kernel.sees_numbers:
        return kernel
    if isinstance(kernel, Stationary):
        scales = kernel.scales(dimension)
        middle = np.exp(np.log(scales).mean())
        return changed(kernel, lengthscales=np.append(scales, np.full(count, middle)))
    if isinstance(kernel, Subspace):
        inner = augmented(kernel.kernel, len(kernel.columns), count)
        return Subspace((*kernel.columns, *range(dimension, dimension + count)), inner)
    if not kernel.passes_expectation:  # then it does not pass points on to its children either
        raise ModelError(
            f"{type(kernel).__name__} with latents has no drawn functions; draw values at given "
            "points with `sample` instead"
        )
    return kernel.with_children(
        tuple(augmented(child, dimension, count) for child in kernel.children())
    )
