"""Trials as CSV or JSON."""

from __future__ import annotations

__all__ = ["to_csv", "to_json"]

import csv
import io
import json
from dataclasses import fields

from outcrop.records import write
from outcrop.study import Study, Trial
from outcrop.study.data_frames import AFTER, BEFORE, column_of, places_told


def to_csv(study: Study) -> str:
    """One line for each trial; numbers have all their digits."""
    names = list(study.space.parameters)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    trials = study.trials
    places = places_told(trials, study.space)
    table.writerow([*BEFORE, *map(column_of, names), *places, *AFTER])
    for row, trial in enumerate(trials):
        told = [cells[row] for cells in places.values()]
        given = map(trial.params.get, names)
        table.writerow([*_fields(trial, BEFORE), *given, *told, *_fields(trial, AFTER)])
    return text.getvalue()


def to_json(study: Study) -> str:
    """All fields of every trial, and the study's space and options."""
    names = [each.name for each in fields(Trial)]
    return json.dumps(
        {
            "study": study.name,
            "direction": study.direction,
            "method": study.method,
            "seed": study.seed,
            "space": study.space.to_json(),
            "trials": [
                {name: write(getattr(trial, name), name) for name in names}
                for trial in study.trials
            ],
        },
        indent=1,
        ensure_ascii=False,
    )


def _fields(trial: Trial, names: tuple[str, ...]) -> list[object]:
    return [getattr(trial, name) for name in names]
