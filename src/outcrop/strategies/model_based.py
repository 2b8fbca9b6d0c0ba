"""Fit, account for what is running, maximise: one suggestion per call."""

from __future__ import annotations

__all__ = ["ModelBased", "UnitBelief"]

import logging
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from outcrop.acquisition import Acquisition, LogEI
from outcrop.acquisition.formulas import expected_improvement
from outcrop.data import Observations
from outcrop.errors import ModelError, NoBelief, NumericalError, SpaceExhausted
from outcrop.inference import Inference, Slice
from outcrop.maximise import Function, Maximises
from outcrop.space import Space
from outcrop.strategies.acquisition_function import AcquisitionFunction
from outcrop.strategies.base import Suggestion, View
from outcrop.strategies.defaults import (
    INFERENCE,
    MAXIMISER,
    default_kernel,
    default_surrogate,
    refreshed,
    thinned,
)
from outcrop.strategies.feasible import Feasibility, Restricted
from outcrop.strategies.initial import Design, LatinHypercube
from outcrop.strategies.interior import Interior
from outcrop.strategies.pending import Believer, Pending
from outcrop.strategies.robust import averaged
from outcrop.strategies.sequence import Sequence
from outcrop.strategies.why import Why
from outcrop.surrogates import Family, Grounded, Mixture, Standardised, Surrogate
from outcrop.surrogates.base import HasScales, Samples
from outcrop.surrogates.noisy.input_noise import NoisyInputs
from outcrop.typing import Matrix, Points, Rng, Vector

logger = logging.getLogger(__name__)

INCUMBENTS = 5  # best points whose neighbourhood is searched
NOISIEST = 1e6  # standard deviation, in units of the data's, at which an observation says nothing
STILL = Slice(chains=INFERENCE.chains, burn_in=0, sweeps=0)  # previous hyperparameters as they are
TROUBLE = (NumericalError, FloatingPointError, np.linalg.LinAlgError)


@dataclass(frozen=True, eq=False)
class UnitBelief:
    """A mixture in standardised units, seen in the objective's."""

    mixture: Mixture
    outcome: Standardised

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        return self.outcome.restore(*self.mixture.moments(X))

    def sample(self, X: Points, rng: Rng, n: int) -> Matrix:
        draws = np.empty((n, len(X)))
        which = rng.choice(len(self.mixture), n, p=self.mixture.weights)
        for i, part in enumerate(self.mixture.components):
            mine = np.flatnonzero(which == i)
            if not isinstance(part, Samples):
                raise ModelError(f"{type(part).__name__} offers no joint draws")
            if len(mine):
                draws[mine] = part.sample(X, rng, len(mine))
        return self.outcome.invert(draws)


def scales_of(belief: Mixture) -> Vector | None:
    """The typical lengthscale of each column, where components have them."""
    each = [part.scales() for part in belief.components if isinstance(part, HasScales)]
    return np.median(each, axis=0) if each else None


def _each(belief: Mixture, X: Points) -> tuple[Matrix, Matrix]:
    """Mean and standard deviation of every component, `(components, n)`."""
    mean, var = belief.predict_each(X)
    return mean, np.sqrt(var)


@dataclass(frozen=True, eq=False)
class ModelBased:
    """The usual strategy: a design first, then the best point of an acquisition.

    `surrogate` None is the default for the space, with `inference`, and noise as the user said; a
    `family` has its say about the kernel. A surrogate of one's own says itself whether noise is
    learnt; a known noise reaches it with the observations.
    """

    space: Space
    surrogate: Surrogate | None = None
    inference: Inference = INFERENCE
    acquisition: Acquisition = field(default_factory=LogEI)
    pending: Pending = field(default_factory=Believer)
    initial: Design = field(default_factory=LatinHypercube)
    maximiser: Maximises = MAXIMISER
    family: Family | None = None

    def propose(self, view: View, rng: Rng) -> Suggestion:
        if not len(view.y) or self._step(view) < 1:
            return Sequence(self.space, self.initial).propose(view, rng)
        try:
            return self._best(view, rng)
        except TROUBLE as error:
            return self._fallback(view, rng, str(error))

    def _step(self, view: View) -> int:
        """Counts suggestions of the model from 1; those before belong to the design."""
        started = len(view.y) + len(view.pending) + len(view.failed)
        return started - self.initial.size_for(self.space) + 1

    def _fallback(self, view: View, rng: Rng, reason: str) -> Suggestion:
        """By the previous hyperparameters, or else a space-filling point; recorded and logged."""
        logger.warning("trial %d falls back after numerical trouble: %s", view.number, reason)
        why: Why = {"source": "fallback", "reason": reason}
        if view.warm and self.surrogate is None:
            try:
                found = replace(self, inference=STILL)._best(view, rng)
                return Suggestion(found.params, {**found.why, **why}, view.warm)
            except TROUBLE as error:
                logger.warning("trial %d is space-filling: %s", view.number, error)
        found = Sequence(self.space, self.initial).propose(view, rng)
        return Suggestion(found.params, {**found.why, **why}, view.warm)

    def belief(self, view: View, rng: Rng) -> UnitBelief:
        if not len(view.y):
            raise NoBelief("nothing was told yet: tell or add at least one value first")
        outcome = self._outcome(view)
        fitted = self._fit(view, outcome, rng)
        return UnitBelief(self._wanted(view, fitted), outcome)

    def _outcome(self, view: View) -> Standardised:
        """The model's units; an average is meant in the objective's own, so nothing is bent."""
        return Standardised.of(view.y, view.X, bend=not view.robust)

    def _wanted(self, view: View, fitted: Mixture) -> Mixture:
        """What is believed of what is to be minimised: the objective, or its average."""
        return averaged(fitted, self.space, view.X) if view.robust else fitted

    def _fit(self, view: View, outcome: Standardised, rng: Rng) -> Mixture:
        std = view.std
        if isinstance(view.noise, float):
            std = np.where(np.isnan(std), view.noise, std)
        with np.errstate(over="ignore"):
            own = np.minimum(outcome.apply_std(std, view.y), NOISIEST) ** 2
        noise = None if np.isnan(own).all() else np.nan_to_num(own, nan=0.0)
        data = Observations(view.places, outcome.apply(view.y), noise, view.input_cov)
        return self._surrogate(view).fit(data, rng, view.warm)

    def _surrogate(self, view: View) -> Surrogate:
        if self.surrogate is not None:
            return self.surrogate
        knows_places = isinstance(self.family, NoisyInputs)
        if view.has_uncertain_places and not knows_places:
            level: bool | None = True  # to a model that knows nothing of places they are noise
        elif isinstance(view.noise, float):  # given with each observation, none of the model's own
            level = False
        elif (view.replicates_differ and not view.has_uncertain_places) or (
            view.noise is None and view.is_noisy
        ):
            level = True
        else:
            level = view.noise
        inference = refreshed(self.inference, len(view.y))
        kernel = default_kernel(self.space, self.family)
        if self.family is None:
            return default_surrogate(kernel, inference, level)
        always = [c.index for c in self.space.columns if not c.is_code and not c.conditions]
        inferred = partial(self.family.surrogate, columns=always)
        return Grounded(default_surrogate(kernel, inference, level, inferred))

    @property
    def _is_relaxed(self) -> bool:
        return self.family is not None and self.family.is_relaxed

    @property
    def _surrogate_name(self) -> str:
        if self.surrogate is not None:
            return type(self.surrogate).__name__
        return "GP" if self.family is None else self.family.label

    def _best(self, view: View, rng: Rng) -> Suggestion:
        outcome = self._outcome(view)
        fitted = self._fit(view, outcome, rng)
        wanted = posterior = self._wanted(view, fitted)
        acquisition = self.acquisition
        if len(view.pending):
            posterior, acquisition = self.pending.account(
                view, self.space, posterior, acquisition, rng
            )
        best = view.X[np.argsort(view.y, kind="stable")[:INCUMBENTS]]
        maximiser = thinned(self.maximiser, len(view.y))
        candidates = maximiser.candidates(self.space, rng, best)
        incumbent = np.array([part.incumbent() for part in posterior.components])
        ready = acquisition.prepare(posterior, incumbent, candidates, rng, self._step(view))
        function: Function = AcquisitionFunction(ready, posterior)
        if ready.logarithmic and not self._is_relaxed:
            function = Interior.of(function, self.space)
        feasibility = None
        if len(view.failed):
            kernel = default_kernel(self.space, self.family if self._is_relaxed else None)
            before = view.warm.get("feasibility")
            feasibility = Feasibility.fit(view.X, view.failed, kernel, rng, before)
            function = Restricted.to_likely(function, feasibility, candidates, ready.logarithmic)
        search = partial(
            maximiser, function, self.space, rng, candidates=candidates, scales=scales_of(fitted)
        )
        forbidden = frozenset(self.space.keys(view.pending)) if view.is_noisy else view.known
        try:
            found = search(forbidden=forbidden)
        except SpaceExhausted:
            if not view.is_noisy:
                raise
            found = search()
        point = found.point[None, :]
        mean, std = outcome.restore(*wanted.moments(point))
        left, _, _ = expected_improvement(*_each(posterior, point), incumbent[:, None])
        why: Why = {
            "source": "model",
            "surrogate": self._surrogate_name,
            "acquisition": getattr(ready, "label", type(ready).__name__),
            "value": float(ready(posterior, point)[0]),
            "mean": float(mean[0]),
            "std": float(std[0]),
            "improvement": outcome.unit * float(posterior.weights @ left[:, 0]),
            "components": len(posterior),
            "observations": len(view.y),
            "pending": len(view.pending),
        }
        if view.robust:
            why["robust"] = True
        warm = dict(fitted.state)
        if feasibility is not None:
            why["feasible"] = float(np.exp(feasibility.log_probability(point)[0]))
            warm["feasibility"] = feasibility.labels.state
        return Suggestion(self.space.decode(point)[0], why, warm)
