"""Surrogates of the objective: kinds of surrogate, models, posteriors, and their inference."""

from __future__ import annotations

__all__ = [
    "Analytic",
    "Blend",
    "BranchChains",
    "BranchGP",
    "CategoryMix",
    "Draw",
    "Ensemble",
    "Forest",
    "ForestPosterior",
    "GP",
    "GPPosterior",
    "Grounded",
    "Heteroscedastic",
    "HeteroscedasticGP",
    "Inferred",
    "InputNoise",
    "KernelKind",
    "Kind",
    "Latent",
    "LatentGP",
    "LatentPosterior",
    "LeafwisePosterior",
    "Lottery",
    "MarginalPosterior",
    "Mixture",
    "NIGP",
    "PartlyAdditive",
    "Plain",
    "Posterior",
    "ProcessDraw",
    "RandFunc",
    "SearchDomain",
    "Situation",
    "Spartan",
    "Standardised",
    "Surrogate",
    "TreeStructured",
    "Treed",
    "TreedGP",
    "UTGP",
    "Warped",
]

from outcrop.former_names import offer_former_names
from outcrop.surrogates.base import Posterior, Surrogate
from outcrop.surrogates.blend import Blend, Lottery
from outcrop.surrogates.branch_chains import BranchChains
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.category_mix import CategoryMix
from outcrop.surrogates.ensemble import Ensemble
from outcrop.surrogates.forest import Forest, ForestPosterior
from outcrop.surrogates.gp import GP, GPPosterior, ProcessDraw
from outcrop.surrogates.heteroscedastic import Heteroscedastic, HeteroscedasticGP
from outcrop.surrogates.inferred import Inferred, MarginalPosterior
from outcrop.surrogates.kind import KernelKind, Kind, Plain, SearchDomain
from outcrop.surrogates.latent import Latent, LatentGP, LatentPosterior
from outcrop.surrogates.leafwise import LeafwisePosterior
from outcrop.surrogates.mixture import Mixture
from outcrop.surrogates.noisy import NIGP, UTGP, Analytic, InputNoise, RandFunc
from outcrop.surrogates.outcome import Standardised
from outcrop.surrogates.partly_additive import PartlyAdditive
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.spartan import Grounded, Spartan
from outcrop.surrogates.tree_structured import TreeStructured
from outcrop.surrogates.treed import Treed, TreedGP
from outcrop.surrogates.warped import Warped
from outcrop.typing import Draw

offer_former_names(__name__)
