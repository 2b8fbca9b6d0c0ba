"""Claims of "Local Nonstationarity for Efficient Bayesian Optimization" (Martinez-Cantin 2015).

The document has 10 to 25 runs, "depending on the problem". Equation 3 can be read in two ways,
`SBO-variance` and `SBO-std`; where one of them may hold without the other, each is a claim of its
own, elsewhere both have to hold.
"""

from __future__ import annotations

__all__ = ["CLAIMS"]

from functools import partial

from experiments.measures import gap, solved
from experiments.verdicts import Claim

_claim = partial(Claim, "Martinez-Cantin 2015", experiment="spartan_figures", runs=10)
READINGS = {"variances": "SBO-variance", "deviations": "SBO-std"}
SPARTAN = tuple(READINGS.values())
INITIAL, TRIALS = 10, 60

CLAIMS = (
    *(
        _claim(
            "Figure 2",
            f"On 2-D Exp Spartan BO ({reading}) is ahead of BO, which converges poorly.",
            measure=gap(TRIALS),
            first=(method,),
            second=("BO",),
            where={"problem": ["exp-2d-wide"]},
            reasons={
                "not reproduced": (
                    "Both solve 13 of 25 runs, where differences are below 1e-4; it alone solves "
                    "seven, BO alone three."
                ),
            },
        )
        for reading, method in READINGS.items()
    ),
    _claim(
        "Figure 2",
        "On 2-D Exp warping is ahead of BO.",
        measure=gap(TRIALS),
        first=("WARP",),
        second=("BO",),
        where={"problem": ["exp-2d-wide"]},
    ),
    *(
        _claim(
            "Figure 2",
            f"Spartan BO ({reading}) always finds the minimum of 2-D Exp before iteration 20.",
            measure=solved(INITIAL + 19),
            first=(method,),
            kind="share",
            where={"problem": ["exp-2d-wide"]},
            reasons={
                "contradicted": (
                    "As variances the widths make a local region that covers most of the square, "
                    "so that it adds little. As deviations they do what the document shows, which "
                    "may be its reading."
                ),
                "not reproduced": (
                    "21 of 25 runs find it before iteration 20, the others soon after."
                ),
            },
        )
        for reading, method in READINGS.items()
    ),
    _claim(
        "Figure 3",
        "On Hartmann-6 Spartan BO and warping are no worse than BO.",
        measure=gap(TRIALS),
        first=("WARP", *SPARTAN),
        second=("BO",),
        kind="no worse",
        where={"problem": ["hartmann-6"]},
        reasons={
            "not reproduced": (
                "Warping has the most to sample and is behind BO in every run, by about half of "
                "what matters."
            ),
        },
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
                "SPBO has the lower mean (0.359, ABO 0.405, BO 0.391); 25 runs vary too much to "
                "rule out a difference of 0.05."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On the logistic regression BO reaches the minimum before iteration 40.",
        measure=solved(INITIAL + 39),
        first=("BO",),
        kind="share",
        where={"problem": ["logreg-surrogate"]},
        reasons={
            "contradicted": (
                "The lowest value of our trees is that of a cell of 7e-5 of the space; 2 of 200 "
                "searches find it, none of them BO. All else is at least 0.0013 higher, and BO is "
                "within 0.0025 by then in 24 of 25 runs. The document's trees may have no such "
                "cell (a guess)."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On the logistic regression warping is the fastest: ahead of BO after nine iterations.",
        measure=gap(INITIAL + 9),
        first=("WARP",),
        second=("BO",),
        where={"problem": ["logreg-surrogate"]},
        reasons={
            "not reproduced": (
                "Ahead in two runs of three, by 0.025 of the gap, less than matters on one problem."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On online LDA Spartan BO escapes the local minimum that holds BO and warping.",
        measure=gap(TRIALS),
        first=SPARTAN,
        second=("BO", "WARP"),
        where={"problem": ["lda-surrogate"]},
        reasons={
            "not reproduced": (
                "Nothing holds our BO: its gaps are 0.98 in the mean, and those of Spartan BO are "
                "0.93 (variances) and 0.86 (deviations). The document's trees are not public; "
                "that theirs have a local minimum which ours do not is a guess."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On online LDA simultaneous perturbation (SPBO) is the best: ahead of Spartan BO.",
        measure=gap(TRIALS),
        first=("SPBO",),
        second=SPARTAN,
        where={"problem": ["lda-surrogate"]},
        reasons={
            "not reproduced": (
                "It has the better mean, but solves fewer runs (11 of 25) than Spartan BO by "
                "variances (14)."
            )
        },
    ),
    _claim(
        "Figure 5",
        "On HP-NNET Spartan BO is ahead of BO in the end.",
        measure=gap(600),
        first=SPARTAN,
        second=("BO",),
        where={"problem": ["hpnnet"]},
        reasons={
            "not reproduced": (
                "All methods rise alike, to gaps of 0.82 to 0.85 after 60 choices of numbers; no "
                "late jump to a good place is seen in their means."
            )
        },
    ),
)
