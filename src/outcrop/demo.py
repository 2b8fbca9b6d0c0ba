"""`python -m outcrop.demo`: fit a Gaussian process to a rugged function and draw its belief."""

from __future__ import annotations

__all__ = ["main"]

import time
from pathlib import Path

import numpy as np

from outcrop import problems
from outcrop.data import Observations
from outcrop.inference import Slice
from outcrop.kernels import Matern52, Scaled
from outcrop.params import Per, free
from outcrop.plots import belief_1d
from outcrop.priors import LogNormal, Normal
from outcrop.surrogates import GP, Inferred, Standardised
from outcrop.typing import Vector

PICTURE = Path("outcrop-demo.png")


def main(n: int = 24, seed: int = 0, picture: Path = PICTURE) -> None:
    """Observe the 1-D RKHS function at `n` points, sample hyperparameters, write the picture."""
    problem = problems.get("rkhs-1d")
    rng = np.random.default_rng(seed)
    X = (np.arange(n) + rng.random(n))[:, None] / n

    def truth(x: Vector) -> Vector:
        return problem.evaluate(x[:, None])

    y = truth(X[:, 0])
    outcome = Standardised.of(y)
    data = Observations(X, outcome.apply(y))
    model = GP(
        Scaled(free(LogNormal()), Matern52(free(LogNormal(-1.5), size=Per.DIMENSION))),
        noise=1e-8,
        mean=free(Normal()),
    )
    start = time.perf_counter()
    belief = Inferred(model, Slice(chains=8, burn_in=20)).fit(data, rng)
    seconds = time.perf_counter() - start
    scales = [float(part["kernel.kernel.lengthscales"][0]) for part in belief.state["thetas"]]
    print(f"{problem.name}: {n} observations, 8 chains in {1000 * seconds:.0f} ms")
    print(f"lengthscales sampled: {', '.join(f'{np.exp(s):.3f}' for s in sorted(scales))}")
    axes = belief_1d(belief, data, outcome, truth)
    axes.set_title("A smooth model of a function that is smooth only on the left")
    axes.figure.savefig(picture, dpi=150)
    print(f"picture written to {picture}")


if __name__ == "__main__":
    main()
