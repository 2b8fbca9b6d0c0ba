"""Beliefs about the objective: models, posteriors, mixtures, and how they are inferred."""

from __future__ import annotations

__all__ = [
    "Analytic",
    "Arc",
    "Blend",
    "BranchChains",
    "BranchGP",
    "CoCaBO",
    "CommonNodes",
    "Draw",
    "Family",
    "Forest",
    "ForestPosterior",
    "GP",
    "GPPosterior",
    "Grounded",
    "Heteroscedastic",
    "HeteroscedasticGP",
    "Independent",
    "Inferred",
    "InputNoise",
    "Latent",
    "LatentGP",
    "LatentPosterior",
    "LeafwisePosterior",
    "Lottery",
    "Marginal",
    "MarginalPosterior",
    "Mixture",
    "NIGP",
    "OneHot",
    "Posterior",
    "ProcessDraw",
    "RandFunc",
    "Spartan",
    "Standardised",
    "Structured",
    "Surrogate",
    "TreeStructured",
    "Treed",
    "TreedGP",
    "UTGP",
    "Warped",
]

from outcrop.former_names import offer_former_names
from outcrop.surrogates.base import Posterior, Surrogate
from outcrop.surrogates.blend import Blend
from outcrop.surrogates.branch_chains import BranchChains
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.draws import Draw, ProcessDraw
from outcrop.surrogates.families import Family, Grounded, Spartan, Warped
from outcrop.surrogates.forest import Forest, ForestPosterior
from outcrop.surrogates.gp import GP, GPPosterior
from outcrop.surrogates.heteroscedastic import Heteroscedastic, HeteroscedasticGP
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.latent import Latent, LatentGP, LatentPosterior, Lottery
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.mgp import MarginalPosterior
from outcrop.surrogates.mixed import CoCaBO, OneHot
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.noisy import NIGP, UTGP, Analytic, InputNoise, RandFunc
from outcrop.surrogates.outcome import Standardised
from outcrop.surrogates.structured import (
    Arc,
    CommonNodes,
    Independent,
    Marginal,
    Structured,
    TreeStructured,
)
from outcrop.surrogates.treed import Treed, TreedGP

offer_former_names(__name__)
