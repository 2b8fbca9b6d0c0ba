"""The page in front of the experiments: claims with their verdicts, and all experiments."""

from __future__ import annotations

__all__ = ["claims_part", "experiments_part"]

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from experiments.changes import CHANGES, Change, made_before
from experiments.harness import Experiment, Row, matches
from experiments.verdicts import RULE, Claim, Judged, judged

ORDER = ("reproduced", "not reproduced", "contradicted", "not testable here", "not run yet")
NO_REASON = "*No reason is written for this verdict yet.*"
READING = """\
Columns. ours: the means of both sides by the measure in brackets; in how many of the pairs the first
is ahead and behind; p; our runs, and the document's where it has more. before: our rows are older
than these [changes](#changes-since)."""
FOUND = """\
All pages. runs counts stored results; found is the verdicts on the experiment's claims, or, of an
experiment without claims of a document, the shortest form of what its page says; before as above."""


def claims_part(claims: Sequence[Claim], experiments: Iterable[Experiment]) -> list[str]:
    """Markdown: what was found in a line, the rule, and a table of all claims."""
    known = {each.name: each for each in experiments}
    named = {claim.experiment for claim in claims}
    rows = {name: each.rows() for name, each in known.items() if name in named}
    verdicts = judged(claims, rows)
    lines = ["| source | claim | ours | verdict | reason | before |", "| --- |" + " --- |" * 5]
    for each in verdicts:
        claim = each.claim
        used = rows_of(claim, rows.get(claim.experiment, ())) if each.evidence else []
        place = f"{claim.source}, {claim.place}"
        linked = f"[{place}]({claim.experiment}.md)" if rows.get(claim.experiment) else place
        reason = NO_REASON if each.lacks_reason else each.reason
        cells = [linked, claim.says, ours(each), each.verdict, reason]
        lines.append(f"| {' | '.join([*cells, _numbers(made_before(claim.experiment, used))])} |")
    parts = ["## Claims of the documents", f"{_counted(verdicts)}.", RULE, _measures(claims)]
    return [*parts, READING, "\n".join(lines)]


def experiments_part(claims: Sequence[Claim], experiments: Iterable[Experiment]) -> list[str]:
    """Markdown: a table of all experiments with results, and the changes that rows may lack."""
    documented = list(experiments)
    rows = {each.name: each.rows() for each in documented}
    own: dict[str, list[Judged]] = {}
    for each in judged(claims, rows):
        own.setdefault(each.claim.experiment, []).append(each)
    lines = ["| source | experiment | runs | found | before |", "| --- | --- | ---: | --- | --- |"]
    for experiment in documented:
        name = experiment.name
        found = _counted(own[name]) if name in own else experiment.summary
        linked = f"[{experiment.title}]({name}.md)"
        before = _numbers(made_before(name, rows[name]))
        cells = [experiment.source, linked, f"{len(rows[name]):,}", found, before]
        lines.append(f"| {' | '.join(cells)} |")
    listed = [f"{i}. {c.date} (`{c.commit}`): {c.says}." for i, c in enumerate(CHANGES, 1)]
    since = [
        "## Changes since",
        "A number in the column before stands for one of these changes. Rows older than a change\n"
        "that concerns them were not made again since, so that the present version may differ.",
        "\n".join(listed),
    ]
    return ["## All experiments", FOUND, "\n".join(lines), *since]


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
    else:
        sides = [
            f"{' and '.join(names)} {value:.{digits}f}"
            for names, value in ((claim.first, evidence.first), (claim.second, evidence.second))
        ]
        units = {"run": "runs", "problem": "problems", "search": "searches"}[claim.unit]
        pairs = f"{(d > 0).sum()} : {(d < 0).sum()} of {len(d)} {units}"
        text = f"{', '.join(sides)} ({claim.measure.name}); {pairs}"
    if claim.kind != "share" or each.verdict != "reproduced":
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


def _counted(verdicts: Sequence[Judged]) -> str:
    counts = Counter(each.verdict for each in verdicts)
    shown = [f"{counts[verdict]} {verdict}" for verdict in ORDER if counts[verdict]]
    return f"{len(verdicts)} claims: {', '.join(shown)}"


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
