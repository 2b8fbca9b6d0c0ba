"""Cases in a process of their own, so that one that hangs or dies is counted and others go on."""

from __future__ import annotations

__all__ = ["outcomes"]

import faulthandler
import multiprocessing
import resource
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

MEMORY = 4 * 2**30  # bytes that the process may allocate
SLACK = 30.0  # seconds beyond the deadline; a process ends itself at the deadline


def outcomes(
    task: Callable[[int], dict[str, Any]], cases: Sequence[int], deadline: float
) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each case with what `task` returns for it, or with how the process ended instead.

    A case that takes longer than `deadline` seconds ends its process, which first writes where it
    was to standard error.
    """
    context = multiprocessing.get_context("spawn")
    left = list(cases)
    while left:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_serve, args=(task, left, deadline, theirs), daemon=True)
        process.start()
        theirs.close()
        try:
            while left:
                if not ours.poll(deadline + SLACK):
                    process.kill()
                yield left[0], ours.recv()
                del left[0]
        except EOFError:
            process.join()
            yield left[0], f"the process ended with {process.exitcode}"
            del left[0]
        finally:
            process.kill()
            process.join()
            ours.close()


def _serve(
    task: Callable[[int], dict[str, Any]],
    cases: Sequence[int],
    deadline: float,
    answers: Connection,
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for case in cases:
        faulthandler.dump_traceback_later(deadline, exit=True)
        answers.send(task(case))
    faulthandler.cancel_dump_traceback_later()
    answers.close()
