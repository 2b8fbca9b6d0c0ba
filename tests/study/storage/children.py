"""Functions in forked children, as `multiprocessing` would hide what is tested here."""

from __future__ import annotations

__all__ = ["answer", "forked"]

import os
import pickle
import select
import signal
import traceback
from collections.abc import Callable
from typing import Any

DEADLINE = 60.0  # seconds for an answer


def forked(work: Callable[[int], object]) -> tuple[int, int]:
    """The process id of a child that runs `work`, and a pipe to read what it writes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            work(writing)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(writing)
    return child, reading


def answer(work: Callable[[], object]) -> Any:
    """What `work` returns in a child, or the exception that it raises there."""

    def run(writing: int) -> None:
        try:
            result = work()
        except Exception as error:
            result = error
        with os.fdopen(writing, "wb") as file:
            pickle.dump(result, file)

    child, reading = forked(run)
    with os.fdopen(reading, "rb") as file:
        if not select.select([file], [], [], DEADLINE)[0]:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError("the child does not answer")
        result = pickle.loads(file.read())
    assert os.waitpid(child, 0)[1] == 0
    return result
