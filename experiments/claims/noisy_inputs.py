"""Claims about noisy inputs: chapter 3 of "Practical Bayesian optimisation …" (Alvi 2019).

The thesis does not say how many runs its tables have; its figures show one data set.
"""

from __future__ import annotations

__all__ = ["CLAIMS"]

from collections.abc import Sequence
from functools import partial

from experiments import noisy_inputs_recursion
from experiments.harness import Row
from experiments.measures import best_share, of_models, rank
from experiments.noisy_inputs import FULL_AS_DESCRIBED, TASKS
from experiments.noisy_inputs_recursion import BEHAVIOURS, OSCILLATES, SIZES, SLOW
from experiments.verdicts import Claim, Found, Measure, Place

SOURCE = "Alvi 2019, ch. 3"
_figure = partial(Claim, SOURCE, experiment="noisy_inputs_1d", runs=1)
TABLED = [task for task in TASKS if task not in ("branin-2d", "draw-from-gp-4d")]  # in neither
_table = partial(
    Claim,
    SOURCE,
    experiment="noisy_inputs_tables",
    where={"size": ["50", "100"], "task": TABLED},
)
MODELS = ("RBF", "RatQuad", "Analytic", "NIGP", "RandFunc", "UTGP")
DENSITY_1D = of_models("log density", 1)  # stored for one test value there
DENSITY = rank(of_models("log density", 50), MODELS)
ERROR = rank(of_models("squared error", 50, larger_is_better=False), MODELS)


def behaviours(rows: Sequence[Row], by: str) -> Found:
    """For each way in which a recursion may go, 1 for those that do and 0 for the others."""
    found: dict[str, dict[Place, float]] = {kind: {} for kind in BEHAVIOURS}
    for row in rows:
        for size in map(str, SIZES):
            if size in row:
                place = (*row["cell"].items(), ("size", size)), row["run"]
                for kind in BEHAVIOURS:
                    found[kind][place] = float(row[size]["behaviour"] == kind)
    return found


CLAIMS = (
    _figure(
        "Figure 3.3",
        "With little input noise (0.05) the full unscented process is behind the simple one.",
        measure=DENSITY_1D,
        first=("UTGP",),
        second=(FULL_AS_DESCRIBED,),
        where={"figure": ["3.3"], "spread": ["0.05"]},
        reasons={
            "contradicted": (
                "It is ahead by 0.07 nats. It is behind where values are not missed, as the "
                "thesis's tables suggest of theirs, and where its hyperparameters maximise the "
                "weighted sum; but then with the larger noise too."
            )
        },
    ),
    _figure(
        "Figure 3.3",
        "With more input noise (0.1) the full unscented process is ahead of the simple one.",
        measure=DENSITY_1D,
        first=(FULL_AS_DESCRIBED,),
        second=("UTGP",),
        where={"figure": ["3.3"], "spread": ["0.1"]},
        reasons={
            "not reproduced": (
                "Ahead in most data sets, by 0.03 nats, less than matters; the thesis calls the "
                "two similar, and shows one data set."
            )
        },
    ),
    _figure(
        "Figure 3.4",
        "A plain process predicts as well as those that know of the input noise (0.05).",
        measure=DENSITY_1D,
        first=("RBF",),
        second=("Analytic", "NIGP", "RandFunc"),
        kind="no worse",
        where={"noise": ["0.05"]},
        reasons={
            "not reproduced": (
                "NIGP is ahead of it in 18 of 20 data sets, by 0.3 nats in the mean, not beyond "
                "chance once corrected; the figure shows one data set."
            )
        },
    ),
    _figure(
        "Figures 3.4, 3.5",
        "The unscented process is behind the plain one.",
        measure=DENSITY_1D,
        first=("RBF",),
        second=("UTGP",),
        where={"noise": ["0.05", "0.1"]},
    ),
    _table(
        "Table 3.2",
        "The unscented process (UTGP) is the best of six models most often.",
        measure=best_share(of_models("log density", 50), MODELS),
        first=("UTGP",),
        second=MODELS[:-1],
        unit="problem",
        reasons={
            "not reproduced": (
                "It is first as often as NIGP; it is ahead with many dimensions and few points and "
                "behind in one and two."
            ),
        },
    ),
    _table(
        "Table 3.2",
        "NIGP and RandFunc predict worse than a plain process.",
        measure=DENSITY,
        first=("RBF",),
        second=("NIGP", "RandFunc"),
        reasons={
            "contradicted": (
                "The published rows of known functions agree with values at points that were not "
                "missed ([test](noisy_inputs_exact.md)), where models of input noise are told of "
                "a noise that is not there."
            )
        },
    ),
    _table(
        "Table 3.2",
        "A standard process is no worse than models that know of the input noise.",
        measure=DENSITY,
        first=("RBF", "RatQuad"),
        second=("Analytic", "NIGP", "RandFunc"),
        kind="no worse",
        reasons={
            "contradicted": (
                "The analytic kernel has the best rank of the six. The published rows of known "
                "functions agree with values at points that were not missed "
                "([test](noisy_inputs_exact.md)), where models of input noise are told of a noise "
                "that is not there."
            ),
        },
    ),
    _table(
        "Table 3.3",
        "In squared error a plain process is no worse than the models of input noise.",
        measure=ERROR,
        first=("RBF",),
        second=("Analytic", "NIGP", "RandFunc", "UTGP"),
        kind="no worse",
        reasons={
            "contradicted": (
                "The plain process is behind the analytic kernel, partly since its noise variance "
                "collapses in many dimensions; cause as for Table 3.2."
            )
        },
    ),
    _figure(
        "Figure 3.8",
        "NIGP's recursion may decay slowly, or swing between two states.",
        measure=Measure("recursions", behaviours, (0.0, 0.0)),
        first=(SLOW, OSCILLATES),
        kind="occurs",
        where={"figure": [noisy_inputs_recursion.FIGURE], "level": ["learnt"]},
        unit="search",
    ),
)
