"""Bayesian optimisation of objectives that misbehave.

>>> import outcrop as oc
>>> space = oc.Space({"x": oc.Float(-5, 5), "kind": oc.Categorical(["a", "b"])})
>>> result = oc.minimize(lambda p: p["x"] ** 2 + (p["kind"] == "b"), space, n_trials=15, seed=0)
>>> result.best_params["kind"]
'a'
"""

from __future__ import annotations

__all__ = [
    "METHODS",
    "ActiveParams",
    "Categorical",
    "Choice",
    "Fixed",
    "Float",
    "Int",
    "Method",
    "Optimizer",
    "Ordinal",
    "Space",
    "Study",
    "Trial",
    "__version__",
    "acquisition",
    "bandits",
    "baselines",
    "delete_study",
    "durations",
    "errors",
    "inference",
    "initial",
    "kernels",
    "list_studies",
    "load_study",
    "maximize",
    "minimize",
    "pending",
    "plots",
    "priors",
    "problems",
    "report",
    "simulate",
    "stop",
    "surrogates",
]

from importlib import import_module
from typing import TYPE_CHECKING, Any

from outcrop import (
    acquisition,
    bandits,
    baselines,
    errors,
    inference,
    kernels,
    priors,
    surrogates,
)
from outcrop.space import ActiveParams, Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from outcrop.strategies import METHODS, Method, initial, pending
from outcrop.study import (
    Optimizer,
    Study,
    Trial,
    delete_study,
    list_studies,
    load_study,
    maximize,
    minimize,
)

__version__ = "0.1.0"  # of the package too, see pyproject.toml

if TYPE_CHECKING:
    from outcrop import plots, problems
    from outcrop.reports import report
    from outcrop.study import stop
    from outcrop.study.simulation import durations, simulate


def __getattr__(name: str) -> Any:
    """What few programs need is loaded when it is first used."""
    if name in ("plots", "problems"):
        return import_module(f"outcrop.{name}")
    if name == "report":
        return import_module("outcrop.reports").report
    if name == "stop":
        return import_module("outcrop.study.running.stopping")
    if name in ("durations", "simulate"):
        return getattr(import_module("outcrop.study.simulation"), name)
    raise AttributeError(f"module 'outcrop' has no attribute {name!r}")
