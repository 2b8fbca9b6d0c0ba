"""Tables 3.2 and 3.3 of the thesis: models that know of noise in their inputs, and that do not."""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from benchmarks.reporting import table
from experiments.comparison import corrected_p_values
from experiments.harness import Cell, Experiment, Row
from experiments.noisy_inputs import (
    FLOOR,
    FLOORED,
    MODELS,
    NOISE,
    TASKS,
    TESTED,
    floored_scores,
    scores,
)
from experiments.noisy_inputs_published import PUBLISHED, TESTED_THERE, mean_and_spread
from experiments.noisy_inputs_sweep import (
    BASELINE,
    SWEEP,
    Found,
    Setting,
    picture,
    picture_of,
    sweep_table,
)
from outcrop.typing import Matrix

SPREADS = ("0.05", "0.1")
TABLED = ("50", "100")
SWEPT, BETWEEN = ("10", "20", "30", "70"), ("40", "60", "80", "90")  # few points matter most
KINDS = ("log density", "squared error", "seconds")
SHARE = "noise share"  # of the variance of the values
COLLAPSED = 1e-4  # a share below which a process believes that values have no noise
ALL = (*MODELS, FLOORED)


def run(cell: Cell, number: int) -> Row:
    setting = cell["task"], float(cell["noise"]), int(cell["size"]), number
    if "model" in cell:
        floored = floored_scores(*setting)
        kinds = (*KINDS, SHARE)
        return {kind: {m: each[i] for m, each in floored.items()} for i, kind in enumerate(kinds)}
    found = scores(*setting)
    return {kind: {m: found[m][i] for m in MODELS} for i, kind in enumerate(KINDS)}


def by_setting(
    rows: Sequence[Row], kind: str, models: Sequence[str] = MODELS
) -> dict[Setting, Found]:
    """What each of the models has by setting and run; a model that a row lacks is left out."""
    found: dict[Setting, dict[str, dict[int, float]]] = {}
    for row in rows:
        cell = row["cell"]
        own = found.setdefault((cell["task"], cell["noise"], cell["size"]), {})
        for model in models:
            if model in row[kind]:
                own.setdefault(model, {})[row["run"]] = row[kind][model]
    return dict(sorted(found.items(), key=lambda each: _order(each[0])))


def tabled(rows: Sequence[Row], kind: str) -> dict[Setting, Found]:
    """All models in the settings of the tables; `RBF floor` is in rows of its own."""
    plain, floored = parted(rows)
    also = by_setting(floored, kind, [FLOORED])
    return {
        setting: {**own, **also.get(setting, {})}
        for setting, own in by_setting(plain, kind).items()
        if setting[2] in TABLED
    }


def parted(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Rows of all models, and rows of the plain process with and without a floor."""
    return (
        [row for row in rows if "model" not in row["cell"]],
        [row for row in rows if "model" in row["cell"]],
    )


def _order(setting: Setting) -> tuple[int, int, int]:
    task, spread, size = setting
    return TASKS.index(task), SPREADS.index(spread), int(size)


def report(rows: Sequence[Row]) -> str:
    parts = [READING, "## Which model predicts best", summary(rows), SUMMARY]
    if floored := parted(rows)[1]:
        parts += ["## A floor under the noise of the plain process", floor_table(floored), FLOORS]
    parts += ["## Figures 3.6 and 3.7: from 10 to 100 training points", SWEEP]
    parts += [sweep_table(by_setting(parted(rows)[0], KINDS[0]))]
    parts += [
        f"![Log density, input noise {spread}](../images/{picture_of(spread)}.png)"
        for spread in SPREADS
    ]
    for number, kind in enumerate(KINDS[:2], start=2):
        parts += [f"## Table 3.{number}: {kind} per test point"]
        parts += [score_table(tabled(rows, kind), kind)]
    return "\n\n".join([*parts, DISAGREEMENTS])


def score_table(found: Mapping[Setting, Found], kind: str) -> str:
    """Means and standard errors, what is published, and how they compare with the plain process."""
    p_values = against_baseline(found)
    lines = []
    for setting, own in found.items():
        task, spread, size = setting
        runs = max(map(len, own.values()))
        shown = [mean_and_error(list(own[m].values())) if m in own else "" for m in ALL]
        told = [_published(PUBLISHED.get((kind, *setting, model))) for model in ALL]
        p = [_p(p_values.get((*setting, model))) for model in ALL]
        lines.append([task, spread, size, f"{runs} runs", *shown])
        if any(told):
            lines.append(["", "", "", "published", *told])
        lines.append(["", "", "", "p", *p])
    return table(["task", "σ_x", "N", "", *ALL], lines)


def floor_table(rows: Sequence[Row]) -> str:
    """A line for each task and size, both noises of the inputs together."""
    density, share = (by_setting(rows, kind, ("RBF", FLOORED)) for kind in (KINDS[0], SHARE))
    groups = dict.fromkeys((task, size) for task, _, size in density)
    means: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for task, size in groups:
        both = [each for setting, each in density.items() if setting[::2] == (task, size)]
        means[task, size] = {
            m: {r: float(np.mean([each[m][r] for each in both])) / TESTED for r in _common(both, m)}
            for m in ("RBF", FLOORED)
        }
    p_values = corrected_p_values({g: (own[FLOORED], own["RBF"]) for g, own in means.items()})
    lines = []
    for (task, size), own in means.items():
        without, floored = own["RBF"], own[FLOORED]
        gains = [floored[r] - without[r] for r in without]
        shares = [
            value
            for spread in SPREADS
            for value in share.get((task, spread, size), {}).get("RBF", {}).values()
        ]
        collapsed = sum(value < COLLAPSED for value in shares)
        line = [task, size, f"{collapsed}/{len(shares)}"]
        line += [f"{np.mean(list(each.values())):.3f}" for each in (without, floored)]
        line += [f"{np.mean(gains):+.3f}", f"{np.median(gains):+.3f}"]
        lines.append([*line, f"{p_values[task, size]:.3f}"])
    header = ["task", "N", "collapsed", "RBF", FLOORED, "gain", "median gain", "p"]
    return table(header, lines)


def _common(settings: Sequence[Found], model: str) -> list[int]:
    """Runs that all of them have."""
    return sorted(set.intersection(*(set(own[model]) for own in settings)))


def against_baseline(found: Mapping[Setting, Found]) -> dict[tuple[str, ...], float]:
    return corrected_p_values(
        {
            (*setting, model): (own[model], own[BASELINE])
            for setting, own in found.items()
            for model in own
            if model != BASELINE
        }
    )


def mean_and_error(numbers: Sequence[float]) -> str:
    """Of sums over the test points, per test point."""
    mean, error = np.mean(numbers) / TESTED, np.std(numbers) / sqrt(len(numbers)) / TESTED
    return f"{mean:.3g} ({error:.2g})"


def _published(number: str | None) -> str:
    if number is None:
        return ""
    mean, spread = mean_and_spread(number)
    return f"{mean:.3g} ({spread:.2g})"


def _p(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def summary(rows: Sequence[Row]) -> str:
    """Over all settings of the tables: ranks, and where a model is ahead or behind for sure."""
    models = [m for m in ALL if all(m in own for own in tabled(rows, KINDS[0]).values())]
    lines = [[model] for model in models]
    for kind in KINDS[:2]:
        found = tabled(rows, kind)
        better = 1.0 if kind == KINDS[0] else -1.0
        ranked = ranks(found, models, better)
        p_values = against_baseline(found)
        for line, model, rank in zip(lines, models, ranked.mean(0), strict=True):
            line.append(f"{rank:.2f}")
            ahead, behind = 0, 0
            for setting, own in found.items():
                if p_values.get((*setting, model), 1.0) < 0.05:
                    gain = better * np.median([v - own[BASELINE][r] for r, v in own[model].items()])
                    ahead, behind = ahead + (gain > 0), behind + (gain < 0)
            line.append("" if model == BASELINE else f"{ahead} / {behind}")
    spent = {s: own for s, own in tabled(rows, KINDS[2]).items() if s[2] == "100"}
    for line, model in zip(lines, models, strict=True):
        seconds = [value for own in spent.values() for value in own[model].values()]
        line.append(f"{np.median(seconds):.2f}" if seconds else "")
    header = ["model", "rank, log density", "ahead / behind", "rank, squared error"]
    return table([*header, "ahead / behind", "s"], lines)


def ranks(found: Mapping[Setting, Found], models: Sequence[str], better: float) -> Matrix:
    """Ranks of the models, 1 the best, in every setting and run that all of them have."""
    from scipy.stats import rankdata

    rows = [
        [-better * own[model][run] for model in models]
        for own in found.values()
        for run in sorted(set.intersection(*(set(own[model]) for model in models)))
    ]
    return np.asarray(rankdata(rows, axis=1))


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    found = by_setting(parted(rows)[0], KINDS[0])
    return {picture_of(spread): picture(found, spread) for spread in SPREADS}


READING = f"""\
Regression, from chapter 3 of "Practical Bayesian optimisation for hyperparameter tuning" (Alvi
2019). Functions on [−1, 1]^d are evaluated at x + ε, ε ~ N(0, σ_x²) in every coordinate, and models
are told x and σ_x; values have noise of standard deviation {NOISE:g}. The models then say what they
expect at {TESTED} other points, exactly met. Numbers are the log density (learnt noise of the
values included) and the squared error of the mean, **per test point**: mean and in brackets
standard error; p: two-sided Wilcoxon test against `RBF`, paired by run, Holm over the table. All
models of a run see the same data.

- Published numbers are sums over the test points, divided here by {TESTED_THERE}. The text says 50
  points, but with 100 the squared errors per point of Michalewicz-4d agree with ours (0.201 and
  0.203 after 100 points). What the thesis has in brackets is called a standard error, and is about
  as large as our standard deviations over runs.
- `RBF` and `RatQuad` are plain processes. `UTGP` is the simple unscented process as the thesis has
  it, α = 10⁻³ and the spread between sigma data sets counted twice; with `α = 1` it is counted
  once, and `full` moves each observation by itself, which the thesis could not afford.
- Hyperparameters maximise the likelihood, from the best 10 of 80 points spread over orders of
  magnitude; lengthscales in [0.02, 10], one per dimension, variance in [10⁻⁶, 10³], noise variance
  in [10⁻⁸, 1]. Values are centred. The thesis has 10 random starts and does not print its bounds.
- `{FLOORED}` is `RBF` whose noise variance is at least {FLOOR:.0%} of the variance of the values.
  It is the only model with such a floor.
- RandFunc refuses lengthscales below σ_x; NIGP's recursion is solved for its fixed point.
- Drawn functions are new in every run; test and training points too. Pictures leave out what is far
  below the rest, and the floor."""
FLOORS = f"""\
Both σ_x together. collapsed: runs in which the noise variance that `RBF` learns is below
{COLLAPSED:g} of the variance of the values; log densities per test point without and with the
floor; gain: mean and median over the runs; p: two-sided Wilcoxon test of the gains, Holm over the
table."""
SUMMARY = """\
Ranks, 1 the best, over all settings of the tables below and all runs. ahead / behind: in how many
of the settings the model differs from `RBF` with p < 0.05, and in which direction; s: seconds of
processor time to fit 100 observations and to predict."""
DISAGREEMENTS = """\
## Where this differs from the thesis

- On known functions in one and two dimensions the published tables agree with training values at
  points that were **not** missed, not with those that the text describes: see [the test of
  it](noisy_inputs_exact.md). If so, the thesis's conclusion, that a plain process suffices under
  input noise, does not follow from its tables.
- The rows of drawn functions stay unexplained. Published squared errors in three dimensions are
  0.006 to 0.011 per point for `RBF`, ours 0.17 to 0.48; log densities differ by 1.2 to 2.9 nats.
  Whether points are missed or not does not account for it ([the test](noisy_inputs_exact.md)), and
  what the thesis's functions were is not known, beyond a kernel "with known hyperparameters" on "a
  large random grid". Ours in three and four dimensions have grids that are about as coarse as the
  lengthscale or coarser, so that between their nodes they are mostly what the process fitted to
  them makes of them. Two runs ended in another fit, and so in another function, when they were
  repeated; all models were run again on it.
- `RBF` has the second worst rank, and that is partly ours. In 254 of 880 runs its noise variance
  collapses below 10⁻⁴ of the variance of the values, its bound being 10⁻⁸: in most runs in eight
  dimensions, in about half of them with 50 points in four, in none or few in one and two. Given a
  floor of 5 % it is in the middle of the ranks, and nearer to the published numbers of Ackley and
  Michalewicz in four and eight dimensions (15 of 16 settings). The floor gains 0.45 nats per point
  in the mean, nothing in the median: few runs lose very much without it. It gains beyond chance on
  Ackley-4d, Michalewicz-4d and Michalewicz-8d with 50 points, and loses beyond chance on Branin and
  on draws in two dimensions with 100 points, where for σ_x = 0.05 the noise that data show is less.
  The thesis does not print its bound. The other models were not run with a floor; whether they
  would gain as much is not known.
- `Analytic` has the best rank and is nowhere significantly behind `RBF`.
- `NIGP` is far ahead where data determine a smooth function well, on Branin and draws in two
  dimensions: there noise is large where the function is steep, and only it says so. Where they do
  not, it can be sure and wrong, as in the thesis (draws in four dimensions, Michalewicz), though
  its recursion converges.
- Unscented processes are ahead with many dimensions and few points, and behind in one and two
  dimensions, where they flatten the mean. The former is largely what a floor does: where it gains
  more than 0.05 nats per point (24 % of runs), `UTGP α = 1` gains more than that too in 90 % of the
  runs, elsewhere in 19 %. With α = 1 and the spread counted once they are better than as published,
  whose means go astray for σ_x = 0.1; moving each point by itself (`full`) gains a little more
  density and costs nothing to speak of.
- `RandFunc` is as stable as the others. Its failures in the thesis come back with exact values
  ([the test](noisy_inputs_exact.md)): it is wrong where it is told of a noise that values do not
  have."""


def cells(sizes: Sequence[str]) -> list[Cell]:
    return [
        {"task": task, "noise": spread, "size": size}
        for task in TASKS
        for spread in SPREADS
        for size in sizes
    ]


EXPERIMENT = Experiment(
    "noisy_inputs_tables",
    "Noisy inputs: Tables 3.2 and 3.3",
    [
        cells(TABLED),
        [{**cell, "model": FLOORED} for cell in cells(TABLED)],
        cells(SWEPT),
        cells(BETWEEN),
    ],
    run,
    report,
    draw,
    source="Alvi 2019, ch. 3",
    summary="`Analytic` has the best rank; published rows differ (next)",
)
