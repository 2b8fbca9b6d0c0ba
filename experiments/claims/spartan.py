"""Claims of "Local Nonstationarity for Efficient Bayesian Optimization" (Martinez-Cantin 2015).

The document has 10 to 25 runs, "depending on the problem". Equation 3 can be read in two ways,
`SBO-variance` and `SBO-std`; a claim about Spartan BO takes both together.
"""

from __future__ import annotations

__all__ = ["CLAIMS"]

from functools import partial

from experiments.measures import gap, solved
from experiments.verdicts import Claim

_claim = partial(Claim, "Martinez-Cantin 2015", experiment="spartan_figures", runs=10)
SPARTAN = ("SBO-variance", "SBO-std")
INITIAL, TRIALS = 10, 60

CLAIMS = (
    _claim(
        "Figure 2",
        "On 2-D Exp Spartan BO is ahead of BO, which converges poorly.",
        measure=gap(TRIALS),
        first=SPARTAN,
        second=("BO",),
        where={"problem": ["exp-2d-wide"]},
        reasons={
            "not reproduced": (
                "Ahead in 8 of 10 runs and by 0.3 of the gap, but p is above 0.05 once "
                "corrected; standard deviations in equation 3 solve it every time, literal "
                "variances in 8 of 10."
            )
        },
    ),
    _claim(
        "Figure 2",
        "On 2-D Exp warping is ahead of BO.",
        measure=gap(TRIALS),
        first=("WARP",),
        second=("BO",),
        where={"problem": ["exp-2d-wide"]},
        reasons={
            "not reproduced": (
                "Solved in 9 of 10 runs, by BO in 6; with ten runs that is not beyond chance."
            )
        },
    ),
    _claim(
        "Figure 2",
        "Spartan BO always finds the minimum of 2-D Exp in less than 20 iterations.",
        measure=solved(INITIAL + 20),
        first=SPARTAN,
        kind="share",
        where={"problem": ["exp-2d-wide"]},
        reasons={
            "contradicted": (
                "Nearly so for standard deviations (9 to 22 iterations, once 38); literal "
                "variances miss the minimum in 2 of 10 runs, since their local region covers "
                "most of the square."
            )
        },
    ),
    _claim(
        "Figure 3",
        "On Hartmann-6 Spartan BO and warping are no worse than BO.",
        measure=gap(TRIALS),
        first=("WARP", *SPARTAN),
        second=("BO",),
        kind="no worse",
        where={"problem": ["hartmann-6"]},
    ),
    _claim(
        "Figure 4",
        "On Michalewicz-10 active learning and perturbation (ABO, SPBO) are like BO.",
        measure=gap(TRIALS),
        first=("ABO", "SPBO"),
        second=("BO",),
        kind="alike",
        where={"problem": ["michalewicz-10"]},
        reasons={
            "not reproduced": (
                "No difference is seen (0.349 and 0.365), but ten runs vary too much to rule out "
                "one of 0.05."
            )
        },
    ),
    _claim(
        "Figure 5",
        "BO finds the minimum of the logistic regression in less than 40 iterations.",
        measure=solved(INITIAL + 40),
        first=("BO",),
        kind="share",
        where={"problem": ["logreg"]},
    ),
    _claim(
        "Figure 5",
        "Warping finds the minimum of the logistic regression in less than 10 iterations.",
        measure=solved(INITIAL + 10),
        first=("WARP",),
        kind="share",
        where={"problem": ["logreg"]},
    ),
    _claim(
        "Figure 5",
        "On online LDA Spartan BO escapes the local minimum that holds BO and warping.",
        measure=gap(TRIALS),
        first=SPARTAN,
        second=("BO", "WARP"),
        where={"problem": ["lda"]},
        reasons={
            "not reproduced": (
                "Our BO is not stuck: it finds the best cell in every run. We search the "
                "measured table, the document trees fitted to it; that this is the reason is a "
                "guess."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On online LDA simultaneous perturbation (SPBO) is the best: ahead of Spartan BO.",
        measure=gap(TRIALS),
        first=("SPBO",),
        second=SPARTAN,
        where={"problem": ["lda"]},
        reasons={
            "not reproduced": (
                "It solves LDA in every run, and so do BO and most others, so that nothing is "
                "left to be ahead by."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On HP-NNET the local kernel is ahead in the end (HBO-SBO of HBO).",
        experiment="hierarchical_hpnnet",
        measure=gap(100),
        first=("HBO-SBO",),
        second=("HBO",),
        where={"problem": ["hpnnet"]},
        reasons={
            "not reproduced": (
                "100 trials are ten outer points here, too few for any outer surrogate to "
                "matter; the document states neither its split of trials nor has the same data."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On HP-NNET Spartan BO is ahead of BO in the end.",
        measure=gap(600),
        first=("SBO-variance", "SBO-std", "SBO-learnt"),
        second=("BO",),
        where={"problem": ["hpnnet"]},
    ),
)
