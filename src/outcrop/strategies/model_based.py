"""Fit, account for what is running, maximise: one suggestion per call."""

from __future__ import annotations

__all__ = ["MAXIMISER", "ModelBased", "UnitBelief"]

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from outcrop.acquisition import Acquisition, LogEI
from outcrop.acquisition.base import deviation
from outcrop.acquisition.formulas import expected_improvement, log_expected_improvement
from outcrop.acquisition.improvement import Improvement
from outcrop.data import Observations
from outcrop.errors import NoBelief, NumericalError, SpaceExhausted
from outcrop.inference import Inference, Slice
from outcrop.kernels import Kernel
from outcrop.maximise import Function, Maximiser, Maximises
from outcrop.maximise.limited import Limited
from outcrop.space import Space
from outcrop.strategies.acquisition_function import AcquisitionFunction
from outcrop.strategies.base import Suggestion, View, Why
from outcrop.strategies.feasible import Feasibility, Restricted
from outcrop.strategies.initial import Design, LatinHypercube
from outcrop.strategies.interior import Interior
from outcrop.strategies.pending import Believer, Pending
from outcrop.strategies.sequence import Sequence
from outcrop.surrogates import Kind, Mixture, Plain, Situation, Standardised
from outcrop.surrogates.base import HasScales, sampling
from outcrop.surrogates.robust import AveragedPosterior, NoisePoints
from outcrop.surrogates.situation import ALL_MOVE, INFERENCE, standard_kernel
from outcrop.typing import Matrix, Points, Rng, Vector

logger = logging.getLogger(__name__)

MAXIMISER = Maximiser()  # unless the user gives another
INCUMBENTS = 5  # best points whose neighbourhood is searched
BALANCING = 3  # one candidate of so many is used to balance members
FIT_AND_SEARCH = 3.0, 1.0  # shares of the effort; what a fit leaves is added to the search
NOISIEST = 1e6  # standard deviation, in units of the data's, beyond which more makes no difference
STILL = Slice(chains=INFERENCE.chains, burn_in=0, sweeps=0)  # previous hyperparameters as they are
TROUBLE = (NumericalError, FloatingPointError, np.linalg.LinAlgError)


@dataclass(frozen=True, eq=False)
class UnitBelief:
    """A mixture in standardised units that predicts in the objective's units."""

    mixture: Mixture
    outcome: Standardised

    def predict(self, X: Points) -> tuple[Vector, Vector]:
        return self.outcome.restore(*self.mixture.moments(X))

    def sample(self, X: Points, rng: Rng, n: int) -> Matrix:
        draws = np.empty((n, len(X)))
        which = rng.choice(len(self.mixture), n, p=self.mixture.weights)
        for i, part in enumerate(self.mixture.components):
            mine = np.flatnonzero(which == i)
            if len(mine):
                draws[mine] = sampling(part).sample(X, rng, len(mine))
        return self.outcome.invert(draws)


def scales_of(belief: Mixture) -> Vector | None:
    """The typical lengthscale of each column, where components have them."""
    each = [part.scales() for part in belief.components if isinstance(part, HasScales)]
    return np.median(each, axis=0) if each else None


def unwatched(function: Function) -> None:
    """The default of `ModelBased.watch`: nothing is done with the function."""


class _Fit(NamedTuple):
    """A model fitted to what was told."""

    kind: Kind  # of the surrogate: the strategy's, or the plain process in its place
    outcome: Standardised
    objective: Mixture  # what is believed of the objective
    wanted: Mixture  # what is believed of the quantity to minimise: the objective, or its average


class _Criterion(NamedTuple):
    """What the next point is chosen by, with running trials accounted for."""

    posterior: Mixture
    searched: Mixture  # the same, with weights for the acquisition
    acquisition: Acquisition  # prepared
    incumbent: Vector  # of each component
    candidates: Points
    maximiser: Maximises
    best: Vector  # the point with the lowest observation


@dataclass(frozen=True, eq=False)
class ModelBased:
    """The usual strategy: a design first, then the best point of an acquisition.

    `inference` None is the default of the `kind`. A kind that has nothing to offer in the space, or
    cannot keep up with the number of observations, is replaced by the plain process.
    """

    space: Space
    kind: Kind = field(default_factory=Plain)
    inference: Inference | None = None
    acquisition: Acquisition = field(default_factory=LogEI)
    pending: Pending = field(default_factory=Believer)
    initial: Design = field(default_factory=LatinHypercube)
    maximiser: Maximises = MAXIMISER
    avoids_bounds: bool = True  # whether a point inside is preferred to an equally good bound
    feasibility_kernel: Callable[[Space], Kernel] = standard_kernel
    watch: Callable[[Function], object] = unwatched  # is given every function that is maximised

    def propose(self, view: View, rng: Rng) -> Suggestion:
        if not len(view.y) or self._step(view) < 1:
            return Sequence(self.space, self.initial).propose(view, rng)
        try:
            return self._best(view, rng)
        except TROUBLE as error:
            return self._fallback(view, rng, str(error))

    def belief(self, view: View, rng: Rng) -> UnitBelief:
        if not len(view.y):
            raise NoBelief("nothing was told yet: tell or add at least one value first")
        fit = self._fit(view, rng)
        return UnitBelief(fit.wanted, fit.outcome)

    def maximiser_for(self, view: View) -> Maximises:
        """The maximiser; if data are many, the default one has fewer candidates.

        They are a quarter at least. A wrapper of the maximiser wraps this one.
        """
        if self.maximiser != MAXIMISER or len(view.y) <= ALL_MOVE:
            return self.maximiser
        share = max(ALL_MOVE / len(view.y), 0.25)
        return replace(
            MAXIMISER,
            spread=int(share * MAXIMISER.spread),
            perturbations=int(share * MAXIMISER.perturbations),
            resamples=int(share * MAXIMISER.resamples),
        )

    def _step(self, view: View) -> int:
        """Counts suggestions of the model from 1; those before belong to the design."""
        return view.started - self.initial.size_for(self.space) + 1

    def _fallback(self, view: View, rng: Rng, reason: str) -> Suggestion:
        """By the previous hyperparameters, or else a space-filling point; recorded and logged."""
        logger.warning("trial %d falls back after numerical trouble: %s", view.number, reason)
        why: Why = {"source": "fallback", "reason": reason}
        if view.warm:
            try:
                found = replace(self, inference=STILL)._best(view, rng)
                return Suggestion(found.params, {**found.why, **why}, view.warm)
            except TROUBLE as error:
                logger.warning("trial %d is space-filling: %s", view.number, error)
        found = Sequence(self.space, self.initial).propose(view, rng)
        return Suggestion(found.params, {**found.why, **why}, view.warm)

    def _best(self, view: View, rng: Rng) -> Suggestion:
        """The suggestion of the model."""
        fitting, searching = view.effort.parts(*FIT_AND_SEARCH)
        fit = self._fit(replace(view, effort=fitting), rng)
        view = replace(view, effort=searching)
        criterion = self._criterion(view, fit.wanted, rng)
        function: Function = AcquisitionFunction(criterion.acquisition, criterion.searched)
        if criterion.acquisition.logarithmic and self.avoids_bounds:
            function = Interior.of(function, self.space, criterion.best)
        feasibility = self._feasibility(view, rng)
        if feasibility is not None:
            is_log = criterion.acquisition.logarithmic
            function = Restricted.to_likely(function, feasibility, criterion.candidates, is_log)
        point = self._maximised(view, function, criterion, fit.objective, rng)[None, :]
        why, warm = self._why(view, fit, criterion, point), dict(fit.objective.state)
        if feasibility is not None:
            why["feasible"] = float(np.exp(feasibility.log_probability(point)[0]))
            warm["feasibility"] = feasibility.labels.state
        return Suggestion(self.space.decode(point)[0], why, warm)

    def _fit(self, view: View, rng: Rng) -> _Fit:
        observations = _observations(view)
        situation = Situation(
            self.space,
            view.noise_facts,
            self.inference,
            observations=len(view.y),
            running=len(view.pending),
            effort=view.effort,
        )
        kind, surrogate = self.kind, self.kind.surrogate(situation)
        if surrogate is None:
            kind = Plain()
            surrogate = kind.surrogate(situation)
        belief = surrogate.fit(observations, rng, view.warm)
        wanted = averaged_over_noise(belief, self.space, view.X) if view.robust else belief
        return _Fit(kind, view.outcome, belief, wanted)

    def _criterion(self, view: View, posterior: Mixture, rng: Rng) -> _Criterion:
        acquisition = self.acquisition.within(view.effort)
        if len(view.pending):
            posterior, acquisition = self.pending.account(
                view, self.space, posterior, acquisition, rng
            )
        best = view.X[np.argsort(view.y, kind="stable")[:INCUMBENTS]]
        maximiser = self.maximiser_for(view)
        candidates = maximiser.candidates(self.space, rng, best)
        incumbent = np.array([part.incumbent() for part in posterior.components])
        searched = posterior
        if posterior.balance and isinstance(self.acquisition, Improvement):
            searched = balanced(posterior, incumbent, candidates)
        ready = acquisition.prepare(searched, incumbent, candidates, rng, self._step(view))
        return _Criterion(posterior, searched, ready, incumbent, candidates, maximiser, best[0])

    def _feasibility(self, view: View, rng: Rng) -> Feasibility | None:
        """Where evaluations succeed; None if none has failed."""
        if not len(view.failed):
            return None
        kernel, before = self.feasibility_kernel(self.space), view.warm.get("feasibility")
        cuts = Situation(self.space).unconditional_numbers
        return Feasibility.fit(view.X, view.failed, kernel, rng, before, view.effort, cuts)

    def _maximised(
        self, view: View, function: Function, criterion: _Criterion, belief: Mixture, rng: Rng
    ) -> Vector:
        """The best point that may be proposed."""
        self.watch(function)
        search = partial(
            criterion.maximiser,
            Limited(function, view.effort),
            self.space,
            rng,
            candidates=criterion.candidates,
            scales=scales_of(belief),
        )
        if not view.is_noisy:
            return search(forbidden=view.known).point
        try:
            return search(forbidden=frozenset(self.space.keys(view.pending))).point
        except SpaceExhausted:
            return search().point

    def _why(self, view: View, fit: _Fit, criterion: _Criterion, point: Points) -> Why:
        mean, std = fit.outcome.restore(*fit.wanted.moments(point))
        posterior, ready = criterion.posterior, criterion.acquisition
        each, var = posterior.predict_each(point)
        left, _, _ = expected_improvement(each, np.sqrt(var), criterion.incumbent[:, None])
        why: Why = {
            "source": "model",
            "surrogate": fit.kind.label,
            "acquisition": getattr(ready, "label", type(ready).__name__),
            "value": float(ready(criterion.searched, point)[0]),
            "mean": float(mean[0]),
            "std": float(std[0]),
            "improvement": fit.outcome.unit * float(posterior.weights @ left[:, 0]),
            "components": len(posterior),
            "observations": len(view.y),
            "pending": len(view.pending),
        }
        if view.robust:
            why["robust"] = True
        if fit.objective.evidence:
            why["evidence"] = {k: round(w, 4) for k, w in fit.objective.evidence.items()}
        return why


def _observations(view: View) -> Observations:
    """What was told, in the model's units; a known noise comes with each observation."""
    std, outcome = view.std, view.outcome
    if isinstance(view.noise, float):
        std = np.where(np.isnan(std), view.noise, std)
    with np.errstate(over="ignore"):
        own = np.minimum(outcome.apply_std(std, view.y), NOISIEST) ** 2
    noise = None if np.isnan(own).all() else np.nan_to_num(own, nan=0.0)
    return Observations(view.places, outcome.apply(view.y), noise, view.input_cov)


def balanced(belief: Mixture, incumbent: Vector, candidates: Points) -> Mixture:
    """`belief` with its members balanced by the improvements that they expect at candidates."""
    mean, var = belief.predict_each(candidates[::BALANCING])
    return belief.balanced(log_expected_improvement(mean, deviation(var), incumbent[:, None])[0])


def averaged_over_noise(belief: Mixture, space: Space, X: Points) -> Mixture:
    """`belief` with every component averaged; the incumbent is the best average at rows of `X`.

    Without input noise, as in one level of a hierarchical search, it is `belief` itself.
    """
    if not space.has_input_noise:
        return belief
    numbers = tuple(column.index for column in space.columns if not column.is_code)
    is_conditional = any(column.conditions for column in space.columns)
    active = space.active if is_conditional else None
    around = NoisePoints.of(space.unit_covariance, numbers, active)
    parts = tuple(AveragedPosterior(part, around, X) for part in belief.components)
    return replace(belief, components=parts)
