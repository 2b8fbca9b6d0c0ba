"""Signs that an evaluation failed by a mistake in the program, not by its parameters.

A mistake is certain if the objective returned something that is no number, or raised an
`ObjectiveError` to say that it is broken. It is likely if Python raised an exception such as
`KeyError` in the first frames of the user's code: frames of the standard library, of installed
packages and of Outcrop are not the user's. An exception of the user's own `raise` statement is
deliberate, so that it is no mistake.
"""

from __future__ import annotations

__all__ = ["Mistake", "frames_of_user", "mistake_of", "place_of", "wrong_value_text"]

import dis
import os
import reprlib
import sysconfig
from collections.abc import Coroutine, Generator, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

import numpy as np

from outcrop.errors import ObjectiveError

Mistake: TypeAlias = Literal["", "likely", "certain"]

# Python raises these where names, attributes, keys or signatures do not match.
OF_THE_PROGRAM = (AttributeError, ImportError, KeyError, NameError, SyntaxError, TypeError)
FIRST_FRAMES = 3  # the objective, a function that it calls, and a wrapper such as a lambda
INSTALLED = ("site-packages", "dist-packages")
STANDARD = tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "platstdlib"))
OURS = f"{Path(__file__).parents[2]}{os.sep}"

SHORT = reprlib.Repr()
SHORT.maxother = SHORT.maxstring = 60


def mistake_of(error: BaseException) -> Mistake:
    """Whether an exception that the objective raised shows a mistake in the program."""
    if isinstance(error, ObjectiveError):
        return "certain"
    if not isinstance(error, OF_THE_PROGRAM):
        return ""
    frames = frames_of_user(error)
    if not frames:
        return "likely"  # the call itself failed, as with a wrong number of arguments
    is_near = len(frames) <= FIRST_FRAMES and not any(_is_foreign(f, frames[0]) for f in frames)
    if isinstance(error, ImportError) and _is_foreign(frames[-1], frames[0]):
        return "likely"  # something is not installed, however deep it is needed
    return "likely" if is_near and not _is_deliberate(frames[-1]) else ""


def place_of(error: BaseException) -> str:
    """The type of an exception and where the user's code raised it, as `KeyError in train.py:14`.

    The path is the whole one. Where no code of the user was called, it is the type alone.
    """
    kind = type(error).__name__
    frames = frames_of_user(error)
    own = [frame for frame in frames if not _is_foreign(frame, frames[0])]
    return f"{kind} in {_file(own[-1])}:{own[-1].tb_lineno}" if own else kind


def wrong_value_text(returned: object) -> str:
    """What an objective returned that is no number, and what its author may have meant.

    >>> wrong_value_text(None)
    'the objective returned None, expected a number: does it end without `return`?'
    """
    return f"the objective returned {SHORT.repr(returned)}, expected {_expected(returned)}"


def _expected(returned: object) -> str:
    for kinds, text in REMEDIES:
        if isinstance(returned, kinds):
            return text
    shape = (len(returned),) if isinstance(returned, tuple | list) else _shape(returned)
    if shape is None:
        return "a number"
    if any(size != 1 for size in shape):
        return SEVERAL
    element = "value.item()" if hasattr(returned, "item") else "its element"
    return f"one number: return {element}"


SEVERAL = "one number: several objectives are not supported; return one, or their weighted sum"
REMEDIES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), "a number: does it end without `return`?"),
    ((str, bytes), "a number: return float(…), or raise an exception if the evaluation failed"),
    ((bool, np.bool_), "a number: write float(…) to use it as one"),
    (Mapping, "a number: return one of its values, as in result['loss']"),
    (Coroutine, "a number: it is an `async def`; pass lambda p: asyncio.run(objective(p))"),
    (Generator, "a number: it has a `yield`; use `return`"),
)


def _shape(returned: object) -> tuple[int, ...] | None:
    """The shape of an array of any library."""
    try:
        return tuple(map(int, returned.shape))  # type: ignore[attr-defined]
    except Exception:  # it is an object of the user
        return None


# Frames, as entries of a traceback


def frames_of_user(error: BaseException) -> list[TracebackType]:
    """The entries of the traceback from the user's first frame to the last one.

    The `__getattr__` of a module such as NumPy is taken for the frame that called it.
    """
    entries = []
    entry = error.__traceback__
    while entry is not None:
        entries.append(entry)
        entry = entry.tb_next
    while entries and _is_lookup(entries[-1]):
        entries.pop()
    while entries and _file(entries[0]).startswith(OURS):
        entries.pop(0)
    return entries


def _is_lookup(entry: TracebackType) -> bool:
    """Whether a frame only looks up a name or a parameter for the frame that called it."""
    is_attribute = entry.tb_frame.f_code.co_name == "__getattr__" and _is_library(_file(entry))
    return is_attribute or _file(entry).startswith(OURS)


def _file(entry: TracebackType) -> str:
    return entry.tb_frame.f_code.co_filename


def _is_foreign(entry: TracebackType, first: TracebackType) -> bool:
    """Whether a frame is of a library; the first one never is, since the user passed it."""
    return _file(entry) != _file(first) and _is_library(_file(entry))


@cache
def _is_library(file: str) -> bool:
    if file.startswith(("<frozen ", OURS)) or any(name in Path(file).parts for name in INSTALLED):
        return True
    return file.startswith(STANDARD)


def _is_deliberate(entry: TracebackType) -> bool:
    """Whether the frame's own `raise` statement raised the exception."""
    return dis.opname[entry.tb_frame.f_code.co_code[entry.tb_lasti]] == "RAISE_VARARGS"
