"""What the default method should do about running trials: every policy, with all else as it is."""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Mapping, Sequence
from typing import Any

import outcrop as oc
from benchmarks.reporting import table
from experiments.comparison import corrected_p_values
from experiments.harness import Cell, Experiment, Row
from experiments.playbook import STEPS, simulated
from experiments.playbook_tables import (
    Found,
    Task,
    by_task,
    compared,
    mean_and_error,
    ranks,
    seconds,
)

POLICIES: dict[str, Any] = {
    "believer": oc.pending.Believer(),
    "liar, mean": oc.pending.Liar("mean"),
    "liar, min": oc.pending.Liar("min"),
    "Thompson": oc.pending.ThompsonSampling(),
    "PLAyBOOK-L": oc.pending.PLAyBOOK("L"),
    "PLAyBOOK-HL": oc.pending.PLAyBOOK("HL"),
}
BASELINE = "believer"
PROBLEMS = ("ack-5", "egg-2", "mic-5", "hartmann-6")
WORKERS = ("4", "16")
HALF = STEPS // 2


def run(cell: Cell, number: int) -> Row:
    method = oc.Method(pending=POLICIES[cell["method"]])
    return simulated(cell["problem"], method, int(cell["workers"]), number)


def report(rows: Sequence[Row]) -> str:
    found = by_task(rows)
    return "\n\n".join([READING, rank_table(found, seconds(rows)), regret_table(found), FINDINGS])


def rank_table(found: Mapping[Task, Found], spent: Mapping[str, float]) -> str:
    """Mean ranks over tasks and runs, for all workers and for each number of them."""
    names = list(POLICIES)
    last = ranks(found, STEPS, names)
    columns = [ranks(found, HALF, names), last]
    columns += [ranks({t: f for t, f in found.items() if t[1] == k}, STEPS, names) for k in WORKERS]
    p_values = corrected_p_values(
        {
            name: (dict(enumerate(last[:, i])), dict(enumerate(last[:, 0])))
            for i, name in enumerate(names)
            if name != BASELINE
        }
    )
    lines = []
    for i, name in enumerate(names):
        line = [name, *(f"{c[:, i].mean():.2f}" if len(c) else "–" for c in columns)]
        line += [f"{p_values[name]:.3f}" if name in p_values else "", f"{spent.get(name, 0):.3f}"]
        lines.append(line)
    each = [f"k = {k}" for k in WORKERS]
    return table(["policy", f"after {HALF}", f"after {STEPS}", *each, "p", "s"], lines)


def regret_table(found: Mapping[Task, Found]) -> str:
    after, p_values = compared(found, STEPS, BASELINE)
    lines = []
    for problem, k in found:
        keys = [(problem, k, name) for name in POLICIES]
        runs = max(map(len, found[problem, k].values()))
        shown = [mean_and_error(list(after[key].values())) if key in after else "" for key in keys]
        lines.append([k, problem, f"{runs} runs", *shown])
        lines.append(["", "", "p", *(f"{p_values[k]:.3f}" if k in p_values else "" for k in keys)])
    return table(["k", "task", "", *POLICIES], lines)


READING = f"""\
The searches of [PLAyBOOK's tables](playbook_tables.md) with the default method of a box in place
of the thesis's: sampled hyperparameters, logarithmic EI, our search for its maximum. Only what is
done about running trials differs. First mean ranks over tasks and runs, 1 the best, with a
two-sided Wilcoxon test against `{BASELINE}` and seconds of processor time per suggestion; then
natural logarithms of the regret after {STEPS} steps, mean and in brackets standard error, p paired
by run, Holm over the table."""
FINDINGS = """\
The believer and both penalisers do not differ beyond chance (p ≥ 0.6), and liars and Thompson
sampling are behind (p < 0.001). The believer is the default: nothing is ahead of it, it costs
least, and it goes with surrogates that have no gradients too. PLAyBOOK-HL was measured here before
its radii were limited (see Tables 4.2 to 4.4); even so constants found around running trials are no
handicap here, as they were with the thesis's model."""

EXPERIMENT = Experiment(
    "pending_policies",
    "Which policy for running trials is the default",
    [
        [
            {"problem": problem, "workers": k, "method": name}
            for problem in PROBLEMS
            for k in WORKERS
            for name in POLICIES
        ]
    ],
    run,
    report,
    source="ours",
    summary="believer and penalisers alike, liars and Thompson sampling behind",
)
