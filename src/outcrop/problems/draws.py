"""Functions drawn from a Gaussian process, as test problems on [−1, 1]^d.

A draw on a regular grid of nodes is extended to every point by the posterior mean of its process.
`nodes` is `(m, d)`; the function is a weighted sum of kernels centred at the nodes.
"""

from __future__ import annotations

__all__ = ["matern_draw", "rbf_draw"]

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from outcrop.problems.base import Problem, box_problem
from outcrop.typing import Matrix, Vector

JITTER = 1e-5  # of both chapters' draws
N_CANDIDATES = 2_000  # random points that are, like the nodes, candidates for starts
N_STARTS = 10

# A covariance as a function of the squared scaled distance, and its derivative.
Profile = Callable[[Matrix], tuple[Matrix, Matrix]]


def matern_draw(d: int = 2, seed: int = 0) -> Problem:
    """A Matérn-5/2 draw of lengthscale 0.3 on at most 800 nodes [Alvi's thesis, chapter 4].

    The thesis refits the lengthscale to the draw; here the mean uses that of the draw.
    """
    return drawn(f"mat-{d}", matern52, 0.3, d, 800, seed, "Alvi's thesis, section 4.6.1")


def rbf_draw(d: int = 2, seed: int = 0) -> Problem:
    """A squared-exponential draw of lengthscale 0.4 on at most 300 nodes [chapter 3]."""
    return drawn(f"rbf-{d}", rbf, 0.4, d, 300, seed, "Alvi's thesis, section 3.6.3")


def matern52(squares: Matrix) -> tuple[Matrix, Matrix]:
    s = np.sqrt(5 * squares)
    decay = np.exp(-s)
    return (1 + s + s**2 / 3) * decay, (-5 / 6) * (1 + s) * decay


def rbf(squares: Matrix) -> tuple[Matrix, Matrix]:
    covariance = np.exp(-squares / 2)
    return covariance, -covariance / 2


@dataclass(frozen=True, eq=False)
class KernelSum:
    """x ↦ Σⱼ weightsⱼ k(x, nodesⱼ)."""

    profile: Profile
    lengthscale: float
    nodes: Matrix
    weights: Vector

    def __call__(self, X: Matrix) -> Vector:
        covariance, _ = self.profile(self.squares(X))
        return np.asarray(covariance @ self.weights)

    def with_gradient(self, x: Vector) -> tuple[float, Vector]:
        """The value at one point and its gradient there."""
        covariance, slope = self.profile(self.squares(x[None])[0])
        pull = 2 * self.weights * slope / self.lengthscale**2
        return float(covariance @ self.weights), pull @ (x - self.nodes)

    def squares(self, X: Matrix) -> Matrix:
        """Squared scaled distances between the rows of `X` and the nodes, `(n, m)`."""
        Z, nodes = X / self.lengthscale, self.nodes / self.lengthscale
        squares = (Z**2).sum(1)[:, None] + (nodes**2).sum(1) - 2 * Z @ nodes.T
        return np.maximum(squares, 0.0)


@lru_cache(maxsize=32)
def drawn(
    name: str, profile: Profile, lengthscale: float, d: int, limit: int, seed: int, source: str
) -> Problem:
    """One draw, cached; its minimum is found by local searches."""
    rng = np.random.default_rng(seed)
    per_axis = int(np.floor(limit ** (1 / d) + 1e-9))
    axis = np.linspace(-1, 1, per_axis)
    nodes = np.stack(np.meshgrid(*[axis] * d, indexing="ij"), axis=-1).reshape(-1, d)
    flat = KernelSum(profile, lengthscale, nodes, np.zeros(len(nodes)))
    chol = np.linalg.cholesky(profile(flat.squares(nodes))[0] + JITTER * np.eye(len(nodes)))
    draw = rng.normal(size=len(nodes))  # the values at the nodes are chol @ draw
    formula = replace(flat, weights=np.asarray(np.linalg.solve(chol.T, draw)))
    minimiser = _lowest(formula, rng)
    return box_problem(
        name if seed == 0 else f"{name}-seed-{seed}",
        formula,
        [(-1, 1)] * d,
        minimum=float(formula(minimiser[None])[0]),
        minimisers=minimiser[None],
        tags=("drawn",),
        source=source,
    )


def _lowest(formula: KernelSum, rng: np.random.Generator) -> Vector:
    """The lowest point that local searches find from the best nodes and random points."""
    from scipy.optimize import minimize

    d = formula.nodes.shape[1]
    candidates = np.vstack([formula.nodes, rng.uniform(-1, 1, (N_CANDIDATES, d))])
    starts = candidates[np.argsort(formula(candidates))[:N_STARTS]]
    runs = [
        minimize(
            formula.with_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(-1, 1)] * d,
            options={"ftol": 1e-15, "gtol": 1e-10},
        )
        for start in starts
    ]
    return np.asarray(min(runs, key=lambda run: run.fun).x)
