"""The page of a study: its trials, the best of them, its failures, and its model's belief."""

from __future__ import annotations

__all__ = ["console", "best_line", "study_page", "short_text"]

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from outcrop.cli.terminal_text import printable, printable_line
from outcrop.errors import NoBelief, OutcropError
from outcrop.strategies.method_text import worded
from outcrop.study import Study, Trial

WIDE = 200  # characters of a line where the output is not a terminal
REASON = 60  # characters of a failure's reason in the table
STYLES = {"finished": "", "running": "cyan", "failed": "red", "discarded": "dim"}


def console() -> Console:
    """The console for pages: coloured on a terminal, plain and wide elsewhere."""
    width = None if sys.stdout.isatty() else WIDE
    return Console(file=sys.stdout, width=width, highlight=False, markup=False)


def short_text(value: object) -> str:
    """A value of a parameter or an objective, short enough for a table."""
    if isinstance(value, bool) or not isinstance(value, float):
        return printable_line(str(value))
    return f"{value:.6g}"


def best_line(study: Study) -> str:
    """A line about the best trial, or that there is none."""
    try:
        best = study.best_trial
    except NoBelief:
        return "best: no trial has finished yet"
    params = ", ".join(
        f"{printable_line(name)} = {short_text(value)}" for name, value in best.params.items()
    )
    return f"best value {short_text(best.value)}, trial {best.number}: {params}"


def study_page(study: Study, last: int | None) -> Group:
    """The page of a study, with its `last` trials, or all for None."""
    trials = study.trials
    lines = [best_line(study), *_failures(trials), *_beliefs(study, trials)]
    shown = trials if last is None else trials[-last:]
    before: list[RenderableType] = [Text(line) for line in _headline(study, trials)]
    if len(shown) < len(trials):
        left_out = len(trials) - len(shown)
        before.append(Text(f"{left_out} earlier trials are not shown (--all shows them)"))
    table: list[RenderableType] = [_table(study, shown)] if shown else []
    return Group(*before, *table, *(Text(printable(line)) for line in lines))


def _headline(study: Study, trials: Sequence[Trial]) -> list[str]:
    states: Counter[str] = Counter(trial.state for trial in trials)
    counts = ", ".join(f"{states[state]} {state}" for state in STYLES if states[state]) or "none"
    method = study.method if isinstance(study.method, str) else worded(study.method)
    if aside := sum(bool(trial.aside) for trial in trials):
        counts += f"; {aside} of them set aside"
    lines = [
        f"study {printable_line(study.name)}: {study.direction}, method {method}, "
        f"seed {study.seed}",
        f"trials: {len(trials)} ({counts})",
    ]
    if study.stopped:
        lines.append(f"stopped: {printable_line(study.stopped)}")
    return lines


def _table(study: Study, trials: Iterable[Trial]) -> Table:
    trials = list(trials)
    names = [name for name in study.space.parameters if any(name in t.params for t in trials)]
    has_std = any(trial.std is not None for trial in trials)
    has_remarks = any(map(_remarks, trials))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("trial", "state", "value"):
        table.add_column(name, justify="left" if name == "state" else "right", no_wrap=True)
    if has_std:
        table.add_column("std", justify="right", no_wrap=True)
    for name in _headings(names):
        table.add_column(printable_line(name), justify="right", overflow="fold")
    table.add_column("seconds", justify="right", no_wrap=True)
    if has_remarks:
        table.add_column("remarks", overflow="ellipsis", no_wrap=True)
    for trial in trials:
        cells = [str(trial.number), trial.state, _cell(trial.value)]
        if has_std:
            cells.append(_cell(trial.std))
        cells += [_cell(trial.params.get(name, "")) for name in names]
        cells.append(_seconds(trial))
        if has_remarks:
            cells.append(_first_line(_remarks(trial)))
        table.add_row(*(Text(cell) for cell in cells), style=STYLES[trial.state])
    return table


def _headings(names: Sequence[str]) -> list[str]:
    """Last parts of the names, where these are different, else the whole names."""
    leaves = [name.rpartition(".")[2] for name in names]
    return [
        leaf if leaves.count(leaf) == 1 else name for leaf, name in zip(leaves, names, strict=True)
    ]


def _cell(value: object) -> str:
    return "" if value is None else short_text(value)


def _seconds(trial: Trial) -> str:
    if trial.started is None or trial.finished is None:
        return ""
    return f"{trial.finished - trial.started:.1f}"


def _remarks(trial: Trial) -> str:
    """Why it is set aside, or what it was before it was corrected, or why it failed."""
    if trial.aside:
        return f"set aside: {trial.aside}"
    return str(trial.corrections[-1]) if trial.corrections else trial.reason


def _first_line(reason: str, length: int = REASON) -> str:
    line = printable_line(reason.splitlines()[0]) if reason else ""
    return line if len(line) <= length else line[: length - 1] + "…"


def _failures(trials: Sequence[Trial]) -> list[str]:
    failed = [trial for trial in trials if trial.state == "failed"]
    if not failed:
        return []
    # the reason of a program ends with its output folder, which differs between trials
    reasons = (_first_line(trial.reason, WIDE).partition("; output in ")[0] for trial in failed)
    kinds = Counter(reason or "no reason given" for reason in reasons)
    common = [f"  {count} x {reason}" for reason, count in kinds.most_common(3)]
    return [f"failures: {len(failed)}, most often", *common]


def _beliefs(study: Study, trials: Sequence[Trial]) -> list[str]:
    """The surrogate of the newest suggestion, and the trial that it believes best."""
    made = [trial.why for trial in trials if "surrogate" in trial.why]
    if not made:
        return ["model: none yet, the trials so far are the initial design"] if trials else []
    why = made[-1]
    lines = [f"model: {why['surrogate']}, {why.get('acquisition', '')}"]
    if "improvement" in why:
        lines[0] += f"; expected improvement left {why['improvement']:.3g}"
    try:
        held = study.recommend()
    except OutcropError as error:
        return [*lines, f"belief: {error}"]
    mean = "average over input noise" if held.robust else "mean"
    lines.append(
        f"believed best: trial {held.trial.number}, {mean} {held.mean:.6g} ± {held.std:.3g}, "
        f"best of all with probability {held.probability:.2f}"
    )
    return lines
