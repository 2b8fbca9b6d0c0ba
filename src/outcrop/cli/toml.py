"""Tables of a TOML file with their position, so that every error names file, key and value.

A spec is read through `Table`: each getter checks one type, and an error is one line such as
`spec.toml: parameters.nu.low is "1", expected a number; write low = 1.0`.
"""

from __future__ import annotations

__all__ = ["SpecError", "Table", "load", "shown"]

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outcrop.errors import OutcropError
from outcrop.space.plain import listed, nearest
from outcrop.study.storage.url_masking import masked_in, masked_url

LONGEST = 80  # characters of a value in a message

KINDS: dict[str, tuple[type, ...]] = {
    "a string": (str,),
    "a number": (int, float),
    "true or false": (bool,),
    "a list": (list,),
    "a table": (dict,),
    "a value": (str, int, float, bool, list),
}


class SpecError(OutcropError, ValueError):
    """A spec file that cannot be read, or whose values cannot be used."""


def shown(value: object) -> str:
    """A value on one line, approximately as TOML writes it."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


@dataclass(frozen=True)
class Table:
    """One table of a file."""

    file: str  # as the user wrote it
    path: tuple[str | int, ...]  # keys from the top of the file
    items: Mapping[str, object]
    top: tuple[str, ...]  # keys that belong to the top of the file

    def error(self, what: str, *keys: str | int) -> SpecError:
        """The error for this table, or for what is below it at `keys`."""
        place = self._place(*keys)
        return SpecError(masked_in(f"{self.file}: {place}{' ' if place else ''}{what}"))

    def only(self, known: Sequence[str], whose: str) -> None:
        """Refuse keys that are not `known`."""
        for key in self.items:
            if key not in known:
                hint = self.misplaced(key) or nearest(key, known)
                raise self.error(
                    f"is an unknown key{hint or f'; {whose} takes {listed(known)}'}", key
                )

    def misplaced(self, key: str) -> str:
        """A hint for a top-level key that was written below the header of this table."""
        if not self.path or key not in self.top:
            return ""
        return "; it is a top-level key: move it above the first [table]"

    def get(self, key: str, kind: str, example: str, default: Any = None) -> Any:
        """The value of a key, or `default` if it is missing; `example` is shown in errors."""
        if key not in self.items:
            return default
        self.check(self.items[key], kind, example, key)
        return self.items[key]

    def need(self, key: str, kind: str, example: str) -> Any:
        """The value of a required key."""
        if key not in self.items:
            raise self.error(f"is missing; write {example}", key)
        return self.get(key, kind, example)

    def check(self, value: object, kind: str, example: str, *keys: str | int) -> None:
        """Refuse a value below this table that is not of the given kind."""
        types = KINDS[kind]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise self.error(f"is {shown(value)}, expected {kind}; write {example}", *keys)

    def table(self, key: str) -> Table:
        """The table of a key; an empty one if it is missing."""
        items = self.get(key, "a table", f"[{self._place(key)}] above its keys", {})
        return Table(self.file, (*self.path, key), items, self.top)

    def tables(self, key: str) -> list[Table]:
        """The tables with the header `[[key]]`; none if it is missing."""
        head = f"[[{self._place(key)}]] above its keys"
        items = self.get(key, "a list", head, [])
        for index, item in enumerate(items):
            self.check(item, "a table", head, key, index)
        return [
            Table(self.file, (*self.path, key, index), item, self.top)
            for index, item in enumerate(items)
        ]

    def _place(self, *keys: str | int) -> str:
        place = ""
        for key in (*self.path, *keys):
            place += f"[{key}]" if isinstance(key, int) else f"{'.' * bool(place)}{_quoted(key)}"
        return place


def load(path: Path, keys: Sequence[str]) -> Table:
    """The top-level table of a TOML file; `SpecError` if the file is missing or not TOML."""
    file = str(path)
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        there = sorted(each.name for each in path.parent.glob("*.toml"))
        near = nearest(path.name, there) or (f"; its folder has {listed(there)}" if there else "")
        raise SpecError(f"{file} was not found{near or '; give the path of a spec file'}") from None
    except IsADirectoryError:
        raise SpecError(f"{file} is a folder; give the path of a spec file in it") from None
    except OSError as error:
        raise SpecError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SpecError(
            f"{file} is not UTF-8 text (byte {error.start}); save it with that encoding"
        ) from None
    try:
        return Table(file, (), tomllib.loads(text), tuple(keys))
    except RecursionError:
        raise SpecError(f"{file} is nested too deeply to be a spec") from None
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file} is not valid TOML: {error}{_line_of(error, text)}") from None


def _quoted(key: str) -> str:
    """A key as TOML writes it, with quotes where it needs them."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _line_of(error: tomllib.TOMLDecodeError, text: str) -> str:
    """The line of the file that an error message names."""
    place = re.search(r"line (\d+)", str(error))
    lines = text.splitlines()
    if place is None or int(place[1]) > len(lines):
        return ""
    line = re.sub(r"\S+:.*", lambda url: masked_url(url[0]), lines[int(place[1]) - 1].strip())
    return f": {shown(masked_in(line))}"
