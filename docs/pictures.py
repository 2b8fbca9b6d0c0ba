"""Makes the pictures of docs/pictures.md from small searches with fixed seeds.

python docs/pictures.py                    # all of them
python docs/pictures.py plot_latents_1d    # some
"""

from __future__ import annotations

__all__ = ["PICTURES", "main"]

import sys
from collections.abc import Callable, Sequence
from math import exp, log10, sin
from pathlib import Path
from typing import Any

import numpy as np

import outcrop as oc
from outcrop import plots, problems
from outcrop.study import Result
from outcrop.typing import Params

IMAGES = Path(__file__).parent / "images"
DPI = 90
TREED = oc.Method(surrogate=oc.surrogates.Treed(chance=1.0))  # a tree from the first trial on


def searched(name: str, method: str | oc.Method, n_trials: int, seed: int = 0) -> Result:
    """A search of one of Outcrop's test problems."""
    problem = problems.get(name)
    return oc.minimize(
        problem, problem.space, n_trials, method=method, seed=seed, noise=False, progress=False
    )


def measured() -> oc.Optimizer:
    """Noisy measurements along one parameter; too high a rate fails, and one is still running."""
    study = oc.Optimizer(oc.Space({"rate": oc.Float(1e-4, 1.0, log=True)}), seed=0)
    noise = np.random.default_rng(0)
    for _ in range(12):
        trial = study.ask()
        rate = trial.params["rate"]
        if rate > 0.3:
            study.fail(trial, "diverged")
        else:
            value = sin(3.5 * log10(rate)) + 0.2 * log10(rate)
            study.tell(trial, value + noise.normal(0.0, 0.1), std=0.1)
    study.ask()
    return study


def spiked() -> oc.Optimizer:
    """A valley with ripples, and a spike that one of the observations hits."""

    def valley(x: float) -> float:
        return 4 * (x - 0.6) ** 2 + 0.05 * sin(60 * x) + 0.8 * exp(-(((x - 0.3) / 0.02) ** 2))

    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), method="latent", seed=0, noise=False)
    seen = [*np.linspace(0.02, 0.98, 13).tolist(), 0.3]
    study.add([{"x": x} for x in seen], [valley(x) for x in seen])
    for _ in range(4):
        trial = study.ask()
        study.tell(trial, valley(trial.params["x"]))
    return study


def belief_1d() -> Any:
    return plots.belief(measured())[0]


def belief_2d() -> Any:
    return plots.belief(searched("branin", "gp", 20))[0]


def warping() -> Any:
    space = oc.Space({"rate": oc.Float(0, 1), "momentum": oc.Float(0, 1)})

    def loss(params: Params) -> float:
        """It depends on the logarithm of the rate, though the space does not say so."""
        return float((log10(params["rate"] + 1e-3) + 1.7) ** 2 + (params["momentum"] - 0.7) ** 2)

    result = oc.minimize(loss, space, 30, method="warped", seed=0, noise=False, progress=False)
    return plots.warping(result)[0]


def spartan_weight() -> Any:
    return plots.spartan_weight(searched("exp-2d", "spartan", 30))


def partition_1d() -> Any:
    return plots.partition(searched("rkhs-1d", TREED, 40))


def partition_2d() -> Any:
    return plots.partition(searched("michalewicz-2", TREED, 60))


def latents_1d() -> Any:
    return plots.latents(spiked())[0]


def latents_2d() -> Any:
    return plots.latents(searched("holder-table", "latent", 30))[0]


def penalised() -> Any:
    method = oc.Method(acquisition=oc.acquisition.UCB(2.0), pending=oc.pending.PLAyBOOK("HL"))
    problem = problems.get("branin")
    study = oc.Optimizer(problem.space, method=method, seed=0, noise=False)
    for _ in range(15):
        trial = study.ask()
        study.tell(trial, problem(trial.params))
    study.ask(4)
    return plots.penalised(study)[0]


def convergence_study() -> Any:
    return plots.convergence(measured())


def convergence() -> Any:
    runs = {
        method: [searched("branin", method, 25, seed) for seed in range(5)]
        for method in ("gp", "warped", "sobol", "random")
    }
    return plots.convergence(runs, minimum=problems.get("branin").minimum)


def weights() -> Any:
    return plots.weights(searched("exp-2d", "auto", 30))


def tuned() -> oc.Optimizer:
    """A network whose learning rate matters most, together with its optimiser."""
    space = oc.Space(
        {
            "rate": oc.Float(1e-5, 1e-1, log=True),
            "optimiser": oc.Categorical(["sgd", "adam", "rmsprop"]),
            "width": oc.Int(8, 256, log=True),
        }
    )
    best = {"sgd": -1.5, "adam": -3.0, "rmsprop": -3.5}
    study = oc.Optimizer(space, seed=0, noise=False)
    for _ in range(30):
        trial = study.ask()
        off = log10(trial.params["rate"]) - best[trial.params["optimiser"]]
        narrow = 0.15 * log10(256 / trial.params["width"])
        study.tell(trial, 0.1 + 0.1 * off**2 + narrow)
    return study


def importance() -> Any:
    return plots.importance(tuned())[0]


def slices() -> Any:
    return plots.slices(tuned())[0]


def parallel() -> Any:
    space = oc.Space(
        {
            "rate": oc.Float(1e-5, 1e-1, log=True),
            "loss": oc.Ordinal(["weak", "medium", "strong"]),
            "model": oc.Choice({"linear": {}, "network": {"layers": oc.Int(1, 6)}}),
        }
    )
    study = oc.Optimizer(space, seed=0, noise=False)
    for _ in range(25):
        trial = study.ask()
        layers = trial.params.get("model.network.layers", 0)
        if layers > 4 and trial.params["rate"] > 1e-2:
            study.fail(trial, "diverged")
            continue
        strength = ["weak", "medium", "strong"].index(trial.params["loss"])
        off = log10(trial.params["rate"]) + 3.0
        study.tell(trial, off**2 + 0.3 * (layers - 3) ** 2 + 0.4 * strength)
    return plots.parallel(study)


def timeline() -> Any:
    simulation = oc.simulate("branin", "sobol", n_workers=6, n_trials=60, overhead=0.05, seed=0)
    return plots.timeline(simulation)


def demo() -> Any:
    problem, result = problems.get("ackley-2"), searched("ackley-2", "gp", 50)
    points = problem.from_unit(problem.space.encode([t.params for t in result.trials]).X)
    axes = plots.surface_2d(problem.evaluate, problem.bounds, points, result.best_trial.number)
    axes.set_title(f"{problem.name}: {len(points)} trials, white to black in their order")
    return axes


PICTURES: dict[str, Callable[[], Any]] = {
    "plot_belief_1d": belief_1d,
    "plot_belief_2d": belief_2d,
    "plot_warping": warping,
    "plot_spartan_weight": spartan_weight,
    "plot_partition_1d": partition_1d,
    "plot_partition_2d": partition_2d,
    "plot_latents_1d": latents_1d,
    "plot_latents_2d": latents_2d,
    "plot_penalised": penalised,
    "plot_convergence_study": convergence_study,
    "plot_convergence": convergence,
    "plot_slices": slices,
    "plot_parallel": parallel,
    "plot_weights": weights,
    "plot_importance": importance,
    "plot_timeline": timeline,
    "demo": demo,
}


def main(names: Sequence[str]) -> int:
    unknown = {*names} - {*PICTURES}
    if unknown:
        print(f"not known: {', '.join(sorted(unknown))}; known are {', '.join(PICTURES)}")
        return 2
    for name in names or PICTURES:
        path = IMAGES / f"{name}.png"
        PICTURES[name]().figure.savefig(path, dpi=DPI, metadata={"Software": None})
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
