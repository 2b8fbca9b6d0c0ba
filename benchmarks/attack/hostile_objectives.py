"""Objectives that end, fork, block, damage or deceive the process that evaluates them.

`HOSTILE` lists them with what must become of their trials, for each way to run them:

- `"workers"`: in worker processes
- `"process"`: in the process of the run
- `"program"`: as a program, by `outcrop run`

That is `VALUE` if the trial must have the honest value, `ENDS` if the run may end with it (values
told before remain), or else a regular expression that the reason of its failure must match.

As a program: `python -m benchmarks.attack.hostile_objectives NAME HOSTILE X`.
"""

from __future__ import annotations

__all__ = ["ENDS", "HOSTILE", "VALUE", "Hostile", "Objective", "honest"]

import ctypes
import json
import locale
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import outcrop as oc  # not for programs, which start much faster without it

VALUE = "value"
ENDS = "ends"
LONG = 600  # seconds, beyond every deadline
WRONG = -1.0  # a value that no trial may have
DIED = "process of the evaluation (died|ended)"
PATIENCE = 20.0  # seconds that a forked child has to use a study in


def honest(params: Mapping[str, Any]) -> float:
    return float(params["x"]) + 1.0


@dataclass(frozen=True)
class Hostile:
    """What an objective does, and what must become of its trials."""

    act: Callable[[dict[str, Any]], Any]  # from the parameters to what it returns
    becomes: Mapping[str, str]  # by the way to run it
    timeout: float | None = None  # seconds of a trial


@dataclass(frozen=True)
class Objective:
    """Honest, except where `hostile` is among the parameters."""

    name: str

    def __call__(self, params: dict[str, Any]) -> Any:
        return HOSTILE[self.name].act(params) if params["hostile"] else honest(params)


def _then_honest(act: Callable[[], object]) -> Callable[[dict[str, Any]], Any]:
    """An objective that does something and returns the honest value."""

    def objective(params: dict[str, Any]) -> float:
        value = honest(params)
        act()
        return value

    return objective


def _fork_and_return(params: dict[str, Any]) -> float:
    return WRONG if os.fork() == 0 else honest(params)


def _fork_and_leave(params: dict[str, Any]) -> float:
    if os.fork() == 0:
        sys.exit(0)
    return honest(params)


def _fork_and_raise(params: dict[str, Any]) -> float:
    if os.fork() == 0:
        raise RuntimeError("raised in a forked child")
    return honest(params)


def _leave_a_program(new_session: bool = False) -> None:
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", program], start_new_session=new_session)


def _leave_a_daemon() -> None:
    """A program in a session of its own, whose parent has ended."""
    if (child := os.fork()) == 0:
        os.setsid()
        _leave_a_program()
        os._exit(0)
    os.waitpid(child, 0)


def _ignore_and_sleep() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _leave_a_program()
    time.sleep(LONG)


def _hold_the_interpreter() -> None:
    ctypes.PyDLL(None).sleep(LONG)  # unlike CDLL, it keeps the lock of the interpreter


def _write_much() -> None:
    for stream in (sys.stdout, sys.stderr):
        for _ in range(20):
            stream.write(("x" * 1023 + "\n") * 1024)
        stream.flush()


def _delete_the_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def _change_the_process() -> None:
    os.umask(0o777)
    locale.setlocale(locale.LC_ALL, "C")
    os.environ.clear()
    sys.setrecursionlimit(200)


def _replace_handlers() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM):
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, signal.SIG_IGN)


class Unpicklable(Exception):
    """An exception that can neither be pickled nor shown."""

    def __init__(self, lock: Any, other: Any) -> None:
        self.lock = lock

    def __str__(self) -> str:
        raise RuntimeError("no text")


def _raise_unpicklable(params: dict[str, Any]) -> float:
    raise Unpicklable(threading.Lock(), None)


def _interrupt(params: dict[str, Any]) -> float:
    raise KeyboardInterrupt


_strange = [float("nan"), 10**400, 1j]


def _return_strange(params: dict[str, Any]) -> Any:
    return _strange[int(3 * params["x"])]


def _recurse(params: dict[str, Any]) -> float:
    return _recurse(params)


def _take_memory(params: dict[str, Any]) -> float:
    resource.setrlimit(resource.RLIMIT_AS, (2**32, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return float(len(bytearray(2**33)))


def _start_threads() -> None:
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(LONG,)).start()


def _change_params(params: dict[str, Any]) -> float:
    value = honest(params)
    params.clear()
    params["x"] = params["hostile"] = WRONG
    return value


@dataclass
class _Asking:
    """A thread that asks and tells a study of its own until it is told to end."""

    study: oc.Study
    over: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> oc.Study:
        self.thread = threading.Thread(target=self._go)
        self.thread.start()
        return self.study

    def __exit__(self, *raised: object) -> None:
        self.over.set()
        self.thread.join()

    def _go(self) -> None:
        while not self.over.is_set():
            self.study.tell(self.study.ask(), 1.0)


def _use_the_study_in_a_child(params: dict[str, Any]) -> float:
    """Fork a child that uses the parent's study while a thread of the parent asks."""
    import outcrop as oc

    space = oc.Space({"x": oc.Float(0, 1)})
    with tempfile.TemporaryDirectory() as folder:
        study = oc.Study(space, "own", f"sqlite:///{folder}/own.db", method="random", seed=0)
        with _Asking(study):
            for _ in range(10):
                _in_a_child(lambda: study.tell(study.ask(), 2.0))
    return honest(params)


def _in_a_child(act: Callable[[], object]) -> None:
    """Run `act` in a forked child; an error of ours is an answer, too."""
    from outcrop.errors import OutcropError

    if (child := os.fork()) == 0:
        code = 1
        try:
            with suppress(OutcropError):
                act()
            code = 0
        finally:
            os._exit(code)
    deadline = time.monotonic() + PATIENCE
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise RuntimeError("a forked child that used the study hung")
        time.sleep(0.005)
    if ended[1]:
        raise RuntimeError(f"a forked child that used the study failed: {ended[1]}")


def _workers(becomes: str, **others: str) -> dict[str, str]:
    return {"workers": becomes, **others}


def _everywhere(becomes: str) -> dict[str, str]:
    return {"workers": becomes, "process": becomes, "program": becomes}


HOSTILE: dict[str, Hostile] = {
    # Ends
    "exits with 0": Hostile(
        lambda params: os._exit(0), _workers(DIED, process=ENDS, program="no (value|number)|empty")
    ),
    "exits with 3": Hostile(
        lambda params: os._exit(3), _workers(DIED, process=ENDS, program="exit code 3")
    ),
    "violates memory": Hostile(
        lambda params: ctypes.string_at(0), _workers(DIED, process=ENDS, program="signal 11")
    ),
    "kills itself": Hostile(
        lambda params: os.kill(os.getpid(), signal.SIGKILL),
        _workers(DIED, process=ENDS, program="signal 9"),
    ),
    "kills its group": Hostile(
        lambda params: os.killpg(0, signal.SIGKILL),
        _workers(DIED, process=ENDS, program="signal 9"),
    ),
    "calls sys.exit": Hostile(
        lambda params: sys.exit(3), _workers("SystemExit", process=ENDS, program="exit code 3")
    ),
    "raises KeyboardInterrupt": Hostile(
        _interrupt, _workers("KeyboardInterrupt", process=ENDS, program="signal 2|exit code 130")
    ),
    # Forks and leaves programs
    "forks and returns": Hostile(_fork_and_return, _workers(VALUE, process=VALUE)),
    "forks and leaves": Hostile(_fork_and_leave, _everywhere(VALUE)),
    "forks and raises": Hostile(_fork_and_raise, _everywhere(VALUE)),
    "forks and uses the study": Hostile(_use_the_study_in_a_child, _workers(VALUE, process=VALUE)),
    "leaves a program": Hostile(_then_honest(_leave_a_program), _workers(VALUE, program=VALUE)),
    "leaves a program in its own session": Hostile(
        _then_honest(lambda: _leave_a_program(new_session=True)), _workers(VALUE, program=VALUE)
    ),
    "leaves a daemon": Hostile(_then_honest(_leave_a_daemon), _workers(VALUE, program=VALUE)),
    # Blocks
    "ignores SIGTERM and sleeps": Hostile(
        _then_honest(_ignore_and_sleep), _workers("no result within", program="timeout"), 3.0
    ),
    "holds the interpreter": Hostile(
        _then_honest(_hold_the_interpreter), _workers("no result within", program="timeout"), 3.0
    ),
    "stops itself": Hostile(
        lambda params: os.kill(os.getpid(), signal.SIGSTOP),
        _workers("no result within", program="timeout"),
        3.0,
    ),
    "starts endless threads": Hostile(
        _then_honest(_start_threads), _workers(VALUE, program="timeout"), 3.0
    ),
    # Damages its process
    "closes descriptors": Hostile(
        _then_honest(lambda: os.closerange(3, 1024)), _workers(DIED, program=VALUE)
    ),
    "writes 40 MB": Hostile(_then_honest(_write_much), _everywhere(VALUE)),
    "deletes its folder": Hostile(_then_honest(_delete_the_folder), _everywhere(VALUE)),
    "changes mask, locale and variables": Hostile(
        _then_honest(_change_the_process), _everywhere(VALUE)
    ),
    "replaces signal handlers": Hostile(_then_honest(_replace_handlers), _everywhere(VALUE)),
    "recurses without end": Hostile(
        _recurse, _workers("RecursionError", process="RecursionError", program="RecursionError")
    ),
    "takes all memory": Hostile(_take_memory, _everywhere("MemoryError")),
    # Deceives
    "raises what cannot be pickled": Hostile(
        _raise_unpicklable, _workers("Unpicklable", process="Unpicklable", program="exit code 1")
    ),
    "returns what cannot be pickled": Hostile(
        lambda params: threading.Lock(), _everywhere("a number|one number")
    ),
    "returns no finite number": Hostile(
        _return_strange, _everywhere("value is nan|fit a float|a number|one number|finite")
    ),
    "changes its parameters": Hostile(_change_params, _workers(VALUE, process=VALUE)),
}


def main(name: str, hostile: str, x: str) -> None:
    print(Objective(name)({"x": float(x), "hostile": json.loads(hostile)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
