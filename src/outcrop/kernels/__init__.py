"""Covariance functions: stationary ones, ones for categories, and kernels around kernels."""

from __future__ import annotations

__all__ = [
    "RBF",
    "Additive",
    "BetaCDF",
    "Conditional",
    "Constant",
    "Kernel",
    "Kumaraswamy",
    "Matern12",
    "Matern32",
    "Matern52",
    "Offset",
    "Overlap",
    "Product",
    "RationalQuadratic",
    "Region",
    "Scaled",
    "Spartan",
    "Subspace",
    "Sum",
    "Warp",
]

from outcrop.kernels.base import Kernel
from outcrop.kernels.categorical import Conditional, Overlap
from outcrop.kernels.compose import Additive, Constant, Offset, Product, Scaled, Subspace, Sum
from outcrop.kernels.curves import BetaCDF, Kumaraswamy
from outcrop.kernels.spartan import Region, Spartan
from outcrop.kernels.stationary import RBF, Matern12, Matern32, Matern52, RationalQuadratic
from outcrop.kernels.warp import Warp
