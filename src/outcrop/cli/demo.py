"""`outcrop demo`: two processes minimise a rugged function through an SQLite file."""

from __future__ import annotations

__all__ = ["demo"]

from collections.abc import Callable
from itertools import count
from pathlib import Path

from outcrop import problems
from outcrop.errors import MissingExtra
from outcrop.study import Result, Study
from outcrop.study.storage import Storage, open_storage

PROBLEM = "ackley-2"
WORKERS = 2


def demo(folder: Path, trials: int, seed: int, say: Callable[[str], object]) -> Result:
    """Minimise Ackley's function, print the result, and draw the search."""
    problem = problems.get(PROBLEM)
    database = folder / "outcrop-demo.db"
    storage = open_storage(f"sqlite:///{database}")
    name = _free_name(storage)
    say(
        f"minimising {problem.name}, whose minimum is {problem.minimum:g}, in {trials} trials by "
        f"{WORKERS} worker processes; study {name!r} in {database}"
    )
    study = Study(problem.space, name, storage, seed=seed, noise=False)
    result = study.optimize(problem, trials, n_workers=WORKERS, progress=True)
    if result.interrupted:
        return result
    best = ", ".join(f"{name} = {value:.4f}" for name, value in result.best_params.items())
    say(f"best value {result.best_value:.4g} at {best} (trial {result.best_trial.number})")
    try:
        say(f"picture written to {_picture(problem, result, folder / 'outcrop-demo.png')}")
    except MissingExtra as hint:
        say(f"no picture: {hint}")
    say(f"show the trials with: outcrop show {name} --storage {database}")
    return result


def _free_name(storage: Storage) -> str:
    names = ("demo" if number == 1 else f"demo-{number}" for number in count(1))
    return next(name for name in names if storage.find(name) is None)


def _picture(problem: problems.Problem, result: Result, path: Path) -> Path:
    from outcrop.plots import surface_2d
    from outcrop.plots.canvas import new_figure

    points = problem.space.encode([trial.params for trial in result.trials]).X
    best = [trial.number for trial in result.trials].index(result.best_trial.number)
    figure = new_figure((6.4, 5.2))
    axes = figure.add_subplot()
    surface_2d(problem.evaluate, problem.bounds, problem.from_unit(points), best, axes=axes)
    axes.set_title(f"{problem.name}: {len(points)} trials, white to black in their order")
    figure.savefig(path, dpi=150)
    return path
