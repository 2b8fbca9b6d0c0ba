"""Whether this program runs in a notebook, where pictures and progress are shown differently."""

from __future__ import annotations

__all__ = ["in_notebook"]

import os
import sys


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook; a process that it forked is not.

    Nothing is imported for it: a kernel has imported IPython.
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    session = getattr(getattr(shell, "kernel", None), "session", None)
    return session is not None and getattr(session, "pid", os.getpid()) == os.getpid()
