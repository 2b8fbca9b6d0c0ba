"""Trials as a data frame, and a data frame as results.

A row is a trial. A parameter's column has its flat name, prefixed by `params.` if a column of
trials has that name (`value`, `std`, …). Cells of inactive parameters are empty. Inputs that
differed from those asked for have columns `at.…` and `at_std.…`, and former outcomes of corrected
trials a column `corrections`. Parameters that the space does not have any more follow the others,
and a column `aside` says why trials do not fit it.
"""

from __future__ import annotations

__all__ = ["columns_of", "is_frame", "results_of", "to_frame"]

from collections.abc import Iterable, Sequence
from typing import Any

from outcrop.errors import MissingExtra, ParamsError, TrialError
from outcrop.space import Categorical, Space
from outcrop.space.plain import listed, nearest
from outcrop.study.trial import Trial
from outcrop.typing import Params

BEFORE = ("number", "state", "value", "std")
AFTER = ("reason", "source", "attempt", "started", "finished")
CORRECTIONS, ASIDE = "corrections", "aside"  # there if any trial was corrected or set aside
UNTYPED = ("number", "state", "reason", "source", "attempt", CORRECTIONS, ASIDE)  # by pandas
OUTCOME = ("value", "std")  # columns of a frame of results beside the parameters


def to_frame(trials: Iterable[Trial], space: Space) -> Any:
    """A pandas DataFrame with one row per trial, by number."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("data frames need pandas: pip install 'outcrop[plot]'") from None
    types: dict[str, str | None] = dict.fromkeys(UNTYPED)
    for name, parameter in space.parameters.items():
        # pandas would merge the categories 1, 1.0 and True
        types[_column(name)] = "object" if isinstance(parameter, Categorical) else None
    trials = list(trials)
    types |= {_column(name): "object" for name in _former(trials, space)}
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
        columns[_column(name)] = [params.get(name) for params in shown]
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


def is_frame(given: object) -> bool:
    """Whether something is a table with named columns, such as a pandas DataFrame."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


def results_of(frame: Any, space: Space) -> tuple[list[Params], list[object], list[object] | None]:
    """Configurations, values and standard deviations from the rows of a frame."""
    names = {_column(name): name for name in space.parameters}
    columns = list(frame.columns)
    if len(set(columns)) < len(columns):
        raise ParamsError(f"the data frame has two columns of the same name: {listed(columns)}")
    if "value" not in columns:
        raise TrialError(f"the data frame needs a column 'value', got {listed(columns)}")
    for column in columns:
        if column not in names and column not in OUTCOME:
            raise ParamsError(
                f"column {column!r} is unknown: expected {listed([*names, *OUTCOME])}"
                f"{nearest(column, names)}; remove other columns with frame.drop(columns=…)"
            )
    cells = {names[column]: list(frame[column]) for column in columns if column in names}
    values = list(frame["value"])
    stds = list(frame["std"]) if "std" in columns else [None] * len(values)
    params = [
        _active({name: column[row] for name, column in cells.items()}, space)
        for row in range(len(values))
    ]
    return (
        params,
        [float("nan") if _is_missing(value) else value for value in values],
        [None if _is_missing(std) else std for std in stds],
    )


def _column(name: str) -> str:
    """The column of a parameter."""
    return f"params.{name}" if name in (*BEFORE, *AFTER, CORRECTIONS, ASIDE) else name


def _active(row: Params, space: Space) -> Params:
    """A row without its empty cells, except where None is a category."""
    params = {name: cell for name, cell in row.items() if not _is_missing(cell)}
    for name in row.keys() - params.keys():
        parameter = space.parameters[name]
        if isinstance(parameter, Categorical) and None in parameter.choices:
            choice, _, option = name.rpartition(".")[0].rpartition(".")
            if not choice or params.get(choice) == option:
                params[name] = None
    return params


def _is_missing(cell: object) -> bool:
    """Whether a cell is None, NaN or pandas' NA."""
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return type(cell).__name__ == "NAType"  # its comparison has no truth value
