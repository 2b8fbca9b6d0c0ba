"""Worker processes; if one dies, only its trial fails.

Each worker is a pool of one process. In a pool of several processes, one that dies within
milliseconds of receiving a trial can remain undetected, and the run would wait for its trial
forever; a pool of one process breaks instead, which is detected.
"""

from __future__ import annotations

__all__ = ["Isolated"]

import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Thread
from typing import Any

from pebble import ProcessExpired, ProcessPool

from outcrop.study.running import worker_process
from outcrop.study.running.evaluation import Outcome
from outcrop.study.running.interrupts import Interrupts, blocked
from outcrop.study.running.objective_transfer import Context, main_is_importable, pack, probe
from outcrop.study.running.protocol import Objective
from outcrop.study.running.workers import Job
from outcrop.study.trial import Trial

# Workers already use all cores; variables that the user has set are not changed.
ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


class Isolated:
    """`size` processes that evaluate an objective; a crash or a timeout costs one trial."""

    broken = ""  # a process that dies is replaced

    def __init__(
        self, objective: Objective, size: int, trial_timeout: float | None, interrupts: Interrupts
    ) -> None:
        self.size = size
        packed, environment = pack(objective), ONE_THREAD | dict(os.environ)
        self._surroundings = ExitStack()
        self._workers: list[_Worker] = []
        try:
            self._surroundings.enter_context(_without_false_main())
            with _environment(environment):
                context = _context()
                probe(context, packed, environment, interrupts)
                for _ in range(size):
                    worker = _Worker(context, packed, environment, trial_timeout)
                    self._workers.append(worker)
        except BaseException:
            self.stop()
            raise

    def start(self, trial: Trial) -> Job:
        worker = next(worker for worker in self._workers if worker.is_free)
        return worker.start(trial)

    def stop(self) -> None:
        """End all processes, busy or not, in parallel."""
        threads = [Thread(target=worker.stop) for worker in self._workers]
        self._workers = []
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._surroundings.close()


class _Worker:
    """One process, replaced when it dies."""

    def __init__(
        self,
        context: Context,
        packed: bytes,
        environment: Mapping[str, str],
        trial_timeout: float | None,
    ) -> None:
        self._new_pool = partial(
            ProcessPool,
            1,
            initializer=worker_process.load,
            initargs=(packed, environment),
            context=context,
        )
        self._trial_timeout = trial_timeout
        self._pool: Any = self._new_pool()  # its methods have no types
        self._newest: Job | None = None
        _ = self._pool.active  # reading this starts the pool, while the environment is set

    @property
    def is_free(self) -> bool:
        return self._newest is None or self._newest.done()

    def start(self, trial: Trial) -> Job:
        try:
            future = self._scheduled(trial)
        except RuntimeError:  # the pool broke: its process died while it had no trial
            self.stop()
            self._pool = self._new_pool()
            future = self._scheduled(trial)
        self._newest = Job(future.done, partial(_outcome, future, self._trial_timeout))
        return self._newest

    def stop(self) -> None:
        self._pool.stop()
        self._pool.join()

    def _scheduled(self, trial: Trial) -> Future[Outcome]:
        future: Future[Outcome] = self._pool.schedule(
            worker_process.evaluate_loaded, args=(trial,), timeout=self._trial_timeout
        )
        return future


def _outcome(future: Future[Outcome], trial_timeout: float | None) -> Outcome:
    """The outcome of an evaluation that is done, also if it or its process was ended."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, TimeoutError):
        return Outcome(reason=f"no result within {trial_timeout:g} s")
    if isinstance(error, ProcessExpired):
        code = error.exitcode
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        return Outcome(reason=f"the process of the evaluation died ({ended})")
    if isinstance(error, BrokenProcessPool):
        return Outcome(reason="the process of the evaluation died")
    return Outcome.of(error)


def _context() -> Context:
    """How processes are started: forked from a server that has loaded this module, or spawned.

    A fork of this process itself would copy the locks of its threads in an unknown state.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver, resource_tracker

    forkserver.set_forkserver_preload([worker_process.__name__])
    resource_tracker.ensure_running()  # before the block, since it unblocks Ctrl-C
    with blocked():  # a worker that is still importing must not receive it
        forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")


@contextmanager
def _environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Set variables that are not set, for processes that are started in the block."""
    missing = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(missing)
    try:
        yield
    finally:
        for name in missing:
            os.environ.pop(name, None)


@contextmanager
def _without_false_main() -> Iterator[None]:
    """Hide a `__file__` such as `<stdin>`, which a new process would try to open."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if file is None or main_is_importable():
        yield
        return
    del main.__file__
    try:
        yield
    finally:
        main.__file__ = file
