"""The end of forked copies of a process where they would come back from the user's code.

Code of the user, such as an objective, may fork. Its child has a copy of the run: if it returned,
it would tell results, give trials back and write to connections in the name of its parent.
"""

from __future__ import annotations

__all__ = ["without_copies"]

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress

STDERR = 2


@contextmanager
def without_copies() -> Iterator[None]:
    """Only the process that enters this block leaves it: a copy ends there, and at once.

    Its exit code is what it would have been, and its error is shown; nothing else happens.
    """
    process = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() != process:
            _end(error)
        raise
    if os.getpid() != process:
        os._exit(0)


def _end(error: BaseException) -> None:
    code, text = 1, ""
    if isinstance(error, SystemExit):
        if error.code is None or isinstance(error.code, int):
            code = error.code or 0
        else:
            text = f"{error.code}\n"
    else:
        with suppress(Exception):
            text = "".join(traceback.format_exception(error))
    with suppress(OSError):
        os.write(STDERR, text.encode(errors="replace"))  # streams may hold text of the parent
    os._exit(code & 0xFF)
