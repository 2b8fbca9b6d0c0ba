"""The page in front of the experiments: claims with their verdicts, and all experiments."""

from __future__ import annotations

__all__ = ["SUBJECTS", "summary"]

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from experiments.changes import CHANGES, Change, made_before
from experiments.harness import Experiment, Row, matches
from experiments.verdicts import BOUNDS, RULE, Claim, Judged, Verdict, judged

ORDER: tuple[Verdict, ...] = (
    "reproduced",
    "not reproduced",
    "contradicted",
    "not testable here",
    "not run yet",
)
NO_REASON = "*No reason is written for this verdict yet.*"
SUBJECTS = {  # of the documents, and of chapters that stand for themselves
    "Assael et al. 2014": "processes in the leaves of a tree",
    "Bodin et al. 2020": "latent inputs",
    "Martinez-Cantin 2015": "Spartan BO",
    "Alvi 2019, ch. 5": "CoCaBO",
    "Alvi 2019, ch. 4": "PLAyBOOK",
    "Alvi 2019, ch. 3": "noisy inputs",
    "Jenatton et al. 2017": "tree-structured dependencies",
}
READING = """\
Columns of the tables below. ours: the means of two methods by the measure in brackets, in how many
pairs the first is ahead and behind, p, our runs, and the document's where it has more; of several
comparisons the one that supports the claim least. before: our rows are older than these
[changes](#changes-since)."""
FOUND = """\
runs counts stored results; found is the verdicts on the claims of a page, or, where there are none,
the shortest form of what it says; before as above."""
SINCE = """\
Numbers in the columns before stand for these changes. Rows older than a change that concerns them
were not made again since, so that the present version may differ."""


def summary(claims: Sequence[Claim], experiments: Sequence[Experiment]) -> list[str]:
    """Parts of the page in Markdown: claims with their verdicts, all experiments, changes."""
    rows = {each.name: each.rows() for each in experiments}
    verdicts = judged(claims, rows)
    listed = [f"{i}. {c.date} (`{c.commit}`): {c.says}." for i, c in enumerate(CHANGES, 1)]
    return [
        "## Claims of the documents",
        f"{_counted(verdicts)}. [How a verdict is made](#how-a-verdict-is-made) is said below.",
        count_table(verdicts),
        *(
            part
            for source, own in _by_source(verdicts).items()
            for part in (f"### {_title(source)}", claim_table(own, rows))
        ),
        "## How a verdict is made",
        RULE,
        _measures(claims),
        READING,
        "## All experiments",
        FOUND,
        experiment_table(experiments, verdicts, rows),
        "## Changes since",
        SINCE,
        "\n".join(listed),
    ]


def count_table(verdicts: Sequence[Judged]) -> str:
    """How many claims of each document have which verdict."""
    lines = [f"| document | {' | '.join(ORDER)} |", "| --- |" + " ---: |" * len(ORDER)]
    for source, own in _by_source(verdicts).items():
        counts = Counter(each.verdict for each in own)
        title = _title(source)
        cells = [f"[{title}](#{_anchor(title)})", *(str(counts[v] or "") for v in ORDER)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _by_source(verdicts: Sequence[Judged]) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for each in verdicts:
        found.setdefault(each.claim.source, []).append(each)
    return found


def _title(source: str) -> str:
    return f"{source}: {SUBJECTS[source]}"


def _anchor(title: str) -> str:
    """What a heading is addressed by."""
    return re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", title.lower()))


def claim_table(verdicts: Sequence[Judged], rows: Mapping[str, Sequence[Row]]) -> str:
    lines = ["| place | claim | verdict | ours | reason | before |", "| --- |" + " --- |" * 5]
    for each in verdicts:
        claim = each.claim
        used = rows_of(claim, rows[claim.experiment]) if each.evidence else []
        place = claim.place[0].upper() + claim.place[1:]
        linked = f"[{place}]({claim.experiment}.md)" if rows.get(claim.experiment) else place
        reason = NO_REASON if each.lacks_reason else each.reason
        before = _numbers(made_before(claim.experiment, used))
        cells = [linked, claim.says, _shown(each.verdict), ours(each), reason, before]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def experiment_table(
    experiments: Sequence[Experiment],
    verdicts: Sequence[Judged],
    rows: Mapping[str, Sequence[Row]],
) -> str:
    lines = ["| source | experiment | runs | found | before |", "| --- | --- | ---: | --- | --- |"]
    for each in experiments:
        own = [verdict for verdict in verdicts if verdict.claim.experiment == each.name]
        found = _counted(own) if own else each.summary
        before = _numbers(made_before(each.name, rows[each.name]))
        linked = f"[{each.title}]({each.name}.md)"
        cells = [each.source, linked, f"{len(rows[each.name]):,}", found, before]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def ours(each: Judged) -> str:
    """The numbers of a claim, as words."""
    claim, evidence = each.claim, each.evidence
    if evidence is None or claim.measure is None or each.p is None:
        return ""
    d, digits = evidence.differences, claim.measure.digits
    runs = f"{evidence.runs} runs"
    if claim.runs is not None and claim.runs > evidence.runs:
        runs = f"{evidence.runs} of the document's {claim.runs} runs"
    if claim.kind == "share":
        text = f"{round(d.sum())} of {len(d)} searches are {claim.measure.name}"
    elif claim.kind == "occurs":
        (name,) = evidence.names
        least = "least often " if each.comparisons > 1 else ""
        text = f"{least}{name}: {round(d.sum())} of {len(d)} {claim.measure.name}"
    else:
        values = evidence.first, evidence.second
        sides = [
            f"{name} {value:.{digits}f}" for name, value in zip(evidence.names, values, strict=True)
        ]
        units = {"run": "runs", "problem": "problems", "search": "searches"}[claim.unit]
        pairs = f"{(d > 0).sum()} : {(d < 0).sum()} of {len(d)} {units}"
        text = f"{', '.join(sides)} ({claim.measure.name}); {pairs}"
        if each.comparisons > 1:
            text = f"least of {each.comparisons} comparisons: {text}"
    if claim.kind not in BOUNDS or each.verdict != "reproduced":
        text += f", p = {each.p:.3f}" if each.p >= 0.001 else ", p < 0.001"
    missing = f"; without {', '.join(evidence.missing)}" if evidence.missing else ""
    return f"{text}; {runs}{missing}"


def rows_of(claim: Claim, rows: Sequence[Row]) -> list[Row]:
    """The rows that a claim rests on."""
    sides = {*claim.first, *claim.second}
    return [
        row
        for row in rows
        if all(matches(row["cell"], {k: v}) for k, v in claim.where.items() if k in row["cell"])
        and (claim.by not in row["cell"] or row["cell"][claim.by] in sides)
    ]


def _shown(verdict: Verdict) -> str:
    """A verdict that stands out where it is one."""
    return f"**{verdict}**" if verdict in ("reproduced", "contradicted") else verdict


def _counted(verdicts: Sequence[Judged]) -> str:
    counts = Counter(each.verdict for each in verdicts)
    shown = [f"{counts[verdict]} {verdict}" for verdict in ORDER if counts[verdict]]
    claims = "claim" if len(verdicts) == 1 else "claims"
    return f"{len(verdicts)} {claims}: {', '.join(shown)}"


def _numbers(changes: Sequence[Change]) -> str:
    return ", ".join(str(CHANGES.index(change) + 1) for change in changes)


def _measures(claims: Sequence[Claim]) -> str:
    found: Mapping[str, tuple[float, float]] = {
        _kind(claim.measure.name): claim.measure.least for claim in claims if claim.measure
    }
    shown = [
        f"{name} ({one:g}; {several:g})" for name, (one, several) in found.items() if several > 0
    ]
    return (
        "**Measures** (the smallest difference that matters: on one problem; over several): "
        f"{', '.join(shown)}. The gap is the part of the way from the best initial value to the "
        "minimum."
    )


def _kind(name: str) -> str:
    """The name of a measure without its number of trials."""
    return name.split(" at ")[0].split(" of ")[0].split(" after ")[0]
