"""The part of a study that evaluates an objective, and ends doing so."""

from __future__ import annotations

__all__ = ["StudyRunner"]

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from outcrop.errors import StudyError
from outcrop.study.events import Stopped
from outcrop.study.stop_requests import StopRequests
from outcrop.study.study_writer import StudyWriter

if TYPE_CHECKING:
    from outcrop.study.running import Result, Runnable
    from outcrop.study.running.protocol import (
        Callback,
        Executor,
        Objective,
        OnError,
        Shown,
        StopRule,
    )

REQUESTED = "stop requested"


class StudyRunner(StudyWriter):
    """Runs of a study; subclasses provide the log and `ask`."""

    _stop_requests: StopRequests

    def optimize(
        self,
        objective: Objective,
        n_trials: int | None = None,
        *,
        timeout: float | None = None,
        n_workers: int | None = None,
        executor: Executor | None = None,
        trial_timeout: float | None = None,
        callbacks: Iterable[Callback] | Callback = (),
        stop: Iterable[StopRule] | StopRule = (),
        progress: Shown = "auto",
        on_error: OnError = "stop",
        worker: str | None = None,
        drain: bool = False,
    ) -> Result:
        """Evaluate `n_trials` new trials, failures included, and tell their outcomes.

            study.optimize(train, n_trials=200, n_workers=8, stop=[oc.stop.NoImprovement(40)])

        `objective` is a function of a dict of parameters, or an object with a method
        `evaluate(trial)`. A trial fails if the objective raises or returns NaN or ±inf. The options
        are:

        - `timeout`: seconds after which no trial is started; running ones are finished.
        - `stop`: a rule or a list of rules, called with the study before each ask; a run stops in
          the same way once a rule returns a reason.
        - `n_workers`: how many trials run at once. One runs in this process; several run in worker
          processes, and if one of these dies only its trial fails.
        - `trial_timeout`: seconds for one evaluation, which then runs in a worker process.
        - `executor`: runs the trials instead, any object with the `submit` of `concurrent.futures`,
          such as `client.get_executor()` of Dask or `outcrop.integrations.ray.RayExecutor`.
        - `callbacks`: a function or a list of functions, called with the study and each trial that
          has ended. One that returns True, or calls `request_stop`, ends the run as `timeout` does.
        - `on_error`: what a mistake in the objective does. `"stop"` gives its trial back, finishes
          those that run and raises `ObjectiveError`, if the objective returned something that is no
          number, or if a `KeyError`, `AttributeError`, `NameError`, `TypeError`, `ImportError` or
          `SyntaxError` came from its own first frames, but not from a `raise`, in a branch of the
          space where nothing has succeeded yet. `"record"` records them as failures.
        - `worker`: the name of this process among those that share the study, which is recorded
          with its trials; by default its machine, its number and four digits. A process that comes
          back under the name of one that has ended gets its unfinished trial first.
        - `drain`: whether the first SIGTERM lets running trials finish, and a second one ends the
          run as below.
        - `progress`: `"auto"` shows it on a terminal and in a notebook, True everywhere, False
          nowhere.

        Ctrl-C, SIGTERM and SIGHUP end the workers, give running trials back and return the trials
        so far in a result that is marked `interrupted`, unless the signal is ignored or has a
        handler of yours; outside of the main thread, signals are not handled. The first exception
        of each type and place is logged as a warning with its traceback, the others are counted in
        `Result.raised`. If 5 trials in a row raise and none of the study has ever succeeded, or 10
        at one place in a run without a success, and not all of them are of one branch among
        several, `AllTrialsFailed` shows the first traceback, unless `on_error` is `"record"`. Every
        exception carries the trials so far in its attribute `result`.

        Programs that an objective starts in a worker process end with the worker: after the run,
        after a crash or a timeout, and if this process is killed. Between two trials those whose
        parent has ended are ended; others live on, so that the next trial can use a pool or a
        server again. What should outlive the run must be started by another process. An objective
        that forks comes back once: its child ends where it would return.
        """
        from outcrop.study.running import run  # not needed by ask and tell

        with self._stop_requests.of_run() as requested:
            return run(
                cast("Runnable", self),
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
                worker=worker,
                drain=drain,
                requested=requested,
            )

    def request_stop(self, reason: str = REQUESTED) -> None:
        """End the run of this object that is under way; trials that run are finished.

            def callback(study, trial):
                if trial.value is not None and trial.value < 0.01:
                    study.request_stop("good enough")

        It is for callbacks, for objectives in the process of the run, and for other threads; a
        callback may also return True. `StudyError` if there is no such run.
        """
        if not self._stop_requests.make(str(reason) or REQUESTED):
            raise StudyError(
                "request_stop: no run of this object is under way; call it in a callback of "
                "optimize, or record a reason with stop"
            )

    def stop(self, reason: str = REQUESTED) -> None:
        """End the run that is under way as `request_stop` does, or else record why one ended.

        The study can be continued.
        """
        if not self._stop_requests.make(str(reason) or REQUESTED):
            self._commit(lambda state: [Stopped(str(reason), time.time())])

    @property
    def stopped(self) -> str | None:
        """Why the newest run ended; None if a trial was asked for since."""
        return self._current().stopped
