"""Worker processes; if one dies, only its trial fails.

Each worker has a supervisor, a process that executes no code of the user: read `supervisor` for
what happens when a worker dies or exceeds its time, and when this process is killed.
"""

from __future__ import annotations

__all__ = ["Isolated"]

import atexit
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import TypeAlias

from outcrop.errors import ObjectiveError
from outcrop.study.running import process_tree, supervisor
from outcrop.study.running.evaluation import Outcome, error_text
from outcrop.study.running.interrupts import Interrupts, blocked
from outcrop.study.running.objective_transfer import Context, main_is_importable, pack, probe
from outcrop.study.running.protocol import Objective
from outcrop.study.running.workers import Job
from outcrop.study.trial import Trial

# Seconds that a supervisor gets to end its worker and all that this has started.
STOPPING = process_tree.GRACE + process_tree.PATIENCE + 2.0

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
        self._process = os.getpid()
        atexit.register(self.stop)  # a run in a daemon thread may be cut off
        try:
            self._surroundings.enter_context(_without_false_main())
            with _environment(environment):
                context = _context()
                probe(context, packed, environment, interrupts)
                start = partial(_started, context, packed, environment, trial_timeout)
                for _ in range(size):
                    self._workers.append(_Worker(start, interrupts))
        except BaseException:
            self.stop()
            raise

    def start(self, trial: Trial) -> Job:
        worker = next(worker for worker in self._workers if worker.is_free)
        return worker.start(trial)

    def stop(self) -> None:
        """End all processes, busy or not, in parallel."""
        if os.getpid() != self._process:
            return  # a forked copy of this process has no workers
        atexit.unregister(self.stop)
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.close()
        for worker in workers:
            worker.join()
        self._surroundings.close()


Supervisor: TypeAlias = tuple[BaseProcess, Connection]


def _started(
    context: Context, packed: bytes, environment: Mapping[str, str], trial_timeout: float | None
) -> Supervisor:
    """A new supervisor and the connection to it."""
    ours, theirs = context.Pipe()
    process = context.Process(
        target=supervisor.supervise, args=(theirs, packed, environment, trial_timeout)
    )
    try:
        process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


class _Worker:
    """One worker, seen from the run; its supervisor is replaced if somebody kills it."""

    def __init__(self, start: Callable[[], Supervisor], interrupts: Interrupts) -> None:
        self._start = start
        self._interrupts = interrupts
        self._supervisor, self._connection = start()
        self._newest: Job | None = None

    @property
    def is_free(self) -> bool:
        return self._newest is None or self._newest.done()

    def start(self, trial: Trial) -> Job:
        if not self._supervisor.is_alive():
            self._replace()
        try:
            self._connection.send(trial)
        except OSError as error:
            raise ObjectiveError(
                f"a worker process ended before it had a trial ({error_text(error)}); check the "
                "limits of this machine, such as the number of processes"
            ) from None
        self._newest = _job(self._supervisor, self._connection, self._interrupts)
        return self._newest

    def close(self) -> None:
        """Let the supervisor end."""
        self._connection.close()

    def join(self) -> None:
        """Wait until the supervisor has ended."""
        self._supervisor.join(STOPPING)
        self._supervisor.kill()
        self._supervisor.join()

    def _replace(self) -> None:
        self.close()
        self.join()
        self._supervisor, self._connection = self._start()


def _job(supervisor: BaseProcess, connection: Connection, interrupts: Interrupts) -> Job:
    """The evaluation that a supervisor was sent; it is done at the latest when that has ended.

    One whose process died while the run is interrupted is never done, and its trial is given back:
    systemd and batch systems send their signal to all processes of a run.
    """
    received: list[Outcome] = []

    def done() -> bool:
        if not received and not connection.closed:
            is_alive = supervisor.is_alive()  # before looking for its last message
            try:
                if connection.poll():
                    received.append(connection.recv())
            except (EOFError, OSError):
                is_alive = False
            if not received and not is_alive and not connection.closed:
                reason = "the process of the evaluation was killed"
                received.append(Outcome(reason=reason, died=True))
        return bool(received) and not (received[0].died and interrupts.pressed)

    return Job(done, lambda: received[0])


def _context() -> Context:
    """How processes are started: forked from a server that has loaded this module, or spawned.

    A fork of this process itself would copy the locks of its threads in an unknown state.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver, resource_tracker

    forkserver.set_forkserver_preload([supervisor.__name__])
    resource_tracker.ensure_running()  # before the block, since it unblocks Ctrl-C
    with blocked():  # a process that is still importing must not receive signals
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
