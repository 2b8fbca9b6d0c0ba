"""Stored results of two methods as a Markdown report.

A method is named as in its cells, with `@LABEL` for results that were stored under a label. Results
of one method must be of one version, and two methods of the library without different labels of the
same one: comparing versions must be asked for.
"""

from __future__ import annotations

__all__ = [
    "COLUMNS",
    "Side",
    "compare",
    "gaps_of",
    "group_table",
    "require_comparable",
    "side",
]

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.reporting import table
from experiments.harness import Row
from experiments.provenance import PEER_PACKAGES, MixedVersions, version_of
from experiments.suite.experiment import EXPERIMENT
from experiments.suite.groups import METHODS
from experiments.suite.judging import (
    GROUP_EFFECT,
    PROBLEM_EFFECT,
    Gaps,
    GroupJudgement,
    ProblemDifference,
    gap,
    judge,
    problem_differences,
)
from experiments.suite.known_best import Best
from experiments.suite.noisy import base_of

COLUMNS = f"""\
Columns. gap: mean over problems of the mean over runs of the part of the way from the best initial
value to the optimum, on noisy problems of the true value of what is recommended, on tuning tasks
relative to the best value that any stored run found; difference: with a 95 % bootstrap interval
over problems; p: two-sided Wilcoxon test, of a group over the problems' differences with Holm over
the groups, of a problem over the runs' differences without correction. The smallest
difference that matters is {GROUP_EFFECT} for a group, {PROBLEM_EFFECT} for a problem."""


@dataclass(frozen=True)
class Side:
    """The rows of one method, all of one version."""

    name: str
    rows: Sequence[Row]

    @property
    def method(self) -> str:
        return self.name.partition("@")[0]

    @property
    def label(self) -> str:
        return self.name.partition("@")[2]

    @property
    def version(self) -> str:
        return version_of(self.rows[0])


def side(name: str, half: str, groups: Collection[str] = (), scratch: Path | None = None) -> Side:
    """The stored rows of a method, such as `gp` or `gp@wider`; from `scratch` if it is given."""
    method, _, label = name.partition("@")
    if method not in METHODS:
        raise ValueError(f"{method} is not known; methods are {', '.join(METHODS)}")
    stored = replace(EXPERIMENT, label=label, scratch=scratch)
    wanted: dict[str, Collection[str]] = {"method": [method], "half": [half]}
    if groups:
        wanted["group"] = groups
    return require_one_version(name, stored.rows(wanted))


def require_one_version(name: str, rows: Sequence[Row]) -> Side:
    versions = sorted({version_of(row) for row in rows})
    if not versions:
        raise ValueError(f"no results of {name} are stored for these cells")
    if len(versions) > 1:
        raise MixedVersions(
            f"results of {name} are of {len(versions)} versions ({', '.join(versions)}): run them "
            "--again, or store one of the versions under a --label"
        )
    return Side(name, rows)


def compare(method: Side, reference: Side, best: Best) -> str:
    """A table of groups, then the problems that differ."""
    require_comparable(method, reference)
    differences = problem_differences(gaps_of(method.rows, best), gaps_of(reference.rows, best))
    if not differences:
        raise ValueError(f"{method.name} and {reference.name} have no runs in common")
    apart = [one for one in differences if abs(one.difference) >= PROBLEM_EFFECT]
    apart.sort(key=lambda one: (one.group, one.difference))
    parts = [
        f"## {method.name} against {reference.name}",
        f"{method.name}: {_origin(method)}. {reference.name}: {_origin(reference)}.",
        group_table(judge(differences), method.name, reference.name),
        f"Problems that differ by {PROBLEM_EFFECT} or more (± standard error over runs): "
        + (f"{len(apart)} of {len(differences)}." if apart else "none."),
        *([_problem_table(apart, method.name, reference.name)] if apart else []),
        COLUMNS,
    ]
    if newer := _below_known(method.rows, best) + _below_known(reference.rows, best):
        parts.append(
            f"{newer} runs found less than the best known value of their tuning task, and count "
            "as 1: `python -m experiments.suite best` takes their values over."
        )
    return "\n\n".join(parts)


def gaps_of(rows: Sequence[Row], best: Best) -> Gaps:
    found: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        key = row["cell"]["group"], row["cell"]["problem"]
        found.setdefault(key, {})[row["run"]] = gap(row["start"], row["found"], _floor(row, best))
    return found


def _floor(row: Row, best: Best) -> float:
    """What `start` and `found` of a row are measured down to."""
    if row["optimum"] is not None:
        return 0.0
    problem, instance = base_of(row["cell"]["problem"]), str(row["instance"])
    try:
        return float(best[problem][instance]["value"])
    except KeyError:
        raise ValueError(
            f"no best value of {problem}, instance {instance}, is known: "
            "run `python -m experiments.suite best`"
        ) from None


def require_comparable(method: Side, reference: Side) -> None:
    """Raise if two methods of the library under one label are of different versions."""
    if {method.method, reference.method} & PEER_PACKAGES.keys():
        return
    if method.label == reference.label and method.version != reference.version:
        raise MixedVersions(
            f"{method.name} is of src {method.version}, {reference.name} of {reference.version}: "
            "run one of them --again, or store one version under a --label and name it, as in "
            f"{method.method}@LABEL"
        )


def _origin(side: Side) -> str:
    commits = ", ".join(dict.fromkeys(row.get("commit", "unknown") for row in side.rows))
    kind = "" if side.method in PEER_PACKAGES else "src "
    return f"{kind}{side.version} (commit {commits})"


def group_table(judgements: Sequence[GroupJudgement], method: str, reference: str) -> str:
    """A line for each group: gaps, their difference, and the verdict."""
    header = ["group", "problems", "runs", method, reference, "difference", "95 %", "p", "verdict"]
    lines = [
        [
            one.group,
            str(one.problems),
            str(one.runs),
            f"{one.gap:.3f}",
            f"{one.reference:.3f}",
            f"{one.difference:+.3f}",
            f"{one.low:+.3f} to {one.high:+.3f}",
            f"{one.p:.2g}",
            one.verdict,
        ]
        for one in judgements
    ]
    return table(header, lines)


def _problem_table(apart: Sequence[ProblemDifference], method: str, reference: str) -> str:
    lines = [
        [
            one.problem,
            one.group,
            str(one.runs),
            f"{one.gap:.3f}",
            f"{one.reference:.3f}",
            f"{one.difference:+.3f} ± {one.error:.3f}",
            f"{one.p:.2g}",
        ]
        for one in apart
    ]
    return table(["problem", "group", "runs", method, reference, "difference", "p"], lines)


def _below_known(rows: Sequence[Row], best: Best) -> int:
    return sum(row["optimum"] is None and row["found"] < _floor(row, best) for row in rows)
