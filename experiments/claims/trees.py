"""Claims of "Bayesian optimization with tree-structured dependencies" (Jenatton et al. 2017).

`tree two steps` is the document's method.
"""

from __future__ import annotations

__all__ = ["CLAIMS"]

from functools import partial

from experiments.measures import (
    best_error,
    log10_regret,
    log10_regret_on_the_way,
    missed,
    rank,
)
from experiments.verdicts import Claim, Measure

SOURCE = "Jenatton et al. 2017"
PAPER = ("tree two steps",)
LARGE = ["tree-large", "tree-large-shared"]
BALANCED = ["tree-small", "tree-small-shared", *LARGE]
_synthetic = partial(Claim, SOURCE, experiment="tree_figure2", first=PAPER, runs=25)
_networks = partial(
    Claim, SOURCE, "Figure 4", experiment="tree_figure4", first=PAPER, unit="problem"
)
_supplement = partial(Claim, SOURCE, "supplement", experiment="tree_supplement")


COMPARED = (*PAPER, "arc", "independent", "blind GP", "SMAC", "random")


def error_rank(trials: int, among: tuple[str, ...]) -> Measure:
    """The place of a method by its error, as in the document's figure."""
    return rank(best_error(trials), among)


CLAIMS = (
    _synthetic(
        "Figure 2",
        "What cannot use the structure (a blind GP, random search) is behind the tree.",
        measure=log10_regret(60),
        second=("blind GP", "random"),
        where={"problem": BALANCED},
    ),
    _synthetic(
        "Figure 2",
        "`arc` is quickly overtaken by the tree.",
        measure=log10_regret(40),
        second=("arc",),
        where={"problem": BALANCED},
    ),
    _synthetic(
        "Figure 2",
        "`independent` lags behind the tree, which shares what it learns.",
        measure=log10_regret_on_the_way(60),
        second=("independent",),
        where={"problem": BALANCED},
    ),
    _synthetic(
        "Figure 2",
        "Integrating the nodes' effects out (`marginal`) is behind, without shared variables.",
        measure=log10_regret(40),
        second=("marginal",),
        where={"problem": ["tree-small", "tree-large"]},
    ),
    Claim(
        SOURCE,
        "Figure 2",
        "On large trees SMAC does not reach good solutions.",
        experiment="tree_figure2",
        measure=missed(60),
        first=("SMAC",),
        kind="share",
        where={"problem": LARGE},
        runs=25,
        reasons={
            "contradicted": (
                "A matter of settings: SMAC3 2.4 with those of the original SMAC (`SMAC4AC`, every "
                "second configuration at random) misses the minimum in 26 of 40 searches, random "
                "search in 27. The document ran SMAC of 2016."
            ),
        },
    ),
    _networks(
        "In the shared topology the tree is ahead of other GPs (`arc`, `independent`, a blind GP).",
        measure=error_rank(40, COMPARED),
        second=("arc", "independent", "blind GP"),
        where={"topology": ["shared"]},
        reasons={
            "not reproduced": (
                "`arc` has the better mean rank on 10 of 12 data sets; of the blind process it is "
                "ahead in the mean only. The document has 90 trials and 45 data sets."
            ),
        },
    ),
    _networks(
        "In the shared topology the tree is faster than SMAC.",
        measure=error_rank(30, COMPARED),
        second=("SMAC",),
        where={"topology": ["shared"]},
        reasons={
            "not reproduced": "Ahead on 8 of 12 data sets after 30 trials, not beyond chance.",
        },
    ),
    _networks(
        "In the independent topology the tree is faster than `independent` at first.",
        measure=error_rank(20, ("tree two steps", "independent")),
        second=("independent",),
        where={"topology": ["independent"]},
        reasons={
            "not reproduced": (
                "It is behind on 9 of 12 data sets after 20 trials already; why is not known."
            ),
        },
    ),
    _networks(
        "In the independent topology `independent` is ahead of the tree later.",
        measure=error_rank(40, ("tree two steps", "independent")),
        first=("independent",),
        second=PAPER,
        where={"topology": ["independent"]},
    ),
    Claim(
        SOURCE,
        "section 4.3",
        "On the networks Fourier features tend to perform worse than the linear model.",
        experiment="tree_figure4",
        measure=error_rank(40, (*PAPER, "Fourier two steps")),
        first=PAPER,
        second=("Fourier two steps",),
        where={"topology": ["shared"]},
        unit="problem",
    ),
    _supplement(
        "Where shared variables enter as squares Fourier features are ahead of the linear model.",
        measure=log10_regret(60),
        first=("Fourier two steps",),
        second=PAPER,
        where={"problem": ["tree-small-quadratic", "tree-large-quadratic"]},
    ),
    _supplement(
        "Where they enter linearly, the linear model converges faster.",
        measure=log10_regret_on_the_way(60),
        first=PAPER,
        second=("Fourier two steps",),
        where={"problem": ["tree-small-shared", "tree-large-shared"]},
        reasons={
            "not reproduced": (
                "Most runs of both end near rounding, and one run of the linear model stays in a "
                "wrong leaf."
            ),
        },
    ),
    _synthetic(
        "supplement",
        "On unbalanced trees similar conclusions hold: a blind GP and random search are behind.",
        measure=log10_regret(60),
        second=("blind GP", "random"),
        where={"problem": ["tree-unbalanced-4"]},
        reasons={
            "not reproduced": (
                "Ahead in most runs, not beyond chance once corrected. The trees are ours: the "
                "supplement was not obtainable."
            ),
        },
    ),
)
