"""A plot of the latent inputs of a latent-input model, which move observations off the space."""

from __future__ import annotations

__all__ = ["latents"]

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from outcrop.errors import MethodError
from outcrop.plots import canvas
from outcrop.plots.belief_parts import lacking, parts_of
from outcrop.plots.canvas import Axes, AxesGiven, Style
from outcrop.plots.slice_layers import draw_mean
from outcrop.plots.space_slice import Drawable, SpaceSlice, numbers_of, reader_of
from outcrop.strategies.wrapped_model import model_of, with_model
from outcrop.study import ObjectiveBelief
from outcrop.study.commands import Purpose, generator
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial import Trial
from outcrop.surrogates import Latent, LatentPosterior
from outcrop.surrogates.situation import LATENT_ROWS
from outcrop.typing import Matrix, Params, Vector

HINT = (
    "use method='latent', or oc.Method(surrogate=oc.surrogates.Latent()), and at most "
    f"{LATENT_ROWS} trials"
)
FAR = 1.0  # lengthscales at which a mark is black, unless some are farther off
NUMBERED, MOST_NUMBERED = 0.5, 3  # lengthscales from which trials are numbered; their number
LARGE, SMALL = 38, 12  # sizes of marks of observations in the slice and outside of it
TICKS = (0, 0.25, 0.5, 0.75, 1, 2, 5, 10, 20, 50, 100)


def latents(
    study: Drawable,
    names: str | Sequence[str] | None = None,
    at: Params | None = None,
    axes: AxesGiven = None,
    spread: float | None = None,
) -> tuple[Axes, ...]:
    """Draw the distance of each observation from the space, and return the axes.

        plots.latents(study)[0].figure.savefig("latents.png")
        plots.latents(study, spread=0.01)

    The left panel has the distances by trial number, the right one the observations in a slice; a
    darker mark is farther off. Distances are |h| in units of the lengthscale: the median over the
    chains, and each chain. An observation beyond 1 has little influence, one at 0 its full
    influence. The latents are those of one `spread` of the method, by default the largest.
    `names` and `at` are as for `belief`.
    """
    study = reader_of(study)
    moved = _Moved.of(study, spread)
    cut = SpaceSlice.of(study, names, at)
    drawn = canvas.panels(axes, 2, 2, (10.0, 4.0))
    _by_number(drawn[0], moved)
    if len(drawn) > 1:
        draw_mean(drawn[1], moved.belief, cut)
        _by_place(drawn[1], moved, cut)
        cut.label_rest(drawn[1:])
    canvas.legend(drawn, own=axes is None, columns=6)
    return drawn


@dataclass(frozen=True, eq=False)
class _Moved:
    """Observations and their distances from the space, in lengthscales."""

    belief: ObjectiveBelief
    spread: float | None  # of these distances; None if the method has no spreads
    trials: Sequence[Trial]  # finished ones
    each: Matrix  # (chains, trials)
    weights: Vector  # (chains,)

    @classmethod
    def of(cls, study: StudyReader, spread: float | None) -> _Moved:
        belief, spread = _under(study, spread)
        columns = [column.index for column in numbers_of(study.space)]
        parts = [
            (_distances(part, columns), weight)
            for part, weight in parts_of(belief)
            if isinstance(part, LatentPosterior) and part.latents.any()
        ]
        if not parts:
            raise lacking(study, "latents", HINT)
        each, weights = zip(*parts, strict=True)
        finished = [trial for trial in belief.state.trials if trial.is_observed]
        return cls(belief, spread, finished, np.stack(each), np.array(weights))

    @cached_property
    def median(self) -> Vector:
        """The weighted median over the chains, `(trials,)`."""
        order = np.argsort(self.each, axis=0)
        below = np.cumsum(self.weights[order], axis=0)
        middle = np.argmax(below >= 0.5 * below[-1], axis=0)
        return np.take_along_axis(self.each, order, axis=0)[middle, np.arange(len(middle))]

    @property
    def farthest(self) -> list[int]:
        """Indices of the few trials that are labelled with their numbers."""
        order = np.argsort(-self.median)[:MOST_NUMBERED]
        return [int(i) for i in order if self.median[i] >= NUMBERED]


def _distances(part: LatentPosterior, columns: Sequence[int]) -> Vector:
    """|h| of each observation in units of the geometric mean of the numbers' lengthscales."""
    lengthscale = np.exp(np.log(part.scales()[columns]).mean())
    return np.linalg.norm(part.latents, axis=1) / lengthscale


def _under(study: StudyReader, spread: float | None) -> tuple[ObjectiveBelief, float | None]:
    """The belief with one spread, and that spread; None for a method without spreads."""
    belief = study.belief
    model = model_of(belief.strategy)
    if model is None or not isinstance(model.kind, Latent):
        if spread is not None:
            raise MethodError(f"spread={spread!r}: the method has no spreads; {HINT}")
        return belief, None
    offered = [own for own in model.kind.spreads if own > 0]
    if not offered:
        raise lacking(study, "spread above 0", HINT)
    if spread is not None and spread not in offered:
        raise MethodError(f"spread={spread!r}: expected one of the method's, {offered}")
    spread = spread or max(offered)
    alone = replace(model.kind, spreads=(spread,), together=False)
    strategy = with_model(belief.strategy, replace(model, kind=alone))
    rng = generator(belief.state, Purpose.BELIEF)
    believed = strategy.belief(belief.state.view, rng)
    return replace(belief, believed=believed, strategy=strategy), spread


def _by_number(axes: Axes, moved: _Moved) -> None:
    from matplotlib.ticker import MaxNLocator

    x, median = np.array([trial.number for trial in moved.trials]), moved.median
    chains: Style = {"ls": "", "marker": "_", "ms": 6, "color": canvas.FAINT, "zorder": 2}
    axes.plot(np.tile(x, len(moved.each)), moved.each.ravel(), label="a chain's", **chains)
    axes.axhline(1.0, color=canvas.INK, lw=1.0, ls=":", zorder=1, label="a lengthscale")
    _marks(axes, moved, range(len(x)), x, median, LARGE, "median: darker is farther off")
    _numbers(axes, moved, {i: (x[i], median[i]) for i in moved.farthest})
    top = max(1.1, 1.1 * float(moved.each.max()))
    under = "" if moved.spread is None else f"\n(spread {moved.spread:g})"
    axes.set_yscale("symlog", linthresh=1.0)
    axes.set_yticks([tick for tick in TICKS if tick <= top])
    axes.set_yticks([], minor=True)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="trial number", ylabel=f"lengthscales off the space{under}", ylim=(-0.04, top))


def _by_place(axes: Axes, moved: _Moved, cut: SpaceSlice) -> None:
    """Draw observations at their positions in the slice."""
    shown = [i for i, trial in enumerate(moved.trials) if cut.shows(trial)]
    trials = [moved.trials[i] for i in shown]
    x, *rest = cut.places(trials).T
    y = rest[0] if rest else np.array([trial.value for trial in trials], dtype=float)
    sizes = [LARGE if cut.holds(trial) else SMALL for trial in trials]
    _marks(axes, moved, shown, x, y, sizes)
    places = dict(zip(shown, zip(x, y, strict=True), strict=True))
    _numbers(axes, moved, {i: places[i] for i in moved.farthest if i in places})


def _marks(
    axes: Axes,
    moved: _Moved,
    which: Sequence[int],
    x: Vector,
    y: Vector,
    sizes: int | Sequence[int],
    label: str | None = None,
) -> None:
    """Draw observations at `x` and `y`, shaded by their distances."""
    shades: Style = {"cmap": "Greys", "vmin": 0.0, "vmax": max(FAR, float(moved.median.max()))}
    style: Style = {"edgecolors": canvas.INK, "linewidths": 1.1, "clip_on": False, "zorder": 5}
    axes.scatter(x, y, c=moved.median[list(which)], s=sizes, label=label, **shades, **style)


def _numbers(axes: Axes, moved: _Moved, places: dict[int, tuple[float, float]]) -> None:
    """Write the numbers of trials beside their marks."""
    from matplotlib.patheffects import withStroke

    pale = [withStroke(linewidth=2.5, foreground=canvas.PAPER)]
    for i, place in places.items():
        axes.annotate(
            str(moved.trials[i].number),
            place,
            xytext=(5, 4),
            textcoords="offset points",
            fontsize="small",
            color=canvas.INK,
            path_effects=pale,
            zorder=8,
        )
