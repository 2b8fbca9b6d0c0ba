"""The table of trials as rows of plain values, which the page sorts and filters."""

from __future__ import annotations

__all__ = ["trial_rows"]

from typing import Any

from outcrop.reports.plotly_values import number
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial

LONGEST = 300  # characters of a cell


def trial_rows(study: StudyReader) -> dict[str, Any]:
    """The names of the columns, and a list of cells for each trial; None is an empty cell."""
    trials = study.trials
    names = list(dict.fromkeys(name for trial in trials for name in trial.params))
    known = [("std", _std), ("seconds", _seconds), ("worker", _worker), ("reason", _reason)]
    used = [(name, cell) for name, cell in known if any(cell(trial) for trial in trials)]
    rows = [
        [
            trial.number,
            trial.state,
            number(trial.value),
            *(_cell(trial.params.get(name)) for name in names),
            *(_cell(cell(trial)) for _, cell in used),
        ]
        for trial in trials
    ]
    columns = ["trial", "state", "value", *(_text(n) for n in names), *(name for name, _ in used)]
    return {"columns": columns, "rows": rows}


def _std(trial: Trial) -> float | None:
    return trial.std


def _seconds(trial: Trial) -> float | None:
    if trial.started is None or trial.finished is None:
        return None
    return trial.finished - trial.started


def _worker(trial: Trial) -> str:
    return trial.worker


def _reason(trial: Trial) -> str:
    return trial.reason or trial.aside


def _cell(value: object) -> float | str | None:
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(float(value)) if isinstance(value, float) else value
    return _text(value)


def _text(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
