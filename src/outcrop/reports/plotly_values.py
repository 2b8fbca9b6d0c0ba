"""Values for Plotly: numbers of few digits, and text that it does not take for markup.

Plotly reads `<b>`, `<a href=…>` and entities in its labels. Escaped text is shown as it is.
"""

from __future__ import annotations

__all__ = ["Figure", "label", "number", "numbers"]

from collections.abc import Iterable
from html import escape
from math import isfinite
from typing import Any, TypeAlias

Figure: TypeAlias = dict[str, Any]  # with "data" and "layout"

LONGEST = 40  # characters of a label


def label(value: object, longest: int = LONGEST) -> str:
    """A text on one line, shortened and escaped.

    >>> label("<b>"), label("a" * 50, 5)
    ('&lt;b&gt;', 'aaaa…')
    """
    text = " ".join(str(value).split())
    return escape(text if len(text) <= longest else text[: longest - 1] + "…", quote=False)


def number(value: float | None) -> float | None:
    """A number with six digits; None if there is none or it is infinite."""
    return None if value is None or not isfinite(value) else float(f"{value:.6g}")


def numbers(values: Iterable[float]) -> list[float | None]:
    return [number(float(value)) for value in values]
