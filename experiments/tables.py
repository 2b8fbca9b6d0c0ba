"""Problems whose values were measured beforehand: hyperparameter grids and the HP-NNET surrogate.

A grid is complete, so a call is a look-up and the minimum is known. HP-NNET's runs are scattered,
so a regression fitted to them stands in for the training.
"""

from __future__ import annotations

__all__ = ["hpnnet", "lda", "logistic_regression", "svm"]

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.datasets import DATA, columns
from outcrop.problems import Problem
from outcrop.space import Categorical, Float, Ordinal, Space
from outcrop.typing import Params

HPNNET_TREES, HPNNET_DEPTH = 300, 6  # R² 0.89 on a held-out half
HPNNET_OBJECTIVE = "validation_error"


def lda() -> Problem:
    """Online LDA on Wikipedia: perplexity over 6 × 6 × 8 settings."""
    return _grid("lda", {"kappa": float, "tau0": int, "batch_size": int}, "perplexity")


def svm() -> Problem:
    """Latent structured SVM on protein-DNA binding: test error over 25 × 14 × 4 settings."""
    return _grid("svm", {"C": float, "alpha": float, "epsilon": float}, "test_error")


def logistic_regression() -> Problem:
    """Logistic regression on MNIST: validation error over 11 × 11 × 8 × 10 settings."""
    kinds = {"learning_rate": float, "l2_reg": float, "batch_size": int, "n_epochs": int}
    return _grid("logreg", kinds, "validation_error")


def hpnnet() -> Problem:
    """HP-NNET on the convex data: predicted validation error of 7 floats and 7 categories.

    Parameters that a choice makes irrelevant are accepted and do not change the value. The first
    call fits the regression, which takes a second and scikit-learn.
    """
    declared = _hpnnet_space()
    return Problem(
        name="hpnnet-convex",
        space=Space(
            {
                **{name: Float(s["low"], s["high"]) for name, s in declared["continuous"].items()},
                **{name: Categorical(s["choices"]) for name, s in declared["categorical"].items()},
            }
        ),
        function=HpnnetSurrogate(),
        tags=("mixed", "surrogate"),
        source="Eggensperger et al. 2015; Spartan BO, section 5.2",
    )


@dataclass(frozen=True, eq=False)
class LookUp:
    """The measured value of a cell of a grid."""

    names: tuple[str, ...]
    cells: Mapping[tuple[float, ...], float]

    def __call__(self, params: Params) -> float:
        return self.cells[tuple(params[name] for name in self.names)]


@dataclass(frozen=True)
class HpnnetSurrogate:
    """The regression's prediction, with irrelevant parameters at their defaults as in its data."""

    def __call__(self, params: Params) -> float:
        specifications = _hpnnet_parameters()
        row = [
            params[name] if _relevant(specification, params) else specification["default"]
            for name, specification in specifications.items()
        ]
        model, controller = _hpnnet_regression()
        with controller.limit(limits=1):
            return float(model.predict(np.array([row], dtype=float))[0])


def _relevant(specification: Mapping[str, Any], params: Params) -> bool:
    conditions = specification.get("active_if", {})
    return all(params[parent] in values for parent, values in conditions.items())


@lru_cache(maxsize=1)
def _hpnnet_space() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DATA / "hpnnet_convex" / "space.json").read_text("utf-8"))
    return content


def _hpnnet_parameters() -> dict[str, Any]:
    declared = _hpnnet_space()
    return {**declared["continuous"], **declared["categorical"]}


@lru_cache(maxsize=1)
def _hpnnet_regression() -> tuple[Any, Any]:
    """The fitted regression, and what keeps it to one thread: two wait for each other when busy."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import ThreadpoolController

    runs = columns("hpnnet_convex/hpnnet_convex.csv")
    model = HistGradientBoostingRegressor(
        max_iter=HPNNET_TREES,
        max_depth=HPNNET_DEPTH,
        categorical_features=["choices" in s for s in _hpnnet_parameters().values()],
        random_state=0,
    )
    X = np.column_stack([runs[name] for name in _hpnnet_parameters()])
    controller = ThreadpoolController()
    with controller.limit(limits=1):
        return model.fit(X, runs[HPNNET_OBJECTIVE]), controller


def _grid(name: str, kinds: dict[str, type[int] | type[float]], objective: str) -> Problem:
    """A complete grid as ordinal levels; `kinds` says which columns hold whole numbers."""
    table = columns(f"hpo_grids/{name}_grid.csv", [*kinds, objective])
    settings = {key: [kind(x) for x in table[key].tolist()] for key, kind in kinds.items()}
    values = table[objective].tolist()
    cells = dict(zip(zip(*settings.values(), strict=True), values, strict=True))
    minimum = min(values)
    return Problem(
        name=f"{name}-grid",
        space=Space({key: Ordinal(sorted(set(column))) for key, column in settings.items()}),
        function=LookUp(tuple(kinds), cells),
        minimum=minimum,
        minimisers=tuple(
            dict(zip(kinds, cell, strict=True)) for cell, value in cells.items() if value == minimum
        ),
        tags=("grid",),
        source="HPOlib's tables; HTBO, Table 1; Spartan BO, section 5.2",
    )
