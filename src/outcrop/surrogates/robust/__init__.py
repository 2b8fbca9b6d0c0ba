"""Beliefs in an objective averaged over the noise of its inputs.

`AveragedPosterior` is such a belief; `NoisePoints` are the points that stand for the noise, and
`average_moments` has the mean and variance of averages under each kind of posterior.
"""

from __future__ import annotations

__all__ = ["AveragedDraw", "AveragedPosterior", "NoisePoints"]

from outcrop.surrogates.robust.averaged_posterior import AveragedDraw, AveragedPosterior
from outcrop.surrogates.robust.noise_points import NoisePoints
