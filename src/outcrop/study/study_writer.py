"""The part of a study that changes it: outcomes, corrections, configurations, its space."""

from __future__ import annotations

__all__ = ["StudyWriter"]

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from outcrop.space import Space
from outcrop.study import commands
from outcrop.study.events import Event, Failed, Late, SpaceChanged, Told
from outcrop.study.given_results import results_given
from outcrop.study.space_change import SpaceChange, change_report, space_changed
from outcrop.study.state import State
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.typing import JsonObject, Params

logger = logging.getLogger(__name__)

Happened = TypeVar("Happened", bound=Event)


class StudyWriter(StudyReader):
    """The calls that `Optimizer` and `Study` share; subclasses record the events."""

    @abstractmethod
    def _commit(
        self, command: Callable[[State], Sequence[Happened]]
    ) -> tuple[State, Sequence[Happened]]:
        """Record all events that `command` makes from the state, or none; the state after them."""

    def tell(
        self,
        trial: Trial | int,
        value: float,
        *,
        std: float | None = None,
        info: JsonObject | None = None,
        at: Params | None = None,
        at_std: Mapping[str, float] | None = None,
    ) -> Trial:
        """Record a value and return the finished trial; NaN or ±inf makes it a failed one.

        `std` is the standard deviation of `value`, if it is known; `info` is stored with the trial.
        `at` holds the numeric parameters whose actual values differ from those asked for. They are
        exact unless `at_std` gives their standard deviation, in the units of `Float.input_std`.
        They may lie outside the bounds by five standard deviations.
        """
        now = time.time()
        return self._ended(
            lambda state: commands.told(state, trial, value, std, info, now, at, at_std)
        )

    def fail(
        self, trial: Trial | int, reason: str = "", *, info: JsonObject | None = None
    ) -> Trial:
        """Record a failure and return the failed trial; the model learns where trials fail."""
        at = time.time()
        return self._ended(lambda state: commands.failed(state, trial, reason, info, at))

    def amend(
        self,
        trial: Trial | int,
        *,
        value: float | None = None,
        std: float | None = None,
        at: Params | None = None,
        at_std: Mapping[str, float] | None = None,
        reason: str = "",
    ) -> Trial:
        """Correct the outcome of a trial that has ended, and return the corrected trial.

            study.amend(12, value=0.31, reason="a mistyped value")

        What is not given stays as it was; the arguments are those of `tell`. With a finite value a
        failed or discarded trial becomes a finished one; NaN or ±inf makes a failed one of it. The
        former outcome is kept in `trial.corrections`. The next suggestion starts from the corrected
        data alone. A trial that is running is told, failed or released instead.
        """
        now = time.time()
        state, (event,) = self._commit(
            lambda state: [commands.amended(state, trial, value, std, at, at_std, reason, now)]
        )
        return state.record(event.number).trial

    @overload
    def discard(self, trial: Trial | int, reason: str = "") -> Trial: ...

    @overload
    def discard(self, trial: Sequence[Trial | int], reason: str = "") -> list[Trial]: ...

    def discard(
        self, trial: Trial | int | Sequence[Trial | int], reason: str = ""
    ) -> Trial | list[Trial]:
        """Declare the outcome of a trial that has ended void, and return the discarded trial.

            study.discard(12, "the disk was full")
            study.discard([trial for trial in study.trials if trial.state == "failed"])

        Of a list all are discarded or, if one cannot be, none. The model forgets them, whether they
        had finished or failed, and their configurations may be proposed again. The former outcome
        is kept in `trial.corrections`; `amend` with a value brings a trial back. A trial that is
        running is told, failed or released instead.
        """
        now, several = time.time(), isinstance(trial, Sequence)
        chosen = trial if isinstance(trial, Sequence) else [trial]
        state, events = self._commit(
            lambda state: [commands.discarded(state, each, reason, now) for each in chosen]
        )
        trials = [state.record(event.number).trial for event in events]
        return trials if several else trials[0]

    def release(self, trial: Trial | int) -> None:
        """Give a running trial back without a result; its number is not used again."""
        self._commit(lambda state: [commands.released(state, trial, time.time())])

    def enqueue(self, params: Params) -> None:
        """Make `ask` return this configuration next, even if it was evaluated before."""
        self._commit(lambda state: [commands.enqueued(state, params, time.time())])

    @overload
    def add(
        self, params: Params, value: float, *, std: float | None = None, snap: bool = False
    ) -> Trial: ...

    @overload
    def add(
        self,
        params: Sequence[Params],
        value: Sequence[float],
        *,
        std: Sequence[float | None] | None = None,
        snap: bool = False,
    ) -> list[Trial]: ...

    @overload
    def add(self, params: Any, *, snap: bool = False) -> list[Trial]: ...

    def add(
        self, params: Any, value: Any = None, *, std: Any = None, snap: bool = False
    ) -> Trial | list[Trial]:
        """Add results obtained elsewhere, all or none, and return their trials.

            study.add({"lr": 0.01, "act": "relu"}, 0.31, std=0.02)
            study.add([{…}, {…}], [0.31, 0.27])     # a NaN or ±inf is a failure
            study.add(old.trials)                   # of another study
            study.add(old.to_frame())               # or any data frame
            study.add(Path("results.csv"))          # of `outcrop export` or of a spreadsheet

        A table has a column for each parameter, a column `value` and optionally `std`, `at.…`,
        `at_std.…`, `state` and `reason`; cells of inactive parameters are empty. Its column `state`
        decides: finished and failed rows are added, running and discarded ones skipped. Without a
        state, a row without a value was not measured and is skipped, and ±inf is a failure. What
        was skipped or ignored is logged as a warning.

        With `snap`, numbers off a grid become the nearest legal ones, and numbers beyond a bound by
        rounding the bound; what was given is kept in `trial.info["snapped"]`.
        """
        found = results_given(params, value, std, self.space, snap=snap)
        at = time.time()
        state, events = self._commit(lambda state: commands.added(state, found.results, at))
        trials = [state.record(event.number).trial for event in events]
        if isinstance(params, Mapping):
            return trials[0]
        if notes := [*found.notes, *_repetition(state, trials)]:
            logger.warning("add: %s", "; ".join(notes))
        return trials

    def change_space(self, space: Space, *, defaults: Params | None = None) -> SpaceChange:
        """Give the study another space, and report what that does to its trials.

            study.change_space(oc.Space({**study.space.declared, "dropout": oc.Float(0, 0.5)}),
                               defaults={"dropout": 0.0})

        Trials are kept. Those that fit the new space are translated: `defaults`, by flat names, are
        the values of parameters in trials that do not have them, and parameters that no longer
        exist are left out. If a default is given for such a parameter, only trials with that value
        fit. Trials that do not fit are set aside: `trial.aside` says why, the model does not use
        them, and a later change that they fit brings them back. `trial.original` are the
        parameters that a trial was asked for with. Running trials can be told in any case.
        """
        at, stated = time.time(), {} if defaults is None else defaults
        before: list[State] = []

        def command(state: State) -> list[SpaceChanged]:
            before[:] = [state]
            event = space_changed(state, space, stated, at)
            self._strategies.checked_for(space)
            return [event]

        after, _ = self._commit(command)
        return change_report(before[0], after)

    def _ended(self, outcome: Callable[[State], Told | Failed | Late]) -> Trial:
        state, (event,) = self._commit(lambda state: [outcome(state)])
        trial = state.record(event.number).trial
        if isinstance(event, Late):
            came = event.reason if event.value is None else f"value {event.value!r}"
            logger.warning(
                "trial %d already has a result; this late one was logged and ignored: %s",
                event.number,
                came,
            )
        return trial


def _repetition(state: State, added: Sequence[Trial]) -> list[str]:
    """A note if trials that were added together equal earlier ones, as of a file added twice."""
    earlier, repeated = {}, []
    for record in state.in_state("finished"):
        outcome = record.key, record.trial.value
        if not added or record.trial.number < added[0].number:
            earlier[outcome] = record.trial.number
        elif outcome in earlier:
            repeated.append(earlier[outcome])
    if not repeated:
        return []
    return [f"{len(repeated)} results equal earlier ones, such as trial {repeated[0]}"]
