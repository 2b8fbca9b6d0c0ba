"""What browsers are shown of a study, and what of it is new since a version.

A version is a number that grows whenever something that is shown has changed. Every part and every
row has the version since which it is as it is; a browser gets those that are newer than its own.
Versions begin with the time in milliseconds: what a server knew that has ended is older.
"""

from __future__ import annotations

__all__ = ["LiveStudy"]

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from outcrop.dashboard.followed_study import FollowedStudy
from outcrop.errors import OutcropError
from outcrop.reports.page_parts import MODEL_PARTS, PARTS, Part, part_of
from outcrop.reports.trial_rows import Cell, Columns
from outcrop.study.storage.url_masking import masked_in
from outcrop.study.study_snapshot import StudySnapshot
from outcrop.study.trial import Trial

IN_PAGE = "trials"  # its HTML is in the page from the beginning; rows are sent by themselves
CHEAP_PARTS = tuple(name for name in PARTS if name not in (*MODEL_PARTS, IN_PAGE))
REFRESH, MODEL = 0.5, 5.0  # least seconds between two updates, and between two fits
REST = 4.0  # how many times as long as the last update took is waited before the next


class LiveStudy:
    """A study that somebody looks at: one thread refreshes it, one computes what needs a model."""

    def __init__(self, followed: FollowedStudy, clock: Callable[[], float] = time.monotonic):
        self.watched = clock()
        self._followed = followed
        self._clock = clock
        self._lock = threading.Lock()  # guards all that `changes` reads
        self._version = self._first = time.time_ns() // 1_000_000
        self._parts: dict[str, tuple[int, dict[str, Any]]] = {}
        self._columns: tuple[int, Columns] = 0, Columns((), ())
        self._rows: dict[int, tuple[int, Trial, list[Cell]]] = {}
        self._best: int | None = None
        self._problem: str | None = None
        self._model: dict[str, Any] | None = None
        self._snapshot: StudySnapshot | None = None
        self._modelled: tuple[int, int] | None = None
        self._refresh_due = self._model_due = 0.0

    def refresh(self) -> None:
        """Show what the trials are now, if it is time to."""
        start, is_first = self._clock(), self._snapshot is None
        if start < self._refresh_due:
            return
        try:
            snapshot = self._followed.newest()
        except OutcropError as error:
            self._say(masked_in(str(error)))
        else:
            before = self._snapshot
            if before is None or before._current() is not snapshot._current():
                self._show_trials(snapshot)
                for name in CHEAP_PARTS:
                    self._show(part_of(snapshot, name))
                self._snapshot = snapshot
            self._say(None)
        end = self._clock()
        seconds = 0.0 if is_first else end - start  # the first reads the whole log
        self._refresh_due = end + max(REFRESH, REST * seconds)

    def compute(self, has_ended: Callable[[], bool]) -> None:
        """Show what a model thinks now, if there are new outcomes and it is time to."""
        snapshot, start = self._snapshot, self._clock()
        if snapshot is None or start < self._model_due:
            return
        outcomes = sum(trial.has_outcome for trial in snapshot.trials)
        if self._modelled == (key := (outcomes, snapshot._current().corrected)):
            return
        began = time.time()
        for name in MODEL_PARTS:
            if has_ended():
                return
            self._show(part_of(snapshot, name))
        end = self._clock()
        with self._lock:
            self._model = {"at": began, "seconds": end - start, "trials": len(snapshot.trials)}
            self._version += 1
        self._modelled = key
        self._model_due = end + max(MODEL, REST * (end - start))

    def changes(self, since: int) -> dict[str, Any] | None:
        """What is newer than version `since`, as JSON; None if nothing is."""
        with self._lock:
            if since == self._version or self._version == self._first:
                return None
            if since > self._version:  # of a server whose clock was ahead
                since = 0
            parts = {name: part for name, (at, part) in self._parts.items() if at > since}
            trials = self._table(since)
            return {
                "version": self._version,
                "problem": self._problem,
                "model": self._model,
                "parts": parts,
                "trials": trials,
            }

    def _table(self, since: int) -> dict[str, Any]:
        at, columns = self._columns
        rows = [row for version, _, row in self._rows.values() if version > since]
        whole = {"columns": columns.titles} if at > since else {}
        return {"rows": rows, "best": self._best, **whole}

    def _show_trials(self, snapshot: StudySnapshot) -> None:
        trials, columns = snapshot.trials, Columns.of(snapshot.trials)
        numbers = {trial.number for trial in trials}
        is_whole = columns != self._columns[1] or bool(self._rows.keys() - numbers)
        before = {} if is_whole else self._rows
        changed = {trial.number: (trial, columns.row(trial)) for trial in _new(trials, before)}
        best = next(_best_numbers(snapshot), None)
        with self._lock:
            self._version += 1
            if is_whole or not self._columns[0]:
                self._columns = self._version, columns
            rows = {number: (self._version, *pair) for number, pair in changed.items()}
            self._rows = {**before, **rows}
            self._best = best

    def _show(self, part: Part) -> None:
        made = {"html": part.html, "figures": part.figures}
        with self._lock:
            if part.name not in self._parts or self._parts[part.name][1] != made:
                self._version += 1
                self._parts[part.name] = self._version, made

    def _say(self, problem: str | None) -> None:
        with self._lock:
            if problem != self._problem:
                self._version += 1
                self._problem = problem


def _new(trials: list[Trial], before: dict[int, tuple[int, Trial, list[Cell]]]) -> Iterator[Trial]:
    """Trials that have changed; those that have not are the same objects."""
    for trial in trials:
        known = before.get(trial.number)
        if known is None or known[1] is not trial:
            yield trial


def _best_numbers(snapshot: StudySnapshot) -> Iterator[int]:
    try:
        yield snapshot.best_trial.number
    except OutcropError:
        return
