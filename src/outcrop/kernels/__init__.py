"""Covariance functions: stationary ones, ones for categories, and kernels around kernels."""

from __future__ import annotations

__all__ = [
    "RBF",
    "Additive",
    "BetaCDF",
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
    "BranchFeatures",
    "Product",
    "RationalQuadratic",
    "Region",
    "Scaled",
    "LocalGlobal",
    "SharedScale",
    "Subspace",
    "Sum",
    "SumProduct",
    "TaylorRBF",
    "Warp",
    "Within",
]

from outcrop.former_names import offer_former_names
from outcrop.kernels.additive import Additive
from outcrop.kernels.base import Kernel
from outcrop.kernels.branch_features import BranchFeatures, Fourier, Level, Linear
from outcrop.kernels.categorical import Conditional, Matches, Overlap
from outcrop.kernels.compose import Constant, Offset, Product, Scaled, Subspace, Sum, SumProduct
from outcrop.kernels.local_global import LocalGlobal, Region
from outcrop.kernels.shared_scale import SharedScale
from outcrop.kernels.stationary import RBF, Matern12, Matern32, Matern52, RationalQuadratic
from outcrop.kernels.uncertain_rbf import ExpectedRBF, TaylorRBF
from outcrop.kernels.warp import BetaCDF, Kumaraswamy, Warp
from outcrop.kernels.within import Within

offer_former_names(__name__)
