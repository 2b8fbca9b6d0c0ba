"""Gradient ascent from several points at once.

A call of the function has a fixed cost; a few more rows add little. So all starts climb in
lockstep, with one call for a step of each, and every start tries several step lengths in that call.

Notation: s starts in d coordinates; points `X`, gradients `G` and steps are `(s, d)`; `B` are the
quasi-Newton models of the *negative* Hessian, `(s, d, d)`; `free` marks the coordinates that may
move, all within [0, 1].
"""

from __future__ import annotations

__all__ = ["ascend"]

import numpy as np

from outcrop.maximise.base import Function, Scored, clean
from outcrop.maximise.constrained import Borders
from outcrop.typing import Mask, Matrix, Points, Vector

LENGTHS = np.array([3.0, 1.0, 0.4, 0.1])  # of the quasi-Newton step, tried in one call
RETREAT = 0.02  # of the step if all of them failed
FIRST = 0.1  # length of the first step, in units of the scales
SUFFICIENT = 1e-4  # share of the linear gain a step must bring [Nocedal & Wright 2006, eq. 3.4]
CURVED = 1e-8  # cosine between step and change of gradient below which a model is not updated
FLATTEST = 1e-150  # curvature whose square overflows
STEP_TOLERANCE = 1e-8  # of the cube; steps converge superlinearly, so the point is better than 1e-6
GAIN_TOLERANCE = 1e-13  # of the value: its rounding error
WARM_UP = 4  # calls before a slow climb may be stopped
PATIENCE = 6  # calls in which a climb must reach the best at its last rate


def ascend(
    function: Function,
    X: Points,
    free: Mask,
    scales: Vector,
    steps: int,
    borders: Borders | None = None,
) -> Scored:
    """The ends of climbs from each row of `X` by at most `steps` calls of the function.

    Projected BFGS: coordinates at a bound that the gradient pushes against stay there, the others
    take the Newton step of the model restricted to them [Bertsekas 1982]. `scales` `(d,)` are the
    lengths over which the function changes. No climb ends below its start; one that would not
    reach the best at its last rate is stopped. Nor does any leave the `borders`, inside which all
    begin.
    """
    X = X.copy()
    values, G = _evaluate(function, X, free)
    B = _first_models(G, scales)
    fresh = np.ones(len(X), dtype=np.bool_)  # models without curvature so far
    reach = np.ones(len(X))  # the multiple of the step of the model that is 1 in LENGTHS
    climbing = np.flatnonzero(np.isfinite(values) & G.any(1))
    for call in range(1, steps):
        if not len(climbing):
            break
        x, f, g = X[climbing], values[climbing], G[climbing]
        step = _newton_step(B[climbing], x, g, free[climbing])
        lengths = reach[climbing, None] * LENGTHS
        ahead = x[:, None] + lengths[:, :, None] * step[:, None]
        if borders is None:
            trials = np.clip(ahead, 0.0, 1.0)
            trials = np.where(free[climbing][:, None], trials, x[:, None])  # a code may be above 1
        else:
            trials = borders.brought_inside(x, ahead, B[climbing], free[climbing])
        tried, gradients = _evaluate(
            function, trials.reshape(-1, X.shape[1]), np.repeat(free[climbing], len(LENGTHS), 0)
        )
        gains = tried.reshape(lengths.shape) - f[:, None]
        linear = np.einsum("sd,skd->sk", g, trials - x[:, None])
        enough = (gains > 0.0) & (gains >= SUFFICIENT * linear)
        chosen = np.where(enough, gains, -np.inf).argmax(1)
        each = np.arange(len(climbing)), chosen
        taken = enough[each]

        gradient = gradients.reshape(trials.shape)[each]
        S, Y = trials[each] - x, g - gradient
        learnt = taken & _is_curved(S, Y, scales)
        if learnt.any():
            at = climbing[learnt]
            B[at] = _updated(B[at], S[learnt], Y[learnt], fresh[at], scales)
            fresh[at] = False
        at = climbing[taken]
        X[at], values[at], G[at] = (
            trials[each][taken],
            tried.reshape(lengths.shape)[each][taken],
            gradient[taken],
        )
        reach[climbing] = np.where(
            learnt, 1.0, np.where(taken, lengths[each], reach[climbing] * RETREAT)
        )

        size = np.abs(np.where(taken[:, None], S, step * reach[climbing, None])).max(1)
        gain = np.where(taken, gains[each], linear[:, -1])
        worth = (size > STEP_TOLERANCE) & (gain > GAIN_TOLERANCE * np.abs(f))
        if call >= WARM_UP:
            reached = values[climbing] + gain * min(steps - call, PATIENCE)
            worth &= ~taken | (reached >= values.max())
        climbing = climbing[worth]
    return Scored(X, values)


def _evaluate(function: Function, X: Points, free: Mask) -> tuple[Vector, Points]:
    """Values and gradients in the free coordinates; −inf and 0 where they are not finite."""
    values, gradients = function.with_gradient(X)
    values, G = clean(values), np.where(free, gradients, 0.0)
    G[~np.isfinite(G).all(1) | ~np.isfinite(values)] = 0.0
    return values, G


def _first_models(G: Points, scales: Vector) -> Matrix:
    """Models under which every start steps by `FIRST` scales along its gradient."""
    with np.errstate(over="ignore", under="ignore"):
        curvature = np.sqrt(np.square(G * scales).sum(1)) / FIRST
        diagonal = np.maximum(curvature, FLATTEST)[:, None] / scales**2
    return diagonal[:, :, None] * np.eye(G.shape[1])


def _newton_step(B: Matrix, X: Points, G: Points, free: Mask) -> Points:
    """The Newton step of the model in the coordinates that are free and not at a bound."""
    held = ~free | ((X <= 0.0) & (G < 0.0)) | ((X >= 1.0) & (G > 0.0))
    coupled = ~(held[:, :, None] | held[:, None, :]) | np.eye(X.shape[1], dtype=np.bool_)
    ahead = np.where(held, 0.0, G)
    return np.nan_to_num(np.linalg.solve(np.where(coupled, B, 0.0), ahead[:, :, None])[:, :, 0])


def _is_curved(S: Points, Y: Points, scales: Vector) -> Mask:
    """Whether the gradient fell along the step, as it does under a positive definite model."""
    with np.errstate(over="ignore", under="ignore"):
        size = np.sqrt(np.square(S / scales).sum(1) * np.square(Y * scales).sum(1))
        return np.einsum("sd,sd->s", S, Y) > np.maximum(CURVED * size, FLATTEST)


def _updated(B: Matrix, S: Points, Y: Points, fresh: Mask, scales: Vector) -> Matrix:
    """BFGS models after steps `S` changed the gradient by −`Y` [Nocedal & Wright, eq. 6.19].

    A fresh model is first scaled to the curvature along the step [ibid., eq. 6.20].
    """
    sy = np.einsum("sd,sd->s", S, Y)
    size = (np.square(Y * scales).sum(1) / sy)[:, None] / scales**2
    B = np.where(fresh[:, None, None], size[:, :, None] * np.eye(S.shape[1]), B)
    BS = np.einsum("sde,se->sd", B, S)
    sBs = np.einsum("sd,sd->s", S, BS)
    new = Y[:, :, None] * Y[:, None, :] / sy[:, None, None]
    return B + new - BS[:, :, None] * BS[:, None, :] / sBs[:, None, None]
