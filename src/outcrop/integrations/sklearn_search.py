"""The loop of a search with cross-validation: ask for candidates, evaluate them, tell the study.

The study is the only memory: candidates are read from its trials, so that a stored search goes on
where it ended.
"""

from __future__ import annotations

__all__ = ["FIRST", "CandidateSearch", "batch_size"]

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from sklearn.utils.parallel import delayed

from outcrop.errors import OutcropError, SpaceExhausted, StudyError
from outcrop.integrations.fold_effects import FoldEffects, better_half
from outcrop.integrations.sklearn_candidates import Candidate, fold_scores, stored_candidate
from outcrop.integrations.sklearn_folds import Fold, Task, evaluated
from outcrop.integrations.sklearn_space import SearchSpace
from outcrop.space.enumeration import MOST_LISTED, every
from outcrop.study import Optimizer, Study, Trial
from outcrop.typing import Configuration, Indices, JsonObject, Matrix

FIRST = 4  # candidates that are evaluated before any can be abandoned; the noise needs them, too
RISK = 0.05  # a candidate whose chance to become the best is below is abandoned
BUSY = 0.8  # the least share of workers that a batch keeps busy
PATIENCE = 5  # suggestions in a row that repeat a candidate
LEASE = 86400.0  # seconds after which a candidate of a search on a lost machine is free again


@dataclass(frozen=True)
class CandidateSearch:
    """A study and how its candidates are evaluated."""

    study: Optimizer | Study
    parameters: SearchSpace
    task: Task
    splits: Sequence[tuple[Indices, Indices]]
    objective: Callable[[Sequence[Candidate]], str]  # the metric that is maximised
    origin: JsonObject  # of the scores
    parallel: Any  # joblib's
    racing: bool = False
    worker: str = ""  # the name under which a stored study is asked

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates with an outcome, in the order in which they were asked for."""
        found = []
        for trial in self.study.trials:
            stored = stored_candidate(trial, self.parameters.params(trial.params))
            if stored is not None:
                self._check_origin(stored[1])
                found.append(stored[0])
        return found

    def step(self, n: int) -> list[Candidate]:
        """Ask for `n` candidates, evaluate and tell them; `SpaceExhausted` if none is left."""
        trials = self._asked(n)
        try:
            candidates = self._evaluated([self.parameters.params(t.params) for t in trials])
            self._tell(trials, candidates)
        except BaseException:
            with suppress(OutcropError):
                for trial in trials:
                    self.study.release(trial)
            raise
        return candidates

    # Asking

    def _asked(self, n: int) -> list[Trial]:
        """New trials; a configuration that was tried would only have the same scores again.

        The study takes scores as noisy, so it may suggest the best ones again.
        """
        space = self.study.space
        known = {space.key(trial.params) for trial in self.study.trials if trial.has_outcome}
        taken: list[Trial] = []
        repeated: list[Trial] = []
        try:
            while len(taken) < n:
                if len(repeated) >= PATIENCE or len(known) == space.size:
                    self.study.enqueue(self._untried(known))
                trial = self._ask()
                key = space.key(trial.params)
                (repeated if key in known else taken).append(trial)
                known.add(key)
        except SpaceExhausted:
            if not taken:
                raise
        finally:
            for trial in repeated:
                self.study.release(trial)
        return taken

    def _ask(self) -> Trial:
        if isinstance(self.study, Study):
            return self.study.ask(lease=LEASE, worker=self.worker)
        return self.study.ask()

    def _untried(self, known: set[str]) -> Configuration:
        """A random configuration that is not among the `known` ones."""
        space = self.study.space
        rng = np.random.default_rng([self.study.seed, len(known)])
        if space.size is not None and space.size <= MOST_LISTED:
            X = every(space)
            left = [i for i, key in enumerate(space.keys(X)) if key not in known]
            if not left:
                raise SpaceExhausted("every configuration was tried")
            return dict(space.decode(X[[rng.choice(left)]])[0])
        return dict(space.sample(rng))

    # Evaluating

    def _evaluated(self, params: Sequence[Configuration]) -> list[Candidate]:
        complete = self._complete_scores(self.candidates) if self.racing else np.empty((0, 0))
        if len(complete) >= FIRST and (effects := _effects(complete)) is not None:
            return self._raced(params, effects, float(complete.mean(1).max()))
        pairs = [(each, split) for each in params for split in range(len(self.splits))]
        folds = self._folds(pairs)
        K = len(self.splits)
        return [Candidate(each, tuple(folds[i * K : (i + 1) * K])) for i, each in enumerate(params)]

    def _raced(
        self, params: Sequence[Configuration], effects: FoldEffects, best: float
    ) -> list[Candidate]:
        """Candidates evaluated one fold after the other, those without a chance not to the end."""
        found = [Candidate(each, ()) for each in params]
        going = list(range(len(found)))
        for split in range(len(self.splits)):
            folds = self._folds([(found[i].params, split) for i in going])
            for i, fold in zip(going, folds, strict=True):
                found[i] = Candidate(found[i].params, (*found[i].folds, fold))
            if split + 1 < len(self.splits):
                going = [i for i in going if self._has_chance(found[i], effects, best)]
        return found

    def _has_chance(self, candidate: Candidate, effects: FoldEffects, best: float) -> bool:
        scores = self._scores(candidate, self.objective([candidate]))
        if candidate.has_failed or not np.isfinite(scores).all():
            return False
        return effects.chance(np.array(scores), best) >= RISK

    def _folds(self, pairs: Sequence[tuple[Configuration, int]]) -> list[Fold]:
        found: list[Fold] = self.parallel(
            delayed(evaluated)(self.task, params, *self.splits[split]) for params, split in pairs
        )
        return found

    # Telling

    def _tell(self, trials: Sequence[Trial], candidates: Sequence[Candidate]) -> None:
        known = [*self.candidates, *candidates]
        metric = self.objective(known)
        effects = _effects(self._complete_scores(known))
        for trial, candidate in zip(trials, candidates, strict=True):
            scores = np.array(self._scores(candidate, metric))
            info = candidate.info(self.origin)
            if candidate.has_failed or not np.isfinite(scores).all():
                self.study.fail(trial, _reason(candidate), info=info)
            else:
                std = None if effects is None else effects.std(len(scores))
                mean = float(scores.mean())
                if effects is not None and len(scores) < len(self.splits):
                    mean = effects.mean(scores)  # as if all folds had been run
                self.study.tell(trial, mean, std=std, info=info)

    def _complete_scores(self, candidates: Sequence[Candidate]) -> Matrix:
        """Scores `(n, K)` of all candidates that were evaluated on every fold without failure."""
        metric = self.objective(candidates)
        rows = [
            self._scores(each, metric)
            for each in candidates
            if len(each.folds) == len(self.splits) and not each.has_failed
        ]
        table = np.array(rows, dtype=float).reshape(len(rows), len(self.splits))
        return table[np.isfinite(table).all(1)]

    def _scores(self, candidate: Candidate, metric: str) -> list[float]:
        return fold_scores(candidate, metric, np.nan)

    def _check_origin(self, stored: JsonObject) -> None:
        if differing := [name for name in self.origin if stored.get(name) != self.origin[name]]:
            name = getattr(self.study, "name", "")
            seeds = "; a cv that shuffles needs random_state=0" if "folds" in differing else ""
            raise StudyError(
                f"study {name!r} holds candidates with other {' and '.join(differing)}, whose "
                "scores cannot be compared: choose another study_name, or remove it with "
                f"outcrop.delete_study{seeds}"
            )


def _effects(complete: Matrix) -> FoldEffects | None:
    return FoldEffects.of(better_half(complete, FIRST))


def batch_size(workers: int, folds: int) -> int:
    """The least number of candidates that keeps `workers` busy, each with `folds` evaluations."""

    def busy(n: int) -> float:
        return n * folds / (workers * ceil(n * folds / workers))

    return next(n for n in range(1, workers + 1) if busy(n) >= BUSY)


def _reason(candidate: Candidate) -> str:
    """Why a candidate failed: the last line of a traceback."""
    for fold in candidate.folds:
        if text := (fold.failure or fold.unscored).strip():
            return text.splitlines()[-1]
    return "a score is not finite"
