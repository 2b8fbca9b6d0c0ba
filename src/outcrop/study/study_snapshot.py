"""A study as it was at one event: what it says does not change while other processes go on."""

from __future__ import annotations

__all__ = ["StudySnapshot"]

from functools import cached_property

from outcrop.strategies.method_text import restored
from outcrop.study.state import State
from outcrop.study.study_reader import StudyReader
from outcrop.study.study_strategies import Strategies


class StudySnapshot(StudyReader):
    """A study in a fixed state; everything that is read from it belongs together.

    >>> from outcrop.space import Float, Space
    >>> from outcrop.study import Study
    >>> study = Study(Space({"x": Float(0, 1)}), name="s", method="random", seed=0)
    >>> snapshot = StudySnapshot.of(study)
    >>> _ = study.ask()
    >>> len(snapshot.trials), len(study.trials), snapshot.name
    (0, 1, 's')
    """

    def __init__(self, name: str, state: State) -> None:
        self.name = name
        self._state = state

    @classmethod
    def of(cls, study: StudyReader) -> StudySnapshot:
        """The current state of a study or optimizer, with the beliefs that it has computed."""
        made = cls(getattr(study, "name", type(study).__name__), study._current())
        made._strategies = study._strategies
        made._believed, made._weighed = study._believed, study._weighed
        return made

    @cached_property
    def _strategies(self) -> Strategies:  # type: ignore[override]
        """Those of the stored method; `MethodError` if it has parts that a store cannot hold."""
        return Strategies(restored(self.method))

    @property
    def position(self) -> int:
        """How many events there were."""
        return self._state.position

    def _current(self) -> State:
        return self._state

    def __repr__(self) -> str:
        return f"StudySnapshot({self.name!r}, {self._summary()})"
