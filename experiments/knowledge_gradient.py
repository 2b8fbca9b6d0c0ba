"""The correlated knowledge gradient of a mixture of Gaussian processes.

What is recommended is the lowest mean of the mixture among some points. One more observation z at x
changes every mean linearly, by its covariance with x, so the lowest of them is a concave piecewise
linear function of z, and its expectation has a closed form [Frazier, Powell & Dayanik 2009]. Here z
follows a mixture of normals, one for each component; their weights are held fixed, so that a gain
may be a little below 0 where components disagree.
"""

from __future__ import annotations

__all__ = ["expected_lowest", "gains"]

import numpy as np
from scipy.special import ndtr

from outcrop.surrogates import Mixture
from outcrop.surrogates.base import drawing, noise_at
from outcrop.typing import Points, Vector

LEAST = 1e-12  # variance of an observation: keeps the change by an exact one finite


def gains(mixture: Mixture, top: Points, X: Points, noise: Vector) -> Vector:
    """By how much one observation at each row of `X` is expected to lower the lowest mean.

    That is the lowest among the rows of `top` and the point itself, compared with the lowest among
    `top` now. `noise` are variances that are known of the observations, beside those of the model.
    """
    parts, weights, count = mixture.components, mixture.weights, len(top)
    points = np.vstack([top, X])
    joint = [drawing(part, "predict jointly").predict_joint(points) for part in parts]
    own = np.array([noise_at(part, points) for part in parts])
    lowest = (weights @ np.array([mean for mean, _ in joint]))[:count].min()
    found = np.empty(len(X))
    for i, known in enumerate(noise):
        at, rows = count + i, [*range(count), count + i]
        constants, slopes = np.zeros((2, count + 1))
        stds = np.empty(len(parts))
        for j, (mean, covariance) in enumerate(joint):
            var = max(covariance[at, at], 0.0) + own[j, at] + known + LEAST
            change = covariance[rows, at] / var
            constants += weights[j] * (mean[rows] - change * mean[at])
            slopes += weights[j] * change
            stds[j] = np.sqrt(var)
        means = np.array([mean[at] for mean, _ in joint])
        found[i] = lowest - expected_lowest(constants, slopes, means, stds, weights)
    return found


def expected_lowest(
    constants: Vector, slopes: Vector, means: Vector, stds: Vector, weights: Vector
) -> float:
    """E minᵢ (constantsᵢ + slopesᵢ z) where z is drawn from a mixture of normals."""
    order = np.lexsort((constants, -slopes))
    a, b = constants[order], slopes[order]
    lines, ends = [0], list[float]()  # those that are the lowest somewhere, by growing z
    for i in range(1, len(a)):
        if b[i] == b[lines[-1]]:
            continue  # parallel and higher
        while True:
            last = lines[-1]
            crossing = (a[i] - a[last]) / (b[last] - b[i])
            if not ends or crossing > ends[-1]:
                break
            lines.pop()
            ends.pop()
        lines.append(i)
        ends.append(float(crossing))
    borders = np.array([-np.inf, *ends, np.inf])
    z = (borders - means[:, None]) / stds[:, None]
    shares = np.diff(ndtr(z), axis=1)
    firsts = means[:, None] * shares - stds[:, None] * np.diff(_density(z), axis=1)
    return float(weights @ (shares @ a[lines] + firsts @ b[lines]))


def _density(z: Vector) -> Vector:
    return np.exp(-0.5 * np.minimum(z**2, 1e3)) / np.sqrt(2 * np.pi)
