"""Searches of 20 to 40 numbers, beside Optuna's samplers and BoTorch.

Every run has a function of its own: its minimiser, the axes that matter and, where it is rotated,
its directions are drawn anew. Methods of one run share the function and the initial points.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT", "rank_table", "run"]

from collections.abc import Sequence

import numpy as np

from benchmarks.reporting import table
from experiments.comparison import by_method, corrected_p_values, gap_table
from experiments.harness import Cell, Experiment, Row
from experiments.peers import peer_search
from experiments.provenance import is_peer
from experiments.searches import initial_points, search
from experiments.wide_problems import CONFIRM, wide_problem
from outcrop.strategies.initial import design_size
from outcrop.typing import Matrix

TRIALS, HALF = 100, 50
OURS, PEERS = "gp", ("TPE", "GPSampler", "BoTorch")
METHODS = (OURS, *PEERS)


def run(cell: Cell, number: int) -> Row:
    problem = wide_problem(cell["problem"], number)
    initial = initial_points(problem.space, design_size(problem.space), number)
    if is_peer(cell):
        return peer_search(problem, cell["method"], initial, TRIALS, number)
    return search(problem, cell["method"], initial, TRIALS, number)


def report(rows: Sequence[Row]) -> str:
    return "\n\n".join(
        [
            READING,
            rank_table(rows, [*CONFIRM]),
            gap_table(rows, [*CONFIRM], OURS, [HALF, TRIALS]),
            FINDINGS,
        ]
    )


def rank_table(rows: Sequence[Row], problems: Sequence[str]) -> str:
    """Mean ranks over the runs that all methods have, 1 the best; and pairs of runs with each."""
    each = {problem: ranks(rows, problem, TRIALS) for problem in problems}
    columns = [np.vstack([ranks(rows, problem, HALF) for problem in problems])]
    columns += [np.vstack([*each.values()]), *each.values()]
    pairs = {peer: paired_gaps(rows, problems, peer) for peer in PEERS}
    p_values = corrected_p_values(
        {
            peer: (dict(enumerate(pair[:, 0])), dict(enumerate(pair[:, 1])))
            for peer, pair in pairs.items()
        }
    )
    lines = []
    for i, name in enumerate(METHODS):
        line = [name, *(f"{found[:, i].mean():.2f}" if len(found) else "" for found in columns)]
        pair = pairs.get(name, np.empty((0, 2)))
        ahead = f"{(pair[:, 0] > pair[:, 1]).sum()}/{len(pair)}" if len(pair) else ""
        lines.append([*line, ahead, f"{p_values[name]:.1e}" if name in p_values else ""])
    return table(["method", f"at {HALF}", f"at {TRIALS}", *problems, f"{OURS} ahead", "p"], lines)


def paired_gaps(rows: Sequence[Row], problems: Sequence[str], peer: str) -> Matrix:
    """Gaps of our method and of a peer in every run that both have, `(pairs, 2)`."""
    found = []
    for problem in problems:
        searches = by_method(rows, problem)
        if OURS in searches and peer in searches:
            ours, theirs = searches[OURS].gaps(TRIALS), searches[peer].gaps(TRIALS)
            found += [(ours[run], theirs[run]) for run in sorted(ours.keys() & theirs.keys())]
    return np.array(found).reshape(-1, 2)


def ranks(rows: Sequence[Row], problem: str, trials: int) -> Matrix:
    """Ranks of the methods by their best value, `(runs, methods)`, in runs that all have."""
    from scipy.stats import rankdata

    searches = by_method(rows, problem)
    if not all(name in searches for name in METHODS):
        return np.empty((0, len(METHODS)))
    best = [searches[name].gaps(trials) for name in METHODS]
    shared = sorted(set.intersection(*map(set, best)))
    return np.array([rankdata([-own[run] for own in best]) for run in shared])


READING = f"""\
Searches of {TRIALS} trials, 12 initial ones included, on functions of 20 to 40 numbers. The last
three have two to six active directions. A function that is not rotated is shifted; every run has
another shift, other axes or another rotation. First mean ranks over all runs that every method has,
1 the best, after {HALF} and {TRIALS} trials, and by function; then in how many of the pairs of runs
with this peer `{OURS}` has the lower value; p: two-sided Wilcoxon test of the gaps of all these
pairs, Holm over the column."""

FINDINGS = """\
`gp` has the best mean rank, over all functions and on each, and the lower value in 51 to 55 of the
60 pairs with every peer. By function and peer, with ten runs each and one correction for the table,
TPE and GPSampler are significantly behind on the first four, and BoTorch on two of these; on the
last two, which have two and four active directions that are no axes, no difference is significant.
On levy-4 in 40 BoTorch has the higher mean gap and the worse mean rank: it has no bad run there,
and fewer good ones. BoTorch takes six to fifteen times as long for a suggestion. The prior of
lengthscales was chosen on other functions and starts
([decision 31](../decisions/0031-many-parameters.md))."""

EXPERIMENT = Experiment(
    "many_parameters",
    "Many parameters",
    [[{"problem": problem, "method": method} for problem in CONFIRM for method in METHODS]],
    run,
    report,
    source="ours",
    summary="`gp` is ahead of TPE, GPSampler and BoTorch",
)
