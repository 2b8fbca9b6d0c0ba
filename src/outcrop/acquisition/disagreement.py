"""The information of an observation about the right component of a mixture, on plain arrays.

`k` components with `weights` `(k,)` predict observations N(mean, std²) at `m` points, `mean` and
`std` being `(k, m)`. Each function returns its value `(m,)` in nats, and the derivatives in `mean`
and in `std`, both `(k, m)`.

The exact answer is the mutual information I(component; y). It lies between 0, where all components
agree, and the entropy of the weights, where one observation identifies the component.
"""

from __future__ import annotations

__all__ = ["gaussian_information", "mutual_information"]

import numpy as np

from outcrop.acquisition.formulas import Derived
from outcrop.typing import Matrix, Vector

# Nodes of quadrature, in deviations from the mean of each component: dense in the middle, out to
# where the density vanishes.
NODES = 6.0 * np.sinh(np.linspace(-2.0, 2.0, 33))[:, None] / np.sinh(2.0)
NUMBERS_AT_ONCE = 100_000  # so that a few such arrays fit into the cache of a core


def gaussian_information(mean: Matrix, std: Matrix, weights: Vector) -> Derived:
    """The information if the mixture were a Gaussian of the same variance.

        ½ log Σᵢ wᵢ [(mᵢ − m̄)² + sᵢ²] − ½ Σᵢ wᵢ log sᵢ²

    No distribution of that variance has more entropy than the Gaussian, so this is an upper bound:
    tight where components disagree little, and unlimited where they disagree much.
    """
    away = mean - weights @ mean
    total = weights @ (away**2 + std**2)
    value = 0.5 * np.log(total) - weights @ np.log(std)
    share = weights[:, None]
    return value, share * away / total, share * (std / total - 1 / std)


def mutual_information(mean: Matrix, std: Matrix, weights: Vector) -> Derived:
    """I(component; y) = E[KL(r(y) ‖ weights)], r(y) being the weights once y was observed.

    The expectation is a trapezoidal sum over the nodes of all components together, so that a narrow
    one is resolved within a wide one. Its error is about 1e-3 nats; it is 0 where components agree.
    """
    used = np.flatnonzero(weights)
    mean_bar, std_bar = np.zeros_like(mean), np.zeros_like(std)
    value = np.zeros(mean.shape[1])
    rows = max(NUMBERS_AT_ONCE // (len(used) ** 2 * len(NODES)), 1)
    for start in range(0, len(value), rows):
        some = np.arange(start, min(start + rows, len(value)))
        part = np.ix_(used, some)
        value[some], mean_bar[part], std_bar[part] = _mutual_information(
            mean[part], std[part], weights[used]
        )
    return value, mean_bar, std_bar


def _mutual_information(mean: Matrix, std: Matrix, weights: Vector) -> Derived:
    """The same for positive weights; arrays are `(k, N, m)` or `(N, m)` for N nodes in all."""
    # Relative to one of the means, nodes stay distinct even if all deviations are tiny.
    m, s, w = (mean - mean[0])[:, None], std[:, None], weights[:, None, None]
    spread = (m + s * NODES).reshape(-1, mean.shape[1])
    order = spread.argsort(axis=0)
    y = np.take_along_axis(spread, order, axis=0)
    z = (y - m) / s
    log_density = -0.5 * z * z - np.log(s)
    joint = log_density + np.log(w)
    top = joint.max(0)
    log_p = top + np.log(np.exp(joint - top).sum(0))
    r, surprise = np.exp(joint - log_p), log_density - log_p  # log(r/w)
    told = (r * surprise).sum(0)  # KL(r ‖ w)
    gaps = np.diff(y, axis=0)
    share = np.exp(log_p)
    total = (0.5 * gaps * (share[1:] + share[:-1])).sum(0)
    share /= total
    mass = share.copy()  # of the probability around each node
    mass[0] *= 0.5 * gaps[0]
    mass[1:-1] *= 0.5 * (gaps[1:] + gaps[:-1])
    mass[-1] *= 0.5 * gaps[-1]
    value = (mass * told).sum(0)

    density_bar = mass * r * (surprise - value)
    slope = density_bar * z / s
    mean_bar, std_bar = slope.sum(1), (density_bar * (z * z - 1) / s).sum(1)
    width_bar = share * (told - value)
    gap_bar = 0.5 * (width_bar[1:] + width_bar[:-1])
    y_bar = -slope.sum(0)
    y_bar[1:] += gap_bar
    y_bar[:-1] -= gap_bar
    node_bar = np.empty_like(y_bar)
    np.put_along_axis(node_bar, order, y_bar, axis=0)
    node_bar = node_bar.reshape(len(mean), len(NODES), -1)  # nodes move with their component
    return value, mean_bar + node_bar.sum(1), std_bar + (NODES * node_bar).sum(1)
