"""Names of workers: by them a study records who evaluates which trial."""

from __future__ import annotations

__all__ = ["worker_name"]

import os
import platform

from outcrop.study.storage.base import MAX_NAME, checked_text

LONGEST_HOST = 100  # characters


def worker_name(given: str | None) -> str:
    """The name that was given, or one that no other worker has: machine, process and four digits.

    >>> worker_name("gpu-3")
    'gpu-3'
    """
    if given is not None:
        return checked_text(given, "name of a worker", MAX_NAME)
    host = platform.node()[:LONGEST_HOST] or "worker"
    return f"{host}-{os.getpid()}-{os.urandom(2).hex()}"
