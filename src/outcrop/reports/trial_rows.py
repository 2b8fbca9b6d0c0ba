"""The table of trials as rows of plain values, which the page sorts and filters."""

from __future__ import annotations

__all__ = ["Columns", "trial_rows"]

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from outcrop.reports.plotly_values import number
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial

LONGEST = 300  # characters of a cell

Cell: TypeAlias = float | str | None  # None is an empty one


@dataclass(frozen=True)
class Columns:
    """The columns of a table: all parameters that trials have, and what is known of any trial."""

    params: tuple[str, ...]
    known: tuple[str, ...]

    @classmethod
    def of(cls, trials: Sequence[Trial]) -> Columns:
        params = dict.fromkeys(name for trial in trials for name in trial.params)
        known = (name for name, get in KNOWN.items() if any(get(trial) for trial in trials))
        return cls(tuple(params), tuple(known))

    @property
    def titles(self) -> list[str]:
        return ["trial", "state", "value", *map(_text, self.params), *self.known]

    def row(self, trial: Trial) -> list[Cell]:
        """The cells of a trial."""
        return [
            trial.number,
            trial.state,
            number(trial.value),
            *(_cell(trial.params.get(name)) for name in self.params),
            *(_cell(KNOWN[name](trial)) for name in self.known),
        ]


def trial_rows(study: StudyReader) -> dict[str, Any]:
    """The names of the columns, and a list of cells for each trial."""
    trials = study.trials
    columns = Columns.of(trials)
    return {"columns": columns.titles, "rows": [columns.row(trial) for trial in trials]}


def _seconds(trial: Trial) -> float | None:
    if trial.started is None or trial.finished is None:
        return None
    return trial.finished - trial.started


KNOWN: dict[str, Callable[[Trial], object]] = {
    "std": lambda trial: trial.std,
    "seconds": _seconds,
    "worker": lambda trial: trial.worker,
    "reason": lambda trial: trial.reason or trial.aside,
}


def _cell(value: object) -> Cell:
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(float(value)) if isinstance(value, float) else value
    return _text(value)


def _text(value: object) -> str:
    text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
