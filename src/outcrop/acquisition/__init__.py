"""What a trial is worth under a belief; the objective is minimised, an acquisition is maximised."""

from __future__ import annotations

__all__ = [
    "EI",
    "LCB",
    "PI",
    "UCB",
    "Acquisition",
    "LogEI",
    "MaxValueEntropy",
    "Pointwise",
    "ScaledEI",
    "SrinivasUCB",
    "Thompson",
]

from outcrop.acquisition.base import Acquisition, Pointwise
from outcrop.acquisition.confidence import LCB, UCB, SrinivasUCB
from outcrop.acquisition.improvement import EI, PI, LogEI, ScaledEI
from outcrop.acquisition.information import MaxValueEntropy
from outcrop.acquisition.thompson import Thompson
