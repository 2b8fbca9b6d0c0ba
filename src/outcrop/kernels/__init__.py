"""Covariance functions: stationary ones, ones for categories, and kernels around kernels."""

from __future__ import annotations

__all__ = [
    "RBF",
    "Additive",
    "Arc",
    "BetaCDF",
    "CommonNodes",
    "Conditional",
    "Constant",
    "ExpectedRBF",
    "Fourier",
    "Kernel",
    "Kumaraswamy",
    "Level",
    "Linear",
    "Matches",
    "Matern12",
    "Matern32",
    "Matern52",
    "Offset",
    "Overlap",
    "PathFeatures",
    "Product",
    "RationalQuadratic",
    "Region",
    "Scaled",
    "Spartan",
    "Subspace",
    "Sum",
    "SumProduct",
    "TaylorRBF",
    "Warp",
    "Within",
]

from outcrop.former_names import offer_former_names
from outcrop.kernels.arc import Arc
from outcrop.kernels.base import Kernel
from outcrop.kernels.categorical import Conditional, Overlap
from outcrop.kernels.common_nodes import CommonNodes
from outcrop.kernels.compose import Additive, Constant, Offset, Product, Scaled, Subspace, Sum
from outcrop.kernels.curves import BetaCDF, Kumaraswamy
from outcrop.kernels.expected import ExpectedRBF
from outcrop.kernels.matches import Matches
from outcrop.kernels.path_features import Fourier, Level, Linear, PathFeatures
from outcrop.kernels.spartan import Region, Spartan
from outcrop.kernels.stationary import RBF, Matern12, Matern32, Matern52, RationalQuadratic
from outcrop.kernels.sum_product import SumProduct
from outcrop.kernels.taylor import TaylorRBF
from outcrop.kernels.warp import Warp
from outcrop.kernels.within import Within

offer_former_names(__name__)
