"""Random damage to text and to JSON data."""

from __future__ import annotations

__all__ = ["damaged", "damaged_json", "damaged_text"]

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from benchmarks.attack.strange import JSON

TOKENS = [
    *("nan", "inf", "-inf", "1e400", "9" * 400, "-0.0", "true", '""', "''", "[]", "{}", "[[]]"),
    *("{", "}", "{{", "{x", '"', "'", '"""', "#", "=", ",", "\n", "\t", "\0", "\x1b[31m", "é"),
    *("1979-05-27", "07:32:00", "0x1F", "1_000", "\\u0000", "[parameters]", "[[parameters]]"),
    *("../", "/", "@", ":", "%", "?", "abc", "{here}", "{folder}", "{nu}", "sqlite://", "NaN"),
    *("null", '"class"', '"version"', "2", "-1", "[" * 3000, "{a=" * 3000, "(" * 300),
]


def damaged(data: Any, chance: Random) -> Any:
    """JSON data with damage, or text with damage."""
    if chance.random() < 0.3:
        return damaged_text(json.dumps(data), chance)
    for _ in range(chance.choice([1, 1, 2, 3])):
        data = damaged_json(data, chance)
    return data


def damaged_text(text: str, chance: Random) -> str:
    start = chance.randrange(len(text) + 1)
    stop = min(len(text), start + chance.randint(1, 20))
    lines = text.split("\n")
    match chance.randrange(9):
        case 0:
            return text[:start] + text[stop:]
        case 1:
            return text[:start] + text[start:stop] + text[start:]
        case 2:
            return text[:start]
        case 3:
            return (
                text[:start] + chr(chance.choice([0, 7, 34, 39, 91, 93, 123, 0xE9])) + text[stop:]
            )
        case 4:
            del lines[chance.randrange(len(lines))]
            return "\n".join(lines)
        case 5:
            chance.shuffle(lines)
            return "\n".join(lines)
        case 6:  # a value of a line
            place = chance.randrange(len(lines))
            key, equals, _ = lines[place].partition("=")
            if equals:
                lines[place] = f"{key}= {chance.choice(TOKENS)}"
            return "\n".join(lines)
        case _:
            return text[:start] + chance.choice(TOKENS) + text[start:]


def damaged_json(data: Any, chance: Random) -> Any:
    """The data with one part replaced, removed, added or moved."""
    data = json.loads(json.dumps(data))
    places = list(_places(data))
    if not places or chance.random() < 0.02:
        return chance.choice(JSON)
    holder, key = chance.choice(places)
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1:
            other, name = chance.choice(places)
            holder[key] = json.loads(json.dumps(other[name]))
        case 2 if isinstance(holder, dict):
            holder[chance.choice(["new", "", "class", "version", "custom"])] = chance.choice(JSON)
        case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] = chance.choice([-holder[key], holder[key] * 10**9, holder[key] + 1, 0.5])
        case _:
            holder[key] = chance.choice(JSON)
    return data


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every holder and key of JSON data."""
    if not isinstance(data, dict | list):
        return
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield data, key
        yield from _places(value)
