"""`minimize` and `maximize`: from a function to its best parameters in one call."""

from __future__ import annotations

__all__ = ["Result", "maximize", "minimize"]

import logging
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from outcrop.errors import AllTrialsFailed, SpaceExhausted, TrialError
from outcrop.space import Space
from outcrop.study import tables
from outcrop.study.answers import best_of
from outcrop.study.checks import checked_count, checked_value
from outcrop.study.optimizer import Optimizer
from outcrop.study.progress import Progress
from outcrop.study.trial import Trial
from outcrop.typing import Params

logger = logging.getLogger(__name__)

HOPELESS = 5  # an objective that raises this often from the start is broken
KEPT = 10_000  # characters of a traceback, from its end

Callback = Callable[[Optimizer, Trial], object]


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What an optimisation found.

    Where no trial has finished, asking for the best one raises `NoBelief`.
    """

    optimizer: Optimizer  # to go on with, or to ask what it believes
    trials: tuple[Trial, ...]
    interrupted: bool = False  # by Ctrl-C

    @property
    def best_trial(self) -> Trial:
        """The finished trial with the best value observed."""
        return best_of(self.trials, -1.0 if self.optimizer.direction == "maximize" else 1.0)

    @property
    def best_params(self) -> Params:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        value = self.best_trial.value
        assert value is not None  # it is finished
        return value

    @property
    def n_failed(self) -> int:
        return sum(trial.state == "failed" for trial in self.trials)

    def to_frame(self) -> Any:
        """All trials as a pandas DataFrame."""
        return tables.to_frame(self.trials, self.optimizer.space)

    def __repr__(self) -> str:
        n, failures = len(self.trials), self.n_failed
        best = "nothing finished"
        if failures < n:
            best = f"best_value={self.best_value!r}, best_params={dict(self.best_params)!r}"
        ended = ", interrupted" if self.interrupted else ""
        return f"Result({best}, {n} trials, {failures} failed{ended})"


def minimize(
    objective: Callable[[dict[str, Any]], float],
    space: Space,
    n_trials: int = 100,
    *,
    seed: int | None = None,
    method: Any = "auto",
    noise: bool | float | None = None,
    callbacks: Iterable[Callback] = (),
    progress: bool | Literal["auto"] = "auto",
) -> Result:
    """Minimise `objective`, a function of a dict of parameters, in at most `n_trials` trials.

    >>> from outcrop.space import Float
    >>> space = Space({"x": Float(-1, 1)})
    >>> result = minimize(lambda p: p["x"] ** 2, space, n_trials=8, method="random", seed=0)
    >>> len(result.trials), result.best_value == result.best_params["x"] ** 2
    (8, True)

    An objective that raises or returns no finite number makes a failed trial, and the search goes
    on; if the first 5 trials all raise, `AllTrialsFailed` shows the first traceback. A space that
    is used up ends the search early. Any other exception, such as a callback's, carries the trials
    so far as its attribute `result`. Ctrl-C gives the running trial back and returns what was found
    so far, marked `interrupted`. `callbacks` are called with the optimizer and each trial that is
    done. `progress` is shown on a terminal by `"auto"`, everywhere by True.
    """
    optimizer = Optimizer(space, method=method, direction="minimize", seed=seed, noise=noise)
    return run(optimizer, objective, n_trials, callbacks, progress)


def maximize(
    objective: Callable[[dict[str, Any]], float],
    space: Space,
    n_trials: int = 100,
    *,
    seed: int | None = None,
    method: Any = "auto",
    noise: bool | float | None = None,
    callbacks: Iterable[Callback] = (),
    progress: bool | Literal["auto"] = "auto",
) -> Result:
    """Maximise `objective`; everything else is as in `minimize`.

    >>> from outcrop.space import Int
    >>> space = Space({"n": Int(1, 3)})
    >>> maximize(lambda p: p["n"], space, n_trials=3, method="random", noise=False).best_value
    3.0
    """
    optimizer = Optimizer(space, method=method, direction="maximize", seed=seed, noise=noise)
    return run(optimizer, objective, n_trials, callbacks, progress)


def run(
    optimizer: Optimizer,
    objective: Callable[[dict[str, Any]], float],
    n_trials: int,
    callbacks: Iterable[Callback] = (),
    progress: bool | Literal["auto"] = "auto",
) -> Result:
    """Ask, evaluate and tell, `n_trials` times."""
    if not callable(objective):
        raise TrialError(f"objective={objective!r}: expected a function of a dict of parameters")
    total, callbacks = checked_count(n_trials, "n_trials"), list(callbacks)
    shown = Progress(total, progress)
    tracebacks: list[str] = []  # of the trials so far, while all of them raised
    interrupted = False
    try:
        for done in range(total):
            start = time.perf_counter()
            trial = optimizer.ask()
            thinking = time.perf_counter() - start
            trial = _evaluated(optimizer, objective, trial)
            shown.step(_best_value(optimizer), failed=trial.state == "failed", thinking=thinking)
            for callback in callbacks:
                callback(optimizer, trial)
            if len(tracebacks) == done and "traceback" in trial.info:
                tracebacks.append(trial.info["traceback"])
            if len(tracebacks) == HOPELESS and done + 1 == HOPELESS:
                raise AllTrialsFailed(
                    f"the first {HOPELESS} trials all raised; the first traceback:\n{tracebacks[0]}"
                )
    except SpaceExhausted as reason:
        logger.info("stopped after %d of %d trials: %s", shown.done, total, reason)
    except KeyboardInterrupt:
        interrupted = True
        shown.close()
        _give_back(optimizer)
    except Exception as error:
        error.result = Result(optimizer, tuple(optimizer.trials))  # type: ignore[attr-defined]
        error.add_note("the trials so far are in this exception's attribute `result`")
        raise
    finally:
        shown.close()
    result = Result(optimizer, tuple(optimizer.trials), interrupted)
    if result.trials and result.n_failed == len(result.trials):
        first = result.trials[0].reason
        logger.warning("none of %d trials gave a value; the first: %s", result.n_failed, first)
    return result


def _evaluated(
    optimizer: Optimizer, objective: Callable[[dict[str, Any]], float], trial: Trial
) -> Trial:
    """The trial once the objective was called, finished or failed."""
    try:
        returned = objective(dict(trial.params))
    except Exception as error:
        reason = _described(error)
        logger.info("trial %d failed: %s", trial.number, reason)
        text = "".join(traceback.format_exception(error))
        return optimizer.fail(trial, reason, info={"traceback": text[-KEPT:]})
    try:
        value = checked_value(returned)
    except TrialError as error:
        logger.info("trial %d failed: %s", trial.number, error)
        return optimizer.fail(trial, str(error))
    return optimizer.tell(trial, value)


def _described(error: Exception) -> str:
    """The type of an exception and its message, which may be beyond writing."""
    name = type(error).__name__
    try:
        message = str(error)
    except Exception:
        return name
    return f"{name}: {message}" if message else name


def _best_value(optimizer: Optimizer) -> float | None:
    values = [trial.value for trial in optimizer.trials if trial.value is not None]
    if not values:
        return None
    return max(values) if optimizer.direction == "maximize" else min(values)


def _give_back(optimizer: Optimizer) -> None:
    """Release what was running when the user interrupted, and say so."""
    running = [trial for trial in optimizer.trials if trial.state == "running"]
    for trial in running:
        optimizer.release(trial)
        logger.warning("interrupted: trial %d is given back, %s", trial.number, dict(trial.params))
    logger.warning("interrupted: %d trials are kept", len(optimizer.trials))
