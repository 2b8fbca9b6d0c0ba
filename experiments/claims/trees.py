"""Claims of "Bayesian optimization with tree-structured dependencies" (Jenatton et al. 2017).

`tree two steps` is the document's method.
"""

from __future__ import annotations

__all__ = ["CLAIMS"]

from functools import partial

from experiments.measures import best_error, log10_regret
from experiments.verdicts import Claim

SOURCE = "Jenatton et al. 2017"
PAPER = ("tree two steps",)
BALANCED = ["tree-small", "tree-small-shared", "tree-large", "tree-large-shared"]
_synthetic = partial(Claim, SOURCE, experiment="tree_figure2", first=PAPER, runs=25)
_networks = partial(
    Claim, SOURCE, "Figure 4", experiment="tree_figure4", first=PAPER, unit="search"
)
_supplement = partial(Claim, SOURCE, "supplement", experiment="tree_supplement")

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
        "`arc` and `independent` are overtaken by the tree on large trees.",
        measure=log10_regret(40),
        second=("arc", "independent"),
        where={"problem": ["tree-large", "tree-large-shared"]},
    ),
    _synthetic(
        "Figure 2",
        "Integrating the nodes' effects out (`marginal`) is behind, without shared variables.",
        measure=log10_regret(40),
        second=("marginal",),
        where={"problem": ["tree-small", "tree-large"]},
    ),
    _synthetic(
        "Figure 2",
        "On large trees SMAC does not reach good solutions.",
        measure=log10_regret(60),
        second=("SMAC",),
        where={"problem": ["tree-large", "tree-large-shared"]},
    ),
    _networks(
        "In the shared topology the tree is ahead of a GP that is blind to conditions.",
        measure=best_error(40),
        second=("blind GP",),
        where={"topology": ["shared"]},
        reasons={
            "not reproduced": (
                "Ahead in 7 of 12 searches and behind in 4: four data sets instead of 45, three "
                "runs and 40 trials instead of 90 do not decide it."
            )
        },
    ),
    _networks(
        "In the shared topology the tree is ahead of other GPs (`arc`, `independent`).",
        measure=best_error(40),
        second=("arc", "independent"),
        where={"topology": ["shared"]},
        reasons={
            "not reproduced": (
                "`arc` and `independent` are level with it on four data sets (the document has "
                "45) after 40 of its 90 trials."
            )
        },
    ),
    _networks(
        "In the shared topology the tree is faster than SMAC.",
        measure=best_error(30),
        second=("SMAC",),
        where={"topology": ["shared"]},
        reasons={
            "not reproduced": (
                "Ahead in 8 of 12 searches and behind in 1; four data sets with three runs are "
                "too few once corrected."
            )
        },
    ),
    _networks(
        "In the independent topology the tree is faster than `independent` at first.",
        measure=best_error(20),
        second=("independent",),
        where={"topology": ["independent"]},
    ),
    _supplement(
        "Where shared variables enter as squares Fourier features are ahead of the linear model.",
        measure=log10_regret(60),
        first=("Fourier two steps",),
        second=PAPER,
        where={"problem": ["tree-small-quadratic", "tree-large-quadratic"]},
    ),
    _supplement(
        "Where they enter linearly, the linear model is ahead.",
        measure=log10_regret(60),
        first=PAPER,
        second=("Fourier two steps",),
        where={"problem": ["tree-small-shared", "tree-large-shared"]},
        reasons={
            "not reproduced": (
                "Most runs of both end near rounding after 60 trials, and one run of the linear "
                "model stays in a wrong leaf."
            )
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
                "Ahead in 8 of 10 runs, not beyond chance once corrected: four runs of the two "
                "steps end at 1e-3 to 1e-6, where the others reach rounding. The trees are ours: "
                "the supplement was not obtainable."
            )
        },
    ),
)
