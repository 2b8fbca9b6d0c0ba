"""Trials as CSV or JSON."""

from __future__ import annotations

__all__ = ["to_csv", "to_json"]

import csv
import io
import json
from dataclasses import fields

from outcrop.records import write
from outcrop.study import Study, Trial
from outcrop.study.data_frames import columns_of


def to_csv(study: Study) -> str:
    """One line for each trial; numbers have all their digits."""
    columns = columns_of(study.trials, study.space)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*columns.values(), strict=True))
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
