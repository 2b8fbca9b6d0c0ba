"""Searches under input noise: models that know of it beside one that does not, by their regret.

Evaluations happen near the points that are asked for, and values are told as if they had happened
there ("unknown") or with where they did ("told"). Methods of a run begin with the same points, and
its n-th trial is as far off, in its inputs and in its value, with all of them.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import sqrt
from typing import Any, TypeAlias

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments.comparison import corrected_p_values
from experiments.harness import Cell, Experiment, Row
from experiments.noisy_inputs_functions import FUNCTIONS, HALF, OUTPUT_STD, Function
from experiments.playbook import draw_band
from experiments.searches import initial_points
from outcrop.typing import Matrix, Vector

SURROGATES: dict[str, oc.surrogates.Kind | None] = {
    "gp": None,
    "Analytic": oc.surrogates.Analytic(),
    "NIGP": oc.surrogates.NIGP(),
    "RandFunc": oc.surrogates.RandFunc(),
    "UTGP": oc.surrogates.UTGP(),
    "UTGP full": oc.surrogates.UTGP(kind="full"),
}
METHODS = tuple(SURROGATES)
BASELINE = "gp"
FIRST = ("gp", "Analytic", "NIGP", "RandFunc")
UNSCENTED = ("UTGP", "UTGP full")  # which take longest in robust searches
TOLD = ("gp", "Analytic")  # what else is searched with, once places are told
OBJECTIVES = {"nominal": "sharp", "robust": "broad"}  # and the dip with the optimum of each
UNKNOWN = "unknown"
FIRST_SEED = 100  # shapes of the functions were chosen with lower ones
CHANCE = 104  # keeps what happens by chance apart from the streams of a search
PANEL = (3.5, 2.5)  # inches

Task: TypeAlias = tuple[str, str, str]  # objective, places, function
Found: TypeAlias = Mapping[str, Mapping[int, Row]]  # by method and run


def run(cell: Cell, number: int) -> Row:
    """A search, and how good what it recommended was on the way.

    The row holds for some numbers of trials the point recommended then, its regrets by itself and
    on average, and the dip it lies in; all values, and seconds of processor time.
    """
    function, number = FUNCTIONS[cell["function"]], FIRST_SEED + number
    n_initial = function.initial
    errors, noise = mishaps(function, number)
    optimizer = oc.Optimizer(
        function.space,
        method=oc.Method(SURROGATES[cell["method"]], initial=oc.initial.LatinHypercube(n_initial)),
        seed=number,
        robust=cell["objective"] == "robust",
        ask_seconds=None,
    )
    for params in initial_points(function.space, n_initial, number):
        optimizer.enqueue(params)
    values: list[float] = []
    seconds: list[float] = []
    looks: list[Row] = []
    fallbacks, recommending = 0, 0.0
    for n in range(1, function.trials + 1):
        begun = time.process_time()
        trial = optimizer.ask()
        if n > n_initial:
            seconds.append(round(time.process_time() - begun, 5))
        fallbacks += trial.why.get("source") == "fallback"
        at = {name: x + errors[n - 1, i] for i, (name, x) in enumerate(trial.params.items())}
        values.append(float(function(np.array([[*at.values()]]))[0] + noise[n - 1]))
        optimizer.tell(trial, values[-1], at=at if cell["places"] == "told" else None)
        if n >= n_initial and n % function.every == 0:
            begun = time.process_time()
            x = np.array([*optimizer.recommend().params.values()])
            recommending += time.process_time() - begun
            look = {"trials": n, "x": x.tolist(), **function.regrets(x), "dip": function.dip_of(x)}
            looks.append(look)
    return {
        "looks": looks,
        "values": values,
        "n_initial": n_initial,
        "seconds": seconds,
        "recommending": round(recommending, 3),
        "fallbacks": fallbacks,
    }


def mishaps(function: Function, number: int) -> tuple[Matrix, Vector]:
    """How far off inputs `(trials, d)` and values `(trials,)` of a run are."""
    rng = np.random.default_rng([number, CHANCE])
    errors = function.input_std * rng.normal(size=(function.trials, function.dimension))
    return errors, OUTPUT_STD * rng.normal(size=function.trials)


def by_task(rows: Iterable[Row]) -> dict[Task, Found]:
    """Searches of every task, by method and run; nominal ones and unknown places come first."""
    found: dict[Task, dict[str, dict[int, Row]]] = {}
    for row in rows:
        cell = row["cell"]
        task = found.setdefault((cell["objective"], cell["places"], cell["function"]), {})
        task.setdefault(cell["method"], {})[row["run"]] = row
    return {
        task: {method: found[task][method] for method in METHODS if method in found[task]}
        for task in product(OBJECTIVES, (UNKNOWN, "told"), FUNCTIONS)
        if task in found
    }


def last_regrets(runs: Mapping[int, Row], objective: str) -> dict[int, float]:
    """Of what each run recommended at its end."""
    return {number: float(row["looks"][-1][objective]) for number, row in runs.items()}


def report(rows: Sequence[Row]) -> str:
    found = by_task(rows)
    parts = [READING]
    for objective, dip in OBJECTIVES.items():
        those = {task[2]: each for task, each in found.items() if task[:2] == (objective, UNKNOWN)}
        if those:
            parts.append(f"## {objective.capitalize()} objective, places unknown")
            parts.append(regret_table(those, objective, dip))
            parts.append(f"![Regret, {objective}](../images/{picture_of(objective)}.png)")
    if any(places == "told" for _, places, _ in found):
        parts += ["## What it is worth to know the places", told_table(found), KNOWING]
    parts.append(FINDINGS)
    if lacking := not_run(found):
        parts.append(f"Not run: {'; '.join(lacking)}.")
    return "\n\n".join(parts)


def not_run(found: Mapping[Task, Found]) -> list[str]:
    """Searches without any result, among those of the experiment."""
    cells = [(c["objective"], c["places"], c["function"], c["method"]) for c in EXPERIMENT.cells]
    return [
        f"`{method}` on {function}, {objective}, places {places}"
        for objective, places, function, method in cells
        if method not in found.get((objective, places, function), {})
    ]


def regret_table(found: Mapping[str, Found], objective: str, dip: str) -> str:
    """A line for each function and method."""
    ends = {
        (function, method): last_regrets(runs, objective)
        for function, methods in found.items()
        for method, runs in methods.items()
    }
    p_values = corrected_p_values(
        {
            (function, method): (regrets, ends[function, BASELINE])
            for (function, method), regrets in ends.items()
            if method != BASELINE and (function, BASELINE) in ends
        }
    )
    lines = []
    for (function, method), regrets in ends.items():
        runs = found[function][method]
        line = [function, method, *described(regrets, runs, dip)]
        line += [f"{p_values[function, method]:.3f}" if (function, method) in p_values else ""]
        lines.append([*line, f"{seconds(runs):.3f}", str(fallbacks(runs))])
    header = ["function", "method", "runs", "regret", "median", f"in the {dip} dip"]
    return table([*header, "p", "s", "fallbacks"], lines)


def told_table(found: Mapping[Task, Found]) -> str:
    """A line for each search that was made both ways, with the p-value of their difference."""
    pairs = {
        (objective, function, method): (runs, found[objective, UNKNOWN, function][method])
        for (objective, places, function), methods in found.items()
        for method, runs in methods.items()
        if places == "told" and method in found.get((objective, UNKNOWN, function), {})
    }
    ends = {
        key: (last_regrets(told, key[0]), last_regrets(unknown, key[0]))
        for key, (told, unknown) in pairs.items()
    }
    p_values = corrected_p_values(ends)
    lines = []
    for key, both in pairs.items():
        dip = OBJECTIVES[key[0]]
        told, unknown = (
            described(regrets, runs, dip) for regrets, runs in zip(ends[key], both, strict=True)
        )
        lines.append([*key, *unknown, *told, f"{p_values[key]:.3f}" if key in p_values else ""])
    columns = ["runs", "regret", "median", "in its dip"]
    header = ["objective", "function", "method", *columns, *(f"{c}, told" for c in columns)]
    return table([*header, "p"], lines)


def described(regrets: Mapping[int, float], runs: Mapping[int, Row], dip: str) -> list[str]:
    """How many runs, the mean and its standard error, the median, and how many are in the dip."""
    numbers = list(regrets.values())
    inside = sum(row["looks"][-1]["dip"] == dip for row in runs.values())
    error = np.std(numbers) / sqrt(len(numbers))
    return [
        str(len(numbers)),
        f"{np.mean(numbers):.3f} ± {error:.3f}",
        f"{np.median(numbers):.4f}",
        f"{inside}/{len(runs)}",
    ]


def seconds(runs: Mapping[int, Row]) -> float:
    """Processor time per suggestion: the mean of a run, and of these the median."""
    return float(np.median([np.mean(row["seconds"]) for row in runs.values()]))


def fallbacks(runs: Mapping[int, Row]) -> int:
    return sum(row["fallbacks"] for row in runs.values())


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    found = by_task(rows)
    return {
        picture_of(objective): picture({t: f for t, f in found.items() if t[0] == objective})
        for objective in dict.fromkeys(task[0] for task in found)
    }


def picture(found: Mapping[Task, Found]) -> Any:
    """One panel for each function."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(PANEL[0] * len(FUNCTIONS), PANEL[1]), layout="constrained")
    panels = dict(zip(FUNCTIONS, figure.subplots(1, len(FUNCTIONS)), strict=True))
    lines = [*((method, UNKNOWN) for method in METHODS), (BASELINE, "told")]
    for (objective, places, function), methods in found.items():
        axes = panels[function]
        for method, runs in methods.items():
            if (method, places) in lines:
                looks = [row["looks"] for row in runs.values()]
                x = np.array([float(look["trials"]) for look in looks[0]])
                traces = np.array([[look[objective] for look in each] for each in looks])
                label = method if places == UNKNOWN else f"{method}, places told"
                draw_band(axes, lines.index((method, places)), label, x, traces)
        axes.set(title=f"{function}, {objective}", xlabel="trials", yscale="log")
    labelled = {line.get_label(): line for axes in panels.values() for line in axes.lines}
    figure.legend(labelled.values(), labelled, loc="outside right upper", fontsize="small")
    figure.axes[0].set_ylabel("regret (mean ± standard error)")
    return figure


def picture_of(objective: str) -> str:
    return f"noisy_inputs_{objective}"


def listed(numbers: Iterable[float]) -> str:
    """Of the functions in their order."""
    *others, last = (f"{number:g}" for number in numbers)
    return f"{', '.join(others)} and {last}"


NOISE = listed(100 * function.input_std for function in FUNCTIONS.values())
TRIALS = listed(function.trials for function in FUNCTIONS.values())
INITIAL = listed(function.initial for function in FUNCTIONS.values())
READING = f"""\
Functions on the unit cube with 1, 2 and 4 inputs, sums of Gaussian dips: a sharp one, in one
input about as wide as the noise, which is the deepest, and a broad one, which is the deepest
once the function is averaged over the noise. Every evaluation happens at the point that is asked
for plus Gaussian noise, which the space declares: {NOISE} % of the range. Values have noise
of standard deviation {OUTPUT_STD:g}. Where an evaluation happened is not told, unless it is said
otherwise. Searches have {TRIALS} trials, of which {INITIAL} are a Latin hypercube;
all other settings are defaults. A run has the same first points with all methods, and its n-th
trial the same noise.

- `gp` is the default and knows nothing of the noise in the inputs, the others are told how large it
  is. Its kernel, that of `NIGP` and both `UTGP` is Matérn-5/2; `Analytic` and `RandFunc` have the
  RBF kernel, which suits sums of Gaussian dips.
- The nominal objective is the function itself, the robust one (`robust=True`) its average over the
  noise; both are known in closed form. What is scored is `recommend()`, an evaluated configuration,
  without noise: by the function for nominal searches, by its average for robust ones.

Columns. regret: the score at the end less the minimum, mean and standard error over the runs, and
its median; in the dip: runs whose recommendation lies in the dip with the optimum, where that dip
alone is at least {100 * HALF:.0f} % of its depth; p: two-sided Wilcoxon test of the last regret,
paired by run, against `gp`, Holm over the table; s: seconds of processor time per suggestion, mean
of a run, median of the runs; fallbacks: suggestions made by something simpler after numerical
trouble, in all runs."""
KNOWING = """\
The same searches without and with `tell(at=…)`, which says exactly where an evaluation happened. A
model then has no noise in its inputs to know of. p: told against unknown, paired by run, Holm over
the table."""

FINDINGS = """\
## What is found

- No model differs from the plain process beyond chance, on any function, for either objective: for
  searches the thesis's conclusion holds that a plain process suffices, and it is the default.
- Robust searches end in the broad dip in 8 to 10 of 10 runs, nominal ones in the sharp dip in 0 to
  2: with places unknown it is all but invisible, since what is seen is the average.
- To know the places is worth more than any model: regrets fall in all twelve comparisons, eleven of
  them beyond chance; the robust ones to about a third or far less."""


def cells(methods: Iterable[str], places: str, objectives: Iterable[str]) -> list[Cell]:
    return [
        {"function": function, "objective": objective, "places": places, "method": method}
        for function in FUNCTIONS
        for objective in objectives
        for method in methods
    ]


EXPERIMENT = Experiment(
    "noisy_inputs_bo",
    "Searches under input noise: which model, and which optimum",
    [
        cells(FIRST, UNKNOWN, OBJECTIVES),
        cells(TOLD, "told", OBJECTIVES),
        cells(UNSCENTED, UNKNOWN, ["nominal"]),
        *(cells([method], UNKNOWN, ["robust"]) for method in UNSCENTED),
    ],
    run,
    report,
    draw,
    source="ours",
    summary="no model differs from the plain process; knowing the places does",
)
