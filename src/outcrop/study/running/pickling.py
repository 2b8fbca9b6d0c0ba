"""The objective as bytes that a new process can load, or an error that says why not."""

from __future__ import annotations

__all__ = ["main_is_importable", "pack"]

import pickle
import sys
from pathlib import Path

from outcrop.errors import ObjectiveError
from outcrop.study.running.evaluation import described


def pack(objective: object) -> bytes:
    """The pickled objective: by reference if possible, else by value with cloudpickle."""
    try:
        packed = pickle.dumps(objective, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # pickle raises errors of many types
        return _by_value(objective, described(error))
    if b"__main__" in packed and not main_is_importable():
        return _by_value(objective, "it was defined in an interactive session, not in a file")
    return packed


def main_is_importable() -> bool:
    """Whether a new process can import the main module, unlike that of a session or a notebook."""
    main = sys.modules["__main__"]
    if getattr(main, "__spec__", None) is not None:  # python -m
        return True
    file = getattr(main, "__file__", None)
    return file is not None and Path(file).is_file()


def _by_value(objective: object, problem: str) -> bytes:
    refusal = f"the objective cannot be sent to worker processes ({problem})"
    try:
        import cloudpickle
    except ImportError:
        raise ObjectiveError(
            f"{refusal}; define it at the top level of a module, or `pip install cloudpickle`, "
            "or evaluate in this process with n_workers=1 and no trial_timeout"
        ) from None
    try:
        packed: bytes = cloudpickle.dumps(objective)
    except Exception as error:
        raise ObjectiveError(
            f"{refusal}, and cloudpickle cannot do it either ({described(error)}); define it at "
            "the top level of a module and open files, locks or connections inside it"
        ) from None
    return packed
