"""Where trials are evaluated: in this process, or on an executor that the user passed."""

from __future__ import annotations

__all__ = ["InProcess", "Job", "OnExecutor", "Workers", "workers_for"]

import logging
import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from outcrop.errors import MethodError, ObjectiveError
from outcrop.study.argument_checks import checked_count, checked_seconds
from outcrop.study.running.evaluation import Outcome, error_text, evaluate, evaluate_elsewhere
from outcrop.study.running.interrupts import Interrupts
from outcrop.study.running.protocol import Executor, Future, Objective
from outcrop.study.trial import Trial

logger = logging.getLogger(__name__)

HOPELESS = 5  # trials that an executor cancels in a row before it counts as broken


@dataclass(frozen=True)
class Job:
    """An evaluation under way."""

    done: Callable[[], bool]
    outcome: Callable[[], Outcome]  # to be called once it is done


class Workers(Protocol):
    """Up to `size` evaluations at once."""

    @property
    def size(self) -> int: ...

    @property
    def broken(self) -> str:
        """Why nothing can be evaluated any more; empty while it can."""

    def start(self, trial: Trial) -> Job: ...

    def stop(self) -> None:
        """End the running evaluations, where that is possible."""


def workers_for(
    objective: Objective,
    n_workers: int | None,
    executor: Executor | None,
    trial_timeout: float | None,
    interrupts: Interrupts,
) -> Workers:
    """The workers that the arguments of a run describe."""
    if n_workers is not None:
        n_workers = checked_count(n_workers, "n_workers")
    if trial_timeout is not None:
        trial_timeout = checked_seconds(trial_timeout, "trial_timeout")
    if executor is not None:
        return _on_executor(objective, n_workers, executor, trial_timeout)
    if (n_workers or 1) == 1 and trial_timeout is None:
        return InProcess(objective, interrupts)
    from outcrop.study.running.isolated_workers import Isolated  # loads what few runs need

    return Isolated(objective, n_workers or 1, trial_timeout, interrupts)


def _on_executor(
    objective: Objective, n_workers: int | None, executor: Executor, trial_timeout: float | None
) -> OnExecutor:
    if not callable(getattr(executor, "submit", None)):
        raise MethodError(
            f"executor={executor!r}: expected an object with a method submit, such as those of "
            "concurrent.futures; n_workers= starts worker processes without an executor"
        )
    if trial_timeout is not None:
        raise MethodError(
            f"trial_timeout={trial_timeout!r} cannot be used with executor=: an executor does not "
            "stop a running call; use n_workers= instead"
        )
    n_workers = n_workers or _size_of(executor)
    if n_workers is None:
        n_workers = 1
        logger.warning(
            "the executor does not state how many workers it has, so trials are evaluated one "
            "at a time; set their number with n_workers="
        )
    return OnExecutor(objective, executor, n_workers)


def _size_of(executor: Executor) -> int | None:
    """How many calls an executor evaluates at once, where that is known.

    Executors of `concurrent.futures` and those that are like them have `_max_workers`, MPI's has
    `num_workers`; Dask's client knows the threads of all workers.
    """
    for name in ("_max_workers", "num_workers"):
        size = getattr(executor, name, None)
        if isinstance(size, int) and size > 0:
            return size
    threads = getattr(getattr(executor, "_client", executor), "nthreads", None)
    if not callable(threads):
        return None
    try:
        return sum(threads().values()) or None
    except Exception as error:
        raise _refusal(error) from None


def _refusal(error: Exception) -> ObjectiveError:
    return ObjectiveError(
        f"the executor accepts no trials ({error_text(error)}); pass one that runs"
    )


@dataclass(frozen=True)
class InProcess:
    """Evaluates each trial in this process when it is started; Ctrl-C reaches the objective."""

    objective: Objective
    interrupts: Interrupts
    size: int = 1
    broken: str = ""

    def start(self, trial: Trial) -> Job:
        with self.interrupts.allowed():
            outcome = evaluate(self.objective, trial)
        return Job(lambda: True, lambda: outcome)

    def stop(self) -> None:
        pass


@dataclass
class OnExecutor:
    """Submits trials to an executor of the user, who also shuts it down."""

    objective: Objective
    executor: Executor
    size: int
    broken: str = ""
    _cancelled: int = 0  # in a row
    _futures: list[Future] = field(default_factory=list)

    def start(self, trial: Trial) -> Job:
        try:
            call = os.urandom(8).hex()
            future = self.executor.submit(evaluate_elsewhere, self.objective, trial, call)
        except Exception as error:
            raise _refusal(error) from None
        self._futures = [*self._unfinished(), future]
        return Job(future.done, partial(self.result, future))

    def result(self, future: Future) -> Outcome:
        """The result of a future that is done."""
        try:
            outcome: Outcome = future.result()
        except BrokenExecutor as error:
            self.broken = error_text(error)
            return Outcome(reason=f"the executor broke: {self.broken}", lost=True)
        except CancelledError:
            self._cancelled += 1
            if self._cancelled == HOPELESS:
                self.broken = f"it cancelled {HOPELESS} trials in a row"
            return Outcome(reason="the executor cancelled it", lost=True)
        except Exception as error:  # of the executor: an error of the objective is an outcome
            _check_transfer(error)
            return Outcome.of(error)
        self._cancelled = 0
        return outcome

    def stop(self) -> None:
        for future in self._unfinished():
            future.cancel()

    def _unfinished(self) -> list[Future]:
        return [future for future in self._futures if not future.done()]


def _check_transfer(error: Exception) -> None:
    """Raise `ObjectiveError` if the objective did not get to the workers, as no other will."""
    said = error_text(error).strip().splitlines()[-1]  # some quote a traceback of the worker
    if "pickle" in said.lower():
        raise ObjectiveError(
            f"the executor cannot send the objective to its workers ({said}); define it at the top "
            "level of a module, or use n_workers= instead of executor=, which can use cloudpickle"
        ) from None
    is_missing = said.startswith(("ModuleNotFoundError", "ImportError", "AttributeError"))
    if isinstance(error, ImportError | AttributeError) or is_missing:
        raise ObjectiveError(
            f"a worker of the executor cannot load the objective ({said}); its module must be "
            "installed where the workers run"
        ) from None
