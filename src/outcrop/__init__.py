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
    "Categorical",
    "Choice",
    "Fixed",
    "Float",
    "Int",
    "Method",
    "Optimizer",
    "Ordinal",
    "Space",
    "Trial",
    "acquisition",
    "errors",
    "inference",
    "initial",
    "kernels",
    "maximize",
    "minimize",
    "pending",
    "plots",
    "priors",
    "problems",
    "surrogates",
]

from outcrop import acquisition, errors, inference, kernels, plots, priors, problems, surrogates
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from outcrop.strategies import METHODS, Method, initial, pending
from outcrop.study import Optimizer, Trial, maximize, minimize
