"""The objective on its way to worker processes: as bytes, and probed before the first trial.

The probe is a process that tests whether the objective can be loaded.
"""

from __future__ import annotations

__all__ = ["Context", "main_is_importable", "pack", "probe"]

import logging
import pickle
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from outcrop.errors import ObjectiveError
from outcrop.study.running.evaluation import error_text
from outcrop.study.running.interrupts import Interrupts
from outcrop.study.running.worker_process import PROBE, report_loading

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

Context: TypeAlias = "ForkServerContext | SpawnContext"  # the former exists on POSIX only

logger = logging.getLogger(__name__)

SLOW = 30.0  # seconds between two log messages while the probe is waited for
GUARD = 'put what starts the run under `if __name__ == "__main__":`'


def pack(objective: object) -> bytes:
    """The pickled objective: by reference if possible, else by value with cloudpickle."""
    try:
        packed = pickle.dumps(objective, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # pickle raises errors of many types
        return _by_value(objective, error_text(error))
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
            f"{refusal}, and cloudpickle cannot do it either ({error_text(error)}); define it at "
            "the top level of a module and open files, locks or connections inside it"
        ) from None
    return packed


def probe(
    context: Context, packed: bytes, environment: Mapping[str, str], interrupts: Interrupts
) -> None:
    """Load the objective in a process of this context, or raise `ObjectiveError`."""
    reader, writer = context.Pipe(duplex=False)
    process = context.Process(
        target=report_loading, args=(packed, environment, writer), name=PROBE, daemon=True
    )
    try:
        process.start()
    except (RuntimeError, AssertionError, OSError, EOFError) as error:
        reader.close()
        raise ObjectiveError(
            f"worker processes cannot be started here ({error_text(error).strip()}); if this is a "
            f"script, {GUARD}; else use n_workers=1"
        ) from None
    finally:
        writer.close()
    try:
        with interrupts.allowed():
            report = _report(reader, process)
        process.join(1.0)
    finally:
        process.kill()  # the objective may have started threads
        process.join()
        process.close()
        reader.close()
    if report is None:
        raise ObjectiveError(
            "a new process ended while it imported the program that started this run; a worker "
            f"imports that program to find the objective, so {GUARD}. If it is there already, the "
            "error of the import is shown above"
        )
    kind, message = report
    if kind:
        raise ObjectiveError(f"a worker cannot load the objective ({message}); {_advice(kind)}")


def _report(reader: Connection, process: BaseProcess) -> tuple[str, str] | None:
    """The report of the probe; None if it ended without one."""
    while not wait([reader, process.sentinel], SLOW):
        logger.warning("still waiting for a new process to load the objective")
    try:
        return reader.recv() if reader.poll() else None
    except EOFError:
        return None


def _advice(kind: str) -> str:
    if kind == "AttributeError":
        return (
            "a worker imports the module of the objective, so define it there at the top level, "
            'outside of `if __name__ == "__main__":` and of other functions'
        )
    if kind == "ModuleNotFoundError":
        return "install that module, or put its folder on PYTHONPATH"
    return "what is pickled with it must load in a new process"
