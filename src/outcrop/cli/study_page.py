"""The page of a study: its trials, the best of them, its failures, and its model's belief."""

from __future__ import annotations

__all__ = ["console", "best_line", "study_page"]

import os
import sys
import time
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text

from outcrop.cli.terminal_text import printable, printable_line
from outcrop.cli.trial_table import packed, short_text, trial_table
from outcrop.errors import NoBelief, OutcropError
from outcrop.strategies.method_text import worded
from outcrop.study import Study, Trial
from outcrop.study.failed_branches import failed_branches
from outcrop.study.trial_counts import failure_reasons, state_counts

WIDE = 200  # characters of a line where the output is not a terminal
INDENT: Any = {"initial_indent": "  ", "subsequent_indent": "      ", "break_on_hyphens": False}
PARAMETERS = 3  # the most important ones, which are listed
REASONS = 5  # kinds of failures, and branches in which all failed, that are listed


def console() -> Console:
    """The console for pages: coloured on a terminal, plain elsewhere, and wide unless told."""
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDE
    return Console(file=sys.stdout, width=width, highlight=False, markup=False)


def best_line(study: Study) -> str:
    """A line about the best trial, or that there is none."""
    return " ".join(_best(study, sys.maxsize))


def _best(study: Study, width: int) -> list[str]:
    """The best trial on lines of `width`."""
    try:
        best = study.best_trial
    except NoBelief:
        return ["best: no trial has finished yet"]
    head = f"best value {short_text(best.value)}, trial {best.number}:"
    items = [f"{printable_line(name)} = {short_text(best.params[name])}" for name in best.params]
    whole = f"{head} {', '.join(items)}"
    if cell_len(whole) <= width:
        return [whole]
    return [head, *(f"  {line}" for line in packed(items, width - 2))]


def study_page(study: Study, last: int | None, width: int) -> Group:
    """The page of a study, with its `last` trials, or all for None, on lines of `width`."""
    trials = study.trials
    lines = [
        *_best(study, width),
        *_running(study, trials, last),
        *_failures(study, trials, width),
        *_beliefs(study, trials),
        *_importance(study, trials, width),
    ]
    shown = trials if last is None else trials[-last:]
    before: list[RenderableType] = [Text(line) for line in _headline(study, trials)]
    if len(shown) < len(trials):
        left_out = len(trials) - len(shown)
        before.append(Text(f"{left_out} earlier trials are not shown (--all shows them)"))
    table: list[RenderableType] = [trial_table(study.space, shown, width)] if shown else []
    return Group(*before, *table, *(Text(printable(line)) for line in lines))


def _headline(study: Study, trials: Sequence[Trial]) -> list[str]:
    method = study.method if isinstance(study.method, str) else worded(study.method)
    lines = [
        f"study {printable_line(study.name)}: {study.direction}, method {method}, "
        f"seed {study.seed}",
        f"trials: {state_counts(trials)}",
    ]
    if study.stopped:
        lines.append(f"stopped: {printable_line(study.stopped)}")
    return lines


def _running(study: Study, trials: Sequence[Trial], last: int | None) -> list[str]:
    """Who evaluates which of the running trials, and since when; the `last` ones."""
    running = [trial for trial in trials if trial.state == "running"]
    if not running:
        return []
    shown, leases = running if last is None else running[-last:], study.leases()
    left_out = f", the last {len(shown)} of which are" if len(shown) < len(running) else ""
    lines = [f"running trials: {len(running)}{left_out}"]
    for trial in shown:
        who = printable_line(trial.worker) if trial.worker else "an unnamed worker"
        again = f", handed out {trial.attempt} times" if trial.attempt > 1 else ""
        lines.append(f"  trial {trial.number}: {who}{_since(trial.started)}{again}")
        left = leases.get(trial.number)
        if left is not None and left <= 0:
            lines[-1] += ", its lease has expired, so that the next ask hands it out again"
    return lines


def _since(started: float | None) -> str:
    if started is None:
        return ""
    seconds = max(0, round(time.time() - started))
    passed = f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"
    return f" since {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(started))} ({passed})"


def _failures(study: Study, trials: Sequence[Trial], width: int) -> list[str]:
    """How many trials failed and why, most frequent reasons first, and where all of them did."""
    reasons = failure_reasons(trials)
    if not reasons:
        return []
    lines = [f"{count} x {reason}" for count, reason in reasons[:REASONS]]
    if len(reasons) > REASONS:
        lines.append(f"and {len(reasons) - REASONS} other reasons")
    lines += [str(branch) for branch in failed_branches(study.space, trials)[:REASONS]]
    return [
        f"failures: {sum(count for count, _ in reasons)} of {len(trials)} trials",
        *(fill(printable_line(line), width, **INDENT) for line in lines),
    ]


def _beliefs(study: Study, trials: Sequence[Trial]) -> list[str]:
    """The surrogate of the newest suggestion, and the trial that it believes best."""
    made = [trial.why for trial in trials if "surrogate" in trial.why]
    if not study.has_model:
        return ["model: none, the method does not have one"]
    if not made:
        return ["model: none yet, the trials so far are the initial design"] if trials else []
    why = made[-1]
    lines = [f"model: {why['surrogate']}, {why.get('acquisition', '')}"]
    if "improvement" in why:
        lines[0] += f"; expected improvement left {why['improvement']:.3g}"
    if "evidence" in why:
        lines += str(study.landscape()).splitlines()
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


def _importance(study: Study, trials: Sequence[Trial], width: int) -> list[str]:
    """The parameters that matter most, once the model has suggested a trial."""
    if not any("surrogate" in trial.why for trial in trials):
        return []
    try:
        found = study.importance()
    except OutcropError:
        return []  # the line about the belief has the reason
    items = [f"{printable_line(name)} {found.total[name]}" for name in found.ranked[:PARAMETERS]]
    whole = f"importance: {', '.join(items)}; {found.unknown:.0%} unknown"
    return [fill(whole, width, subsequent_indent="  ", break_on_hyphens=False)]
