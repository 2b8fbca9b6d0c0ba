"""The interface of strategies: `View` is their input, `Suggestion` with its `Why` their output.

Points are encoded (`Space.encode`), values are in the objective's units with the sign that makes
smaller better. A strategy has no memory of its own: it puts its state into `Suggestion.warm`, which
is stored with the trial and is part of the next `View`.
"""

from __future__ import annotations

__all__ = ["Belief", "Strategy", "Suggestion", "View", "Why"]

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypedDict

import numpy as np

from outcrop.effort import UNLIMITED, Effort
from outcrop.short_repr import short_repr
from outcrop.surrogates.outcome import Standardised
from outcrop.surrogates.situation import NoiseFacts
from outcrop.typing import Matrix, Params, Points, Rng, Vector


@dataclass(frozen=True, eq=False)
class View:
    """All that is known when a trial is asked for; every array is in order of trial numbers."""

    number: int  # of the trial to propose
    X: Points  # (n, D) where a value was told or added
    y: Vector  # (n,) those values, smaller is better
    std: Vector  # (n,) their told standard deviations, NaN where none was told
    pending: Points  # (p, D) running trials
    failed: Points  # (f, D)
    known: frozenset[str] = frozenset()  # `Space.key` of all of them
    noise: bool | float | None = None  # as the user declared it
    warm: Mapping[str, Any] = field(default_factory=dict)  # the newest suggestion's
    seed: int = 0  # of the whole study; a trial's own randomness comes with the call
    # (n, D) where values were really obtained, if any was told; not snapped
    at: Points | None = None
    # of those places: variances (n, D), or covariances (n, D, D); None if exact
    input_cov: Matrix | None = None
    robust: bool = False  # whether the objective's average over input noise is to be minimised
    sign: float = 1.0  # of the user's values; −1 if these are maximised
    effort: Effort = UNLIMITED  # that the suggestion may take; see `outcrop.effort`
    remaining: int | None = None  # trials that can still be asked for, this one included, if known

    __repr__ = short_repr

    @cached_property
    def outcome(self) -> Standardised:
        """The map from the objective's units to those of models."""
        # An average is meant in the objective's own units, so nothing is bent for it.
        return Standardised.of(self.y, self.X, bend=not self.robust)

    @property
    def places(self) -> Points:
        """Where values were obtained, as far as is known; models are fitted to these points."""
        return self.X if self.at is None else self.at

    @property
    def started(self) -> int:
        """The number of trials that were started or added."""
        return len(self.y) + len(self.pending) + len(self.failed)

    @property
    def inside(self) -> View:
        """The view of a wrapped strategy, with the state of its own."""
        return replace(self, warm=self.warm.get("inner", {}))

    @property
    def has_uncertain_places(self) -> bool:
        return self.input_cov is not None and bool(self.input_cov.any())

    @property
    def is_noisy(self) -> bool:
        """Whether evaluating a configuration again may give another value.

        It is if noise was declared or told, if repeated values differ, or if evaluations miss the
        configuration at random.
        """
        if self.has_uncertain_places or (self.noise is not None and self.noise > 0):
            return True
        return bool((self.std > 0).any()) or self.replicates_differ

    @property
    def noise_facts(self) -> NoiseFacts:
        """What a surrogate is told of the noise."""
        return NoiseFacts(
            self.noise,
            bool((self.std > 0).any()),
            self.replicates_differ,
            self.has_uncertain_places,
        )

    @property
    def replicates_differ(self) -> bool:
        """Whether two values at one configuration differ."""
        if len(self.X) < 2:
            return False
        with_values = np.column_stack([self.X, self.y])
        return len(np.unique(with_values, axis=0)) > len(np.unique(self.X, axis=0))


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
    evidence: dict[str, float]  # of a model that weighs several kinds: the probability of each
    robust: bool  # whether the average over input noise is minimised; left out if not
    feasible: float  # probability that the evaluation succeeds, if any has failed

    # Written by the study, if the time for one suggestion ran out
    cut: Mapping[str, int]  # steps that were made, of each kind of which some were left out

    # Written by wrappers
    perturbs: int  # number of the trial that this one is a step away from
    distance: float  # of that step, as a share of the range of every number
    drawn: Mapping[str, float]  # categories drawn by bandits, with their probabilities
    outer: Why  # the record of the outer search, at the first trial of its point
    held: int  # number of the first trial at this outer point
    carried: bool  # whether the inner configuration is the best of other outer points


@dataclass(frozen=True, eq=False)
class Suggestion:
    """The configuration to try next, a record of why, and the state for the next call, as JSON."""

    params: Params
    why: Why = field(default_factory=Why)
    warm: Mapping[str, Any] = field(default_factory=dict)


class Belief(Protocol):
    """A prediction of the objective, in its own units (smaller is better)."""

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        """Mean and standard deviation of the objective, without observation noise."""
        ...

    def sample(self, X: Points, rng: Rng, n: int) -> Matrix:
        """Joint draws at the rows of `X`, `(n, m)`."""
        ...


class Strategy(Protocol):
    """Proposes trials; made for one space."""

    def propose(self, view: View, rng: Rng) -> Suggestion:
        """The next configuration, legal and new unless the objective is noisy.

        Raises `SpaceExhausted` if no legal configuration is left.
        """
        ...

    def belief(self, view: View, rng: Rng) -> Belief:
        """The belief given all values so far; raises `NoBelief` before the first one."""
        ...
