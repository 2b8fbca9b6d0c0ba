"""Results from all that `add` takes: a configuration, lists, trials, a data frame or a CSV file."""

from __future__ import annotations

__all__ = ["results_given"]

from collections.abc import Sequence
from pathlib import Path

from outcrop.errors import TrialError
from outcrop.space import Space
from outcrop.study.csv_files import read_table
from outcrop.study.external_results import (
    ExternalResults,
    naming,
    of_lists,
    of_trials,
    with_snapping,
)
from outcrop.study.result_tables import is_frame, results_of, table_of
from outcrop.study.trial import Trial


def results_given(
    given: object, value: object, std: object, space: Space, *, snap: bool
) -> ExternalResults:
    """The results that `add(given, value, std=std, snap=snap)` adds to a study of `space`."""
    found = _complete(given, space)
    if found is None:
        found = of_lists(given, value, std)
    elif value is not None or std is not None:
        raise TrialError(
            "add(table), add(trials): values and standard deviations are read from the columns "
            "`value` and `std` or from the trials; pass no further arguments"
        )
    return with_snapping(found, space) if snap else found


def _complete(given: object, space: Space) -> ExternalResults | None:
    """The results of something that has its values with it; None for other things."""
    if is_frame(given):
        return results_of(table_of(given), space)
    if isinstance(given, Path):
        with naming(str(given)):
            return results_of(read_table(given.read_bytes(), space), space).within(str(given))
    if isinstance(given, bytes):  # of a CSV file
        return results_of(read_table(given, space), space)
    if isinstance(given, Trial):
        return of_trials([given], space)
    if isinstance(given, Sequence) and any(isinstance(each, Trial) for each in given):
        return of_trials(given, space)
    return None
