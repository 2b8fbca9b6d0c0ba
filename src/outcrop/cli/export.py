"""Trials as CSV or JSON."""

from __future__ import annotations

__all__ = ["to_csv", "to_json"]

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields

from outcrop.records import write
from outcrop.study import Study, Trial
from outcrop.study.cell_texts import escaped, text_of
from outcrop.study.data_frames import column_of, columns_of


def to_csv(study: Study, *, escape_formulas: bool = False) -> str:
    """One line for each trial; numbers have all their digits, and `outcrop add` reads it back.

    A spreadsheet takes text that begins with =, + or the like for a formula, and may run it. With
    `escape_formulas` such text gets a leading apostrophe; numbers stay as they are.
    """
    columns = columns_of(study.trials, study.space)
    for name, parameter in study.space.parameters.items():
        column = column_of(name)
        columns[column] = [text_of(parameter, cell) for cell in columns[column]]
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    if escape_formulas:
        rows = [[escaped(cell) for cell in row] for row in rows]
    return "".join(map(_line, rows))


def to_json(study: Study) -> str:
    """All fields of every trial, and the study's space and options."""
    names = [each.name for each in fields(Trial) if each.name != "corrections"]
    return json.dumps(
        {
            "study": study.name,
            "direction": study.direction,
            "method": study.method,
            "seed": study.seed,
            "space": study.space.to_json(),
            "trials": [
                {name: write(getattr(trial, name), name) for name in names}
                | {"corrections": [write(asdict(each)) for each in trial.corrections]}
                for trial in study.trials
            ],
        },
        indent=1,
        ensure_ascii=False,
    )


def _line(cells: Sequence[object]) -> str:
    """A line of a table; cells that contain a line break of any kind are quoted."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n") + "\n"
