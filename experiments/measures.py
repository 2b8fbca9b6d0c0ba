"""The numbers by which claims are judged, read from the rows of experiments.

What is compared is usually the method of a cell. A problem is everything else that the cell says.
"""

from __future__ import annotations

__all__ = [
    "best_error",
    "best_of",
    "best_share",
    "border_deviation",
    "gap",
    "lead",
    "log10_regret",
    "log10_regret_on_the_way",
    "log_regret",
    "missed",
    "modes",
    "of_models",
    "rank",
    "solved",
    "total",
]

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from experiments import async_vs_sync, playbook, playbook_tables, tree_figure2
from experiments.comparison import SOLVED
from experiments.harness import Row
from experiments.searches import problem_of
from experiments.verdicts import Found, Measure, Place
from outcrop.typing import Vector

GAP = (0.05, 0.02)
LOG_REGRET = (0.2, 0.1)  # 0.1 is the last digit of the thesis's tables
LOG10_REGRET = (0.3, 0.15)  # a factor of 2 on one problem
ERROR = (0.005, 0.005)  # one test case in 200
DEVIATION = (0.05, 0.05)  # of the mean deviation
DENSITY = (0.05, 0.05)  # nats for each test point
RANK = (0.5, 0.25)
SHARE = (0.1, 0.1)
NEAR = 0.01  # of the minimum of a tree: a search that has found a good solution


@cache
def gap(trials: int, each: int = 0) -> Measure:
    """The gap after so many trials; with `each`, after as many batches, initial points left out.

    Shorter searches do not count.
    """

    def length(row: Row) -> int:
        return row["n_initial"] + each * int(row["cell"]["batch"]) if each else trials

    def read(rows: Sequence[Row], by: str) -> Found:
        minimum = _minima(rows)
        known = [row for row in rows if len(row["values"]) >= length(row)]
        return _by_row(lambda row: _gap(row, minimum[row["cell"]["problem"]], length(row)))(
            known, by
        )

    return Measure(f"gap after {each} batches" if each else f"gap at {trials}", read, GAP)


@cache
def solved(trials: int) -> Measure:
    """1 if the gap is that of a solved problem after so many trials, else 0."""

    def read(rows: Sequence[Row], by: str) -> Found:
        minimum = _minima(rows)
        return _by_row(
            lambda row: float(_gap(row, minimum[row["cell"]["problem"]], trials) >= SOLVED)
        )(rows, by)

    return Measure(f"solved within {trials} trials", read, (0.0, 0.0))


@cache
def log_regret(steps: int) -> Measure:
    """Natural logarithm of the regret of simulated workers after so many evaluations."""
    read = _by_row(lambda row: float(playbook.log_regrets(row)[steps]))
    return Measure(f"ln regret at {steps}", read, LOG_REGRET, False, 2)


@cache
def log10_regret(trials: int) -> Measure:
    def number(row: Row) -> float:
        return float(_log10_regrets(row, trials)[-1])

    return Measure(f"log₁₀ regret at {trials}", _by_row(number), LOG10_REGRET, False, 2)


@cache
def log10_regret_on_the_way(trials: int) -> Measure:
    """The mean over all trials up to so many: how fast a search converges."""

    def number(row: Row) -> float:
        return float(_log10_regrets(row, trials)[row["n_initial"] :].mean())

    name = f"mean log₁₀ regret of trials up to {trials}"
    return Measure(name, _by_row(number), LOG10_REGRET, False, 2)


@cache
def missed(trials: int) -> Measure:
    """1 if a search of a tree has found nothing near the minimum after so many trials, else 0."""

    def number(row: Row) -> float:
        return float(_log10_regrets(row, trials)[-1] > np.log10(NEAR))

    name = f"farther than {NEAR} from the minimum after {trials} trials"
    return Measure(name, _by_row(number), (0.0, 0.0))


@cache
def best_error(trials: int) -> Measure:
    read = _by_row(lambda row: float(min(row["values"][:trials])))
    return Measure(f"error at {trials}", read, ERROR, False, 4)


@cache
def total(key: str, points: int) -> Measure:
    """A log density that a row holds as a sum over test points, for each point."""
    read = _by_row(lambda row: float(row[key]) / points)
    return Measure("log density per point", read, DENSITY, digits=2)


@cache
def lead(key: str, points: int, one: str, other: str) -> Measure:
    """By how much a method's log density is ahead of another's; problems are compared."""

    def read(rows: Sequence[Row], by: str) -> Found:
        found = {(r["cell"]["problem"], r["cell"]["method"], r["run"]): r[key] for r in rows}
        leads: dict[str, dict[Place, float]] = {}
        for problem, method, run in found:
            if method == one and (problem, other, run) in found:
                difference = found[problem, one, run] - found[problem, other, run]
                leads.setdefault(problem, {})[(), run] = difference / points
        return leads

    return Measure("lead in log density per point", read, DENSITY, digits=2)


@cache
def of_models(key: str, points: int, larger_is_better: bool = True) -> Measure:
    """A number of each model that one row holds for all of them, for each test point."""

    def read(rows: Sequence[Row], by: str) -> Found:
        found: dict[str, dict[Place, float]] = {}
        for row in rows:
            if "model" in row["cell"] or key not in row:  # of two models only, or of none
                continue
            for model, number in row[key].items():
                found.setdefault(model, {})[_place(row, by)] = number / points
        return found

    return Measure(f"{key} per point", read, DENSITY, larger_is_better, 2)


@cache
def rank(measure: Measure, among: tuple[str, ...]) -> Measure:
    """The place of a method among several, 1 the best; equal numbers share the mean of places."""
    from scipy.stats import rankdata

    def read(rows: Sequence[Row], by: str) -> Found:
        found = measure.read(rows, by)
        if not all(name in found for name in among):
            return {}
        places = sorted(set.intersection(*(set(found[name]) for name in among)))
        numbers = np.array([[found[name][place] for name in among] for place in places])
        ranks = rankdata(-numbers if measure.larger_is_better else numbers, axis=1)
        return {
            name: dict(zip(places, ranks[:, i].tolist(), strict=True))
            for i, name in enumerate(among)
        }

    return Measure(f"rank of {len(among)} by {measure.name}", read, RANK, False, 2)


@cache
def best_share(measure: Measure, among: tuple[str, ...]) -> Measure:
    """1 for the best of several methods, 0 for the others; equal ones share it."""

    def read(rows: Sequence[Row], by: str) -> Found:
        ranks = rank(measure, among).read(rows, by)
        return {
            name: {place: float(own == 1) for place, own in places.items()}
            for name, places in ranks.items()
        }

    return Measure(f"share of firsts by {measure.name}", read, SHARE, digits=2)


@cache
def best_of(measure: Measure, variants: tuple[str, ...], name: str) -> Measure:
    """The same measure with one more method: on each problem the variant with the best mean."""

    def read(rows: Sequence[Row], by: str) -> Found:
        found = measure.read(rows, by)
        if not all(variant in found for variant in variants):
            return found
        sign = 1 if measure.larger_is_better else -1
        runs_of: dict[tuple[tuple[str, str], ...], list[int]] = {}
        for problem, run in set.intersection(*(set(found[variant]) for variant in variants)):
            runs_of.setdefault(problem, []).append(run)
        best: dict[Place, float] = {}
        for problem, runs in runs_of.items():
            means = {v: sign * np.mean([found[v][problem, run] for run in runs]) for v in variants}
            chosen = found[max(means, key=lambda variant: means[variant])]
            best |= {(problem, run): chosen[problem, run] for run in runs}
        return {**found, name: best}

    return replace(measure, read=read)


@cache
def modes(equal: str) -> Measure:
    """Log regrets of asynchronous and synchronous searches, after equal time or evaluations."""
    after = {
        "time": async_vs_sync.after_equal_times,
        "evaluations": async_vs_sync.after_equal_evaluations,
    }[equal]

    def read(rows: Sequence[Row], by: str) -> Found:
        found: dict[str, dict[Place, float]] = {mode: {} for mode in async_vs_sync.MODES}
        pairs = async_vs_sync.by_setting(rows, playbook_tables.EXPERIMENT.rows())
        for (problem, workers, method), runs in pairs.items():
            cell = {"problem": problem, "workers": workers, "method": method}
            for mode, numbers in zip(async_vs_sync.MODES, after(runs), strict=True):
                for run, number in numbers.items():
                    found[mode][tuple(sorted(cell.items())), run] = number
        return found

    return Measure(f"ln regret after equal {equal}", read, LOG_REGRET, False, 2)


def border_deviation() -> Measure:
    """The standard deviation at borders of leaves, of that in the whole cube, at a search's end."""

    def read(rows: Sequence[Row], by: str) -> Found:
        known = [row for row in rows if row.get("border_deviation") is not None]
        return _by_row(lambda row: float(row["border_deviation"]))(known, by)

    return Measure("deviation at borders", read, DEVIATION, False, 2)


def _by_row(number: Callable[[Row], float]) -> Callable[[Sequence[Row], str], Found]:
    def read(rows: Sequence[Row], by: str) -> Found:
        found: dict[str, dict[Place, float]] = {}
        for row in rows:
            if by in row["cell"]:
                found.setdefault(row["cell"][by], {})[_place(row, by)] = number(row)
        return found

    return read


def _place(row: Row, by: str) -> Place:
    cell = {key: value for key, value in row["cell"].items() if key != by}
    return tuple(sorted(cell.items())), row["run"]


def _log10_regrets(row: Row, trials: int) -> Vector:
    """Of the best value after each trial."""
    minimum = problem_of(row["cell"]["problem"]).minimum
    assert minimum is not None
    return tree_figure2.logarithms(np.array(row["values"][:trials])[None, :], minimum)[0]


def _minima(rows: Sequence[Row]) -> dict[str, float]:
    """The minimum of each problem; where it is not known, the best value of all rows."""
    found: dict[str, float] = {}
    for row in rows:
        name = row["cell"]["problem"]
        found[name] = min(found.get(name, np.inf), *row["values"])
    for name in found:
        minimum = problem_of(name).minimum
        if minimum is not None:
            found[name] = minimum
    return found


def _gap(row: Row, minimum: float, trials: int) -> float:
    """As `Searches.gaps`, and 1 for a search whose initial points hold the minimum."""
    first = min(row["values"][: row["n_initial"]])
    return (
        float((first - min(row["values"][:trials])) / (first - minimum)) if first > minimum else 1.0
    )
