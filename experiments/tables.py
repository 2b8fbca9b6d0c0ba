"""Problems whose values were measured beforehand: hyperparameter grids and regressions of them.

A grid is complete, so a call is a look-up and the minimum is known. A regression fitted to a grid
can be searched continuously [Eggensperger et al. 2015]. HP-NNET's runs are scattered, so that a
regression stands in for the training.
"""

from __future__ import annotations

__all__ = [
    "hpnnet",
    "lda",
    "lda_surrogate",
    "logistic_regression",
    "logistic_regression_surrogate",
    "svm",
]

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


def lda_surrogate() -> Problem:
    """Gradient boosting of the grid of online LDA; R² 0.93 on a held-out half."""
    settings = {
        "max_features": 0.8,
        "learning_rate": 0.174,
        "max_depth": 6,
        "min_samples_leaf": 6,
        "n_estimators": 81,
    }
    return _regression(lda(), settings)


def logistic_regression_surrogate() -> Problem:
    """Gradient boosting of the grid of logistic regression; R² 0.998 on a held-out half."""
    settings = {
        "max_features": 0.766,
        "learning_rate": 0.185,
        "max_depth": 9,
        "min_samples_leaf": 8,
        "n_estimators": 91,
    }
    return _regression(logistic_regression(), settings)


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


@dataclass(frozen=True, eq=False)
class GridSurrogate:
    """The prediction of a regression on the unit cube."""

    names: tuple[str, ...]
    model: Any

    def __call__(self, params: Params) -> float:
        row = np.array([[params[name] for name in self.names]], dtype=float)
        return float(self.model.predict(row)[0])


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


def _regression(grid: Problem, settings: Mapping[str, Any]) -> Problem:
    """Gradient boosting of a grid, as a function of continuous parameters.

    `settings` are the best of 100 random ones by their error on a held-out half, from the ranges of
    Eggensperger et al. 2015. A parameter runs from 0 to 1 over its levels, which lie at equal
    distances. Trees split halfway between two levels, so that the function is constant between
    multiples of half a distance, and its minimum is found by one call in each piece.
    """
    from sklearn.ensemble import GradientBoostingRegressor

    function = grid.function
    assert isinstance(function, LookUp)
    levels = [grid.space.parameters[name] for name in function.names]
    steps = [len(levels_of(parameter)) - 1 for parameter in levels]
    codes = [
        [levels_of(parameter).index(value) for parameter, value in zip(levels, cell, strict=True)]
        for cell in function.cells
    ]
    model = GradientBoostingRegressor(random_state=0, **settings)
    model.fit(np.array(codes) / steps, np.array([*function.cells.values()]))
    pieces = [(np.arange(2 * step) + 0.5) / (2 * step) for step in steps]
    everywhere = np.stack(np.meshgrid(*pieces, indexing="ij"), axis=-1).reshape(-1, len(steps))
    values = model.predict(everywhere)
    names = function.names
    return Problem(
        name=f"{grid.name}-surrogate",
        space=Space({name: Float(0.0, 1.0) for name in names}),
        function=GridSurrogate(names, model),
        minimum=float(values.min()),
        minimisers=(dict(zip(names, everywhere[values.argmin()].tolist(), strict=True)),),
        tags=("surrogate",),
        source="Eggensperger et al. 2015; Spartan BO, section 5.2",
    )


def levels_of(parameter: Any) -> list[Any]:
    assert isinstance(parameter, Ordinal)
    return list(parameter.values)
