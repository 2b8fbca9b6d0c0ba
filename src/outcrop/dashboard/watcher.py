"""Two threads that read what somebody looks at: one the trials, one what models think of them.

Requests are answered from memory, so that neither a slow store nor a fit delays them. What nobody
has asked for during `WATCHED` seconds is not read.
"""

from __future__ import annotations

__all__ = ["Overview", "Watcher"]

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from math import inf
from typing import Any

from outcrop.dashboard.followed_study import FollowedStudy
from outcrop.dashboard.live_study import LiveStudy
from outcrop.errors import OutcropError
from outcrop.study.storage import Storage
from outcrop.study.storage.url_masking import masked_in

logger = logging.getLogger(__name__)

WATCHED = 45.0  # seconds after the last request; a browser asks again within 20
TICK = 0.1  # seconds between two looks at what is due
OVERVIEW = 2.0  # seconds between two readings of all studies
PROGRESS = 0.5  # seconds after which a reading shows how far it is


class Overview:
    """A line for each study of the store, and the version since which they are as they are."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = time.time_ns() // 1_000_000
        self._content: dict[str, Any] = {"studies": None, "problem": None}

    def show(self, **content: Any) -> None:
        with self._lock:
            if content.items() <= self._content.items():
                return
            self._content = {**self._content, **content}
            self._version += 1

    def changes(self, since: int) -> dict[str, Any] | None:
        with self._lock:
            is_empty = self._content == {"studies": None, "problem": None}
            if since == self._version or is_empty:
                return None
            return {"version": self._version, **self._content}


class Watcher:
    """The studies of a store, of which those that are looked at are kept up to date."""

    def __init__(self, store: Storage) -> None:
        self.overview = Overview()
        self._store = store
        self._followed: dict[str, FollowedStudy] = {}
        self._live: dict[str, LiveStudy] = {}
        self._lock = threading.Lock()  # guards the dictionaries
        self._ended = threading.Event()
        self._overview_watched = -inf
        self._overview_due = self._shown = 0.0
        self._lines: dict[str, dict[str, Any]] = {}  # of the overview, by name

    def start(self) -> None:
        for work in (self._read, self._compute):
            name = f"outcrop-dashboard{work.__name__}"
            threading.Thread(target=self._repeat, args=(work,), name=name, daemon=True).start()

    def end(self) -> None:
        """End the threads; a fit that has begun ends with the process."""
        self._ended.set()

    def has_study(self, name: str) -> bool:
        """False if the store is known to have no such study; it is asked."""
        try:
            return self._store.find(name) is not None
        except OutcropError:
            return True  # what is wrong is shown in its page

    def study(self, name: str) -> LiveStudy:
        """What is shown of a study, which is read from now on; also of one that does not exist."""
        with self._lock:
            if name not in self._live:
                self._live[name] = LiveStudy(self._follow(name))
            study = self._live[name]
        study.watched = time.monotonic()
        return study

    def all_studies(self) -> Overview:
        """A line for each study; they are read from now on."""
        self._overview_watched = time.monotonic()
        return self.overview

    def _repeat(self, work: Callable[[], None]) -> None:
        while not self._ended.wait(TICK):
            try:
                work()
            except Exception:  # a mistake of ours must not end the updates of all studies
                logger.exception("the dashboard could not update a study")
                self._ended.wait(OVERVIEW)

    def _read(self) -> None:
        self._refresh_watched()
        now = time.monotonic()
        if now - self._overview_watched > WATCHED or now < self._overview_due:
            return
        try:
            self._read_overview()
        except OutcropError as error:
            self.overview.show(problem=masked_in(str(error)))
        end = time.monotonic()
        self._overview_due = end + max(OVERVIEW, end - now)

    def _refresh_watched(self) -> None:
        now = time.monotonic()
        with self._lock:
            for name, study in [*self._live.items()]:
                if now - study.watched > WATCHED:
                    del self._live[name]
            studies = [*self._live.values()]
        for study in studies:
            study.refresh()

    def _read_overview(self) -> None:
        names = self._store.names()
        with self._lock:
            self._followed = {name: self._follow(name) for name in [*names, *self._live]}
        lines = {name: self._lines.get(name, {"name": name}) for name in reversed(names)}
        for name in lines:
            lines[name] = {"name": name} | self._summary(name)
            self._refresh_watched()
            if time.monotonic() > self._shown + PROGRESS:  # reading many for the first time
                self._show(lines)
        self._show(lines)

    def _show(self, lines: dict[str, dict[str, Any]]) -> None:
        self._lines, self._shown = {**lines}, time.monotonic()
        self.overview.show(studies=[*lines.values()], problem=None)

    def _follow(self, name: str) -> FollowedStudy:
        """The study of that name, of which the state is kept; the lock is held."""
        return self._followed.setdefault(name, FollowedStudy(name, self._store))

    def _summary(self, name: str) -> dict[str, Any]:
        try:
            return asdict(self._followed[name].summary())
        except OutcropError as error:
            return {"problem": masked_in(str(error))}

    def _compute(self) -> None:
        with self._lock:
            studies = [*self._live.values()]
        for study in studies:
            study.compute(self._ended.is_set)
