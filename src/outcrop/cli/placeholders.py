"""Placeholders: `{nu}` in an argument, a variable or a path is replaced by the trial's `nu`.

Names are flat, such as `{model.mlp.layers}`, or those of `OFFERED`. A value is inserted literally,
without a shell: text unchanged, floats with all their digits, other values as JSON (`true`,
`[1, 2]`). There are no formats. `{{` and `}}` stand for braces.

>>> fill("--nu={nu} {{x}}", {"nu": written(0.1)})
'--nu=0.1 {x}'
"""

from __future__ import annotations

__all__ = ["OFFERED", "BadBrace", "fill", "names", "written"]

import json
import re
from collections.abc import Mapping

OFFERED = {
    "params": "path of a JSON file with the trial's parameters under their flat names",
    "trial": "number of the trial",
    "folder": "folder of the trial's output",
    "here": "folder of the spec file",
    "python": "the Python that runs outcrop",
}

PATTERN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


class BadBrace(ValueError):
    """A brace that is neither part of a placeholder nor doubled."""


def names(text: str) -> list[str]:
    """The placeholders of a text, in order.

    >>> names("{a}x{model.mlp.layers}{{b}}")
    ['a', 'model.mlp.layers']
    """
    found = []
    for match in PATTERN.finditer(text):
        if match[1] is not None:
            found.append(match[1])
        elif len(match[0]) == 1:
            raise BadBrace(f"has a single {match[0]}; write {match[0] * 2} for a brace")
    return found


def fill(text: str, values: Mapping[str, str]) -> str | None:
    """The text with its placeholders replaced; None if one of them has no value."""
    if not all(name in values for name in names(text)):
        return None
    return PATTERN.sub(lambda m: m[0][0] if m[1] is None else values[m[1]], text)


def written(value: object) -> str:
    """A parameter's value as it is passed to a program."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
