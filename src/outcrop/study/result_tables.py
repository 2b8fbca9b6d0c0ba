"""Results from the rows of a table: a data frame, or a CSV file.

The columns are those of `data_frames`; others are ignored, unless they seem to be misspelt. A
column `state` decides what a row is. Where it is empty or not there, a row without a value was not
measured and is skipped, and an infinite value is a failure.
"""

from __future__ import annotations

__all__ = ["Table", "is_frame", "results_of", "table_of"]

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from outcrop.errors import ParamsError, TrialError
from outcrop.space import Categorical, Float, Int, Space
from outcrop.space.plain import listed, nearest
from outcrop.study.cell_texts import (
    decimal_mark,
    is_blank,
    number_of_text,
    unescaped,
    value_of_text,
)
from outcrop.study.data_frames import ASIDE, TRIAL_COLUMNS, column_of
from outcrop.study.external_results import ExternalResult, ExternalResults, Skipped, naming
from outcrop.study.trial import TrialState
from outcrop.typing import Params

STATES = get_args(TrialState)
PLACES = ("at", "at_std")  # prefixes of columns for inputs that differed from those asked for
READ = ("value", "std", "state", "reason")  # columns beside parameters; those of trials are known


@dataclass(frozen=True)
class Table:
    """Named columns of cells; the cells of a file are texts, those of a data frame values."""

    columns: Mapping[str, Sequence[object]]
    places: Sequence[str]  # of the rows, for messages
    is_text: bool = False
    semicolons: bool = False  # whether they separate the cells

    def row(self, index: int) -> dict[str, object]:
        """The cells of a row that are not empty, by column."""
        cells = {name: column[index] for name, column in self.columns.items()}
        return {name: cell for name, cell in cells.items() if not self._is_empty(cell)}

    def _is_empty(self, cell: object) -> bool:
        return cell == "" if self.is_text else _is_missing(cell)


def is_frame(given: object) -> bool:
    """Whether something is a table with named columns, such as a pandas DataFrame."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


def table_of(frame: Any) -> Table:
    """The columns of a data frame."""
    names = list(frame.columns)
    if len(set(names)) < len(names):
        raise ParamsError(f"the table has two columns of the same name: {listed(names)}")
    columns = {name: list(frame[name]) for name in names}
    count = len(next(iter(columns.values()), []))
    return Table(columns, [f"result {index}" for index in range(count)])


def results_of(table: Table, space: Space) -> ExternalResults:
    """The results in the rows of a table; the first wrong cell is an error that names it."""
    ignored = _ignored(table, space)
    reader = _Reader(table, space, _decimal(table, space))
    notes = [f"ignored the columns {listed(ignored)}"] if ignored else []
    return ExternalResults.of(reader.results(), notes)


def _ignored(table: Table, space: Space) -> list[str]:
    """Columns that are not used; `ParamsError` for one that seems to be misspelt."""
    names = [column_of(name) for name in space.parameters]
    places = [f"{prefix}.{name}" for prefix in PLACES for name in space.parameters]
    if "value" not in table.columns:
        raise TrialError(f"the table needs a column 'value', got {listed([*table.columns])}")
    known = {*names, *places, *TRIAL_COLUMNS}
    ignored = [column for column in table.columns if column not in known]
    for column in ignored:
        absent = [name for name in (*names, *READ) if name not in table.columns]
        if hint := nearest(column, absent):
            raise ParamsError(
                f"column {column!r} is unknown: expected {listed([*names, *READ])}{hint} "
                "Rename it, or remove it"
            )
        if str(column).startswith(tuple(f"{prefix}." for prefix in PLACES)):
            raise ParamsError(f"column {column!r} is unknown{nearest(column, places)}")
    return ignored


def _decimal(table: Table, space: Space) -> str:
    """The decimal mark of the cells that are texts of numbers."""
    numbers = [name for name, each in space.parameters.items() if isinstance(each, Float | Int)]
    places = [f"{prefix}.{name}" for prefix in PLACES for name in numbers]
    names = ["value", "std", *map(column_of, numbers), *places]
    cells = [cell for name in names for cell in table.columns.get(name, [])]
    texts = [cell for cell in cells if isinstance(cell, str) and not is_blank(cell)]
    return decimal_mark(texts, semicolons=table.semicolons)


@dataclass(frozen=True)
class _Reader:
    """Reads the rows of a table, in which numbers have one decimal mark."""

    table: Table
    space: Space
    decimal: str

    def results(self) -> Iterator[ExternalResult | Skipped]:
        for index, place in enumerate(self.table.places):
            row = self.table.row(index)
            if not row:
                continue
            with naming(place):
                yield self._result(row, place)

    def _result(self, row: dict[str, object], place: str) -> ExternalResult | Skipped:
        state, value = self._state(row), self._number(row, "value")
        if state in ("running", "discarded"):
            return Skipped(state)
        if row.get(ASIDE):
            return Skipped("set aside")  # their parameters are those of another space
        if state is None and value is None:
            return Skipped("without a value")
        params = self._params(row)
        if state == "failed":
            return ExternalResult(place, params, reason=unescaped(str(row.get("reason", ""))))
        if value is None:
            raise TrialError("the state is 'finished', but the column 'value' is empty")
        at, at_std = (self._places(row, prefix) for prefix in PLACES)
        return ExternalResult(place, params, value, self._number(row, "std"), at=at, at_std=at_std)

    def _state(self, row: dict[str, object]) -> str | None:
        state = str(row.get("state", "")).strip().lower()
        if not state:
            return None
        if state not in STATES:
            hint = "; the column of the parameter 'state' is 'params.state'"
            raise TrialError(
                f"the column 'state' is {row['state']!r}, expected {listed(STATES)}"
                f"{hint if 'state' in self.space.parameters else ''}"
            )
        return state

    def _number(self, row: dict[str, object], column: str) -> object:
        """A cell of a column of numbers; None if it is empty."""
        cell = row.get(column)
        if not isinstance(cell, str):
            return cell
        if is_blank(cell):
            return None
        number = number_of_text(cell, self.decimal)
        if number is None:
            raise TrialError(f"a value must be a number, got {cell!r} in the column {column!r}")
        return None if math.isnan(number) else number

    def _places(self, row: dict[str, object], prefix: str) -> Params | None:
        cells = {name: self._number(row, f"{prefix}.{name}") for name in self.space.parameters}
        return {name: cell for name, cell in cells.items() if cell is not None} or None

    def _params(self, row: dict[str, object]) -> Params:
        params: dict[str, object] = {}
        for name, parameter in self.space.parameters.items():
            cell = row.get(column_of(name))
            if isinstance(cell, str):
                cell = self._parsed(name, cell)
            if cell is not None:
                params[name] = cell
            elif isinstance(parameter, Categorical) and None in parameter.choices:
                choice, _, option = name.rpartition(".")[0].rpartition(".")
                if column_of(name) in self.table.columns and (
                    not choice or params.get(choice) == option
                ):
                    params[name] = None
        return params

    def _parsed(self, name: str, text: str) -> object:
        """The value that a text stands for, or None; a wrong text is returned as it is."""
        parameter = self.space.parameters[name]
        if isinstance(parameter, Float | Int):
            number = number_of_text(text, self.decimal)
            return (None if is_blank(text) else text) if number is None else number
        if not self.table.is_text:
            try:
                return parameter.check(text, name)
            except ParamsError:
                pass
        return value_of_text(parameter, text)


def _is_missing(cell: object) -> bool:
    """Whether a cell is None, NaN or pandas' NA."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return type(cell).__name__ == "NAType"  # its comparison has no truth value
