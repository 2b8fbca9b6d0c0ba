"""Trials as the columns of a table, and as a data frame; `result_tables` reads them back.

A row is a trial. A parameter's column has its flat name, prefixed by `params.` if a column of
trials has that name (`value`, `std`, …). Cells of inactive parameters are empty. Inputs that
differed from those asked for have columns `at.…` and `at_std.…`, and former outcomes of corrected
trials a column `corrections`. Parameters that the space does not have any more follow the others,
and a column `aside` says why trials do not fit it.
"""

from __future__ import annotations

__all__ = ["ASIDE", "TRIAL_COLUMNS", "column_of", "columns_of", "to_frame"]

from collections.abc import Iterable, Sequence
from typing import Any

from outcrop.errors import MissingExtra
from outcrop.space import Categorical, Fixed, Int, Ordinal, Parameter, Space
from outcrop.study.trial import Trial
from outcrop.typing import Params

BEFORE = ("number", "state", "value", "std")
AFTER = ("reason", "source", "attempt", "started", "finished")
CORRECTIONS, ASIDE = "corrections", "aside"  # there if any trial was corrected or set aside
UNTYPED = ("number", "state", "reason", "source", "attempt", CORRECTIONS, ASIDE)  # by pandas
TRIAL_COLUMNS = (*BEFORE, *AFTER, CORRECTIONS, ASIDE)  # those of trials, beside the parameters
LARGEST_WHOLE = 2**53  # up to which floats hold all whole numbers


def to_frame(trials: Iterable[Trial], space: Space) -> Any:
    """A pandas DataFrame with one row per trial, by number."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("data frames need pandas: pip install 'outcrop[plot]'") from None
    types: dict[str, str | None] = dict.fromkeys(UNTYPED)
    for name, parameter in space.parameters.items():
        types[column_of(name)] = "object" if _needs_objects(parameter) else None
    trials = list(trials)
    types |= {column_of(name): "object" for name in _former(trials, space)}
    columns = {
        column: pd.Series(cells, dtype=types.get(column, "float64"))
        for column, cells in columns_of(trials, space).items()
    }
    for column in ("started", "finished"):
        columns[column] = pd.to_datetime(columns[column], unit="s", utc=True)
    return pd.DataFrame(columns)


def columns_of(trials: Sequence[Trial], space: Space) -> dict[str, list[Any]]:
    """The cells of each column, one for each trial."""
    columns = {name: [getattr(trial, name) for trial in trials] for name in BEFORE}
    shown = [{**_asked(trial), **trial.params} for trial in trials]
    for name in [*space.parameters, *_former(trials, space)]:
        columns[column_of(name)] = [params.get(name) for params in shown]
    for field in ("at", "at_std"):
        for name in space.parameters:
            cells = [(getattr(trial, field) or {}).get(name) for trial in trials]
            if any(cell is not None for cell in cells):
                columns[f"{field}.{name}"] = cells
    columns |= {name: [getattr(trial, name) for trial in trials] for name in AFTER}
    if any(trial.corrections for trial in trials):
        columns[CORRECTIONS] = ["; ".join(map(str, trial.corrections)) for trial in trials]
    if any(trial.aside for trial in trials):
        columns[ASIDE] = [trial.aside for trial in trials]
    return columns


def _asked(trial: Trial) -> Params:
    """The parameters that a trial was asked for with, before the space has changed."""
    return trial.params if trial.original is None else trial.original


def _former(trials: Sequence[Trial], space: Space) -> list[str]:
    """Parameters of trials that the space does not have any more."""
    names = dict.fromkeys(name for trial in trials for name in _asked(trial))
    return [name for name in names if name not in space.parameters]


def column_of(name: str) -> str:
    """The column of a parameter."""
    return f"params.{name}" if name in TRIAL_COLUMNS else name


def _needs_objects(parameter: Parameter) -> bool:
    """Whether pandas would change values: it merges the categories 1, 1.0 and True.

    It makes floats of whole numbers beside empty cells, and large ones then lose digits.
    """
    if isinstance(parameter, Int):
        return max(abs(parameter.low), abs(parameter.high)) > LARGEST_WHOLE
    return isinstance(parameter, Categorical | Ordinal | Fixed)
