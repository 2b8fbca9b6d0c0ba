"""Claims of "Heteroscedastic treed Bayesian optimisation" (Assael et al. 2014)."""

from __future__ import annotations

__all__ = ["CLAIMS"]

from functools import partial

from experiments.measures import border_deviation, gap, solved
from experiments.verdicts import Claim

_claim = partial(Claim, "Assael et al. 2014", experiment="htbo_table1", runs=32)
TRIALS = 50

CLAIMS = (
    _claim(
        "Table 1",
        "On RKHS a tree of processes (HTBO) is ahead of one process (BO).",
        measure=gap(TRIALS),
        first=("HTBO",),
        second=("BO",),
        where={"problem": ["rkhs-1d"]},
        reasons={
            "not reproduced": (
                "The mean is ahead, by 0.12 of the value and in the document by 0.18, but nearly "
                "half of the runs are behind."
            )
        },
    ),
    _claim(
        "Table 1",
        "On RKHS warped leaves (HTBO-WARP) are ahead of HTBO, BO and BO-WARP.",
        measure=gap(TRIALS),
        first=("HTBO-WARP",),
        second=("HTBO", "BO", "BO-WARP"),
        where={"problem": ["rkhs-1d"]},
        reasons={
            "not reproduced": (
                "It is ahead of BO and HTBO in the mean, but BO-WARP finds the minimum in more "
                "runs (18 and 16 of 20); the document's BO-WARP is no better than its BO."
            ),
        },
    ),
    _claim(
        "Table 1",
        "On 2-D Exp the trees are ahead of BO and BO-WARP.",
        measure=gap(TRIALS),
        first=("HTBO", "HTBO-WARP"),
        second=("BO", "BO-WARP"),
        where={"problem": ["exp-2d"]},
        reasons={
            "not reproduced": (
                "Our BO solves 2-D Exp on [−2, 6]² in most runs, so that a tree has little to "
                "gain; HTBO loses digits by suggestions at the borders of leaves "
                "([borders](htbo_borders.md)). The document does not name its domain."
            )
        },
    ),
    _claim(
        "Table 1",
        "On LDA both trees end at the best cell in every run.",
        measure=solved(TRIALS),
        first=("HTBO", "HTBO-WARP"),
        kind="share",
        where={"problem": ["lda"]},
        reasons={
            "contradicted": (
                "HTBO finds it in 14 of 20 runs, HTBO-WARP in half. A matter of trials, whose "
                "number the document does not state: of ten runs HTBO finds it in 6 after 50 and "
                "in all after 100, and with neighbours across borders in all after 50 "
                "([borders](htbo_borders.md))."
            )
        },
    ),
    _claim(
        "Table 1",
        "On SVM the trees are no worse than BO and BO-WARP.",
        measure=gap(TRIALS),
        first=("HTBO", "HTBO-WARP"),
        second=("BO", "BO-WARP"),
        kind="no worse",
        where={"problem": ["svm"]},
        reasons={
            "not reproduced": (
                "All are close to the best cell; warped leaves are behind BO-WARP by half of what "
                "matters, which 20 runs do not rule out to be more."
            ),
        },
    ),
    _claim(
        "Table 1",
        "On two mines the trees are ahead of BO and BO-WARP (here: on two other fields).",
        measure=gap(TRIALS),
        first=("HTBO", "HTBO-WARP"),
        second=("BO", "BO-WARP"),
        where={"problem": ["walker-lake", "babbitt-copper"]},
        reasons={
            "not reproduced": (
                "The mines' data are not public. On Walker Lake, which stands in, the trees have "
                "the better means, on Babbitt copper BO has; both are very skewed with narrow rich "
                "spots."
            )
        },
    ),
    _claim(
        "section 3.1",
        "Splits at observations that both leaves keep are essential: ahead of splits at midpoints.",
        measure=gap(TRIALS),
        first=("HTBO",),
        second=("HTBO-midpoint",),
        runs=None,
        reasons={
            "not reproduced": (
                "The means are ahead by less than is beyond chance; the document shows the "
                "variance at a border (Figure 2), and no search with other splits."
            )
        },
    ),
    _claim(
        "Figure 2",
        "A split at an observation that both leaves keep lowers the variance at their border.",
        measure=border_deviation(),
        first=("HTBO",),
        second=("HTBO-midpoint",),
        where={"problem": ["rkhs-1d", "exp-2d"]},
        runs=None,
    ),
)
