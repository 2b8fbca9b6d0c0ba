"""Where trials are evaluated: in this process, or on an executor of the user's."""

from __future__ import annotations

__all__ = ["InProcess", "Job", "OnExecutor", "Workers", "workers_for"]

import logging
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from outcrop.errors import MethodError, ObjectiveError
from outcrop.study.argument_checks import checked_count, checked_seconds
from outcrop.study.running.evaluation import Outcome, described, evaluate, evaluate_elsewhere
from outcrop.study.running.interrupts import Interrupts
from outcrop.study.trial import Trial

logger = logging.getLogger(__name__)


class Job(Protocol):
    """An evaluation under way."""

    def done(self) -> bool: ...

    def outcome(self) -> Outcome:
        """What came of it, once it is done."""


class Workers(Protocol):
    """Up to `size` evaluations at once."""

    @property
    def size(self) -> int: ...

    @property
    def broken(self) -> str:
        """Why nothing can be evaluated any more, or nothing."""

    def start(self, trial: Trial) -> Job: ...

    def stop(self) -> None:
        """End what runs, where that is possible."""


def workers_for(
    objective: Any,
    n_workers: int | None,
    executor: Any,
    trial_timeout: float | None,
    interrupts: Interrupts,
) -> Workers:
    """Workers as the arguments of a run describe them."""
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
    objective: Any, n_workers: int | None, executor: Any, trial_timeout: float | None
) -> OnExecutor:
    if not callable(getattr(executor, "submit", None)):
        raise MethodError(
            f"executor={executor!r}: expected an object with a method submit, as those of "
            "concurrent.futures have; n_workers= makes processes without one"
        )
    if trial_timeout is not None:
        raise MethodError(
            f"trial_timeout={trial_timeout!r} cannot be kept on an executor, which does not stop "
            "what runs; use n_workers= instead of executor="
        )
    if n_workers is None:
        n_workers = getattr(executor, "_max_workers", None)
        if not isinstance(n_workers, int):
            n_workers = 1
            logger.warning(
                "the executor does not say how many workers it has, so trials are evaluated one "
                "at a time; say how many at once with n_workers="
            )
    return OnExecutor(objective, executor, n_workers)


@dataclass(frozen=True)
class Done:
    """An evaluation that was over when it was started."""

    result: Outcome

    def done(self) -> bool:
        return True

    def outcome(self) -> Outcome:
        return self.result


@dataclass(frozen=True)
class InProcess:
    """Evaluates each trial here and now; Ctrl-C reaches the objective."""

    objective: Any
    interrupts: Interrupts
    size: int = 1
    broken: str = ""

    def start(self, trial: Trial) -> Done:
        with self.interrupts.allowed():
            return Done(evaluate(self.objective, trial))

    def stop(self) -> None:
        pass


@dataclass
class OnExecutor:
    """Hands trials to an executor; it belongs to the user, who also shuts it down."""

    objective: Any
    executor: Any
    size: int
    broken: str = ""
    _futures: list[Any] = field(default_factory=list)

    def start(self, trial: Trial) -> Submitted:
        try:
            # The trial makes every call unlike the others, for executors that remember results.
            future = self.executor.submit(evaluate_elsewhere, self.objective, trial)
        except Exception as error:
            raise ObjectiveError(
                f"the executor takes no trials ({described(error)}); pass one that runs"
            ) from None
        self._futures = [*self._unfinished(), future]
        return Submitted(future, self)

    def result(self, future: Any) -> Outcome:
        """The result of a future that is done."""
        try:
            outcome: Outcome = future.result()
        except Exception as error:  # the executor's: what the objective raises is an outcome
            return self._without_result(error)
        return outcome

    def stop(self) -> None:
        for future in self._unfinished():
            future.cancel()

    def _unfinished(self) -> list[Any]:
        return [future for future in self._futures if not future.done()]

    def _without_result(self, error: Exception) -> Outcome:
        if isinstance(error, BrokenExecutor):
            self.broken = described(error)
            return Outcome(reason=f"the executor broke: {described(error)}")
        if "pickle" in described(error).lower():
            raise ObjectiveError(
                f"the executor cannot send the objective to its workers ({described(error)}); "
                "define it at the top level of a module, or use n_workers= instead of executor=, "
                "which can use cloudpickle"
            ) from None
        return Outcome.of(error)


@dataclass(frozen=True)
class Submitted:
    """An evaluation on an executor, of which only the common part of all futures is used."""

    future: Any
    workers: OnExecutor

    def done(self) -> bool:
        return bool(self.future.done())

    def outcome(self) -> Outcome:
        return self.workers.result(self.future)
