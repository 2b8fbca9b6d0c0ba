"""Claims of documents, judged from stored results by one rule.

A claim compares methods by a number that every run has: each of its first side with each of its
second. Compared are units: runs (a run's numbers are averaged over the claim's problems), problems
(averaged over runs) or single searches. Differences are positive where the first side is better.
`RULE` states the rule for readers.
"""

from __future__ import annotations

__all__ = ["FEWEST", "RULE", "Claim", "Evidence", "Judged", "Measure", "evidence_of", "judged"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Literal, TypeAlias

import numpy as np

from benchmarks.comparison import holm, paired_p_value
from experiments.harness import Row, matches
from outcrop.typing import Vector

Verdict: TypeAlias = Literal[
    "reproduced", "not reproduced", "contradicted", "not testable here", "not run yet"
]
Kind: TypeAlias = Literal["ahead", "no worse", "alike", "share", "occurs"]
Unit: TypeAlias = Literal["run", "problem", "search"]
Place: TypeAlias = tuple[tuple[tuple[str, str], ...], int]  # what a cell says of it, and the run
Found: TypeAlias = Mapping[str, Mapping[Place, float]]  # by the name of what is compared

SIGNIFICANT = 0.05
FEWEST = 6  # units: with fewer, no two-sided Wilcoxon test of pairs is below 0.05
ALWAYS = 0.95  # the share of runs that "always" is read as
BOUNDS: Mapping[Kind, float] = {"share": ALWAYS, "occurs": 1 - ALWAYS}  # of kinds without pairs
RULE = f"""\
**The rule.** A claim compares two methods by one measure on the named problems; where it names
several, each of the one side with each of the other. Compared are runs (their numbers averaged over
the problems), problems (averaged over runs) or single searches, whichever the row counts. A
difference matters if its mean is at least the measure's smallest (listed below) and most pairs have
its direction.

- *Ahead*: reproduced if the first side is ahead by a difference that matters and
  p < {SIGNIFICANT}; contradicted if it is behind by one and p < {SIGNIFICANT}.
- *No worse*: reproduced if a deficit that matters is ruled out (p < {SIGNIFICANT} once the smallest
  difference that matters is added to all pairs); contradicted as before. *Alike*: the same in both
  directions.
- *Always*: reproduced if at least {100 * ALWAYS:.0f} % of the searches are as claimed; contradicted
  if so few are that p < {SIGNIFICANT} for that share.
- *Occurs*: reproduced if each thing named is seen at all; contradicted if one is not, in so many
  searches that p < {SIGNIFICANT} for a share of {100 * (1 - ALWAYS):.0f} %.
- All else is not reproduced: undecided, or a difference that does not matter.
- Of several methods, all comparisons have to support the claim, so that the largest p counts; one
  that contradicts it is enough, with p times the number of comparisons. The row has the numbers of
  the comparison that supports the claim least.

p: two-sided Wilcoxon test of the pairs, or binomial test of a share, Holm over the claims of one
source. With fewer than {FEWEST} pairs a claim counts as not run yet. Verdicts are computed; the
reasons are written by hand, each for one verdict, and shown with that verdict only."""


@dataclass(frozen=True)
class Measure:
    """A number of every run, and how large a difference in it matters."""

    name: str
    read: Callable[[Sequence[Row], str], Found]  # rows, and the key of cells that is compared
    least: tuple[float, float]  # the smallest difference that matters: on one problem, on several
    larger_is_better: bool = True
    digits: int = 3


@dataclass(frozen=True)
class Claim:
    """What a document says of its methods, in terms of the cells of an experiment.

    Without a measure no experiment has results for it yet, or none can (`untestable` says why).
    """

    source: str
    place: str  # the table or figure
    says: str  # one sentence
    experiment: str = ""
    measure: Measure | None = None
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    kind: Kind = "ahead"  # of `first` to `second`; shares of `first` alone are of numbers 0 and 1
    where: Mapping[str, Sequence[str]] = field(default_factory=dict)  # cells, by the values of keys
    by: str = "method"  # the key of cells whose values are compared
    unit: Unit = "run"
    runs: int | None = None  # of the document, if it says
    reasons: Mapping[Verdict, str] = field(default_factory=dict)
    untestable: str = ""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The numbers of one method of each side of a claim; of a share, of all methods together."""

    names: tuple[str, ...]
    first: float  # means
    second: float
    differences: Vector  # by unit, positive where the first side is better; of a share: each search
    least: float
    runs: int
    missing: tuple[str, ...]  # what the claim names and has too few results


@dataclass(frozen=True, eq=False)
class Judged:
    """A claim with its verdict; `p` is the one that the verdict rests on.

    `evidence` is that of the comparison which supports the claim least.
    """

    claim: Claim
    verdict: Verdict
    evidence: Evidence | None = None
    p: float | None = None
    comparisons: int = 1

    @property
    def reason(self) -> str:
        """The sentence written for this verdict; of another verdict none is shown."""
        return self.claim.untestable or self.claim.reasons.get(self.verdict, "")

    @property
    def lacks_reason(self) -> bool:
        return self.verdict in ("not reproduced", "contradicted") and not self.reason


def judged(claims: Sequence[Claim], rows: Mapping[str, Sequence[Row]]) -> list[Judged]:
    """Verdicts on claims, given the rows of experiments by name."""
    read: dict[tuple[str, Measure, str], Found] = {}
    evidence: dict[int, list[Evidence]] = {}
    for i, claim in enumerate(claims):
        if claim.measure and claim.experiment in rows:
            key = claim.experiment, claim.measure, claim.by
            if key not in read:
                read[key] = claim.measure.read(rows[claim.experiment], claim.by)
            if found := comparisons_of(claim, read[key]):
                evidence[i] = found
    p_for: dict[int, float] = {}
    p_against: dict[int, float] = {}
    for source in dict.fromkeys(claim.source for claim in claims):
        own = [i for i in evidence if claims[i].source == source]
        p_for |= _corrected({i: _p_for(claims[i].kind, evidence[i]) for i in own})
        p_against |= _corrected({i: _p_against(claims[i].kind, evidence[i]) for i in own})
    return [
        _verdict(claim, evidence[i], p_for[i], p_against[i])
        if i in evidence
        else Judged(claim, "not testable here" if claim.untestable else "not run yet")
        for i, claim in enumerate(claims)
    ]


def comparisons_of(claim: Claim, found: Found) -> list[Evidence]:
    """The evidence of each method of the first side beside each of the second.

    Nothing if any of them has too few results.
    """
    if claim.kind == "share":
        pairs = [claim]
    elif claim.kind == "occurs":
        pairs = [replace(claim, first=(one,)) for one in claim.first]
    else:
        both = product(claim.first, claim.second)
        pairs = [replace(claim, first=(one,), second=(other,)) for one, other in both]
    each = [evidence_of(pair, found) for pair in pairs]
    known = [evidence for evidence in each if evidence is not None]
    return known if len(known) == len(each) else []


def evidence_of(claim: Claim, found: Found) -> Evidence | None:
    """The numbers of one method of each side where both have them; None if these are too few."""
    names = (*claim.first, *claim.second)
    sides = [found.get(name, {}) for name in names]
    places = set.intersection(*map(set, sides)) if sides else set()
    runs_of: dict[tuple[tuple[str, str], ...], set[int]] = {}
    for problem, run in places:
        if matches(dict(problem), claim.where):
            runs_of.setdefault(problem, set()).add(run)
    if claim.unit != "search":
        runs_of = {problem: runs for problem, runs in runs_of.items() if len(runs) >= FEWEST}
        shared = set.intersection(*runs_of.values()) if runs_of else set()
        runs_of = dict.fromkeys(runs_of, shared)
    used = [(problem, run) for problem, runs in runs_of.items() for run in sorted(runs)]
    groups: dict[object, list[Place]] = {}
    for place in used:
        unit = {"run": place[1], "problem": place[0], "search": place}[claim.unit]
        groups.setdefault(unit, []).append(place)
    if len(groups) < FEWEST or claim.measure is None:
        return None

    def means(names: tuple[str, ...]) -> Vector:
        numbers = [[[found[name][p] for name in names] for p in group] for group in groups.values()]
        return np.array([np.mean(each) for each in numbers])

    if claim.kind in BOUNDS:
        first = differences = np.array([found[name][p] for name in claim.first for p in used])
        second = np.zeros(len(first))
    else:
        first, second = means(claim.first), means(claim.second)
        differences = first - second if claim.measure.larger_is_better else second - first
    named = {value for problem in runs_of for _, value in problem}
    return Evidence(
        names,
        float(first.mean()),
        float(second.mean()),
        differences,
        claim.measure.least[len(runs_of) > 1],
        len({run for _, run in used}),
        tuple(v for values in claim.where.values() for v in values if v not in named),
    )


def _p_for(kind: Kind, comparisons: Sequence[Evidence]) -> float:
    """Of the tests that all have to reject before the claim is reproduced.

    A share is met without one.
    """
    return 0.0 if kind in BOUNDS else max(_p_ahead(kind, each) for each in comparisons)


def _p_ahead(kind: Kind, evidence: Evidence) -> float:
    d, least = evidence.differences, evidence.least
    if kind == "ahead":
        return paired_p_value(d)
    p_values = [paired_p_value(d + least)]
    if kind == "alike":
        p_values.append(paired_p_value(d - least))
    return max(p_values)


def _p_against(kind: Kind, comparisons: Sequence[Evidence]) -> float:
    """Of the test that contradicts the claim most, corrected for the number of comparisons."""
    from scipy.stats import binom

    if kind in BOUNDS:
        shares = [each.differences for each in comparisons]
        rare = [float(binom.cdf(round(d.sum()), len(d), BOUNDS[kind])) for d in shares]
        return min(1.0, len(shares) * min(rare))
    against = [each for each in comparisons if _opposes(kind, each)] or comparisons
    return min(1.0, len(comparisons) * min(paired_p_value(e.differences) for e in against))


def _supports(kind: Kind, evidence: Evidence) -> bool:
    d, least = evidence.differences, evidence.least
    if kind == "share":
        return bool(d.mean() >= ALWAYS)
    if kind == "occurs":
        return bool(d.any())
    if kind == "ahead":
        return _is_at_least(d, least)
    return _is_above(d, -least) and (kind == "no worse" or _is_above(-d, -least))


def _opposes(kind: Kind, evidence: Evidence) -> bool:
    d, least = evidence.differences, evidence.least
    if kind in BOUNDS:
        return not _supports(kind, evidence)
    return _is_at_least(-d, least) or (kind == "alike" and _is_at_least(d, least))


def _is_at_least(d: Vector, least: float) -> bool:
    """Whether the mean is large enough to matter, and most pairs have its direction."""
    return bool(d.mean() >= least and (d > 0).sum() > (d < 0).sum())


def _is_above(d: Vector, bound: float) -> bool:
    """Whether the mean and most pairs lie above a bound."""
    return bool(d.mean() > bound and (d > bound).sum() > (d < bound).sum())


def _corrected(p_values: Mapping[int, float]) -> dict[int, float]:
    return dict(zip(p_values, holm(list(p_values.values())), strict=True))


def _verdict(
    claim: Claim, comparisons: Sequence[Evidence], p_for: float, p_against: float
) -> Judged:
    weakest = min(comparisons, key=lambda each: _support(claim.kind, each))
    made = partial(Judged, claim, evidence=weakest, comparisons=len(comparisons))
    if p_for < SIGNIFICANT and all(_supports(claim.kind, each) for each in comparisons):
        return made(verdict="reproduced", p=p_for)
    if p_against < SIGNIFICANT and any(_opposes(claim.kind, each) for each in comparisons):
        return made(verdict="contradicted", p=p_against)
    return made(verdict="not reproduced", p=p_against if claim.kind in BOUNDS else p_for)


def _support(kind: Kind, evidence: Evidence) -> float:
    """How much the mean difference supports a claim, in units of what matters."""
    mean, least = float(evidence.differences.mean()), evidence.least or 1.0
    return (-abs(mean) if kind == "alike" else mean) / least
