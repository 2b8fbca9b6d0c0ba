"""The page of the confirming half: `"auto"` beside its members and other libraries.

Written by `python -m experiments.suite page` to `docs/guides/suite.md`.
"""

from __future__ import annotations

__all__ = ["PAGE", "extent_of", "page"]

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.reporting import table
from experiments.peers import PEERS
from experiments.suite.comparing import COLUMNS, Side, gaps_of, group_table, side
from experiments.suite.experiment import EXPERIMENT
from experiments.suite.groups import GROUPS
from experiments.suite.judging import (
    PROBLEM_EFFECT,
    ProblemDifference,
    judge,
    problem_differences,
)
from experiments.suite.known_best import Best
from experiments.suite.ranking import rank

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "suite.md"
LABEL = "balanced"  # of the library's results
HALF = "confirm"
FIRST, PLAIN, NARROW = "auto", "gp", "BoTorch"
MEMBERS = FIRST, PLAIN, "warped", "spartan", "latent", "additive"
RUNS = 10
FEW = 2  # runs of each problem with which a method is shown at all

TITLE = """\
# The suite: `"auto"` beside its members and other libraries

Written by `python -m experiments.suite page` from `experiments/results/suite/`."""
ABOUT = f"""\
170 problems in seven groups (`experiments/suite/README.md`): COCO's functions and
mixed-integer functions, minima at bounds, the library's own boxes and mixed spaces, tuning tasks of
scikit-learn, conditional trees, and noisy variants. {RUNS} runs of each, 40 to 80 trials, all
methods from the same initial points. These are instances and seeds by which no default was chosen.
On noisy problems a method is judged by the true value of the trial that it recommends, other
libraries by that of their best observed trial. Peers run with their defaults."""
NARROWER = f"""\
{NARROW} has no conditional spaces, and categories take it minutes for each run; other problems
are left out."""
FEWER = "In the groups {groups}, by the {least} to {most} runs of each problem that are stored:"
LOSSES = f"""\
Problems on which `"auto"` closes {PROBLEM_EFFECT} of the gap less than `"gp"`, or more; p is not
corrected for their number:"""
ROUGH = "rough at every scale: the basin in which a run ends decides"
NOISE = "single runs decide: their standard deviation is 0.3 to 0.5"
REASONS = {  # of a loss, by problem
    "ackley-5C": "lower in four runs, equal in four; a guess: one number and five categories leave "
    "little to members other than the plain process, which has two chains instead of six",
    "bbob-f16-d5": ROUGH,
    "bbob-f23-d5": ROUGH,
    "bbob-f24-d2": ROUGH,
    "boosting-diabetes": "lower in seven runs, higher in three",
    "deflected-corrugated-spring-2": "rings around the minimum: seven runs end in the same ring, "
    'in three `"gp"` comes nearer to the centre',
    "forest-wine": "lower in five runs, higher in three",
    "kernel-ridge-diabetes": "one run ends at 0.29 of the gap",
    "mixint-f18-d5": "lower in eight runs; the only loss with p < 0.05 of 170 problems; no cause "
    "was found",
    "mixint-f19-d5": ROUGH,
    "mixint-f23-d5": ROUGH,
    "noisy-bbob-f20-d2": NOISE,
    "noisy-bbob-f21-d2": NOISE,
    "noisy-network-wine": NOISE,
    "noisy-six-hump-camel": NOISE,
    "shubert": "18 of 760 minima are global: a run finds one of them or not",
}


def page(best: Best) -> str:
    """The page in Markdown, from the methods of which all runs are stored.

    A method of which some are missing has a section of its own, by groups and runs that it has.
    """
    found = {name: _stored(name, RUNS) for name in (*MEMBERS, *PEERS)}
    sides = {name: each for name, each in found.items() if each is not None}
    everywhere = [each for name, each in sides.items() if name != NARROW]
    parts = [TITLE, ABOUT]
    missing = [name for name, each in found.items() if each is None]
    if missing:
        parts.append(f"Not all runs are stored yet of {', '.join(missing)}.")
    parts.append(rank(everywhere, best))
    if NARROW in sides:
        parts += [f"## With {NARROW}", NARROWER, rank(list(sides.values()), best, "###")]
    for name in missing:
        if groups := [group for group in GROUPS if _stored(name, FEW, [group])]:
            some = _stored(name, FEW, groups)
            assert some is not None  # as all groups have enough
            parts += [f"## With {name}", *([NARROWER] if name == NARROW else [])]
            parts += [extent_of(some), rank([*everywhere, some], best, "###")]
    return "\n\n".join([*parts, *_beside(sides[FIRST], sides[PLAIN], best)]) + "\n"


def _stored(name: str, runs: int, groups: Sequence[str] = tuple(GROUPS)) -> Side | None:
    """The rows of a method on the confirming half; None if a problem has fewer runs than these."""
    label = "" if name in PEERS else LABEL
    stored = replace(EXPERIMENT, label=label)
    wanted = {"method": [name], "half": [HALF], "group": groups}
    if stored.missing(runs, wanted) or not stored.rows(wanted):
        return None
    return replace(side(f"{name}@{label}" if label else name, HALF, groups), name=name)


def extent_of(method: Side) -> str:
    """Which groups have results of a method, and how many runs of a problem."""
    counts = Counter(row["cell"]["problem"] for row in method.rows).values()
    groups = dict.fromkeys(row["cell"]["group"] for row in method.rows)
    return FEWER.format(groups=", ".join(groups), least=min(counts), most=max(counts))


def _beside(method: Side, reference: Side, best: Best) -> list[str]:
    differences = problem_differences(gaps_of(method.rows, best), gaps_of(reference.rows, best))
    lost = [one for one in differences if one.difference <= -PROBLEM_EFFECT]
    won = [one for one in differences if one.difference >= PROBLEM_EFFECT]
    return [
        f'## `"{method.name}"` beside `"{reference.name}"`',
        group_table(judge(differences), method.name, reference.name),
        COLUMNS,
        f"{len(won)} problems have a gap larger by {PROBLEM_EFFECT} or more, {len(lost)} a smaller "
        f"one. {LOSSES}",
        _losses(sorted(lost, key=lambda one: one.difference), method.name, reference.name),
    ]


def _losses(lost: Sequence[ProblemDifference], method: str, reference: str) -> str:
    lines = [
        [
            one.problem,
            one.group,
            f"{one.gap:.3f}",
            f"{one.reference:.3f}",
            f"{one.difference:+.3f} ± {one.error:.3f}",
            f"{one.p:.2g}",
            REASONS[one.problem],
        ]
        for one in lost
    ]
    return table(["problem", "group", method, reference, "difference", "p", "reason"], lines)
