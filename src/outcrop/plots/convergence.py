"""A plot of the best value so far, of one study or of many runs.

A trace is the values of one run in the order of its trials, with NaN for missing ones.
"""

from __future__ import annotations

__all__ = ["convergence"]

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from outcrop.errors import MethodError, NoBelief, ShapeError
from outcrop.plots import canvas
from outcrop.plots.canvas import Axes
from outcrop.plots.space_slice import reader_of
from outcrop.study.study_reader import StudyReader
from outcrop.typing import Matrix, Vector

DASHES = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (9, 3)))
SHAPES = ("o", "s", "^", "D", "v", "P", "X")
COLOURS = (
    canvas.INK,
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#8a8a8a",
)
MARKS = 8  # on each line


def convergence(
    traces: Any,
    *,
    minimum: float | None = None,
    log: bool | None = None,
    band: tuple[float, float] = (0.25, 0.75),
    direction: str | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draw the best value so far over the trials, and return the axes.

        plots.convergence(study)
        plots.convergence({"gp": gp_studies, "warped": warped_studies}, minimum=0.0)

    For one study, its values are drawn too. For several methods, given as a mapping of names to
    runs, the median over the runs and the quantiles of `band` are drawn. Runs are studies, results,
    or an array `(runs, trials)` of values with NaN for failures; they are cut to the length of the
    method's shortest run. With the objective's `minimum` (its maximum if it is maximised), the
    regret is drawn, by default on a log scale. `direction` is needed only for arrays of an
    objective that is maximised.
    """
    if not isinstance(traces, Mapping):
        return _one(reader_of(traces), minimum, log, axes)
    if not traces:
        raise ShapeError("expected a mapping of at least one name to its runs, got {}")
    low, high = band
    if not 0 <= low <= high <= 1:
        raise MethodError(f"band={band!r}: expected two quantiles such as (0.25, 0.75)")
    sign = _sign(traces, direction)
    best = {
        name: np.fmin.accumulate(sign * _values(name, runs), axis=1)
        for name, runs in traces.items()
    }
    known = {name: np.flatnonzero(np.isfinite(values).all(0)) for name, values in best.items()}
    for name in traces:
        if not len(known[name]):
            raise NoBelief(f"{name!r}: a run has no finite value, so that it has no best one")
    drawn = canvas.axes_or_new(axes)  # now that nothing is refused: notebooks show it
    for index, name in enumerate(traces):
        shown = _shown(sign * best[name][:, known[name]], sign, minimum)
        quantiles = np.quantile(shown, (low, 0.5, high), axis=0)
        _line(drawn, index, name, (known[name] + 1).astype(float), quantiles)
    what = "best value so far" if minimum is None else "regret of the best so far"
    drawn.set(xlabel="trials", ylabel=f"{what}\n(median, {100 * low:g} to {100 * high:g} %)")
    return _finished(drawn, minimum, log, axes is None)


def _line(axes: Axes, index: int, name: str, x: Vector, quantiles: Matrix) -> None:
    colour, dash = COLOURS[index % len(COLOURS)], DASHES[index % len(DASHES)]
    low, middle, high = quantiles
    axes.fill_between(x, low, high, color=colour, alpha=0.13, lw=0)
    for edge in (low, high):
        axes.plot(x, edge, color=colour, ls=dash, lw=0.5)
    every = max(len(x) // MARKS, 1)
    axes.plot(
        x,
        middle,
        color=colour,
        ls=dash,
        lw=1.8,
        marker=SHAPES[index % len(SHAPES)],
        ms=5.5,
        mfc=canvas.PAPER,
        markevery=(index * every // 4 % every, every),
        label=str(name),
    )


def _one(study: StudyReader, minimum: float | None, log: bool | None, axes: Axes | None) -> Axes:
    trials = study.trials
    sign = -1.0 if study.direction == "maximize" else 1.0
    finished = [trial for trial in trials if trial.is_observed]
    if not finished:
        raise NoBelief("no trial has finished yet, so there is no best value to draw")
    drawn = canvas.axes_or_new(axes)
    x = np.array([trial.number for trial in finished])
    values = np.array([trial.value for trial in finished], dtype=float)
    best = sign * np.minimum.accumulate(sign * values)
    last = trials[-1].number
    drawn.plot(x, _shown(values, sign, minimum), label="value", **canvas.DATA)
    drawn.step(
        [*x, last],
        _shown(np.append(best, best[-1]), sign, minimum),
        where="post",
        color=canvas.INK,
        lw=1.8,
        label="best so far",
    )
    for label, style in (("failed", canvas.FAILED), ("running", canvas.RUNNING)):
        those = np.array([trial.number for trial in trials if trial.state == label], dtype=float)
        if len(those):
            canvas.along_bottom(drawn, those, label, style)
    drawn.set(xlabel="trial number", ylabel="objective" if minimum is None else "regret")
    return _finished(drawn, minimum, log, axes is None)


def _finished(axes: Axes, minimum: float | None, log: bool | None, own: bool) -> Axes:
    if log or (log is None and minimum is not None):
        axes.set_yscale("log", nonpositive="clip")
    canvas.legend(axes, own)
    return axes


def _shown(values: Matrix, sign: float, minimum: float | None) -> Matrix:
    """Values, or their regret if the optimum is given."""
    return values if minimum is None else sign * (values - minimum)


def _sign(traces: Mapping[str, Any], direction: str | None) -> float:
    """The sign of the direction, which must be the same for all studies and the argument."""
    if direction not in (None, "minimize", "maximize"):
        raise MethodError(f'direction={direction!r}: expected "minimize" or "maximize"')
    found = {reader_of(run).direction for runs in traces.values() for run in _studies(runs)}
    found |= {direction} if direction else set()
    if len(found) > 1:
        raise MethodError(
            f"the runs have different directions: {', '.join(sorted(map(str, found)))}; draw them "
            "separately"
        )
    return -1.0 if found == {"maximize"} else 1.0


def _studies(runs: Any) -> list[Any]:
    """Runs as a list of studies or results; empty if they are numbers."""
    listed = [runs] if hasattr(runs, "trials") else runs
    found = isinstance(listed, Sequence) and len(listed) and hasattr(listed[0], "trials")
    return list(listed) if found else []


def _values(name: str, runs: Any) -> Matrix:
    """Values of one method's runs, `(runs, trials)`, NaN for missing ones."""
    studies = _studies(runs)
    rows = [[t.value if t.is_observed else None for t in s.trials] for s in studies] or runs
    try:
        shortest = min(len(row) for row in rows)
        values = np.array([[*row][:shortest] for row in rows], dtype=float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 2 or not values.size:
        raise ShapeError(
            f"{name!r}: expected its runs, as an array (runs, trials) or as studies that have "
            f"trials, got {type(runs).__name__}"
        )
    return np.where(np.isfinite(values), values, np.nan)
