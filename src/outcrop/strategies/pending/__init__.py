"""Pending policies: how running trials are accounted for when the next trial is proposed.

    Believer()              as if they had returned their predicted means
    Liar("min")             as if they had all returned the lowest, mean or highest value
    ThompsonSampling()      by a function drawn from the belief
    LocalPenalisation()     away from them, as far as the minimum is likely to be
    HardPenalisation()      likewise, and never at them
    PLAyBOOK("HL")          both of these by the names of their paper

Each works with any surrogate and acquisition, with mixtures, and on any space, except that
penalisation needs gradients of the mean, which a forest does not have.
"""

from __future__ import annotations

__all__ = [
    "Believer",
    "HardPenalisation",
    "Liar",
    "LocalPenalisation",
    "PLAyBOOK",
    "Pending",
    "ThompsonSampling",
]

from outcrop.former_names import offer_former_names
from outcrop.strategies.pending.base import Pending
from outcrop.strategies.pending.beliefs import Believer, Liar
from outcrop.strategies.pending.penalty_policies import (
    HardPenalisation,
    LocalPenalisation,
    PLAyBOOK,
)
from outcrop.strategies.pending.thompson import ThompsonSampling

offer_former_names(__name__)
