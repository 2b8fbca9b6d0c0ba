"""How accurately can a cooling plate be simulated with a given amount of arithmetic?

The temperature u of a square plate, whose edges are held at 0, obeys u_t = u_xx + u_yy. The program
advances a start of three Fourier modes to t = 0.02 on a grid, compared with the exact solution.
It ends with exit code 1 if the scheme is unstable, if the linear solver does not converge, or if
the work exceeds the budget. Work is counted in grid values read by stencils.

    python heat.py --cells=32 --ratio=0.15 --stencil=9-point --scheme=explicit
"""

from __future__ import annotations

import argparse
import math
import sys

import numpy as np

END = 0.02  # time
MODES = {(1, 1): 1.0, (3, 2): 0.6, (2, 5): -0.4}  # half waves along x and y: amplitude at t = 0
POINTS = {"5-point": 5, "9-point": 9}
MOST_SWEEPS = 500  # of the linear solver, in one step
REPORTS = 5  # times at which the error is measured


def solution(n: int, t: float) -> np.ndarray:
    """The exact temperature on a grid of n × n cells, edges included."""
    x = np.linspace(0.0, 1.0, n + 1)
    u = np.zeros((n + 1, n + 1))
    for (k, m), amplitude in MODES.items():
        decay = math.exp(-(math.pi**2) * (k**2 + m**2) * t)
        u += amplitude * decay * np.outer(np.sin(k * math.pi * x), np.sin(m * math.pi * x))
    return u


def laplacian(u: np.ndarray, stencil: str, first: tuple[int, int], every: int) -> np.ndarray:
    """h² times the Laplacian, at every so-manieth inner grid point from `first` on."""
    n = len(u) - 1

    def at(i: int, j: int) -> np.ndarray:
        return u[first[0] + i : n + i : every, first[1] + j : n + j : every]

    edges = at(-1, 0) + at(1, 0) + at(0, -1) + at(0, 1)
    if stencil == "5-point":
        return edges - 4 * at(0, 0)
    corners = at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1)
    return (4 * edges + corners - 20 * at(0, 0)) / 6


def relax(
    u: np.ndarray, right: np.ndarray, weight: float, stencil: str, omega: float, tolerance: float
) -> int:
    """Solve u - weight · laplacian(u) = right by over-relaxation; returns the sweeps it took."""
    n = len(u) - 1
    diagonal = 1 + weight * (4 if stencil == "5-point" else 20 / 6)
    for sweep in range(1, MOST_SWEEPS + 1):
        largest = 0.0
        for a, b in ((1, 1), (1, 2), (2, 1), (2, 2)):  # no two of a colour are neighbours
            block = u[a:n:2, b:n:2]
            residual = right[a - 1 :: 2, b - 1 :: 2] - block
            residual += weight * laplacian(u, stencil, (a, b), 2)
            block += omega / diagonal * residual
            largest = max(largest, float(np.abs(residual).max()))
        if largest < tolerance * diagonal:
            return sweep
    raise ArithmeticError(f"the solver did not converge in {MOST_SWEEPS} sweeps")


def simulate(options: argparse.Namespace) -> float:
    """The largest relative error at the times that are reported; `ArithmeticError` on failure."""
    n, stencil = options.cells, options.stencil
    steps = math.ceil(END * n**2 / options.ratio)
    ratio = END * n**2 / steps  # the last step ends at END
    pass_work = (n - 1) ** 2 * POINTS[stencil]
    u, work, worst = solution(n, 0.0), 0, 0.0
    for step in range(1, steps + 1):
        change = ratio * laplacian(u, stencil, (1, 1), 1)
        work += pass_work
        if options.scheme == "explicit":
            u[1:-1, 1:-1] += change
        else:
            right = u[1:-1, 1:-1] + (1 - options.theta) * change
            weight = options.theta * ratio
            work += pass_work * relax(u, right, weight, stencil, options.omega, options.tolerance)
        if not np.abs(u).max() < 10:
            raise ArithmeticError(f"the scheme is unstable: it blew up in step {step} of {steps}")
        if work > options.budget:
            raise ArithmeticError(f"the budget was spent after step {step} of {steps}")
        if step * REPORTS // steps > (step - 1) * REPORTS // steps:
            exact = solution(n, END * step / steps)
            error = float(np.linalg.norm(u - exact) / np.linalg.norm(exact))
            worst = max(worst, error)
            used = 100 * work / options.budget
            print(f"step {step} of {steps}: error {error:.2e}, {used:.0f} % of the budget used")
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, required=True, help="grid cells along each side")
    parser.add_argument("--ratio", type=float, required=True, help="time step, in units of h²")
    parser.add_argument("--stencil", choices=POINTS, required=True)
    parser.add_argument("--scheme", choices=["explicit", "implicit"], required=True)
    parser.add_argument("--theta", type=float, default=0.5, help="implicit: 0.5 is Crank-Nicolson")
    parser.add_argument("--omega", type=float, default=1.0, help="implicit: over-relaxation")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="implicit: of the solver")
    parser.add_argument("--budget", type=float, default=2e7, help="work allowed")
    options = parser.parse_args()
    try:
        worst = simulate(options)
    except ArithmeticError as error:
        print(f"heat.py: {error}", file=sys.stderr)
        return 1
    print(f"log10 of the largest error: {math.log10(worst):.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
