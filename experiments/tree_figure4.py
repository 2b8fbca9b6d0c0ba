"""Figure 4 of "Bayesian optimization with tree-structured dependencies": networks tuned, ranked.

A comparison is one data set and one run: methods started from the same points are ranked by the
best error that each has found so far.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments.comparison import best_traces, corrected_p_values
from experiments.harness import Cell, Experiment, Row
from experiments.mlp_tuning import EPOCHS, TOPOLOGIES, TRAINING, mlp_problem
from experiments.peers import peer_search
from experiments.searches import initial_points, search
from experiments.structure_blind import flat_configurations, flattened
from experiments.tree_figure2 import BLIND, OF_DOCUMENT, TWO_STEPS, blind
from outcrop import surrogates
from outcrop.baselines import Arc, Independent
from outcrop.kernels import Fourier
from outcrop.problems import Problem
from outcrop.strategies import EachBranch
from outcrop.strategies.initial import OnePerBranch
from outcrop.typing import Matrix, Vector

INITIAL, TRIALS = 5, 40  # one point for every number of layers; trials include them
SHOWN = (10, 20, 30, 40)
DESIGN = OnePerBranch(size=INITIAL)
TESTED = (20, 40)  # trials after which methods are tested against the document's
DOCUMENT, DEFAULT, FOURIER = "tree two steps", "auto", "Fourier two steps"
TREE = surrogates.TreeStructured
METHODS: dict[str, Any] = {
    DOCUMENT: oc.Method(
        surrogate=TREE(sees_shared=False, chance=1.0),
        acquisition=TWO_STEPS,
        initial=DESIGN,
        maximiser=EachBranch(),
    ),
    DEFAULT: oc.Method(surrogate=TREE(), initial=DESIGN),
    "tree": oc.Method(surrogate=TREE(chance=1.0), initial=DESIGN, maximiser=EachBranch()),
    "gp": oc.Method(initial=DESIGN),
    "independent": oc.Method(surrogate=Independent(), initial=DESIGN, maximiser=EachBranch()),
    "arc": oc.Method(surrogate=Arc(), initial=DESIGN, maximiser=EachBranch()),
    BLIND: blind(INITIAL),
    FOURIER: oc.Method(
        surrogate=TREE(Fourier(), sees_shared=False, chance=1.0),
        acquisition=TWO_STEPS,
        initial=DESIGN,
        maximiser=EachBranch(),
    ),
    "random": "random",
}
PEERS = ("TPE", "SMAC")
EVERY = (*METHODS, *PEERS)
DATA = (
    "german_credit",
    "credit_approval",
    "pima_diabetes",
    "ilpd_liver",
    "heart_scale",
    "svmguide1",
    "svmguide3",
    "a1a",
    "breast_cancer_wisconsin",
    "ionosphere",
    "sonar",
    "kc2",
)

Comparison: TypeAlias = tuple[str, int]  # data set, run
Found: TypeAlias = Mapping[str, Mapping[Comparison, Row]]  # by method


def run(cell: Cell, number: int) -> Row:
    problem = problem_of(cell["data"], cell["topology"])
    initial = initial_points(problem.space, INITIAL, number, DESIGN)
    if cell["method"] in PEERS:
        return peer_search(problem, cell["method"], initial, TRIALS, number)
    if cell["method"] == BLIND:
        initial = flat_configurations(problem, initial, number)
        problem = flattened(problem)
    bent = cell["method"] not in OF_DOCUMENT
    return search(problem, METHODS[cell["method"]], initial, TRIALS, number, bent=bent)


@lru_cache
def problem_of(data: str, topology: str) -> Problem:
    return mlp_problem(data, topology)


def report(rows: Sequence[Row]) -> str:
    shown = {topology: searches_of(rows, topology) for topology in topologies(rows)}
    data = {data for found in shown.values() for data, _ in compared(found)}
    parts = [reading(data, {method for found in shown.values() for method in found})]
    for topology, found in shown.items():
        picture = f"![Average ranks, {topology} topology](../images/{picture_of(topology)}.png)"
        parts += [f"## The {topology} topology", rank_table(found), error_table(found), picture]
    return "\n\n".join([*parts, FINDINGS])


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        picture_of(topology): rank_figure(searches_of(rows, topology))
        for topology in topologies(rows)
    }


def topologies(rows: Sequence[Row]) -> list[str]:
    """Those in which at least two methods can be compared."""
    found = {t: searches_of(rows, t) for t in TOPOLOGIES}
    return [t for t, searches in found.items() if len(searches) > 1 and compared(searches)]


def picture_of(topology: str) -> str:
    return f"tree_figure4_{topology}"


def searches_of(rows: Sequence[Row], topology: str) -> Found:
    """Searches of every method, in the order of the methods.

    A method with less than half as many as another is left out: only what all methods have searched
    can be compared, so that it would cost most of the comparisons.
    """
    found: dict[str, dict[Comparison, Row]] = {}
    for row in rows:
        cell = row["cell"]
        if cell["topology"] == topology:
            found.setdefault(cell["method"], {})[cell["data"], row["run"]] = row
    most = max(map(len, found.values()), default=0)
    return {m: found[m] for m in EVERY if m in found and 2 * len(found[m]) >= most}


def compared(found: Found) -> list[Comparison]:
    """Data sets and runs that all methods have."""
    return sorted(set.intersection(*(set(searches) for searches in found.values())))


def traces(searches: Mapping[Comparison, Row], comparisons: Sequence[Comparison]) -> Matrix:
    """The best errors so far, `(comparisons, trials)`."""
    return best_traces(np.array([searches[each]["values"] for each in comparisons]))


def ranks(best: Sequence[Matrix]) -> Any:
    """Ranks of methods given their traces, `(methods, comparisons, trials)`; 1 is the best.

    Methods with the same error share the mean of their places.
    """
    from scipy.stats import rankdata

    return rankdata(np.stack(best), method="average", axis=0)


def rank_table(found: Found) -> str:
    comparisons = compared(found)
    best = {method: traces(searches, comparisons) for method, searches in found.items()}
    placed = dict(zip(best, ranks(list(best.values())), strict=True))
    of_means = dict(zip(best, ranks(mean_traces(best.values(), comparisons)), strict=True))
    against = next(m for m in (DOCUMENT, "tree", *found) if m in found)
    p_values = corrected_p_values(
        {
            (method, n): (numbered(best[method][:, n - 1]), numbered(best[against][:, n - 1]))
            for n in TESTED
            for method in best
            if method != against
        }
    )
    lines = []
    for method, searches in found.items():
        line = [method, str(len(comparisons))]
        line += [f"{placed[method][:, n - 1].mean():.2f}" for n in SHOWN]
        line += [f"{of_means[method][:, TRIALS - 1].mean():.2f}"]
        line += [f"{best[method][:, TRIALS - 1].mean():.4f}"]
        for n in TESTED:
            own, other = best[against][:, n - 1], best[method][:, n - 1]
            ahead, behind = int(np.sum(own < other)), int(np.sum(own > other))
            known = (method, n) in p_values
            line += [f"{ahead} : {behind}", f"{p_values[method, n]:.3f}"] if known else ["", ""]
        spent = [np.mean(searches[each]["seconds"]) for each in comparisons]
        lines.append([*line, f"{np.median(spent):.3f}"])
    header = ["method", "searches", *(f"rank at {n}" for n in SHOWN), "rank of means", "error"]
    header += [column for n in TESTED for column in (f"{against} ahead : behind at {n}", "p")]
    return table([*header, "s"], lines)


def mean_traces(best: Iterable[Matrix], comparisons: Sequence[Comparison]) -> list[Matrix]:
    """Traces averaged over the runs of each data set, `(data sets, trials)`."""
    sets = list(dict.fromkeys(data for data, _ in comparisons))
    rows = [[i for i, (name, _) in enumerate(comparisons) if name == data] for data in sets]
    return [np.array([each[those].mean(0) for those in rows]) for each in best]


def numbered(values: Vector) -> dict[int, float]:
    return dict(enumerate(values.tolist()))


def error_table(found: Found) -> str:
    comparisons = compared(found)
    lines = []
    for data in dict.fromkeys(data for data, _ in comparisons):
        mine = [each for each in comparisons if each[0] == data]
        best = [traces(searches, mine)[:, TRIALS - 1] for searches in found.values()]
        shown = [f"{errors.mean():.4f} ± {errors.std():.4f}" for errors in best]
        lines.append([data, str(len(mine)), *shown])
    return table(["data set", "runs", *found], lines)


def rank_figure(found: Found) -> Any:
    """Average ranks over the trials once all initial points are known, ± two standard errors."""
    from matplotlib.figure import Figure

    from outcrop.plots.convergence import COLOURS, DASHES

    comparisons = compared(found)
    placed = ranks([traces(searches, comparisons) for searches in found.values()])
    x = np.arange(INITIAL, placed.shape[2] + 1)
    figure = Figure(figsize=(6.2, 4.0), layout="constrained")
    axes = figure.subplots()
    for method, each in zip(found, placed[:, :, INITIAL - 1 :], strict=True):
        place = EVERY.index(method)
        mean, error = each.mean(0), each.std(0) / np.sqrt(len(comparisons))
        look: dict[str, Any] = {
            "color": COLOURS[place % len(COLOURS)],
            "ls": DASHES[(place + place // len(COLOURS)) % len(DASHES)],  # no two look alike
        }
        axes.fill_between(x, mean - 2 * error, mean + 2 * error, color=look["color"], alpha=0.1)
        axes.plot(x, mean, label=method, **look)
    axes.set(xlabel="trials", ylabel="average rank (lower is better)")
    axes.legend(fontsize="small")
    return figure


FINDINGS = """\
What follows was found with six runs of each data set; Fourier features have fewer so far, and
`auto`, `tree`, `gp` and TPE too few to be shown.

In the shared topology the document has its tree far ahead of all other Gaussian processes from
early on, and SMAC level with it after 75 trials. Here `tree two steps` is ahead of random search
(p ≤ 0.010), and of SMAC and the blind process in the mean only; `arc` and `independent` have the
better ranks after 40 trials, not beyond chance. One cause was seen on other trees: two steps do not
come back to a leaf whose level was misjudged ([Figure 2](tree_figure2.md)). That it is the cause
here is a guess.

In the independent topology `independent` is ahead of the tree after 40 trials, as in the document,
but after 20 too (p = 0.005), where the document has it behind."""


def reading(data: Collection[str], methods: Collection[str]) -> str:
    """What is compared, on these data sets, by these methods."""
    given = "\n  svmguide1 has a test part of its own." if "svmguide1" in data else ""
    return f"""\
Section 4.2 of "Bayesian optimization with tree-structured dependencies" (Jenatton et al. 2017): the
test error of scikit-learn's `MLPClassifier` with 0 to 4 hidden layers over the spaces of its
Figure 3. Every number of layers has parameters of its own in the independent topology; in the
shared one learning rate, tolerance, normalisation, activation and the units of each layer belong to
all networks that have them, and only the penalty is of one number of layers. Read as follows:

- {len(data)} data sets instead of 45, most of them relatives of LIBSVM's, which the document has.
  A random 80 % train, at most {TRAINING:,} rows; the other 20 % test.{given}
- {TRIALS} trials instead of 90, with {INITIAL} initial ones, one for every number of layers, which
  all methods of a run have in common. At most {EPOCHS} epochs take the place of the limit of five
  minutes, so that a configuration has one error on every machine.
{LIST_OF_METHODS}{OF_DEFAULT if DEFAULT in methods else ""}
- The document says nothing of ties and averages errors over runs before it ranks methods (rank of
  means); elsewhere methods are ranked in every run. Equal errors share the mean of their places.

Columns. rank: mean over data sets and runs after so many trials, initial ones included; rank of
means: after {TRIALS} trials; error: mean best error after {TRIALS} trials; ahead : behind: searches
in which the method in the header has the smaller or larger error than that of the line, after so
many trials; p: two-sided Wilcoxon test of these errors, paired by data set and run, Holm over the
table; s: seconds of processor time per suggestion, mean of a run, median of the runs. Below each,
the mean ± sd of the best error on every data set. Shades in the pictures: two standard errors."""


LIST_OF_METHODS = f"""\
- `{DOCUMENT}` is the document's method: `TreeStructured(sees_shared=False, chance=1.0)`, a leaf
  chosen by its level and then a point in it. `tree` is `TreeStructured(chance=1.0)`, whose leaves
  see shared parameters too, and `gp` one process for which parameters that are not active count for
  nothing.
- `{FOURIER}` has random Fourier features of shared parameters: the document's `tree-nonlinear`.
- `independent` has a process for each leaf, `arc` is the kernel of Swersky et al. (2014), and
  `blind GP`, in the place of the document's `gp-baseline`, sees one-hot codes and a value of every
  parameter, active or not, as it was suggested. `TPE` is Optuna's and `SMAC` SMAC3's facade for
  hyperparameters, with their defaults. `random` draws every choice evenly: in the shared topology,
  where depth is a chain of choices, every second draw has no hidden layer and every sixteenth has
  four."""
OF_DEFAULT = f"""
- `{DEFAULT}` is `method="tree"`, the default of conditional spaces: `tree` or `gp`, by what they
  have predicted, and every third suggestion, by lot, is restricted to the leaf of the incumbent."""


def cells(topology: str, methods: Collection[str]) -> list[Cell]:
    return [
        {"topology": topology, "data": data, "method": method}
        for data in DATA
        for method in EVERY
        if method in methods
    ]


PANEL = (DOCUMENT, "independent", DEFAULT)  # the document's upper panel has the first two
PARTS = [
    cells("shared", EVERY),
    cells("independent", PANEL),
    cells("independent", [m for m in EVERY if m not in (*PANEL, FOURIER)]),  # nothing is shared
]

EXPERIMENT = Experiment(
    "tree_figure4",
    "Tree-structured dependencies: Figure 4",
    PARTS,
    run,
    report,
    draw,
    source="Jenatton et al. 2017",
    summary="ahead of random search; not of other processes that know the conditions",
)
