"""CSV files as tables: as `outcrop export` and as spreadsheets write them.

The encoding is UTF-8 or UTF-16 with a mark, or else that of Windows. Commas, semicolons or tabs
separate the cells: those that give the most columns a known name.
"""

from __future__ import annotations

__all__ = ["read_table"]

import codecs
import csv
import io
import re
from collections.abc import Collection, Sequence

from outcrop.errors import ParamsError
from outcrop.space import Space
from outcrop.space.plain import listed
from outcrop.study.cell_texts import unescaped
from outcrop.study.data_frames import TRIAL_COLUMNS, column_of
from outcrop.study.result_tables import Table

DELIMITERS = (",", ";", "\t")
DECLARED = re.compile(r"sep=(.)\r?\n")  # the first line of a file for Excel
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read_table(data: bytes, space: Space) -> Table:
    """The table in the bytes of a file.

    >>> from outcrop.space import Float
    >>> table = read_table(b"x;value\\n0,5;1\\n", Space({"x": Float(0, 1)}))
    >>> table.columns, table.places
    ({'x': ['0,5'], 'value': ['1']}, ['row 2'])
    """
    text = _decoded(data)
    declared = DECLARED.match(text)
    if declared:
        text = text[declared.end() :]
    known = {*map(column_of, space.parameters), *TRIAL_COLUMNS}
    delimiters = [declared[1]] if declared else DELIMITERS
    tables = [(_rows(text, delimiter), delimiter) for delimiter in delimiters]
    rows, delimiter = max(tables, key=lambda table: len(known & {*_header(table[0], known)}))
    header = _header(rows, known)
    first = 3 if declared else 2  # as a spreadsheet counts, from 1
    columns = _columns(header, rows[1:], first)
    places = [f"row {first + index}" for index in range(len(rows) - 1)]
    return Table(columns, places, is_text=True, semicolons=delimiter == ";")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-16" if data.startswith(UTF16) else "utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _rows(text: str, delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise ParamsError(f"this is not a CSV file: {error}") from None


def _header(rows: Sequence[Sequence[str]], known: Collection[str]) -> list[str]:
    """The names of the columns, without what a spreadsheet may have put around known ones."""
    return [_cleaned(name, known) for name in rows[0]] if rows else []


def _cleaned(name: str, known: Collection[str]) -> str:
    tries = (name, unescaped(name), name.strip())
    return next((each for each in tries if each in known), unescaped(name.strip()))


def _columns(
    header: Sequence[str], rows: Sequence[Sequence[str]], first: int
) -> dict[str, list[str]]:
    """The cells by name; cells that are missing at the end of a row are empty."""
    for index, row in enumerate(rows):
        if len(row) > len(header) and any(row[len(header) :]):
            raise ParamsError(
                f"row {first + index} has {len(row)} cells, but the first row names "
                f"{len(header)} columns: {listed(header)}"
            )
    columns: dict[str, list[str]] = {}
    for place, name in enumerate(header):
        cells = [row[place] if place < len(row) else "" for row in rows]
        if not name and not any(cells):
            continue  # a column that a spreadsheet left empty
        if name in columns:
            raise ParamsError(f"the table has two columns of the same name: {listed(header)}")
        columns[name] = cells
    return columns
