"""A study in a store, which any number of processes can ask and tell at the same time.

The log of events is the only thing stored; the state is computed from it. A command makes events
from the state. They are appended only if the log has not grown meanwhile; otherwise the new events
are read and the command is run again. Asks of one study take turns, tells do not wait for them.
"""

from __future__ import annotations

__all__ = ["Study", "state_of"]

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import overload

from outcrop.effort import Effort
from outcrop.errors import (
    MethodError,
    OutcropError,
    SpaceExhausted,
    StorageError,
    StudyError,
    TotalReached,
)
from outcrop.space import Space
from outcrop.strategies.method_text import restored
from outcrop.strategies.registry import MethodLike
from outcrop.study import argument_checks, commands, copies, events
from outcrop.study.ask_lock import TURN, AskLock
from outcrop.study.created_event import created_of, differences
from outcrop.study.events import Asked, Event, Expired, Failed, Released, Told
from outcrop.study.method_state import with_method_state
from outcrop.study.replay import Replay, replayed
from outcrop.study.state import State, fold, follow
from outcrop.study.stop_requests import StopRequests
from outcrop.study.storage import Lease, Storage, open_storage
from outcrop.study.storage.base import MAX_NAME, checked_text
from outcrop.study.study_runner import StudyRunner
from outcrop.study.study_strategies import Strategies
from outcrop.study.study_writer import Happened
from outcrop.study.thread_lock import ThreadLock
from outcrop.study.trial import Trial
from outcrop.study.trial_counts import check_total, least_left
from outcrop.study.unfinished_trials import lease_key, unfinished


class Study(StudyRunner):
    """An optimisation that can be stopped, resumed, shared and read at any time.

    >>> from outcrop.space import Float, Space
    >>> study = Study(Space({"x": Float(-1, 1)}), method="random", seed=0)
    >>> for _ in range(3):
    ...     trial = study.ask()
    ...     _ = study.tell(trial, trial.params["x"] ** 2)
    >>> len(study.trials), study.replay().identical
    (3, True)

    With `storage`, a URL such as `"sqlite:///mlp.db"`, every ask and tell is on disk before it
    returns, and a stored study of the same name, space, direction and method is continued. Without
    it, the study is in memory only. Processes and threads may share a study. The other arguments
    are those of `Optimizer`.

    A stored study may be pickled, by `multiprocessing`, joblib or an executor: the pickle has its
    address, which another process opens. That is its name and the URL of its storage; a password in
    the URL is in the pickle too, and is never shown.
    """

    def __init__(
        self,
        space: Space,
        name: str | None = None,
        storage: str | Storage | None = None,
        *,
        method: MethodLike = "auto",
        direction: str = "minimize",
        seed: int | None = None,
        noise: bool | float | None = None,
        robust: bool = False,
        ask_seconds: float | None = argument_checks.ASK_SECONDS,
    ) -> None:
        limit = argument_checks.checked_ask_seconds(ask_seconds)
        created = created_of(space, method, direction, seed, noise, robust)
        strategies = Strategies(method)
        strategies.for_space(space)
        if name is None:
            if storage is not None:
                raise StudyError("a stored study needs a name: pass name='…'")
            name = "study"
        store = open_storage(storage)
        identity = store.find(name)
        if identity is None:
            identity = store.create(name, copies.text_for(store, created)) or store.find(name)
        if identity is None:
            raise StudyError(f"study {name!r} was deleted while it was being opened")
        self._open(store, name, identity, state_of(name, store.read(identity)), strategies, limit)
        if lines := differences(self._state, created, seed):
            hint = "open the stored one with load_study, or choose another name"
            other = ""
            if self._state.space.difference(space):
                other = ", where this space is the stored one and the other the given one"
                hint += "; to change its space: load_study(…).change_space, or outcrop migrate SPEC"
            raise StudyError(
                f"study {self.name!r} exists and differs from this one{other}: "
                f"{'; '.join(lines)}; {hint}"
            )

    def _open(
        self,
        store: Storage,
        name: str,
        identity: int,
        state: State,
        strategies: Strategies,
        ask_seconds: float | None,
    ) -> None:
        self.name = name
        self._store = store
        self._id = identity
        self._lock = ThreadLock()  # guards the state; never held while a model is fitted
        self._ask_lock = AskLock(store, identity)
        self._state = state
        self._strategies = strategies
        strategies.for_space(state.space)
        self._ask_seconds = ask_seconds
        self._stop_requests = StopRequests()

    # Ask

    @overload
    def ask(
        self,
        *,
        lease: float | None = None,
        total: int | None = None,
        remaining: int | None = None,
        worker: str | None = None,
    ) -> Trial: ...

    @overload
    def ask(
        self,
        n: int,
        *,
        lease: float | None = None,
        total: int | None = None,
        remaining: int | None = None,
        worker: str | None = None,
    ) -> list[Trial]: ...

    def ask(
        self,
        n: int | None = None,
        *,
        lease: float | None = None,
        total: int | None = None,
        remaining: int | None = None,
        worker: str | None = None,
    ) -> Trial | list[Trial]:
        """The next trial, or a list of `n`; each suggestion takes the ones before it into account.

        A trial with a `lease`, in seconds, is handed out again if it is neither told nor renewed in
        that time, up to three times in all; without a lease it stays running until it is told. With
        `total`, no trial is added to a study that has so many, whichever process asked for them:
        `TotalReached`. The list is shorter if the space or the total is exhausted; `SpaceExhausted`
        if no configuration is left. If any other error or Ctrl-C occurs, the trials of the list are
        given back.

        Strategies are told how many trials can still be asked for, if that is known: `remaining`,
        these ones included, or what the study lacks to its `total`, whichever is less.

        `worker` is the name of whoever evaluates the trial, which is recorded. If a process that
        asked under that name with a lease has ended, its unfinished trial is returned first.
        """
        name = "" if worker is None else checked_text(worker, "name of a worker", MAX_NAME)
        seconds = None if lease is None else argument_checks.checked_seconds(lease, "lease")
        most = None if total is None else argument_checks.checked_count(total, "total")
        count = 1 if n is None else argument_checks.checked_count(n, "n")
        left = argument_checks.checked_remaining(remaining, count)
        if n is None:
            return self._ask(seconds, most, left, name)
        trials: list[Trial] = []
        for i in range(count):
            try:
                own = None if left is None else left - i
                trials.append(self._ask(seconds, most, own, name))
            except (SpaceExhausted, TotalReached):
                if not trials:
                    raise
                break
            except BaseException:
                with suppress(OutcropError):
                    for trial in trials:
                        self.release(trial)
                raise
        return trials

    def _ask(
        self, lease: float | None, total: int | None, remaining: int | None, worker: str
    ) -> Trial:
        with self._ask_lock:
            while True:
                event = self._next(self._current(), total, remaining, worker)
                if isinstance(event, Asked):
                    event = replace(event, worker=worker)
                state = self._handed_out(event, lease, total)
                if state is not None and isinstance(event, Asked):
                    return state.record(event.number).trial

    def _next(
        self, state: State, total: int | None, remaining: int | None, worker: str
    ) -> Asked | Expired:
        """A running trial that is handed out again, or else a new one."""
        held = self._store.leases(self._id)
        number = unfinished(state, held, worker, self._ask_lock.owner)
        if number is not None:
            lease = held[key := lease_key(number)]
            if lease.left > 0:  # of this worker, which has come back
                self._store.renew(self._id, lease.owner, [key], 0.0)
            return commands.offered_again(state, number, time.time())
        check_total(state.trials, total)
        now, effort = time.time(), Effort.within(self._ask_seconds)
        strategy = self._strategies.for_space(state.space)
        left = least_left(state.trials, total, remaining)
        return with_method_state(
            state, lambda known: commands.asked(known, strategy, now, effort, left)
        )

    def _handed_out(
        self, event: Asked | Expired, lease: float | None, total: int | None
    ) -> State | None:
        """Append `event`; the state after it, or None if it cannot follow the log any more."""
        key = lease_key(event.number)
        made_of_new = isinstance(event, Asked) and event.attempt == 1
        # Taking a lease that is dropped at once still fails if its owner has renewed it.
        take = [Lease(key, self._ask_lock.owner, lease or 0.0)]
        drop = [TURN] if isinstance(event, Asked) else []
        if lease is None or isinstance(event, Expired):
            drop.append(key)
        while True:
            state = self._current()
            if made_of_new and event.number != state.next_number:
                return None  # results were added under this number
            if isinstance(event, Asked) and made_of_new and event.seen < state.changed:
                return None  # the space has changed
            if made_of_new:
                check_total(state.trials, total)  # of the state that the event is appended to
            if not made_of_new and state.record(event.number).trial.state != "running":
                return None  # it was told or released meanwhile
            following = self._append(state, [event], take, drop)
            if following is not None:
                return following
            if not made_of_new:
                return None  # its owner may have renewed the lease

    def renew(self, trials: Iterable[Trial | int], lease: float) -> set[int]:
        """Extend the leases of trials that this object asked for, to `lease` seconds from now.

        The numbers of those whose leases it still holds; the others have ended, or were handed out
        again.
        """
        seconds = argument_checks.checked_seconds(lease, "lease")
        keys = {lease_key(number): number for number in map(commands.number_of, trials)}
        held = self._store.renew(self._id, self._ask_lock.owner, [*keys], seconds)
        return {keys[key] for key in held}

    def leases(self) -> dict[int, float | None]:
        """The seconds that the lease of each running trial has left, by number.

        None stands for a trial without a lease: it runs until it is told or released. A lease that
        has expired has 0 seconds or less; the next ask hands its trial out again.
        """
        held = self._store.leases(self._id)
        numbers = [record.trial.number for record in self._current().running]
        found = {number: held.get(lease_key(number)) for number in numbers}
        return {number: None if lease is None else lease.left for number, lease in found.items()}

    def replay(self) -> Replay:
        """Compute every suggestion again, in the order of the log, and compare it byte by byte.

        Versions, kind of machine and number of BLAS threads (one) must be those of the study.
        """
        happened = [events.from_text(text) for text in self._store.read(self._id)]
        return replayed(happened, self._strategies.method)

    def copy_to(self, storage: str | Storage, name: str | None = None) -> Study:
        """Copy the study with its whole log to another store, and return the copy.

            study.copy_to("sqlite:///backup.db")

        Other processes may use the study meanwhile. If files of its own store were lost while they
        were in use (`StorageDamaged`), what this object can still read is copied, or else the
        results that it knows. Leases are not copied.
        """
        name = self.name if name is None else name
        log = copies.readable_log(self._store, self._id, self._state)
        state = state_of(name, log)
        store = open_storage(storage)
        copy = Study.__new__(Study)
        identity = copies.write_copy(log, name, store)
        copy._open(store, name, identity, state, self._strategies, self._ask_seconds)
        return copy

    def __reduce__(self) -> tuple[Callable[..., Study], tuple[object, ...]]:
        """By its address: its name and its storage, with the password if that has one."""
        try:
            restored(self.method)
            custom = None
        except MethodError:  # it has parts that are not stored, as `load_study` says
            custom = self._strategies.method
        from outcrop.study.stored_studies import unpickled  # it imports this module

        return unpickled, (self.name, self._store, custom, self._ask_seconds)

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self._summary()})"

    @property
    def _title(self) -> str:
        return f"Study {self.name}"

    # The log

    def _current(self) -> State:
        """The state after all events that are in the log now."""
        with self._lock:
            texts = self._store.read(self._id, self._state.position)
            if texts:
                self._state = state_of(self.name, texts, self._state)
            return self._state

    def _commit(
        self, command: Callable[[State], Sequence[Happened]]
    ) -> tuple[State, Sequence[Happened]]:
        while True:
            state = self._current()
            happened = command(state)
            following = self._append(state, happened, drop=_ended_leases(happened))
            if following is not None:
                return following, happened

    def _append(
        self,
        state: State,
        happened: Sequence[Event],
        take: Sequence[Lease] = (),
        drop: Sequence[str] = (),
    ) -> State | None:
        """Store `happened`; the state after it, or None if the log has grown meanwhile."""
        following = follow(state, happened)
        texts = [copies.text_for(self._store, event) for event in happened]
        with self._lock:
            if not self._store.append(self._id, state.position, texts, take=take, drop=drop):
                return None
            if self._state.position < following.position:
                self._state = following
            return following


def state_of(name: str, texts: Sequence[str], before: State | None = None) -> State:
    """The state of the study `name` after `texts`, which are its whole log or follow `before`."""
    try:
        happened = [events.from_text(text) for text in texts]
        return fold(happened) if before is None else follow(before, happened)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise StorageError(
            f"the log of study {name!r} is damaged ({error}); restore a copy of the storage, save "
            "what is sound with: outcrop check --save FILE.db, or delete the study"
        ) from error


def _ended_leases(happened: Sequence[Event]) -> list[str]:
    return [
        lease_key(event.number)
        for event in happened
        if isinstance(event, Told | Failed | Released | Expired)
    ]
