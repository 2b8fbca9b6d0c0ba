"""Optuna's TPE and SMAC3, on any of our spaces without conditions, as experiments run them.

Both are set up as their documentation shows and told the same initial points as our methods. They
come with the extra `peers`.
"""

from __future__ import annotations

__all__ = ["PEERS", "peer_search"]

import logging
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from experiments.harness import Row
from outcrop.problems import Problem
from outcrop.space import Categorical, Float, Int, Ordinal, Space
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
        self.distributions = {
            name: _optuna_distribution(parameter) for name, parameter in space.parameters.items()
        }
        self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
        self.running: list[tuple[Params, Any]] = []

    def add(self, params: Params, value: float) -> None:
        from optuna.trial import create_trial

        trial = create_trial(params=dict(params), distributions=self.distributions, value=value)
        self.study.add_trial(trial)

    def ask(self) -> Params:
        trial = self.study.ask(self.distributions)
        self.running.append((dict(trial.params), trial))
        return self.running[-1][0]

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

        self.names = list(space.parameters)
        self.space = ConfigurationSpace(seed=seed)
        self.space.add([_smac_parameter(n, p) for n, p in space.parameters.items()])
        self.levels = {
            name: levels_of(parameter)
            for name, parameter in space.parameters.items()
            if isinstance(parameter, Categorical | Ordinal)
        }
        self.whole = {n for n, p in space.parameters.items() if isinstance(p, Int)}
        self.seed, self.trials = seed, trials
        self.known: list[tuple[Any, float]] = []
        self.facade: Any = None
        self.running: list[tuple[Params, Any]] = []

    def add(self, params: Params, value: float) -> None:
        from ConfigSpace import Configuration

        coded = {n: self._code(n, value) for n, value in params.items()}
        self.known.append((Configuration(self.space, values=coded), value))

    def ask(self) -> Params:
        if self.facade is None:
            self._start()
        info = self.facade.ask()
        params = {name: self._value(name, info.config[name]) for name in self.names}
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
                output_directory=tempfile.mkdtemp(prefix="smac-"),
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

    def _code(self, name: str, value: Any) -> Any:
        return self.levels[name].index(value) if name in self.levels else value

    def _value(self, name: str, code: Any) -> Any:
        if name in self.levels:
            return self.levels[name][int(code)]
        return int(code) if name in self.whole else float(code)


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


def levels_of(parameter: Any) -> list[Any]:
    return list(parameter.values if isinstance(parameter, Ordinal) else parameter.choices)


def _optuna_distribution(parameter: Any) -> Any:
    from optuna.distributions import (
        CategoricalDistribution,
        FloatDistribution,
        IntDistribution,
    )

    if isinstance(parameter, Categorical | Ordinal):
        return CategoricalDistribution(levels_of(parameter))
    kind = FloatDistribution if isinstance(parameter, Float) else IntDistribution
    return kind(parameter.low, parameter.high, log=parameter.log)


def _smac_parameter(name: str, parameter: Any) -> Any:
    """Levels are coded by their number: ConfigSpace takes few kinds of them."""
    from ConfigSpace import CategoricalHyperparameter, OrdinalHyperparameter
    from ConfigSpace import Float as SmacFloat
    from ConfigSpace import Integer as SmacInteger

    if isinstance(parameter, Categorical):
        return CategoricalHyperparameter(name, list(range(len(levels_of(parameter)))))
    if isinstance(parameter, Ordinal):
        return OrdinalHyperparameter(name, list(range(len(levels_of(parameter)))))
    bounds = (parameter.low, parameter.high)
    if isinstance(parameter, Int):
        return SmacInteger(name, bounds, log=parameter.log)
    return SmacFloat(name, bounds, log=parameter.log)
