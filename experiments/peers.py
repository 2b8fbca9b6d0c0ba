"""Optuna's TPE and GPSampler, SMAC3, BoTorch, HEBO and HyperOpt, as experiments run them.

All are set up as their documentation shows and told the same initial points as our methods. What
depends on a choice is known to them too: Optuna is asked for it only where it is active, and SMAC3
has it as a condition; BoTorch and HEBO have no such spaces, and HyperOpt is not told of them. They
come with the extra `peers`.
"""

from __future__ import annotations

__all__ = ["ALL_PEERS", "OF_DOCUMENTS", "PEERS", "gp_sampler", "peer_search", "tpe"]

import ctypes
import shutil
import tempfile
import time
import warnings
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from experiments.asked import taken
from experiments.botorch_peer import BoTorch
from experiments.harness import Row
from experiments.hebo_peer import HEBO
from experiments.hyperopt_peer import HyperOpt
from experiments.levels import coded, decoded, is_coded, levels
from outcrop.problems import Problem
from outcrop.space import Categorical, Choice, Float, Int, Ordinal, Space
from outcrop.space.discrete import Group
from outcrop.typing import Params

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # options of glibc's `mallopt`


class Peer(Protocol):
    """An optimiser that minimises."""

    def add(self, params: Params, value: float) -> None:
        """Take an initial value; all come before the first `ask`."""

    def ask(self) -> Params:
        """The next configuration; several may be asked for before any is told."""

    def tell(self, params: Params, value: float) -> None:
        """The value of a configuration that was asked for."""


class OptunaStudy:
    """A study of Optuna with one of its samplers."""

    def __init__(self, space: Space, sampler: Any) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.space = space
        self.study = optuna.create_study(sampler=sampler)
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
        self.study.tell(taken(self.running, params), value)


def tpe(space: Space, seed: int, trials: int, noisy: bool = False) -> OptunaStudy:
    """Optuna's `TPESampler` with its defaults."""
    from optuna.samplers import TPESampler

    return OptunaStudy(space, TPESampler(seed=seed))


def gp_sampler(space: Space, seed: int, trials: int, noisy: bool = False) -> OptunaStudy:
    """Optuna's `GPSampler`, which knows whether there is noise.

    The initial points that it is told take the place of its own random ones. What is not in all
    trials, as below a choice, it draws at random.
    """
    from optuna.samplers import GPSampler

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of its options are experimental
        sampler = GPSampler(
            seed=seed,
            n_startup_trials=0,
            deterministic_objective=not noisy,
            warn_independent_sampling=False,
        )
    return OptunaStudy(space, sampler)


class SMAC:
    """A facade of SMAC3, that for hyperparameters if no other: a random forest, a local search.

    It takes values as exact also where they are not, since it would spend trials on repetitions.
    Its forest runs in one thread, as all methods do; pools of threads change no value and make it
    slower.
    """

    def __init__(
        self,
        space: Space,
        seed: int,
        trials: int,
        noisy: bool = False,
        kind: str = "HyperparameterOptimizationFacade",
    ) -> None:
        from ConfigSpace import ConfigurationSpace

        self.own = space
        self.space = ConfigurationSpace(seed=seed)
        self.space.add([_smac_parameter(c.name, c.parameter) for c in space.columns])
        self.space.add(_smac_conditions(space, self.space))
        self.seed, self.trials = seed, trials
        self.known: list[tuple[Any, float]] = []
        self.kind = kind
        self.facade: Any = None
        self.running: list[tuple[Params, Any]] = []

    def add(self, params: Params, value: float) -> None:
        from ConfigSpace import Configuration

        active = [column for column in self.own.columns if column.name in params]
        values = {c.name: coded(c.parameter, params[c.name]) for c in active}
        self.known.append((Configuration(self.space, values=values), value))

    def ask(self) -> Params:
        from joblib import parallel_config

        with parallel_config(backend="sequential"):
            if self.facade is None:
                self._start()
            info = self.facade.ask()
        parameters = self.own.parameters
        params = self.own.validate(
            {name: decoded(parameters[name], code) for name, code in info.config.items()}
        )
        self.running.append((params, info))
        return params

    def tell(self, params: Params, value: float) -> None:
        self._tell(taken(self.running, params), value)

    def _start(self) -> None:
        """Made now, since the initial design must be known; its trials are told right away."""
        import smac
        from smac.initial_design.sobol_design import SobolInitialDesign

        keep_freed_memory()
        folder = tempfile.mkdtemp(prefix="smac-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scenario = smac.Scenario(
                self.space,
                deterministic=True,
                n_trials=self.trials,
                seed=self.seed,
                output_directory=Path(folder),
            )
            design = SobolInitialDesign(
                scenario, n_configs=0, additional_configs=[config for config, _ in self.known]
            )
            self.facade = getattr(smac, self.kind)(
                scenario,
                lambda config, seed=0: 0.0,
                initial_design=design,
                logging_level=False,  # it would silence the loggers of everybody else
                overwrite=True,
            )
        values = dict(self.known)
        for _ in self.known:
            info = self.facade.ask()
            self._tell(info, values[info.config])

    def _tell(self, info: Any, value: float) -> None:
        from smac.runhistory import TrialValue

        self.facade.tell(info, TrialValue(cost=value), save=False)


def keep_freed_memory() -> None:
    """Have the C library keep memory that is freed; only glibc is known to have this option.

    SMAC's trees are made with room for a million leaves, and two thirds of its time are spent on
    getting the same memory from the system again for each of them.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_MAX, 0)
        mallopt(M_TRIM_THRESHOLD, 2**31 - 1)


Made: TypeAlias = Callable[..., Peer]  # of the space, a seed, the trials, whether it is noisy
PEERS: dict[str, Made] = {
    "TPE": tpe,
    "GPSampler": gp_sampler,
    "SMAC": SMAC,
    "BoTorch": BoTorch,
    "HEBO": HEBO,
}
OF_DOCUMENTS: dict[str, Made] = {  # nearest to what documents compared with, of their time
    "HyperOpt": HyperOpt,
    "SMAC4AC": partial(SMAC, kind="AlgorithmConfigurationFacade"),
}
ALL_PEERS = PEERS | OF_DOCUMENTS


def peer_search(
    problem: Problem,
    peer: str,
    initial: Sequence[Params],
    trials: int,
    run: int,
    batch: int = 1,
    noisy: bool = False,
) -> Row:
    """As `searches.search`, by a peer; `batch` configurations are asked for before any is told."""
    optimizer = ALL_PEERS[peer](problem.space, run, trials, noisy)
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
                trial.suggest_categorical(name, levels(parameter))
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
    if is_coded(parameter):
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
