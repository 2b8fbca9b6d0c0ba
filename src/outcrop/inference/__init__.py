"""Inference of the free numbers of a model, which it knows by the `TargetDensity` protocol only."""

from outcrop.former_names import offer_former_names
from outcrop.inference.diagnostics import effective_sample_size, rank_normalise, split_r_hat
from outcrop.inference.elliptical import elliptical_chain, elliptical_step
from outcrop.inference.kept import Kept
from outcrop.inference.laplace import Laplace
from outcrop.inference.optimise import MAP
from outcrop.inference.slice import Slice, slice_chain, slice_sweep
from outcrop.inference.target import Draws, Inference, LogDensity, TargetDensity, log_posterior

__all__ = [
    "Draws",
    "Inference",
    "LogDensity",
    "TargetDensity",
    "MAP",
    "Slice",
    "Laplace",
    "Kept",
    "slice_sweep",
    "slice_chain",
    "elliptical_step",
    "elliptical_chain",
    "effective_sample_size",
    "split_r_hat",
    "rank_normalise",
    "log_posterior",
]

offer_former_names(__name__)
