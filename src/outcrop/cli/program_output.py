"""The objective's value in the output of a program.

`last-line`: the last line that is not blank must be a number, alone or after a label that ends in
`:` or `=` and contains no other number: `0.31`, `loss: 0.31`, `L2 error = 3.1D-02`. A progress line
such as `step 200: 0.31` is refused, since the program may have ended early.

`json`: the whole output, or else the last JSON object that begins a line; a field's name may have
dots for objects inside objects. `file`: either of the two, from a file in the trial's folder.
"""

from __future__ import annotations

__all__ = ["NoValue", "ValueSource", "last_lines", "one_line", "read_value"]

import errno
import json
import math
import os
import re
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from outcrop.cli.placeholders import fill
from outcrop.cli.process import TimedOut
from outcrop.space.plain import listed, nearest

TAIL = 2**16  # bytes at the end that are searched for the last line
JSON_TAIL = 2**24  # bytes at the end that are searched for an object
LONGEST = 300  # characters of quoted output
NONBLOCKING = getattr(os, "O_NONBLOCK", 0)

REPEATS = 8  # how often all characters together may be decoded in vain

# Possessive quantifiers (`++`) never go back, so that time grows with the length only.
DIGITS = r"[-+]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eEdD][-+]?\d++)?+"  # D as Fortran writes it
NUMBER = re.compile(rf"{DIGITS}|[-+]?(?:nan|infinity|inf)", re.ASCII | re.IGNORECASE)
LABEL_END = re.compile(r".*[:=]\s*+", re.ASCII | re.DOTALL)
IN_LABEL = re.compile(rf"(?<![\w.+-]){DIGITS}(?![\w.])", re.ASCII)
BRACES = re.compile(r'"(?:[^"\\\n]|\\[^\n])*+"?|[{}]')  # strings, in which braces do not count


class NoValue(Exception):
    """The output has no finite value; the message says why."""


@dataclass(frozen=True)
class ValueSource:
    """Where a program writes its value."""

    field: str | None = None  # of a JSON object, with dots; None for the number in the last line
    path: str | None = None  # relative to the trial's folder; None for standard output


def read_value(
    objective: ValueSource, folder: Path, values: Mapping[str, str], deadline: float = math.inf
) -> float:
    """The finite number that a program wrote, or `NoValue`; its standard output is in `folder`.

    The time it takes grows with the size of the output only. `TimedOut` if it takes longer than
    until `deadline`, in seconds of the monotonic clock.
    """
    file, where = folder / "stdout", "stdout"
    if objective.path is not None:
        name = fill(objective.path, values)
        assert name is not None  # a path has no conditional parameter
        file, where = _inside(folder, name), f"the file {name}"
    try:
        if objective.field is None:
            value = _last_number(_tail(file, TAIL), where)
        else:
            value = _field(_tail(file, JSON_TAIL), objective.field, where, deadline)
    except FileNotFoundError:
        raise NoValue(f"the program wrote no file {file.name!r} in its folder") from None
    except OSError as error:
        raise NoValue(f"{where} cannot be read: {error.strerror}") from None
    if not math.isfinite(value):
        raise NoValue(f"the value in {where} is {value}, not a finite number")
    return value


def last_lines(file: Path, count: int) -> str:
    """The last lines of a file joined to one; empty if the file is empty or missing."""
    if not file.exists():
        return ""
    lines = [line.strip() for line in _tail(file, TAIL).splitlines()]
    return one_line(" / ".join([line for line in lines if line][-count:]))


def one_line(text: str) -> str:
    """Text without line breaks and control characters, cut at its start if it is long."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= LONGEST else f"…{text[-LONGEST:]}"


def _tail(file: Path, size: int) -> str:
    """The last `size` bytes of a file, from the beginning of a line."""
    with open(os.open(file, os.O_RDONLY | NONBLOCKING), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):  # a pipe would be waited for
            raise OSError(errno.EINVAL, "it is not a regular file")
        end = stream.seek(0, 2)
        stream.seek(max(0, end - size))
        content = stream.read(size)
    if end > size:
        content = content.partition(b"\n")[2] or content
    return content.decode(errors="replace")


def _last_number(text: str, where: str) -> float:
    lines = [line for line in re.split(r"[\r\n]+", text) if line.strip()]
    if not lines:
        raise NoValue(f"{where} is empty, expected a number in its last line")
    line = lines[-1].strip()
    label = LABEL_END.match(line)
    number = line[label.end() :] if label else line
    if not NUMBER.fullmatch(number) or (label and IN_LABEL.search(label[0])):
        raise NoValue(
            f"the last line of {where} is {one_line(line)!r}, expected one number, alone or after "
            "':' or '='"
        )
    return float(number.lower().replace("d", "e"))


def _field(text: str, field: str, where: str, deadline: float) -> float:
    value = _last_object(text, deadline)
    if value is None:
        raise NoValue(f"no JSON object in {where}, expected one with the field {field!r}")
    keys = [field] if isinstance(value, dict) and field in value else field.split(".")
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            there = (
                f"it has {listed([*value])}" if isinstance(value, dict) else "it is not an object"
            )
            near = nearest(key, value) if isinstance(value, dict) else ""
            raise NoValue(
                one_line(f"the JSON in {where} has no field {field!r}: at {key!r} {there}{near}")
            )
        value = value[key]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NoValue(one_line(f"the field {field!r} in {where} is {value!r}, expected a number"))
    try:
        return float(value)
    except OverflowError:
        raise NoValue(f"the field {field!r} in {where} is larger than 1.8e308") from None


def _last_object(text: str, deadline: float) -> object:
    """The whole text as JSON, or else the last object that begins a line, or None."""
    decoder, done, found = json.JSONDecoder(), 0, None
    left = REPEATS * len(text)
    try:
        return decoder.decode(text)
    except (ValueError, RecursionError):
        pass
    for start, end in _braced(text):
        if start < done:  # inside the object before
            continue
        if time.monotonic() > deadline:
            raise TimedOut
        try:
            found, done = decoder.decode(text[start:end]), end
        except (ValueError, RecursionError):
            left -= end - start
            if left < 0:
                raise NoValue("too many blocks in braces that are not JSON") from None
    return found


def _braced(text: str) -> list[tuple[int, int]]:
    """Where a brace begins a line and where the brace that closes it ends, by their starts.

    A string of JSON ends in its line. Every object that begins a line is therefore among these,
    whatever stands before it.
    """
    lines = {start.end() for start in re.finditer(r"^[ \t]*+(?=\{)", text, re.MULTILINE)}
    opened: list[int] = []
    closed = []
    for match in BRACES.finditer(text):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            start = opened.pop()
            if start in lines:
                closed.append((start, match.end()))
    return sorted(closed)


def _inside(folder: Path, name: str) -> Path:
    """A file in `folder`; `NoValue` if the values of a trial lead out of it."""
    file = (folder / name).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise NoValue(
            f"the path of the result became {one_line(name)!r}, which is outside the trial's folder"
        )
    return file
