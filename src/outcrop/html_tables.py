"""Small HTML tables, for objects that a notebook shows.

All text is escaped, unless it is `Html` that this module made. Nothing is loaded from elsewhere,
and no colour is set: text has that of the notebook's theme, lines are a grey that light and dark
ones show.
"""

from __future__ import annotations

__all__ = ["Html", "bar", "facts", "folded", "page", "short", "table"]

from collections.abc import Iterable, Mapping, Sequence
from html import escape

LONGEST = 80  # characters of a text in a cell

PAGE = "overflow-x: auto; max-width: 100%"
LINE = "1px solid rgba(128, 128, 128, 0.35)"
TABLE = "border-collapse: collapse; border: none; margin: 0.2em 0 0.5em 0; font-size: 90%"
ROW = "background: none; border: none"
CELL = f"padding: 0.15em 1.2em 0.15em 0; border: none; border-bottom: {LINE}; vertical-align: top"
NAME = "font-weight: 600; white-space: nowrap"


class Html(str):
    """Markup, which is not escaped again."""


def page(title: str, *parts: str) -> Html:
    """A title in bold above parts, which are lines of text or tables."""
    lines = [part if isinstance(part, Html) else f"<div>{escape(part)}</div>" for part in parts]
    return Html(f'<div style="{PAGE}"><div><b>{escape(title)}</b></div>{"".join(lines)}</div>')


def facts(items: Mapping[str, object]) -> Html:
    """A table with a name and a value in each row.

    >>> "&lt;b&gt;" in facts({"act": "<b>"})
    True
    """
    rows = ((_th(name, row=True), _td(value, left=True)) for name, value in items.items())
    return _table(_tr(row) for row in rows)


def table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> Html:
    """A table with names above its columns; numbers are at the right of their cells."""
    cells = [list(row) for row in rows]
    numeric = [all(_is_number(row[i]) for row in cells if row[i] != "") for i in range(len(names))]
    head = _tr(_th(name, right=right) for name, right in zip(names, numeric, strict=True))
    body = (
        _tr(_td(value, left=not right) for value, right in zip(row, numeric, strict=True))
        for row in cells
    )
    return _table([head, *body])


def folded(title: str, part: Html) -> Html:
    """A part that is seen once its title is clicked."""
    return Html(f"<details><summary>{escape(title)}</summary>{part}</details>")


def bar(done: float, total: float) -> Html:
    """A bar that is filled up to `done` of `total`."""
    return Html(f'<progress value="{done:g}" max="{total:g}" style="width: 20em"></progress>')


def short(value: object) -> str:
    """A value as a text for a cell.

    >>> short(1 / 3), short(2.0), short(True), short("a" * 99)[-2:]
    ('0.333333', '2', 'True', 'a…')
    """
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _cell(value: object) -> str:
    return value if isinstance(value, Html) else escape(short(value))


def _th(name: str, *, row: bool = False, right: bool = False) -> str:
    scope = "row" if row else "col"
    align = "right" if right else "left"
    style = f"{CELL}; {NAME}; text-align: {align}"
    return f'<th scope="{scope}" style="{style}">{_cell(name)}</th>'


def _td(value: object, *, left: bool) -> str:
    return f'<td style="{CELL}; text-align: {"left" if left else "right"}">{_cell(value)}</td>'


def _tr(cells: Iterable[str]) -> str:
    return f'<tr style="{ROW}">{"".join(cells)}</tr>'


def _table(rows: Iterable[str]) -> Html:
    return Html(f'<table style="{TABLE}"><tbody>{"".join(rows)}</tbody></table>')


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
