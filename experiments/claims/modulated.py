"""Claims of "Modulating surrogates for Bayesian optimization" (Bodin et al. 2020)."""

from __future__ import annotations

__all__ = ["CLAIMS"]

from functools import partial

from experiments.measures import gap
from experiments.modulated_table1 import PUBLISHED
from experiments.verdicts import Claim

_claim = partial(Claim, "Bodin et al. 2020", experiment="modulated_table1", runs=20)
OSCILLATING = ["shubert", "holder-table", "corrupted-holder-table"]  # where LGP is ahead there

CLAIMS = (
    _claim(
        "Table 1, 50 evaluations",
        "On Shubert, Holder table and its corrupted form latent inputs (LGP) are ahead of GP.",
        measure=gap(50),
        first=("LGP",),
        second=("GP",),
        where={"problem": OSCILLATING},
        reasons={
            "not reproduced": (
                "Ahead on corrupted Holder table (0.98 and 0.89), level on Holder table, behind on "
                "Shubert (0.49 and 0.68), whose gaps go from 0 to 1: six runs decide nothing. The "
                "corruption is ours, since the document's is not public."
            )
        },
    ),
    _claim(
        "Table 1, 50 evaluations",
        "Where LGP is not needed it is no worse than GP.",
        measure=gap(50),
        first=("LGP",),
        second=("GP",),
        kind="no worse",
        where={
            "problem": ["hartmann-6", "griewank-2", "ackley-2", "cross-in-tray"],
        },
        reasons={
            "not reproduced": (
                "LGP is behind on Griewank (0.85 and 0.95), Cross-in-tray and Ackley-2; averaged "
                "over the four, in each of six runs. A guess: every third evaluation takes narrow "
                "structure for outliers."
            )
        },
    ),
    _claim(
        "Table 1, 50 evaluations",
        "On oscillating functions LGP is ahead of the warped process.",
        measure=gap(50),
        first=("LGP",),
        second=("Warped GP",),
        where={
            "problem": ["griewank-2", "ackley-2", "cross-in-tray", *OSCILLATING],
        },
        reasons={
            "not reproduced": (
                "Our warped process is far better than the document's (0.984 instead of 0.274 on "
                "Ackley-2); how long its chains ran there is not said."
            )
        },
    ),
    _claim(
        "Table 1, 50 evaluations",
        "Constant noise costs on Griewank, Ackley-2 and Cross-in-tray: GP is ahead of Homosced GP.",
        measure=gap(50),
        first=("GP",),
        second=("Homosced GP",),
        where={"problem": ["griewank-2", "ackley-2", "cross-in-tray"]},
        reasons={
            "not reproduced": (
                "Ahead in the mean, by less than in the document, and in three runs of six. Our "
                "noise variance has a horseshoe prior and may vanish; the document's prior is in a "
                "supplement that was not at hand."
            )
        },
    ),
    _claim(
        "Table 1, 100 evaluations",
        "Over the problems of the table LGP is ahead of GP.",
        measure=gap(100),
        first=("LGP",),
        second=("GP",),
        where={"problem": sorted(PUBLISHED[100])},
        unit="problem",
        reasons={
            "not reproduced": (
                "Ahead by far on Deflected Corrugated Spring (0.75 and 0.35) and Ackley-6 (0.84 "
                "and 0.59), less on corrupted Exponential (0.44 and 0.35), level on Shubert, where "
                "the document has it far ahead. On most functions of two dimensions both are near "
                "the minimum, where signs decide nothing."
            )
        },
    ),
    _claim(
        "Table 1, 100 evaluations",
        "On Weierstrass and Deflected Corrugated Spring constant noise is ahead of LGP.",
        measure=gap(100),
        first=("Homosced GP",),
        second=("LGP",),
        where={
            "problem": ["weierstrass-8", "deflected-corrugated-spring-10"],
        },
        reasons={
            "not reproduced": (
                "Ahead in five runs of six, by 0.04 on both; the document has it ahead by 0.08 on "
                "Weierstrass and 0.14 on Deflected Corrugated Spring."
            )
        },
    ),
    _claim(
        "section 5, other acquisition functions",
        "With the lower confidence bound LGP is ahead of constant noise on corrupted Exponential.",
        measure=gap(100),
        first=("LGP-LCB",),
        second=("Homosced GP-LCB",),
        reasons={
            "not reproduced": (
                "Behind in five runs of six (0.48 and 0.55), not beyond chance. The corruption is "
                "ours, and the weight of the bound is not stated there."
            )
        },
    ),
)
