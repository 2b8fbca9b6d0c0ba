"""Figure 3.8 of the thesis: whether the recursion of the noisy-input Gaussian process settles.

The variance that input noise adds to an observation depends on the slope of the posterior mean,
which depends on these variances. The thesis repeats the two in turn; the library solves for the
fixed point instead. Here both are given the same trained hyperparameters. Shapes: the added
variances of all steps are `(steps, n)`. Only they differ between covariance matrices of two steps.
"""

from __future__ import annotations

__all__ = ["CELLS", "FIGURE", "draw", "report", "run"]

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.reporting import table
from experiments.harness import Cell, Row
from experiments.noisy_inputs import FITTING, INFERENCE, NOISE, VALUE_NOISE, data_in_1d, kernel_of
from outcrop.data import Observations
from outcrop.params import free
from outcrop.surrogates import GP
from outcrop.surrogates.noisy import Alternating, InputNoise, NIGPModel
from outcrop.surrogates.noisy.input_noise import quadratic_forms
from outcrop.typing import Matrix

FIGURE = "3.8"
SPREADS = ("0.05", "0.1")
VALUES = ("missed", "exact")  # where the training values were taken
LEVELS = ("learnt", "known")  # the noise variance of the values
CELLS: list[Cell] = [
    {"figure": FIGURE, "values": values, "level": level, "spread": spread}
    for level, values, spread in product(LEVELS, VALUES, SPREADS)
]
SIZES = (30, 100)  # training points
SHOWN, STEPS = 20, 500  # steps in the pictures, and until a recursion is judged
EQUAL = 1e-6  # the largest difference of two matrices that are the same
BEHAVIOURS = QUICK, SLOW, OSCILLATES, NEITHER = "quick", "slow", "oscillates", "neither"
PANEL = (2.6, 2.0)  # inches
PICTURE = "noisy_inputs_recursion"


def run(cell: Cell, number: int) -> Row:
    """For every number of training points, what the recursion does.

    `steps` is how many it takes to settle, `traces` the sum of the added variances after each of
    the first steps, and `equal` has a line for each of them: 1 where another step is the same.
    """
    spread, inputs = float(cell["spread"]), InputNoise(float(cell["spread"]))
    noise = NOISE**2 if cell["level"] == "known" else free(VALUE_NOISE)
    row: Row = {}
    for size in SIZES:
        data, _, _ = data_in_1d(spread, number, size, exact=cell["values"] == "exact")
        surrogate = Alternating(NIGPModel(kernel_of(1), noise, inputs=inputs), INFERENCE)
        belief: Any
        (belief,) = surrogate.fit(data, np.random.default_rng([number, FITTING])).components
        trained = NIGPModel(belief.model.kernel, belief.model.noise, inputs=inputs)
        added = recursion(trained, data, STEPS)
        first = added[:SHOWN]
        same = np.abs(first[:, None] - first).max(2) <= EQUAL
        row[str(size)] = {
            "behaviour": behaviour(added),
            "steps": settled_after(added),
            "traces": [float(f"{trace:.5g}") for trace in first.sum(1)],
            "equal": ["".join("01"[int(each)] for each in line) for line in same],
            "noise": float(f"{belief.model.noise:.4g}"),
            "fixed point": bool(belief.has_converged),
        }
    return row


def recursion(model: NIGPModel, data: Observations, steps: int) -> Matrix:
    """Added variances after each step, beginning with the slope of the plain process."""
    cov = model.inputs.covariances(data)
    assert cov is not None
    plain = GP(model.kernel, model.noise, model.mean)
    found = [np.zeros(len(data))]
    for _ in range(steps):
        slopes = plain.condition(data.noisier(found[-1])).mean_gradient(data.X)
        found.append(quadratic_forms(cov, slopes))
    return np.array(found[1:])


def settled_after(added: Matrix) -> int | None:
    """The first step that all later ones equal, counted from 1; None where the last two differ."""
    apart = np.abs(added - added[-1]).max(1) > EQUAL
    last = int(np.flatnonzero(apart)[-1]) if apart.any() else -1
    return None if last == len(added) - 2 else last + 2


def behaviour(added: Matrix) -> str:
    """Whether it settles within the steps shown, later, not at all but in two states, or else."""
    steps = settled_after(added)
    if steps is not None:
        return QUICK if steps <= SHOWN else SLOW
    return OSCILLATES if np.abs(added[-1] - added[-3]).max() <= EQUAL else NEITHER


def report(rows: Sequence[Row]) -> str:
    parts = [READING, behaviour_table(rows)]
    if examples(rows):
        parts.append(f"![How the recursion goes](../images/{PICTURE}.png)")
    return "\n\n".join(parts)


def behaviour_table(rows: Sequence[Row]) -> str:
    """A line for each cell and number of training points."""
    lines = []
    for cell, size in product(CELLS, map(str, SIZES)):
        own = [row[size] for row in rows if row["cell"] == cell]
        if not own:
            continue
        line = [cell["values"], cell["level"], cell["spread"], size, str(len(own))]
        for kind in BEHAVIOURS:
            line.append(str(sum(each["behaviour"] == kind for each in own)))
        quick = [each["steps"] for each in own if each["behaviour"] == QUICK]
        line.append(f"{np.median(quick):.0f} ({min(quick)} to {max(quick)})" if quick else "")
        lines.append([*line, f"{sum(each['fixed point'] for each in own)}/{len(own)}"])
    header = ["values", "noise of values", "σ_x", "N", "runs", *BEHAVIOURS]
    return table([*header, "steps", "fixed point found"], lines)


def examples(rows: Sequence[Row]) -> dict[str, tuple[str, Row]]:
    """A recursion that is slow, quick and oscillating, in the thesis's order of panels.

    It is the first one, and the one that repeats itself soonest of those that oscillate.
    """
    found: dict[str, list[tuple[str, Row]]] = {}
    for title, each in _recursions(rows):
        found.setdefault(each["behaviour"], []).append((title, each))
    chosen = {kind: those[0] for kind, those in found.items()}
    if OSCILLATES in found:
        chosen[OSCILLATES] = max(
            found[OSCILLATES], key=lambda it: "".join(it[1]["equal"]).count("1")
        )
    return {kind: chosen[kind] for kind in (SLOW, QUICK, OSCILLATES) if kind in chosen}


def _recursions(rows: Sequence[Row]) -> Iterator[tuple[str, Row]]:
    for row, size in product(rows, map(str, SIZES)):
        cell = row["cell"]
        setting = f"{cell['values']} values, noise {cell['level']}, σ_x = {cell['spread']}"
        yield f"{setting}, N = {size}", row[size]


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    """On the left which steps have the same matrix, on the right the trace of the added noise."""
    from matplotlib.figure import Figure

    shown = examples(rows)
    if not shown:
        return {}
    figure = Figure(figsize=(2 * PANEL[0], PANEL[1] * len(shown)), layout="constrained")
    panels = figure.subplots(len(shown), 2, squeeze=False)
    edges = (0.5, SHOWN + 0.5, SHOWN + 0.5, 0.5)
    for (left, right), (kind, (title, each)) in zip(panels, shown.items(), strict=True):
        same = np.array([[int(digit) for digit in line] for line in each["equal"]])
        left.imshow(same, cmap="gray", vmin=0, vmax=1, extent=edges)
        left.set(xlabel="step", ylabel=f"{kind}\nstep")
        right.plot(range(1, SHOWN + 1), each["traces"], marker=".", lw=1)
        right.set(xlabel="step", ylabel="trace")
        right.set_title(title, fontsize=6)
    return {PICTURE: figure}


READING = f"""\
## Figure 3.8: whether the recursion of NIGP settles

NIGP adds to the noise of each observation what input noise makes of the slope there; the slope
depends on that noise in turn. The thesis computes the two one after the other, and shows three data
sets of decaying-sin: one settles, one takes more than 20 steps, one oscillates between two states.
It reports that the recursion often settles in 4 to 5 steps. How many points these had and with
which hyperparameters is not said. Here hyperparameters are trained at the fixed point that the
library solves for; the recursion then starts without added noise.

Two steps are the same if no entry of the covariance matrix differs by more than 10⁻⁶, as in the
thesis. {QUICK}: it settles within {SHOWN} steps; {SLOW}: within {STEPS}; {OSCILLATES}: after
{STEPS} steps every second matrix is the same; {NEITHER}: none of these. steps: how many the quick
ones took, median and range; fixed point found: runs in which the library's own solution agrees with
itself to 10⁻⁶. missed values are taken at x + ε as the text of the thesis says, exact ones at x, as
[its tables suggest](noisy_inputs_exact.md). A known noise of values is the true one, σ_y² = 10⁻⁶.
The picture has an example of each: light where two steps are the same, and the sum of the added
variances."""
