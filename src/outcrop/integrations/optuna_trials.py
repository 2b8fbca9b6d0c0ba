"""Conversion of Optuna's distributions and trials to parameters, trees and a strategy's view.

Raw values are Optuna's internal ones. An unfinished trial is completed with the assignment that its
sampler published when it was suggested, so that other workers can use all its parameters.
"""

from __future__ import annotations

__all__ = [
    "TrialRow",
    "declared_rows",
    "distribution_of",
    "learnt_rows",
    "newest_distributions",
    "parameter_of",
    "publish",
    "published",
    "raw_values",
    "view_of",
]

import json
import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from outcrop.errors import ParamsError, SpaceError
from outcrop.integrations.conditions import Sighting, conditions_of
from outcrop.integrations.parameter_tree import Item, Tree
from outcrop.integrations.tree_building import chooser_of, grown, labelled, value_item
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Parameter
from outcrop.strategies.base import View
from outcrop.typing import JsonObject, Mask, Params

logger = logging.getLogger(__name__)

PUBLISHED = "outcrop:assignment"  # a system attribute of a trial, continued in "…:1", "…:2"
END = ""  # after the last part, since an earlier assignment may have had more parts
CHUNK = 1000  # characters; Optuna's limit for an attribute is 2045 with quotes escaped


class TrialRow(NamedTuple):
    """A trial and its configuration in the tree."""

    trial: FrozenTrial
    params: Params  # nested


# Distributions


def parameter_of(distribution: BaseDistribution) -> Parameter | None:
    """The parameter of a distribution; None if a model cannot use it.

    Those are constants, and numbers with more values than a float can distinguish.
    """
    if distribution.single():
        return None
    try:
        match distribution:
            case CategoricalDistribution(choices=choices):
                return labelled(choices)
            case FloatDistribution(low=low, high=high, log=log, step=step):
                return Float(low, high, log=log, step=step)
            case IntDistribution(low=low, high=high, log=log, step=step):
                return Int(low, high, log=log, step=step)
    except SpaceError as error:
        logger.debug("a parameter is drawn at random: %s", error)
    return None


def distribution_of(parameter: Parameter) -> BaseDistribution:
    """The distribution with which an objective requests a parameter of a declared space."""
    match parameter:
        case Float(low=low, high=high, log=log, step=step):
            return FloatDistribution(low, high, log=log, step=step)
        case Int(low=low, high=high, log=log, step=step):
            return IntDistribution(low, high, log=log, step=step)
        case Categorical(choices=levels) | Ordinal(values=levels) | Choice(names=levels):
            return _categories(levels)
        case Fixed(value=value):
            return _categories((value,))
    raise SpaceError(f"{parameter!r} has no counterpart in Optuna")


def _categories(levels: Sequence[Any]) -> CategoricalDistribution:
    return CategoricalDistribution(levels)  # warns of tuples, which Optuna cannot store


def newest_distributions(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The newest distribution of each parameter, in the order of their first requests."""
    found: dict[str, BaseDistribution] = {}
    for trial in trials:
        found.update(trial.distributions)
    return found


# Values of a trial


def raw_values(trial: FrozenTrial) -> dict[str, float]:
    """The raw values that a trial has so far."""
    return {
        name: trial.distributions[name].to_internal_repr(value)
        for name, value in trial.params.items()
    }


def publish(study: Study, trial: FrozenTrial, assignment: Mapping[str, float]) -> None:
    """Store a trial's assignment for other workers, before its objective requests the values."""
    text = json.dumps(assignment)
    chunks = [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]
    for i, chunk in enumerate([*chunks, END]):
        # There is no public way; Optuna's own samplers do the same.
        study._storage.set_trial_system_attr(trial._trial_id, f"{PUBLISHED}:{i}", chunk)


def published(trial: FrozenTrial) -> dict[str, float]:
    """The assignment that `publish` stored, or an empty one."""
    parts: list[str] = []
    while part := trial.system_attrs.get(f"{PUBLISHED}:{len(parts)}", END):
        parts.append(part)
    try:
        return dict(json.loads("".join(parts))) if parts else {}
    except ValueError:  # only a part of it is there yet
        return {}


# Trials as rows


def learnt_rows(
    trials: Sequence[FrozenTrial], distributions: Mapping[str, BaseDistribution]
) -> tuple[Tree, list[TrialRow]]:
    """The tree of the parameters in `distributions`, inferred from trials, and the trials in it.

    Trials with a value outside of `distributions` are left out.
    """
    parameters = {
        name: parameter
        for name, distribution in distributions.items()
        if (parameter := parameter_of(distribution)) is not None
    }
    known: list[tuple[FrozenTrial, dict[str, float]]] = []
    for trial in trials:
        raw = {name: value for name, value in raw_values(trial).items() if name in parameters}
        if _legal(raw, parameters) == raw:
            known.append((trial, raw))
        else:
            logger.debug("trial %d is outside the newest ranges and is left out", trial.number)
    choosers = {
        name: chooser
        for name, parameter in parameters.items()
        if (chooser := chooser_of(parameter)) is not None
    }
    sightings = [
        Sighting(raw, whole=trial.state == TrialState.COMPLETE) for trial, raw in known if raw
    ]
    tree = grown(parameters, conditions_of(parameters, choosers, sightings))
    rows = []
    for trial, raw in known:
        layers = [raw]
        if trial.state != TrialState.COMPLETE:
            layers.append(_legal(published(trial), parameters))
        if any(layers):
            rows.append(TrialRow(trial, tree.configuration(layers, _middle)))
    return tree, rows


def declared_rows(
    trials: Sequence[FrozenTrial], tree: Tree, distributions: Mapping[str, BaseDistribution]
) -> list[TrialRow]:
    """The trials in a declared tree; `SpaceError` if a completed one contradicts it.

    Other trials that contradict it are left out: usually they failed for that reason.
    """
    rows = []
    for trial in trials:
        complete = trial.state == TrialState.COMPLETE
        layers = [raw_values(trial)]
        if not complete:
            layers.append(published(trial))
        try:
            _check_distributions(trial, distributions)
            if any(layers):
                params = tree.configuration(layers, _missing if complete else _middle)
                _check_active(trial, tree.assignment(params))
                rows.append(TrialRow(trial, params))
        except ParamsError as error:
            if complete:
                raise SpaceError(
                    f"trial {trial.number} contradicts the space of OutcropSampler: {error}; "
                    "declare the space as the objective requests it, leave it out to infer it, or "
                    "start a new study"
                ) from None
    return rows


def _legal(raw: Mapping[str, float], parameters: Mapping[str, Parameter]) -> dict[str, float]:
    """The legal values of `parameters`."""
    found = {}
    for name, value in raw.items():
        if name in parameters:
            try:
                value_item(name, name, parameters[name]).value(value)
            except ParamsError:
                continue
            found[name] = value
    return found


def _middle(item: Item) -> float:
    return item.middle


def _missing(item: Item) -> float:
    raise ParamsError(f"{item.names[0]!r} is missing")


def _check_distributions(trial: FrozenTrial, distributions: Mapping[str, BaseDistribution]) -> None:
    for name, distribution in trial.distributions.items():
        if name not in distributions:
            raise ParamsError(f"{name!r} (= {trial.params[name]!r}) is not in the space")
        if distribution != distributions[name] and not distribution.single():
            raise ParamsError(
                f"{name!r} was requested as {distribution}, but declared as {distributions[name]}"
            )


def _check_active(trial: FrozenTrial, assignment: Mapping[str, float]) -> None:
    for name, value in trial.params.items():
        if name not in assignment:
            raise ParamsError(
                f"{name!r} (= {value!r}) is not active with the choices of {trial.params}"
            )


# The view


def view_of(
    tree: Tree,
    rows: Sequence[TrialRow],
    *,
    sign: float,
    number: int,
    noise: bool | float | None,
    warm: JsonObject,
    seed: int,
) -> View:
    """The trials as a strategy's view; `sign` makes smaller values better.

    A pruned trial counts with its last value, clipped to the range from the median to the worst of
    the completed ones: it was stopped because it was not promising, and its last value is not its
    final one. Infinite values are failures.
    """
    space = tree.space
    X = space.encode([row.params for row in rows]).X
    values = np.array([_value(row.trial, sign) for row in rows], dtype=float)

    def are(state: TrialState) -> Mask:
        return np.array([row.trial.state == state for row in rows], dtype=bool)

    ended, finite, pruned = are(TrialState.COMPLETE), np.isfinite(values), are(TrialState.PRUNED)
    complete = ended & finite
    told = complete
    if complete.any():
        told = complete | pruned
        middle, worst = np.median(values[complete]), values[complete].max()
        bounded = np.clip(np.where(np.isnan(values), middle, values), middle, worst)
        values = np.where(pruned, bounded, values)
    return View(
        number=number,
        X=X[told],
        y=values[told] + 0.0,  # never -0.0
        std=np.full(int(told.sum()), math.nan),
        pending=X[are(TrialState.RUNNING)],
        failed=X[are(TrialState.FAIL) | (ended & ~finite)],
        known=frozenset(space.keys(X)),
        noise=noise,
        warm=warm,
        seed=seed,
        sign=sign,
    )


def _value(trial: FrozenTrial, sign: float) -> float:
    return math.nan if trial.value is None else sign * trial.value
