"""Trials as a data frame, and a data frame as results.

A row is a trial. A parameter's column has its flat name, prefixed by `params.` if a column of
trials has that name (`value`, `std`, …). Cells of inactive parameters are empty. Inputs that
differed from those asked for have columns `at.…` and `at_std.…`.
"""

from __future__ import annotations

__all__ = ["AFTER", "BEFORE", "column_of", "is_frame", "places_told", "results_of", "to_frame"]

from collections.abc import Iterable, Sequence
from typing import Any

from outcrop.errors import MissingExtra, ParamsError, TrialError
from outcrop.space import Categorical, Space
from outcrop.space.plain import listed, nearest
from outcrop.study.trial import Trial
from outcrop.typing import Params

BEFORE = ("number", "state", "value", "std")
AFTER = ("reason", "source", "attempt", "started", "finished")
OUTCOME = ("value", "std")  # columns of a frame of results beside the parameters


def to_frame(trials: Iterable[Trial], space: Space) -> Any:
    """A pandas DataFrame with one row per trial, by number."""
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra("data frames need pandas: pip install 'outcrop[plot]'") from None
    trials = list(trials)

    def fields(names: Iterable[str]) -> dict[str, object]:
        return {name: [getattr(trial, name) for trial in trials] for name in names}

    columns = fields(BEFORE)
    for name in ("value", "std"):
        columns[name] = pd.Series(columns[name], dtype="float64")
    for name, parameter in space.parameters.items():
        cells = [trial.params.get(name) for trial in trials]
        # pandas would merge the categories 1, 1.0 and True
        kept = "object" if isinstance(parameter, Categorical) else None
        columns[column_of(name)] = pd.Series(cells, dtype=kept)
    for column, cells in places_told(trials, space).items():
        columns[column] = pd.Series(cells, dtype="float64")
    columns |= fields(AFTER)
    for name in ("started", "finished"):
        seconds = pd.Series(columns[name], dtype="float64")
        columns[name] = pd.to_datetime(seconds, unit="s", utc=True)
    return pd.DataFrame(columns)


def places_told(trials: Sequence[Trial], space: Space) -> dict[str, list[float | None]]:
    """Columns `at.…` and `at_std.…` of the numbers for which some trial has them."""
    told: dict[str, list[float | None]] = {}
    for field in ("at", "at_std"):
        for name in space.parameters:
            cells = [(getattr(trial, field) or {}).get(name) for trial in trials]
            if any(cell is not None for cell in cells):
                told[f"{field}.{name}"] = cells
    return told


def is_frame(given: object) -> bool:
    """Whether something is a table with named columns, such as a pandas DataFrame."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__")


def results_of(frame: Any, space: Space) -> tuple[list[Params], list[object], list[object] | None]:
    """Configurations, values and standard deviations from the rows of a frame."""
    names = {column_of(name): name for name in space.parameters}
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


def column_of(name: str) -> str:
    """The column of a parameter."""
    return f"params.{name}" if name in BEFORE + AFTER else name


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
