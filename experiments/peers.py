"""Optuna's TPE and SMAC3, on any of our spaces, as experiments run them.

Both are set up as their documentation shows and told the same initial points as our methods. What
depends on a choice is known to them too: Optuna is asked for it only where it is active, and SMAC3
has it as a condition. They come with the extra `peers`.
"""

from __future__ import annotations

__all__ = ["PEERS", "peer_search"]

import logging
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from experiments.harness import Row
from outcrop.problems import Problem
from outcrop.space import Categorical, Choice, Float, Int, Ordinal, Space
from outcrop.space.discrete import Group
from outcrop.typing import Params


class Peer(Protocol):
    """An optimiser that minimises."""

    def add(self, params: Params, value: float) -> None:
        """Take an initial value; all come before the first `ask`."""

    def ask(self) -> Params:
        """The next configuration; several may be asked for before any is told."""

    def tell(self, params: Params, value: float) -> None:
        """The value of a configuration that was asked for."""


class TPE:
    """Optuna's `TPESampler` with its defaults."""

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.space = space
        self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        self.running: list[tuple[Params, Any]] = []

    def add(self, params: Params, value: float) -> None:
        from optuna.trial import FixedTrial, create_trial

        given = FixedTrial(dict(params))
        suggest(given, self.space.declared)
        known = create_trial(params=given.params, distributions=given.distributions, value=value)
        self.study.add_trial(known)

    def ask(self) -> Params:
        trial = self.study.ask()
        suggest(trial, self.space.declared)
        params = self.space.validate(trial.params)
        self.running.append((params, trial))
        return params

    def tell(self, params: Params, value: float) -> None:
        for i, (own, trial) in enumerate(self.running):
            if own is params:
                self.study.tell(trial, value)
                del self.running[i]
                return


class SMAC:
    """SMAC3's facade for hyperparameters: a random forest, its own local search."""

    def __init__(self, space: Space, seed: int, trials: int) -> None:
        from ConfigSpace import ConfigurationSpace

        self.own = space
        self.space = ConfigurationSpace(seed=seed)
        self.space.add([_smac_parameter(c.name, c.parameter) for c in space.columns])
        self.space.add(_smac_conditions(space, self.space))
        self.seed, self.trials = seed, trials
        self.known: list[tuple[Any, float]] = []
        self.facade: Any = None
        self.running: list[tuple[Params, Any]] = []

    def add(self, params: Params, value: float) -> None:
        from ConfigSpace import Configuration

        active = [column for column in self.own.columns if column.name in params]
        coded = {c.name: _code(c.parameter, params[c.name]) for c in active}
        self.known.append((Configuration(self.space, values=coded), value))

    def ask(self) -> Params:
        if self.facade is None:
            self._start()
        info = self.facade.ask()
        parameters = self.own.parameters
        params = self.own.validate(
            {name: _value(parameters[name], code) for name, code in info.config.items()}
        )
        self.running.append((params, info))
        return params

    def tell(self, params: Params, value: float) -> None:
        for i, (own, info) in enumerate(self.running):
            if own is params:
                self._tell(info, value)
                del self.running[i]
                return

    def _start(self) -> None:
        """Made now, since the initial design must be known; its trials are told right away."""
        from smac import HyperparameterOptimizationFacade, Scenario

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scenario = Scenario(
                self.space,
                deterministic=True,
                n_trials=self.trials,
                seed=self.seed,
                output_directory=Path(tempfile.mkdtemp(prefix="smac-")),
            )
            design = HyperparameterOptimizationFacade.get_initial_design(
                scenario, n_configs=0, additional_configs=[config for config, _ in self.known]
            )
            self.facade = HyperparameterOptimizationFacade(
                scenario,
                lambda config, seed=0: 0.0,
                initial_design=design,
                logging_level=logging.ERROR,
                overwrite=True,
            )
        values = dict(self.known)
        for _ in self.known:
            info = self.facade.ask()
            self._tell(info, values[info.config])

    def _tell(self, info: Any, value: float) -> None:
        from smac.runhistory import TrialValue

        self.facade.tell(info, TrialValue(cost=value))


PEERS: dict[str, Callable[[Space, int, int], Peer]] = {"TPE": TPE, "SMAC": SMAC}


def peer_search(
    problem: Problem, peer: str, initial: Sequence[Params], trials: int, run: int, batch: int = 1
) -> Row:
    """As `searches.search`, by a peer; `batch` configurations are asked for before any is told."""
    optimizer = PEERS[peer](problem.space, run, trials)
    values = [problem(params) for params in initial]
    for params, value in zip(initial, values, strict=True):
        optimizer.add(params, value)
    seconds: list[float] = []
    while len(values) < trials:
        asked = []
        for _ in range(min(batch, trials - len(values))):
            begun = time.process_time()
            asked.append(optimizer.ask())
            seconds.append(round(time.process_time() - begun, 5))
        for params in asked:
            values.append(problem(params))
            optimizer.tell(params, values[-1])
    return {"values": values, "n_initial": len(initial), "seconds": seconds, "fallbacks": 0}


def suggest(trial: Any, group: Group, prefix: str = "") -> None:
    """Have an Optuna trial decide on all that is active, in the order of the declaration."""
    for short, parameter in group.items():
        name = prefix + short
        match parameter:
            case Choice():
                option = trial.suggest_categorical(name, parameter.names)
                suggest(trial, parameter.options[option], f"{name}.{option}.")
            case Categorical() | Ordinal():
                trial.suggest_categorical(name, _levels(parameter))
            case Float() | Int():
                ask = trial.suggest_float if isinstance(parameter, Float) else trial.suggest_int
                ask(name, parameter.low, parameter.high, log=parameter.log, step=parameter.step)


def _smac_parameter(name: str, parameter: Any) -> Any:
    from ConfigSpace import CategoricalHyperparameter, OrdinalHyperparameter
    from ConfigSpace import Float as SmacFloat
    from ConfigSpace import Integer as SmacInteger

    if isinstance(parameter, Categorical | Choice):
        return CategoricalHyperparameter(name, list(range(parameter.levels)))
    if isinstance(parameter, Ordinal):
        return OrdinalHyperparameter(name, list(range(parameter.levels)))
    if _is_coded(parameter):
        return SmacInteger(name, (0, parameter.levels - 1))
    kind = SmacInteger if isinstance(parameter, Int) else SmacFloat
    return kind(name, (parameter.low, parameter.high), log=parameter.log)


def _smac_conditions(space: Space, made: Any) -> list[Any]:
    """What must be chosen; a choice that is not active itself has nothing active below it."""
    from ConfigSpace import EqualsCondition

    innermost = [
        (column.name, *column.conditions[-1]) for column in space.columns if column.conditions
    ]
    return [
        EqualsCondition(made[name], made[space.columns[choice].name], code)
        for name, choice, code in innermost
    ]


def _is_coded(parameter: Any) -> bool:
    """Whether SMAC has the number of a value: ConfigSpace takes few kinds of levels, no steps."""
    match parameter:
        case Float():
            return parameter.step is not None
        case Int():
            return parameter.step > 1
    return True


def _code(parameter: Any, value: Any) -> Any:
    return parameter.index(value) if _is_coded(parameter) else value


def _value(parameter: Any, code: Any) -> Any:
    if not _is_coded(parameter):
        return code
    is_number = isinstance(parameter, Float | Int)
    return parameter.at(int(code)) if is_number else _levels(parameter)[int(code)]


def _levels(parameter: Any) -> list[Any]:
    match parameter:
        case Choice():
            return list(parameter.names)
        case Ordinal():
            return list(parameter.values)
    return list(parameter.choices)
