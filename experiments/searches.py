"""A search as experiments run it: a method on a problem, from initial points that others share.

A run is known by its number, which seeds the initial points and the method. Methods of one run
start from the same points, so that they can be compared in pairs.
"""

from __future__ import annotations

__all__ = ["FIELDS", "field_of", "initial_points", "problem_of", "search"]

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import outcrop as oc
from experiments import geostatistics, network_tuning, robot_pushing, tables, tuning
from experiments.harness import Row
from experiments.landscapes import LANDSCAPES
from experiments.unbent import Unbent
from experiments.wide_problems import WIDE, wide_problem
from outcrop import problems, strategies
from outcrop.problems import Problem
from outcrop.typing import Params

MEASURED = {
    "boosting-digits": tuning.boosting_digits,
    "hpnnet": tables.hpnnet,
    "lda": tables.lda,
    "lda-surrogate": tables.lda_surrogate,
    "logreg": tables.logistic_regression,
    "logreg-surrogate": tables.logistic_regression_surrogate,
    "nn-boston": network_tuning.nn_boston,
    "nn-climate": network_tuning.nn_climate,
    "nn-yacht": tuning.nn_yacht,
    "nrobot-4": robot_pushing.robot_pushing,  # its name in the thesis
    "robot-pushing": robot_pushing.robot_pushing,
    "svm": tables.svm,
    "svm-boston": tuning.svm_boston,
}


FIELDS = {"babbitt-copper": geostatistics.babbitt_copper, "walker-lake": geostatistics.walker_lake}


@lru_cache
def problem_of(name: str) -> Problem:
    """A test problem, or one whose values are measured, beforehand or now."""
    if name in FIELDS:
        return field_of(name).problem
    if name in WIDE:
        return wide_problem(name)
    made = {**MEASURED, **LANDSCAPES}
    return made[name]() if name in made else problems.get(name)


@lru_cache
def field_of(name: str) -> geostatistics.TableProblem:
    return FIELDS[name]()


def initial_points(
    space: oc.Space, n: int, run: int, design: oc.initial.Design | None = None
) -> list[Params]:
    """`n` different points: the design that a study with the seed `run` starts from.

    A Latin hypercube, unless it is another.
    """
    sized = replace(design or oc.initial.LatinHypercube(), size=n)
    method = strategies.Sequence(space, sized)
    return [trial.params for trial in oc.Optimizer(space, method=method, seed=run).ask(n)]


def search(
    problem: Problem,
    method: Any,
    initial: Sequence[Params],
    trials: int,
    run: int,
    batch: int = 1,
    noisy: bool = False,
    bent: bool = True,
) -> Row:
    """Minimise until there are `trials` values, the initial ones included.

    `batch` trials are asked for before any of them is told. The row holds all values in their
    order, the number of initial ones, the seconds of processor time that each suggestion took
    (others may keep the processor waiting), and how many suggestions fell back on something simpler
    after numerical trouble. A method that has a design of its own should give it the size of
    `initial`, or it is finished first. If values are `noisy`, their noise is estimated, and the row
    holds the number of the trial that is recommended at the end. Methods of documents get values
    that are not `bent`.
    """
    noise = None if noisy else False
    optimizer = oc.Optimizer(
        problem.space,
        method=method if bent else Unbent(method),
        seed=run,
        noise=noise,
        ask_seconds=None,  # results must not depend on the speed of a machine
    )
    values = [problem(params) for params in initial]
    optimizer.add(list(initial), values)
    seconds: list[float] = []
    fallbacks = 0
    while len(values) < trials:
        asked = []
        for _ in range(min(batch, trials - len(values))):
            begun = time.process_time()
            asked.append(optimizer.ask())
            seconds.append(round(time.process_time() - begun, 5))
        for trial in asked:
            fallbacks += trial.why.get("source") == "fallback"
            values.append(problem(trial.params))
            optimizer.tell(trial, values[-1])
    return {
        "values": values,
        "n_initial": len(initial),
        "seconds": seconds,
        "fallbacks": fallbacks,
        **({"recommended": optimizer.recommend().trial.number} if noisy else {}),
    }
