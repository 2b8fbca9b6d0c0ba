"""The record of why a trial was suggested, as it is stored with the trial."""

from __future__ import annotations

__all__ = ["Why"]

from collections.abc import Mapping
from typing import TypedDict


class Why(TypedDict, total=False):
    """Why a trial was suggested; a strategy writes those keys that apply.

        trial.why["source"], trial.why.get("mean")

    It is a dictionary, since it is stored as a JSON object and databases of any age hold such
    objects; the type makes a misspelt key an error to type checkers. Predictions are in the units
    of the objective; a strategy writes them in the sign in which smaller is better, and `Trial.why`
    holds them in the user's sign. A strategy with keys of its own subclasses it.
    """

    source: str  # "initial", "model", "fallback", "queue", or a word of the strategy's own
    reason: str  # of a fallback: the numerical trouble
    design: str  # of an initial trial: the class of the design

    # The model's view of the trial, before it was evaluated
    surrogate: str
    acquisition: str
    value: float  # of the acquisition
    mean: float
    std: float
    improvement: float  # expected, as a difference above 0
    components: int  # of the belief, such as chains of a sampler
    observations: int  # that the model was fitted to
    pending: int  # trials that were running
    robust: bool  # whether the average over input noise is minimised; left out if not
    feasible: float  # probability that the evaluation succeeds, if any has failed

    # Written by wrappers
    perturbs: int  # number of the trial that this one is a step away from
    distance: float  # of that step, as a share of the range of every number
    drawn: Mapping[str, float]  # categories drawn by bandits, with their probabilities
    outer: Why  # the record of the outer search, at the first trial of its point
    held: int  # number of the first trial at this outer point
    carried: bool  # whether the inner configuration is the best of other outer points
