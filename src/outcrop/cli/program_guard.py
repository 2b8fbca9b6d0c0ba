"""The process between `outcrop run` and a program, which ends all that the program has started.

It is run as a script, by a Python that loads nothing but the standard library, so that it starts in
hundredths of a second. A line on its standard input describes the program; when that input is
closed, by intention or because `outcrop run` was killed, it ends the program. It writes the exit
code, or why the program could not be started, to its standard output.
"""

from __future__ import annotations

__all__ = ["main"]

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

POLL = 0.05  # seconds between two looks at a program where its end cannot be waited for


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Run the program that is described to its end; what is reported of it."""
    sys.path.append(request["modules"])
    import process_tree  # type: ignore[import-not-found]  # without the package around it

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name)
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: None)  # unlike one that ignores, it is not inherited
    process_tree.adopt_orphans()
    guard = os.getpid()
    try:
        program = subprocess.Popen(
            request["command"],
            cwd=request["cwd"],
            env=request["env"],
            stdin=subprocess.DEVNULL,
            stdout=request["stdout"],
            stderr=request["stderr"],
            start_new_session=True,
            preexec_fn=lambda: process_tree.end_with_parent(guard),
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return {"errno": getattr(error, "errno", None), "error": why}

    def left() -> list[int]:
        program.poll()
        process_tree.reap(spared=program.pid)
        found = process_tree.family(process_tree.children(guard))
        return found or process_tree.family([-program.pid])

    has_ended = _await_end(program)
    process_tree.end(left, 0.0 if has_ended else request["grace"])
    return {"code": program.poll()}


def _await_end(program: subprocess.Popen[bytes]) -> bool:
    """Wait for the end of the program, and return True; False if it is to be ended."""
    watched, pause = [sys.stdin.fileno()], POLL
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):
            watched, pause = [*watched, os.pidfd_open(program.pid)], 60.0
    while program.poll() is None:
        if sys.stdin.fileno() in select.select(watched, [], [], pause)[0]:
            return False
    return True


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.stdin.buffer.readline()))))
