"""Acquisition functions: the objective is minimised, an acquisition is maximised."""

from __future__ import annotations

__all__ = [
    "BALD",
    "EI",
    "EIIG",
    "LCB",
    "PI",
    "UCB",
    "Acquisition",
    "HandOver",
    "InformationGain",
    "LogEI",
    "MaxValueEntropy",
    "Pointwise",
    "ScaledEI",
    "SrinivasUCB",
    "Thompson",
]

from outcrop.acquisition.base import Acquisition, Pointwise
from outcrop.acquisition.confidence import LCB, UCB, SrinivasUCB
from outcrop.acquisition.hyperparameters import BALD, EIIG, HandOver, InformationGain
from outcrop.acquisition.improvement import EI, PI, LogEI, ScaledEI
from outcrop.acquisition.information import MaxValueEntropy
from outcrop.acquisition.thompson import Thompson
from outcrop.former_names import offer_former_names

offer_former_names(__name__)
