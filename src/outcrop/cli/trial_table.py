"""The table of trials on the page of a study, for terminals of any width.

Parameters have a column each if all of them fit beside the remarks. Otherwise they share one
column, of a few lines for each trial.
"""

from __future__ import annotations

__all__ = ["packed", "short_text", "trial_table"]

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from outcrop.cli.terminal_text import printable_line
from outcrop.space import Space
from outcrop.study import Trial

STYLES = {"finished": "", "running": "cyan", "failed": "red", "discarded": "dim"}
BETWEEN = 2  # characters between two columns
LONGEST = 20  # characters of a parameter's value in a column of its own
ROOM = 20  # characters of remarks that must have room beside the columns
REMARK = 160  # characters of remarks, at most
LINES = 3  # of the parameters of a trial that share a column
NARROWEST = 20  # characters of that column


def trial_table(space: Space, trials: Sequence[Trial], width: int) -> Table:
    """The trials of a study, in a table that is not wider than `width` unless it is very narrow."""
    names = [name for name in space.parameters if any(name in trial.params for trial in trials)]
    headings = _headings(names)
    fixed = _fixed_columns(trials)
    remarks = [_remarks(trial) for trial in trials]
    columns = [
        [heading, *(_shortened(_cell(trial.params.get(name)), LONGEST) for trial in trials)]
        for heading, name in zip(headings, names, strict=True)
    ]
    room = min(max(map(cell_len, remarks), default=0), ROOM)
    widths = [max(map(cell_len, column)) for column in [*fixed, *columns]] + [room] * (room > 0)
    if sum(widths) + BETWEEN * (len(widths) - 1) <= width:
        if room:
            columns.append(["remarks", *remarks])
        return _table(trials, fixed, columns, right=len(names))
    left = max(width - sum(widths[: len(fixed)]) - BETWEEN * len(fixed), NARROWEST)
    shared = [
        _in_one_cell(trial, dict(zip(names, headings, strict=True)), left, remark)
        for trial, remark in zip(trials, remarks, strict=True)
    ]
    return _table(trials, fixed, [["parameters", *shared]], right=0)


def short_text(value: object) -> str:
    """A value of a parameter or an objective, short enough for a table."""
    if isinstance(value, bool) or not isinstance(value, float):
        return printable_line(str(value))
    return f"{value:.6g}"


def packed(items: Iterable[str], width: int) -> list[str]:
    """Items on as few lines as possible; only one that is longer than a line is broken.

    >>> packed(["a = 1", "b = 2", "c = 3"], 13)
    ['a = 1, b = 2,', 'c = 3']
    """
    lines = [""]
    for item in items:
        longer = f"{lines[-1]} {item}," if lines[-1] else f"{item},"
        if cell_len(longer) > width and lines[-1]:
            lines.append(f"{item},")
        else:
            lines[-1] = longer
    return [*lines[:-1], lines[-1].removesuffix(",")]


def _fixed_columns(trials: Sequence[Trial]) -> list[list[str]]:
    """Number, state, value and duration, and standard deviations if there are any."""
    columns = [
        ["trial", *(str(trial.number) for trial in trials)],
        ["state", *(trial.state for trial in trials)],
        ["value", *(_cell(trial.value) for trial in trials)],
        ["std", *(_cell(trial.std) for trial in trials)],
        ["seconds", *(_seconds(trial) for trial in trials)],
    ]
    return [column for column in columns if column[0] == "value" or any(column[1:])]


def _table(
    trials: Sequence[Trial], fixed: list[list[str]], columns: list[list[str]], right: int
) -> Table:
    """A table of columns below their headings; the first `right` of `columns` are at the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, *_ in fixed:
        table.add_column(heading, justify="left" if heading == "state" else "right", no_wrap=True)
    for place, (heading, *_) in enumerate(columns):
        own = place < right
        table.add_column(Text(heading), justify="right" if own else "left", no_wrap=own)
    for trial, *cells in zip(trials, *([*column[1:]] for column in fixed + columns), strict=True):
        table.add_row(*map(Text, cells), style=STYLES[trial.state])
    return table


def _in_one_cell(trial: Trial, headings: Mapping[str, str], width: int, remark: str) -> str:
    """The parameters of a trial, as many as fit on a few lines, and the remark below them."""
    items = [
        f"{heading}={_cell(trial.params[name])}"
        for name, heading in headings.items()
        if name in trial.params
    ]
    shown = items
    while len(packed(shown, width)) > LINES and len(shown) > 2:
        shown = [*shown[:-2], f"and {len(items) - len(shown) + 2} more"]
    return "\n".join(filter(None, [*packed(shown, width), remark]))


def _headings(names: Sequence[str]) -> list[str]:
    """Last parts of the names, where these are different, else the whole names."""
    leaves = [name.rpartition(".")[2] for name in names]
    return [
        printable_line(leaf if leaves.count(leaf) == 1 else name)
        for leaf, name in zip(leaves, names, strict=True)
    ]


def _cell(value: object) -> str:
    return "" if value is None else short_text(value)


def _seconds(trial: Trial) -> str:
    if trial.started is None or trial.finished is None:
        return ""
    return f"{trial.finished - trial.started:.1f}"


def _remarks(trial: Trial) -> str:
    """Why it is set aside, or what it was before it was corrected, or why it failed."""
    remark = str(trial.corrections[-1]) if trial.corrections else trial.reason
    if trial.aside:
        remark = f"set aside: {trial.aside}"
    return _shortened(printable_line(remark.partition("\n")[0]), REMARK)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
