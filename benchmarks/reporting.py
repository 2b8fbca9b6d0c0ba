"""What every benchmark leaves behind: a table to read and a JSON file with where it came from."""

from __future__ import annotations

__all__ = ["RESULTS", "command", "provenance", "save", "table", "verdict"]

import json
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"


def command() -> str:
    """How this process was called, with the path of the interpreter left out."""
    return " ".join(["python -m benchmarks", *sys.argv[1:]])


def provenance(*packages: str) -> dict[str, Any]:
    """The command and the versions behind a result; nothing about the machine."""
    return {
        "command": command(),
        "versions": {
            "python": python_version(),
            **{name: _version(name) for name in ("outcrop", "numpy", "scipy", *packages)},
        },
    }


def save(name: str, result: dict[str, Any]) -> None:
    """Write `benchmarks/results/NAME.json`."""
    RESULTS.mkdir(exist_ok=True)
    text = json.dumps(result, indent=2, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with its columns aligned."""
    widths = [max(len(row[i]) for row in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return f"| {' | '.join(padded)} |"

    rule = f"| {' | '.join('-' * width for width in widths)} |"
    return "\n".join([line(header), rule, *map(line, rows)])


def verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
