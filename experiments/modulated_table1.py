"""Table 1 of the document on modulated surrogates: the gap of five surrogates.

All share an isotropic Matérn-5/2 kernel, priors, sampler, an acquisition and its search by covers;
they differ in what becomes of what the process cannot explain. The acquisition is expected
improvement, or the lower confidence bound of methods whose name ends in `-LCB`. A search has 100
evaluations, and its first 50 are those of the document's table with 50. `READING` says how what the
document leaves open was decided.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "named", "searched_by"]

from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

import outcrop as oc
from benchmarks.comparison import paired_p_value
from benchmarks.reporting import table
from experiments.comparison import Searches, by_method, extent, gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.priors import TruncatedLogNormal
from experiments.robot_pushing import robot_pushing
from experiments.searches import initial_points, problem_of, search
from outcrop.acquisition import EI, LCB, Acquisition
from outcrop.baselines import DeltaCover
from outcrop.inference import Slice
from outcrop.kernels import BetaCDF, Matern52, Scaled, Warp
from outcrop.maximise.base import Maximises
from outcrop.params import free
from outcrop.priors import Horseshoe, LogNormal
from outcrop.strategies.initial import LatinHypercube
from outcrop.surrogates import GP, Heteroscedastic, HeteroscedasticGP, Inferred, Latent, Surrogate

LENGTHSCALE = TruncatedLogNormal(log(0.3), 1.0, 0.02, 5.0)
AMPLITUDE = LogNormal(0.0, 2.0)  # of s², so that ln s ~ N(0, 1)
SHAPES = TruncatedLogNormal(0.0, 1.5, 0.1, 10.0)
NOISE = Horseshoe(0.1)
JITTER = 1e-6
INFERENCE = Slice(chains=10, burn_in=32, sweeps=3)
ACQUISITIONS: dict[str, Acquisition] = {"": EI(), "-LCB": LCB(2.0)}  # 2 is GPyOpt's default
SIGNIFICANT = 0.05


def gp(noise: object = JITTER) -> GP:
    """The process that all surrogates begin with; numbers share a lengthscale."""
    kernel = Scaled(free(AMPLITUDE), Matern52(free(LENGTHSCALE, size=1)))
    return GP(kernel, noise=noise)  # type: ignore[arg-type]


def warped(d: int) -> GP:
    shapes = free(SHAPES, size=d)
    inner = Warp(shapes, shapes, Matern52(free(LENGTHSCALE, size=1)), BetaCDF())
    return GP(Scaled(free(AMPLITUDE), inner), noise=JITTER)


WARPED = "Warped GP"
METHODS: dict[str, Callable[[int], Surrogate]] = {
    "GP": lambda d: Inferred(gp(), INFERENCE),
    WARPED: lambda d: Inferred(warped(d), INFERENCE),
    "Homosced GP": lambda d: Inferred(gp(free(NOISE)), INFERENCE),
    "Heterosced GP": lambda d: Inferred(
        HeteroscedasticGP(gp().kernel, free(Heteroscedastic().level)), INFERENCE
    ),
    "LGP": lambda d: Latent().fitted(gp().kernel, JITTER, INFERENCE, d),
}
# Mean gaps of 20 runs, in the order of METHODS; the second half has no warped GP.
PUBLISHED: dict[int, dict[str, tuple[float, ...]]] = {
    50: {
        "hartmann-6": (0.959, 0.537, 0.881, 0.973, 0.937),
        "griewank-2": (0.914, 0.493, 0.752, 0.913, 0.897),
        "shubert": (0.378, 0.158, 0.378, 0.480, 0.593),
        "ackley-2": (0.924, 0.274, 0.892, 0.912, 0.927),
        "cross-in-tray": (0.954, 0.385, 0.929, 0.977, 0.945),
        "holder-table": (0.939, 0.896, 0.900, 0.931, 0.993),
        "corrupted-holder-table": (0.741, 0.798, 0.826, 0.729, 0.896),
    },
    100: {
        "branin": (1.000, np.nan, 1.000, 1.000, 1.000),
        "branin02": (0.991, np.nan, 0.964, 0.990, 0.981),
        "beale": (0.987, np.nan, 0.982, 0.987, 0.988),
        "hartmann-6": (0.987, np.nan, 0.947, 0.984, 0.979),
        "griewank-2": (0.967, np.nan, 0.875, 0.969, 0.946),
        "levy-2": (0.997, np.nan, 0.999, 0.998, 0.998),
        "deflected-corrugated-spring-10": (0.347, np.nan, 0.840, 0.406, 0.697),
        "shubert": (0.510, np.nan, 0.511, 0.672, 0.877),
        "weierstrass-8": (0.600, np.nan, 0.704, 0.577, 0.625),
        "cross-in-tray": (1.000, np.nan, 0.995, 1.000, 1.000),
        "holder-table": (0.971, np.nan, 0.963, 0.964, 1.000),
        "ackley-2": (0.971, np.nan, 0.914, 0.980, 0.974),
        "ackley-6": (0.459, np.nan, 0.789, 0.442, 0.712),
        "corrupted-holder-table": (0.844, np.nan, 0.889, 0.822, 0.918),
        "corrupted-exponential-8": (0.580, np.nan, 0.847, 0.581, 0.806),
        "nn-boston": (0.720, np.nan, 0.761, 0.810, 0.770),
        "nn-climate": (0.629, np.nan, 0.717, 0.683, 0.678),
        "robot-pushing": (0.877, np.nan, 0.745, 0.907, 0.932),
    },
}
EVALUATIONS = 100
EVALUATIONS_WARPED = 50  # the document has no more of them
REAL = ("nn-boston", "nn-climate", "robot-pushing")
PUBLISHED_LCB = {  # section 5, "Other acquisition functions"
    "corrupted-exponential-8": (0.751, np.nan, 0.818, 0.797, 0.858)
}


def run(cell: Cell, number: int) -> Row:
    surrogate, _ = named(cell)
    evaluations = EVALUATIONS_WARPED if surrogate == WARPED else EVALUATIONS
    return searched_by(DeltaCover(), cell, number, evaluations)


def searched_by(maximiser: Maximises, cell: Cell, number: int, evaluations: int) -> Row:
    """A run of a cell with a search of the acquisition."""
    problem = problem_of(cell["problem"])
    if cell["problem"] == "robot-pushing":
        problem = robot_pushing(number)
    d = problem.dimension
    size = 5 if d == 2 else 2 * d + 2
    surrogate, ending = named(cell)
    method = oc.Method(
        surrogate=METHODS[surrogate](d),
        acquisition=ACQUISITIONS[ending],
        initial=LatinHypercube(size=size),
        maximiser=maximiser,
    )
    initial = initial_points(problem.space, size, number)
    return search(problem, method, initial, evaluations, number, bent=False)


def named(cell: Cell) -> tuple[str, str]:
    """The name of a cell's surrogate, and the ending that stands for its acquisition."""
    surrogate = cell["method"].removesuffix("-LCB")
    return surrogate, cell["method"].removeprefix(surrogate)


class Section(NamedTuple):
    """A part of the page: searches by one acquisition after so many evaluations."""

    title: str
    ending: str
    evaluations: int
    published: Mapping[str, Sequence[float]]

    @property
    def cells(self) -> list[Cell]:
        """Those of the section, by the names of their surrogates."""
        return cells(self.published)

    def own(self, rows: Sequence[Row]) -> list[Row]:
        """Searches of these cells, cut to the section's number of evaluations."""
        found = []
        for row in rows:
            surrogate, ending = named(row["cell"])
            cell, values = {**row["cell"], "method": surrogate}, row["values"]
            is_own = ending == self.ending and cell in self.cells
            if is_own and len(values) >= self.evaluations:
                found.append({**row, "cell": cell, "values": values[: self.evaluations]})
        return found


def report(rows: Sequence[Row]) -> str:
    parts, absent = [READING], []
    for section in SECTIONS:
        mine = section.own(rows)
        if not mine:
            absent.append(section.title[0].lower() + section.title[1:])
            continue
        problems = [p for p in section.published if by_method(mine, p)]
        parts += [
            f"## {section.title}",
            extent(mine, section.cells),
            gaps_beside_published(mine, problems, section.published),
            gap_table(mine, problems, "GP", [section.evaluations]),
        ]
    missing = [f"Without results so far: {'; '.join(absent)}."] if absent else []
    return "\n\n".join([*parts, *missing, DISAGREEMENTS])


def gaps_beside_published(
    rows: Sequence[Row], problems: Sequence[str], published: Mapping[str, Sequence[float]]
) -> str:
    """The document's table: mean gaps, those not significantly behind the best one in bold."""
    lines = []
    for problem in problems:
        searches = by_method(rows, problem)
        marked = best_or_equal(searches)
        line = [problem, str(min(map(len, searches.values())))]
        for method, theirs in zip(METHODS, published[problem], strict=True):
            if method not in searches:
                line.append("")
                continue
            mean = f"{np.mean(list(searches[method].gaps().values())):.3f}"
            ours = f"**{mean}**" if method in marked else mean
            line.append(f"{ours} ({theirs:.3f})")
        lines.append(line)
    return table(["problem", "runs", *METHODS], lines)


def best_or_equal(searches: Mapping[str, Searches]) -> set[str]:
    """The method of the best mean gap, and those a paired test does not tell from it at 5 %."""
    gaps = {method: found.gaps() for method, found in searches.items()}
    best = max(gaps, key=lambda method: float(np.mean(list(gaps[method].values()))))
    equal = {best}
    for method, own in gaps.items():
        both = sorted(own.keys() & gaps[best].keys())
        if method != best and both:
            differences = np.array([own[n] - gaps[best][n] for n in both])
            if paired_p_value(differences) >= SIGNIFICANT:
                equal.add(method)
    return equal


READING = f"""\
Surrogates of "Modulating surrogates for Bayesian optimization" (Bodin et al. 2020). A cell of the
first table reads: our mean gap (the document's, 20 runs); bold is what a paired Wilcoxon test at
{SIGNIFICANT:.0%}, uncorrected as in the document, does not tell from the best mean. The table below
it has the corrected tests against `GP`. Read as follows where the document leaves it open:

- An isotropic Matérn-5/2, ln ℓ ~ N(ln 0.3, 1) on [0.02, 5], ln s ~ N(0, 1), noise variance
  {JITTER:g}; expected improvement, averaged over ten chains, each making three sweeps a trial after
  32 at first; the search is that of `DeltaCover`.
- What is to be improved on is the lowest posterior mean at the data, for each chain by itself. That
  is the best observation, up to the jitter, for `GP`, `Warped GP` and `LGP`. It is not for the
  noisy baselines `Homosced GP` and `Heterosced GP`, whose means do not go through the data. The
  document does not say what its noisy baselines improve on.
- `LGP`: one latent per observation, of standard deviation 0.1 √d, 0.01 √d or 0 by lot at each
  evaluation. `Homosced GP`: a horseshoe prior of scale 0.1 on the noise variance. `Heterosced GP`:
  ln σᵢ² ~ N(b, 1), b ~ N(ln 10⁻³, 2²). `Warped GP`: Beta curves, ln a, ln b ~ N(0, 1.5²) on
  [0.1, 10].
- 5 initial points in two dimensions, otherwise 2 d + 2, from a Latin hypercube. The corruptions of
  Holder table and of the exponential function are ours, since the document's are not public.
- The lower confidence bound is mean − 2 std of a chain, averaged over the chains; the document has
  it on the corrupted exponential function only.
- `nn-boston` and `nn-climate` are the nine real parameters of scikit-optimize's benchmark of
  scikit-learn's networks, with scikit-learn's defaults for categories; that these are the
  document's nine is inferred from their number. The value is minus R², or the log loss, of a
  held-out 30 %. Their minimum is not known: gaps are those to the best value of all runs.
- `robot-pushing` is the task of Wang & Jegelka (2017) in four dimensions, without noise; a run has
  a goal of its own, and a distance of 0 counts as the minimum."""
DISAGREEMENTS = """\
## Where this differs from the document

What follows was found with six runs, of searches that get values as they are, standardised. None of
the differences from `GP` is beyond chance once corrected.

- After 100 evaluations `GP` is last on three of the five functions of many dimensions, as in the
  document. On Deflected Corrugated Spring it has 0.35 of the gap, as in the document (0.347), and
  all that can discount observations have 0.75 to 0.79; on Ackley-6 0.59, and 0.75 to 0.84; on the
  corrupted exponential function 0.35, and 0.44 to 0.60. `Heterosced GP`, which is as poor as `GP`
  there in the document, is not here: its noise variances have priors of our own. On Weierstrass and
  Hartmann-6 all are alike.
- On functions of two dimensions all are near the minimum after 100 evaluations but for Shubert,
  where gaps go from 0 to 1, Griewank, and corrupted Holder table, where `Heterosced GP` has 0.82.
- After 50 `LGP` is ahead of `GP` on corrupted Holder table only; it is behind on Griewank, Ackley-2
  and Cross-in-tray, where the document has them level, and on Shubert (0.49 and 0.68), where it is
  ahead there. Why is not known. One evaluation in three is chosen with a spread of 0.1 √d, which
  may take narrow structure for outliers; the document has the same spreads.
- Our `Warped GP` is far ahead of the document's (Ackley-2 0.984 against 0.274, Cross-in-tray 0.992
  against 0.385). Curve, prior and sampler are Spearmint's as far as they are known; how long the
  document's chains ran, and with how many samples, is not said.
- On Hartmann-6 all are below the document's after 100 evaluations. One lengthscale for six unlike
  parameters is what "shared" means here, and may not be what it meant there. `"gp"` and `"latent"`,
  with a lengthscale for each, reach 0.994 ([presets](rugged_presets.md)); they differ in more than
  that."""


def cells(published: Mapping[str, Sequence[float]], ending: str = "") -> list[Cell]:
    """The cells for which the document has a number."""
    return [
        {"problem": problem, "method": method + ending}
        for problem, values in published.items()
        for method, theirs in zip(METHODS, values, strict=True)
        if not np.isnan(theirs)
    ]


SECTIONS = (
    *(Section(f"After {n} evaluations", "", n, theirs) for n, theirs in PUBLISHED.items()),
    Section("The lower confidence bound, after 100 evaluations", "-LCB", 100, PUBLISHED_LCB),
)
HUNDRED = cells(PUBLISHED[100])


EXPERIMENT = Experiment(
    "modulated_table1",
    "Modulated surrogates: Table 1",
    [
        [cell for cell in HUNDRED if cell["problem"] in PUBLISHED[50]],
        [cell for cell in cells(PUBLISHED[50]) if cell["method"] == WARPED],
        [cell for cell in HUNDRED if cell["problem"] not in (*PUBLISHED[50], *REAL)],
        cells(PUBLISHED_LCB, "-LCB"),
        [cell for cell in HUNDRED if cell["problem"] in REAL],
    ],
    run,
    report,
    source="Bodin et al. 2020",
    summary="ahead of a plain process in many dimensions, as published; six runs so far",
)
