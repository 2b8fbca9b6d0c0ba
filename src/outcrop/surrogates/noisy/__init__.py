"""Gaussian processes that model input noise: observations near, not at, their points."""

from __future__ import annotations

__all__ = [
    "Alternating",
    "Analytic",
    "AnalyticGP",
    "InputNoise",
    "NIGP",
    "NIGPModel",
    "RandFunc",
    "RandFuncGP",
    "Transformed",
    "UTGP",
    "Unscented",
]

from outcrop.surrogates.noisy.input_noise import InputNoise
from outcrop.surrogates.noisy.nigp import NIGP, Alternating, NIGPModel
from outcrop.surrogates.noisy.uncertain import Analytic, AnalyticGP, RandFunc, RandFuncGP
from outcrop.surrogates.noisy.unscented import Unscented
from outcrop.surrogates.noisy.utgp import UTGP, Transformed
