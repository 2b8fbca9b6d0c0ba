"""A stored study that is followed: its newest state, from the events that were added."""

from __future__ import annotations

__all__ = ["FollowedStudy", "Summary"]

from dataclasses import dataclass

from outcrop.errors import NoBelief, StudyError
from outcrop.study.state import State
from outcrop.study.storage import Storage
from outcrop.study.stored_studies import found
from outcrop.study.study import state_of
from outcrop.study.study_snapshot import StudySnapshot
from outcrop.study.trial import best_of


@dataclass(frozen=True)
class Summary:
    """A study in one line."""

    name: str
    trials: int
    running: int
    best: float | None
    active: float  # UTC seconds of the last event of a trial, or of the creation


class FollowedStudy:
    """The study of a name in a store, whatever its method; it is only read."""

    def __init__(self, name: str, store: Storage) -> None:
        self.name = name
        self._store = store
        self._identity: int | None = None
        self._state: State | None = None
        self._summed: tuple[State, Summary] | None = None

    def newest(self) -> StudySnapshot:
        """The study now; `StudyError` if there is none, `StorageError` if it cannot be read.

        One that was deleted and created again under its name is followed from its beginning.
        """
        return StudySnapshot(self.name, self._newest())

    def summary(self) -> Summary:
        state = self._newest()
        if self._summed is None or self._summed[0] is not state:
            self._summed = state, self._summary_of(state)
        return self._summed[1]

    def _newest(self) -> State:
        if self._state is not None and self._identity is not None:
            try:
                texts = self._store.read(self._identity, self._state.position)
            except StudyError:
                self._state = None
            else:
                if texts:
                    self._state = state_of(self.name, texts, self._state)
                return self._state
        self._identity = found(self._store, self.name)
        self._state = state_of(self.name, self._store.read(self._identity))
        return self._state

    def _summary_of(self, state: State) -> Summary:
        trials = state.trials
        times = [time for trial in trials for time in (trial.started, trial.finished) if time]
        try:
            best = best_of(trials, state.sign).value
        except NoBelief:
            best = None
        running = sum(trial.state == "running" for trial in trials)
        active = max(times, default=state.created.at)
        return Summary(self.name, len(trials), running, best, active)
