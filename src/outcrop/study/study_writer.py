"""What can be told to a study; the same wishes, whether it is kept in memory or in a store."""

from __future__ import annotations

__all__ = ["StudyWriter"]

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from outcrop.errors import TrialError
from outcrop.study import commands, data_frames
from outcrop.study.events import Event, Failed, Late, Told
from outcrop.study.state import State
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.typing import Params

logger = logging.getLogger(__name__)

Happened = TypeVar("Happened", bound=Event)


class StudyWriter(StudyReader):
    """Outcomes of trials, results from elsewhere, and what to try next."""

    @abstractmethod
    def _commit(
        self, wish: Callable[[State], Sequence[Happened]]
    ) -> tuple[State, Sequence[Happened]]:
        """Let all events that `wish` makes of the state happen, or none; the state after them."""

    def tell(
        self,
        trial: Trial | int,
        value: float,
        *,
        std: float | None = None,
        info: Mapping[str, Any] | None = None,
        at: Params | None = None,
        at_std: Mapping[str, float] | None = None,
    ) -> Trial:
        """The finished trial; NaN or ±inf makes it a failed one.

        `std` is the standard deviation of `value`, if it is known; `info` is kept with the trial.
        `at` says where the evaluation really happened, in numbers that were not as asked for; they
        count as exact but for those with an `at_std`, in the units of `Float.input_std`. Outside
        the bounds they may be by five standard deviations.
        """
        now = time.time()
        return self._ended(
            lambda state: commands.told(state, trial, value, std, info, now, at, at_std)
        )

    def fail(
        self, trial: Trial | int, reason: str = "", *, info: Mapping[str, Any] | None = None
    ) -> Trial:
        """The failed trial; the search learns where evaluations fail."""
        at = time.time()
        return self._ended(lambda state: commands.failed(state, trial, reason, info, at))

    def release(self, trial: Trial | int) -> None:
        """Give a running trial back: it teaches nothing, and its number is not used again."""
        self._commit(lambda state: [commands.released(state, trial, time.time())])

    def enqueue(self, params: Params) -> None:
        """Have `ask` return this configuration before any suggestion, even if it is known."""
        self._commit(lambda state: [commands.enqueued(state, params, time.time())])

    @overload
    def add(self, params: Params, value: float, *, std: float | None = None) -> Trial: ...

    @overload
    def add(
        self,
        params: Sequence[Params],
        value: Sequence[float],
        *,
        std: Sequence[float | None] | None = None,
    ) -> list[Trial]: ...

    @overload
    def add(self, params: Any) -> list[Trial]: ...

    def add(self, params: Any, value: Any = None, *, std: Any = None) -> Trial | list[Trial]:
        """Results obtained elsewhere: one, a list of them, or a data frame; all or none is added.

        A frame has a column per parameter, a column `value` and perhaps `std`; cells of inactive
        parameters are empty. A value that is NaN or ±inf is added as a failure.
        """
        if data_frames.is_frame(params):
            if value is not None or std is not None:
                raise TrialError(
                    "add(frame, …): values and standard deviations are the columns `value` and "
                    "`std` of the frame, not further arguments"
                )
            results = data_frames.results_of(params, self.space)
        else:
            results = commands.as_results(params, value, std)
        at = time.time()
        state, events = self._commit(lambda state: commands.added(state, *results, at=at))
        trials = [state.record(event.number).trial for event in events]
        return trials[0] if isinstance(params, Mapping) else trials

    def _ended(self, outcome: Callable[[State], Told | Failed | Late]) -> Trial:
        state, (event,) = self._commit(lambda state: [outcome(state)])
        trial = state.record(event.number).trial
        if isinstance(event, Late):
            came = event.reason if event.value is None else f"value {event.value!r}"
            logger.warning(
                "trial %d was told by another before, so what comes late is kept in the log and "
                "ignored: %s",
                event.number,
                came,
            )
        return trial
