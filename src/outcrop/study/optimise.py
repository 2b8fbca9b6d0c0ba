"""`minimize` and `maximize`: find the best parameters of a function in one call."""

from __future__ import annotations

__all__ = ["maximize", "minimize"]

from collections.abc import Iterable
from typing import TYPE_CHECKING

from outcrop.space import Space
from outcrop.strategies.registry import MethodLike
from outcrop.study.argument_checks import ASK_SECONDS
from outcrop.study.study import Study

if TYPE_CHECKING:
    from outcrop.study.running import Result
    from outcrop.study.running.protocol import (
        Callback,
        Executor,
        Objective,
        OnError,
        Shown,
        StopRule,
    )


def minimize(
    objective: Objective,
    space: Space,
    n_trials: int = 100,
    *,
    seed: int | None = None,
    method: MethodLike = "auto",
    noise: bool | float | None = None,
    robust: bool = False,
    ask_seconds: float | None = ASK_SECONDS,
    timeout: float | None = None,
    n_workers: int | None = None,
    executor: Executor | None = None,
    trial_timeout: float | None = None,
    callbacks: Iterable[Callback] | Callback = (),
    stop: Iterable[StopRule] | StopRule = (),
    progress: Shown = "auto",
    on_error: OnError = "stop",
) -> Result:
    """Minimise `objective`, a function of a dict of parameters, in at most `n_trials` trials.

    >>> from outcrop.space import Float
    >>> space = Space({"x": Float(-1, 1)})
    >>> result = minimize(lambda p: p["x"] ** 2, space, n_trials=8, method="random", seed=0)
    >>> len(result.trials), result.best_value == result.best_params["x"] ** 2
    (8, True)

    `seed`, `method`, `noise`, `robust` and `ask_seconds` are those of `Study`; the other arguments,
    from `timeout` to `on_error`, those of `Study.optimize`. If the objective raises or returns NaN
    or ±inf, the trial fails and the search continues; a mistake in it, such as a missing `return`,
    ends the run. Nothing is stored; to resume later, use a `Study` with a storage.
    """
    study = Study(
        space,
        method=method,
        direction="minimize",
        seed=seed,
        noise=noise,
        robust=robust,
        ask_seconds=ask_seconds,
    )
    return study.optimize(
        objective,
        n_trials,
        timeout=timeout,
        n_workers=n_workers,
        executor=executor,
        trial_timeout=trial_timeout,
        callbacks=callbacks,
        stop=stop,
        progress=progress,
        on_error=on_error,
    )


def maximize(
    objective: Objective,
    space: Space,
    n_trials: int = 100,
    *,
    seed: int | None = None,
    method: MethodLike = "auto",
    noise: bool | float | None = None,
    robust: bool = False,
    ask_seconds: float | None = ASK_SECONDS,
    timeout: float | None = None,
    n_workers: int | None = None,
    executor: Executor | None = None,
    trial_timeout: float | None = None,
    callbacks: Iterable[Callback] | Callback = (),
    stop: Iterable[StopRule] | StopRule = (),
    progress: Shown = "auto",
    on_error: OnError = "stop",
) -> Result:
    """Maximise `objective`; the arguments are those of `minimize`.

    >>> from outcrop.space import Int
    >>> space = Space({"n": Int(1, 3)})
    >>> maximize(lambda p: p["n"], space, n_trials=3, method="random", noise=False).best_value
    3.0
    """
    study = Study(
        space,
        method=method,
        direction="maximize",
        seed=seed,
        noise=noise,
        robust=robust,
        ask_seconds=ask_seconds,
    )
    return study.optimize(
        objective,
        n_trials,
        timeout=timeout,
        n_workers=n_workers,
        executor=executor,
        trial_timeout=trial_timeout,
        callbacks=callbacks,
        stop=stop,
        progress=progress,
        on_error=on_error,
    )
