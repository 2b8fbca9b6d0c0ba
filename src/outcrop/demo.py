"""`python -m outcrop.demo`: minimise a rugged function of two numbers and draw the search."""

from __future__ import annotations

__all__ = ["main"]

from pathlib import Path

from outcrop import problems
from outcrop.plots import surface_2d
from outcrop.study import Result, minimize

PICTURE = Path("outcrop-demo.png")


def main(trials: int = 50, seed: int = 0, picture: Path = PICTURE) -> Result:
    """Search Ackley's dented funnel, print what was found, and write the picture."""
    problem = problems.get("ackley-2")
    print(f"minimising {problem.name}, whose minimum is {problem.minimum:g}, in {trials} trials")
    result = minimize(problem, problem.space, trials, seed=seed, noise=False, progress=True)
    best = ", ".join(f"{name} = {value:.4f}" for name, value in result.best_params.items())
    print(f"best value {result.best_value:.4g} at {best} (trial {result.best_trial.number})")
    points = problem.space.encode([trial.params for trial in result.trials]).X
    axes = surface_2d(
        problem.evaluate, problem.bounds, problem.from_unit(points), result.best_trial.number
    )
    axes.set_title(f"{problem.name}: {trials} trials, white to black in their order")
    axes.figure.savefig(picture, dpi=150)
    print(f"picture written to {picture}")
    return result


if __name__ == "__main__":
    main()
