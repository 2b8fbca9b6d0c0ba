"""A sampler for Optuna that models conditional spaces, declared or inferred from the trials."""

from __future__ import annotations

__all__ = ["OutcropSampler"]

import logging
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from outcrop.effort import Effort
from outcrop.errors import MethodError, MissingExtra, ParamsError, SpaceError, SpaceExhausted
from outcrop.integrations.parameter_tree import Tree
from outcrop.integrations.tree_building import declared_tree
from outcrop.space import Float, Space
from outcrop.strategies import strategy_for
from outcrop.strategies.registry import MakesStrategies, MethodLike
from outcrop.study.argument_checks import (
    ASK_SECONDS,
    checked_ask_seconds,
    checked_noise,
    checked_seed,
)
from outcrop.study.thread_lock import ThreadLock
from outcrop.typing import JsonObject, Params, Rng

try:
    from optuna.distributions import BaseDistribution
    from optuna.samplers import BaseSampler, RandomSampler
    from optuna.study import Study, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError:
    raise MissingExtra(
        "the sampler for Optuna needs Optuna 5: pip install 'outcrop[optuna]'"
    ) from None

from outcrop.integrations import optuna_trials

logger = logging.getLogger(__name__)

SEEN = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL, TrialState.RUNNING)
TRIES = 3  # proposals for one trial, if other workers propose the same at the same time


class OutcropSampler(BaseSampler):
    """Bayesian optimisation of define-by-run objectives, conditional parameters included.

    >>> import optuna
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=OutcropSampler(seed=0))
    >>> def objective(trial):
    ...     if trial.suggest_categorical("model", ["linear", "mlp"]) == "linear":
    ...         return trial.suggest_float("shrinkage", 0, 1)
    ...     return 1 / trial.suggest_int("layers", 1, 4)
    >>> study.optimize(objective, n_trials=8)
    >>> study.sampler.space_of(study)
    Space({
        'model': Choice({'linear': {'shrinkage': Float(0.0, 1.0)}, 'mlp': {'layers': Int(1, 4)}}),
    })

    Without a `space`, the parameters and their conditions are inferred from the trials so far, and
    updated with every trial (see `conditions`). With a `space`, an objective requests parameters by
    flat names (`model.mlp.layers`) or last names (`layers`), and a request that contradicts the
    space is a `SpaceError`. `method`, `noise` and `ask_seconds` are those of a `Study`. The same
    seed and the same order of trials give the same suggestions; workers may share a seed.
    """

    def __init__(
        self,
        space: Space | None = None,
        method: MethodLike = "auto",
        seed: int | None = None,
        noise: bool | float | None = None,
        ask_seconds: float | None = ASK_SECONDS,
    ) -> None:
        if space is not None and not isinstance(space, Space):
            raise SpaceError(f"expected a Space or None, got {space!r}; write Space({{'x': …}})")
        if space is not None and space.constraints:
            raise SpaceError(
                f"a sampler cannot keep the constraints {[*space.constraints]}, since Optuna may "
                "fix or enqueue parameters; use outcrop.Study, or raise an exception "
                "in trials that violate them"
            )
        if space is None and not isinstance(method, str | MakesStrategies):
            raise MethodError(
                f"method={method!r} was made for one space; pass that space to OutcropSampler too"
            )
        strategy_for(method, space or Space({"x": Float(0.0, 1.0)}))  # refuses unknown names
        self._method = method
        self._seed = checked_seed(seed)
        self._noise = checked_noise(noise)
        self._ask_seconds = checked_ask_seconds(ask_seconds)
        self._space = space
        self._declared: tuple[Tree, dict[str, BaseDistribution]] | None = None
        if space is not None:
            tree, known = declared_tree(space), dict[str, BaseDistribution]()
            for item, _ in tree.walk():
                own = optuna_trials.distribution_of(space.parameters[item.names[0]])
                known |= dict.fromkeys(item.names, own)
            self._declared = tree, known
        self._warm: tuple[str, Space, JsonObject] | None = None
        self._turn = ThreadLock()  # one thread after the other, each with the trials before

    def space_of(self, study: Study) -> Space | None:
        """The given space, or that inferred from the trials of a study; None without trials."""
        if self._space is not None:
            return self._space
        trials = self._trials(study)
        tree, _ = optuna_trials.learnt_rows(trials, optuna_trials.newest_distributions(trials))
        return tree.space if tree.items else None

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """All known parameters, whether they can be active together or not."""
        if self._declared is not None:
            self._check_study(study)
            known = self._declared[1]
        else:
            known = optuna_trials.newest_distributions(self._trials(study, trial))
        return {
            name: distribution
            for name, distribution in known.items()
            if optuna_trials.parameter_of(distribution) is not None
        }

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """A suggestion: values of all parameters that are active in it."""
        if not search_space:
            return {}
        with self._turn:
            assignment = self._claimed(study, trial, search_space)
        return {
            name: distribution.to_external_repr(assignment[name])
            for name, distribution in search_space.items()
            if name in assignment
        }

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """A random value, for a parameter that the suggestion does not have."""
        self._check_study(study)
        if self._declared is not None:
            self._check_declared(trial, param_name, param_distribution)
        own = [self._seed, trial.number, zlib.crc32(param_name.encode())]
        seed = int(np.random.default_rng(own).integers(2**31))
        return RandomSampler(seed).sample_independent(study, trial, param_name, param_distribution)

    def reseed_rng(self) -> None:
        """Nothing: random numbers depend on the trial's number, which no two workers share."""

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_turn"}

    def __setstate__(self, state: JsonObject) -> None:
        vars(self).update(state)
        self._turn = ThreadLock()

    def _trials(self, study: Study, own: FrozenTrial | None = None) -> list[FrozenTrial]:
        """All trials that were started, except `own`."""
        self._check_study(study)
        number = None if own is None else own.number
        trials = [
            trial
            for trial in study.get_trials(deepcopy=False, states=SEEN)
            if trial.number != number
        ]
        for trial in trials:
            if trial.constraints:
                raise MethodError(
                    f"trial {trial.number} has constraints {trial.constraints}; OutcropSampler "
                    "supports none: add a penalty to the objective, or raise an error where a "
                    "constraint is violated"
                )
        return trials

    def _check_study(self, study: Study) -> None:
        if len(study.directions) > 1:
            raise MethodError(
                f"the study has {len(study.directions)} objectives: OutcropSampler supports one; "
                "use create_study(direction=…) with one, or another sampler"
            )

    def _check_declared(
        self, trial: FrozenTrial, name: str, distribution: BaseDistribution
    ) -> None:
        """Refuse a request of an objective that contradicts the declared space."""
        assert self._declared is not None
        tree, distributions = self._declared
        if name not in distributions:
            raise SpaceError(
                f"{name!r} is not in the space of OutcropSampler, which has {[*distributions]}; "
                "add it, or leave the space out to infer it"
            )
        if distribution != distributions[name]:
            raise SpaceError(
                f"{name!r} was requested as {distribution}, but the space declares it as "
                f"{distributions[name]}"
            )
        layers = [optuna_trials.raw_values(trial), optuna_trials.published(trial)]
        chosen = tree.assignment(tree.configuration(layers, lambda item: item.middle))
        if name not in chosen:
            raise SpaceError(
                f"{name!r} was requested, but in the space it is not active with {trial.params}; "
                "move it in the space, or leave the space out to infer it"
            )

    def _claimed(
        self, study: Study, trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]
    ) -> dict[str, float]:
        """A published proposal; nothing if other workers published the same one each time."""
        for _ in range(TRIES):
            trials = self._trials(study, trial)
            assignment = self._assignment(study, trial, trials, search_space)
            optuna_trials.publish(study, trial, assignment)
            known = {other.number for other in trials if optuna_trials.published(other)}
            later = [other for other in self._trials(study, trial) if other.number not in known]
            if not any(
                optuna_trials.published(other) == assignment
                for other in later
                if other.number < trial.number or other.params  # else the other one is repeated
            ):
                return assignment
        return {}

    def _assignment(
        self,
        study: Study,
        trial: FrozenTrial,
        trials: Sequence[FrozenTrial],
        search_space: Mapping[str, BaseDistribution],
    ) -> dict[str, float]:
        """The raw values that the method proposes, given all other trials."""
        if self._declared is not None:
            tree, distributions = self._declared
            rows = optuna_trials.declared_rows(trials, tree, distributions)
        else:
            tree, rows = optuna_trials.learnt_rows(trials, search_space)
        if not tree.items:
            return {}
        key = study.study_name, tree.space
        view = optuna_trials.view_of(
            tree,
            rows,
            sign=-1.0 if study.directions[0] == StudyDirection.MAXIMIZE else 1.0,
            number=trial.number,
            noise=self._noise,
            warm=self._warm[2] if self._warm is not None and self._warm[:2] == key else {},
            seed=self._seed,
        )
        rng = np.random.default_rng([self._seed, trial.number])
        try:
            view = replace(view, effort=Effort.within(self._ask_seconds))
            found = strategy_for(self._method, tree.space).propose(view, rng)
            params = found.params
            self._warm = (*key, found.warm or view.warm)
        except SpaceExhausted:
            logger.debug("every configuration is known: trial %d repeats one", trial.number)
            params = tree.space.sample(rng)
        return _with_fixed(tree, params, _fixed(trial, search_space), rng)


def _fixed(trial: FrozenTrial, search_space: Mapping[str, BaseDistribution]) -> dict[str, float]:
    """The legal raw values among those that a user fixed when enqueueing a trial."""
    found = {}
    for name, value in trial.system_attrs.get("fixed_params", {}).items():
        if name in search_space:
            try:
                found[name] = search_space[name].to_internal_repr(value)
            except ValueError:
                logger.info(
                    "trial %d: the fixed value %r of %r is not legal", trial.number, value, name
                )
    return found


def _with_fixed(
    tree: Tree, params: Params, fixed: Mapping[str, float], rng: Rng
) -> dict[str, float]:
    """The assignment of a configuration once some values are fixed.

    Where a fixed choice makes other parameters active, they are drawn at random.
    """
    proposed = tree.assignment(params)
    if not fixed:
        return proposed
    layers: Sequence[Mapping[str, float]] = [fixed, proposed]
    try:
        return tree.assignment(tree.configuration(layers, lambda item: item.draw(rng)))
    except ParamsError:  # a number out of its range; Optuna warns of it
        return proposed
