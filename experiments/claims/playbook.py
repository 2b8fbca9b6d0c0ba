"""Claims of chapter 4 of "Practical Bayesian optimisation for hyperparameter tuning" (Alvi 2019)."""

from __future__ import annotations

__all__ = ["CLAIMS"]

from functools import partial

from experiments.measures import log_regret, modes, rank
from experiments.verdicts import Claim

SOURCE = "Alvi 2019, ch. 4"
METHODS = ("KB", "TS", "PLAyBOOK-L", "PLAyBOOK-LL", "PLAyBOOK-H", "PLAyBOOK-HL")
PENALISERS = METHODS[2:]
_claim = partial(Claim, SOURCE, experiment="playbook_tables", runs=30)
_modes = partial(
    Claim,
    SOURCE,
    experiment="async_vs_sync",
    first=("asynchronous",),
    second=("synchronous",),
    runs=30,
)

CLAIMS = (
    _claim(
        "Table 4.2",
        "After few steps PLAyBOOK-HL is ahead of the other penalisers.",
        measure=rank(log_regret(50), METHODS),
        first=("PLAyBOOK-HL",),
        second=PENALISERS[:3],
    ),
    _claim(
        "Tables 4.2 to 4.4",
        "PLAyBOOK (mean of the four) is ahead of the kriging believer in most cases.",
        measure=rank(log_regret(100), METHODS),
        first=PENALISERS,
        second=("KB",),
    ),
    _claim(
        "Table 4.4",
        "PLAyBOOK-HL is ahead of the kriging believer after 100 steps.",
        measure=rank(log_regret(100), METHODS),
        first=("PLAyBOOK-HL",),
        second=("KB",),
    ),
    _claim(
        "Figure 4.9",
        "Thompson sampling is behind PLAyBOOK.",
        measure=rank(log_regret(100), METHODS),
        first=PENALISERS,
        second=("TS",),
    ),
    _claim(
        "Figure 4.9",
        "With many workers (16) PLAyBOOK-HL is ahead of the kriging believer.",
        measure=rank(log_regret(100), METHODS),
        first=("PLAyBOOK-HL",),
        second=("KB",),
        where={"workers": ["16"]},
    ),
    _modes(
        "Figure 4.5",
        "In equal time asynchronous searches are ahead of synchronous ones on ack-5.",
        measure=modes("time"),
        where={"problem": ["ack-5"]},
    ),
    _modes(
        "Figure 4.6",
        "In equal time asynchronous searches are ahead of synchronous ones on ack-10.",
        measure=modes("time"),
        where={"problem": ["ack-10"]},
    ),
    _modes(
        "Figure 4.7",
        "After equal evaluations asynchronous PLAyBOOK-HL is ahead on ack-5 with 16 workers.",
        measure=modes("evaluations"),
        where={"problem": ["ack-5"], "method": ["PLAyBOOK-HL"], "workers": ["16"]},
    ),
    _modes(
        "Figure 4.7",
        "After equal evaluations both modes of the kriging believer are alike on ack-5.",
        measure=modes("evaluations"),
        kind="alike",
        where={"problem": ["ack-5"], "method": ["KB"]},
    ),
    _modes(
        "Figure 4.8",
        "After equal evaluations asynchronous PLAyBOOK-HL is ahead on ack-10 with 16 workers.",
        measure=modes("evaluations"),
        where={"problem": ["ack-10"], "method": ["PLAyBOOK-HL"], "workers": ["16"]},
    ),
)
