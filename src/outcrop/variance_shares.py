"""Sobol indices: which share of the variance of a function each input and each pair causes.

The inputs of f are independent and uniform on [0, 1]. With V the variance of f, x_i one input and
x_~i all the others:

    first   S_i  = Var(E(f | x_i)) / V                       input i alone
    total   T_i  = E(Var(f | x_~i)) / V                      i alone and in all interactions
    pair    S_ij = Var(E(f | x_i, x_j)) / V − S_i − S_j      the interaction of i and j alone

Rows of `A` and `B` are independent inputs. AB_i is `A` with column i of `B`, BA_i is `B` with
column i of `A`, and all three shares follow from how f differs where only x_i differs:

    δ_i = f(AB_i) − f(A),    ε_i = f(B) − f(BA_i)
    T_i V = ¼ E(δ_i² + ε_i²),    S_i V = ½ E(δ_i ε_i),    S_ij V = −E(ε_i δ_j)

The first is Jansen's estimator [1999]; the others use the same 2 d + 2 sets of points as those of
Saltelli [2002], but an input without effect gets exactly 0, no S_i exceeds T_i, and both are equal
if f is additive.
"""

from __future__ import annotations

__all__ = ["VarianceShares", "shares_of", "sharing_points"]

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from outcrop.typing import Matrix, Points, Vector

CONSTANT = 1e-24  # a variance, relative to the mean square, that is rounding only


class VarianceShares(NamedTuple):
    """Shares of the variance for each of k functions; all 0 where a function is constant."""

    first: Matrix  # (k, d)
    total: Matrix  # (k, d)
    pairs: NDArray[np.float64]  # (k, d, d), symmetric; the diagonal is 0
    variance: Vector  # (k,)


def sharing_points(A: Points, B: Points) -> NDArray[np.float64]:
    """`A`, `B`, every AB_i and every BA_i, `(2 d + 2, n, d)`."""
    d = A.shape[1]
    sets = np.concatenate([[A, B], np.repeat([A], d, axis=0), np.repeat([B], d, axis=0)])
    for i in range(d):
        sets[2 + i, :, i], sets[2 + d + i, :, i] = B[:, i], A[:, i]
    return sets


def shares_of(values: NDArray[np.float64]) -> VarianceShares:
    """The shares of k functions from their values at `sharing_points`, `(k, 2 d + 2, n)`."""
    k, sets, n = values.shape
    d = sets // 2 - 1
    independent = values[:, :2].reshape(k, -1)
    centre, variance = independent.mean(1), independent.var(1)
    is_constant = variance <= CONSTANT * (centre**2 + variance)
    unit = np.sqrt(np.where(is_constant, 1.0, variance))
    scaled = (values - centre[:, None, None]) / unit[:, None, None]
    delta = scaled[:, 2 : 2 + d] - scaled[:, :1]
    epsilon = scaled[:, 1:2] - scaled[:, 2 + d :]
    products = epsilon @ np.swapaxes(delta, 1, 2) / n
    first = 0.5 * np.diagonal(products, axis1=1, axis2=2)
    total = 0.25 * (delta**2 + epsilon**2).mean(2)
    pairs = -0.5 * (products + np.swapaxes(products, 1, 2)) * (1 - np.eye(d))
    varies = ~is_constant[:, None]
    return VarianceShares(
        first * varies,
        total * varies,
        pairs * varies[:, :, None],
        np.where(is_constant, 0, variance),
    )
