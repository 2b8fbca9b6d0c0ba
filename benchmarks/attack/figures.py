"""The figures of the attacks as a table."""

from __future__ import annotations

__all__ = ["DOCUMENT", "figures", "write_figures"]

import re
from collections.abc import Mapping
from typing import Any

from benchmarks.environment import ROOT
from benchmarks.reporting import table, verdict

DOCUMENT = ROOT / "docs" / "reliability.md"

Row = tuple[str, Any, int | None]  # what, how many, and how many there may be


def figures(parts: Mapping[str, Any]) -> str:
    """A table of all parts that were run.

    >>> print(figures({}))
    | attack | measured | at most |   |
    | ------ | -------- | ------- | - |
    """
    rows = [row for part, make in ROWS.items() if part in parts for row in make(parts[part])]
    return table(
        ["attack", "measured", "at most", ""],
        [
            [what, _shown(count), "" if most is None else str(most), _verdict(count, most)]
            for what, count, most in rows
        ],
    )


def write_figures(parts: Mapping[str, Any]) -> None:
    """Replace the table of the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    new = figures(parts) + "\n"
    replaced = re.sub(r"(?:^\|.*\n)+", lambda _: new, text, count=1, flags=re.MULTILINE)
    DOCUMENT.write_text(replaced, encoding="utf-8")


def _verdict(count: Any, most: int | None) -> str:
    return "" if most is None else verdict(count <= most)


def _kills(result: Mapping[str, Any]) -> list[Row]:
    stall = result["stall_seconds"]
    return [
        ("**kills**: processes killed", result["kills"], None),
        ("results acknowledged", result["acknowledged"], None),
        ("acknowledged results lost", result["lost"], 0),
        ("trials handed out again", result["asked_again"], None),
        ("suggestions that replay does not repeat", int(not result["identical"]), 0),
        ("seconds until another process has its next trial, median", stall["median"], None),
        ("the same, longest", stall["longest"], None),
    ]


def _hostile(result: Mapping[str, Any]) -> list[Row]:
    kinds = result["problem_kinds"]
    return [
        ("**hostile**: objectives", len(result["objectives"]), None),
        ("runs in workers, in process and as programs", _cases(result), None),
        ("runs that did not end", kinds.get("hang", 0), 0),
        ("processes left after 5 s", kinds.get("orphan", 0), 0),
        ("wrong values and unclear reasons", kinds.get("outcome", 0), 0),
    ]


def _mutations(result: Mapping[str, Any]) -> list[Row]:
    kinds = dict(result["problem_kinds"])
    return [
        ("**mutations**: damaged specs, spaces, methods and logs", _cases(result), None),
        ("accepted", result["accepted"], None),
        *_problems(kinds),
        ("passwords shown", kinds.pop("password", 0), 0),
        ("other problems", sum(kinds.values()), 0),
    ]


def _fuzz(result: Mapping[str, Any]) -> list[Row]:
    kinds = dict(result["problem_kinds"])
    return [
        ("**fuzz**: cases", _cases(result), None),
        ("calls", result["calls"], None),
        ("suggestions", result["suggestions"], None),
        ("suggestions outside their space", kinds.pop("outside", 0), 0),
        *_problems(kinds),
        ("other problems", sum(kinds.values()), 0),
        ("longest call, processor seconds", result["longest_call_seconds"], None),
    ]


def _cases(result: Mapping[str, Any]) -> str:
    """How many cases were run, and of how many if some are left."""
    cases, planned = result["cases"], result["planned"]
    return f"{cases:,}" if cases == planned else f"{cases:,} of {planned:,}"


def _problems(kinds: dict[str, int]) -> list[Row]:
    return [
        ("exceptions that are not ours", kinds.pop("foreign", 0), 0),
        ("warnings", kinds.pop("warning", 0), 0),
        ("hangs", kinds.pop("hang", 0), 0),
    ]


ROWS = {"kills": _kills, "hostile": _hostile, "mutations": _mutations, "fuzz": _fuzz}


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.2f}" if isinstance(value, float) else f"{value:,}"
