"""Pipelines with conditions: a preparation of the inputs, then one of several models.

Flat names are those of the library: `model` is the chosen option, `model.svc.C` its parameter.
"""

from __future__ import annotations

__all__ = ["BREAST_CANCER", "DIABETES", "DIGITS", "classifier", "regressor"]

from typing import Any

from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.typing import Params

EPOCHS, TREES = 30, 20

RADIAL = {"C": Float(1e-3, 1e3, log=True), "gamma": Float(1e-5, 1.0, log=True)}
NEIGHBOURS = {
    "n_neighbors": Int(1, 40, log=True),
    "weights": Categorical(["uniform", "distance"]),
    "p": Float(1.0, 4.0),
}
BOOSTING = {
    "learning_rate": Float(0.01, 1.0, log=True),
    "max_depth": Int(1, 5),
    "subsample": Float(0.3, 1.0),
}
NETWORK = {
    "units": Int(4, 64, log=True),
    "alpha": Float(1e-6, 1.0, log=True),
    "learning_rate_init": Float(1e-4, 0.1, log=True),
}

DIGITS = Space(
    {
        "inputs": Choice({"all": {}, "components": {"number": Int(2, 40)}}),
        "model": Choice(
            {
                "svc": RADIAL,
                "neighbours": NEIGHBOURS,
                "ridge": {"alpha": Float(1e-3, 1e4, log=True)},
            }
        ),
    }
)
BREAST_CANCER = Space(
    {
        "inputs": Choice({"all": {}, "components": {"number": Int(2, 20)}}),
        "model": Choice({"svc": RADIAL, "boosting": BOOSTING, "network": NETWORK}),
    }
)
DIABETES = Space(
    {
        "inputs": Choice({"all": {}, "products": {}, "components": {"number": Int(2, 9)}}),
        "model": Choice(
            {
                "ridge": {"alpha": Float(1e-2, 1e4, log=True)},
                "svr": {**RADIAL, "epsilon": Float(1e-3, 1.0, log=True)},
                "neighbours": NEIGHBOURS,
                "boosting": BOOSTING,
            }
        ),
    }
)


def classifier(params: Params) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import RidgeClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.svm import SVC

    own = below(params, "model")
    match params["model"]:
        case "svc":
            model = SVC(**own)
        case "neighbours":
            model = KNeighborsClassifier(**own)
        case "ridge":
            model = RidgeClassifier(**own)
        case "boosting":
            model = GradientBoostingClassifier(n_estimators=TREES, random_state=0, **own)
        case _:
            sizes = (own.pop("units"),)
            model = MLPClassifier(sizes, max_iter=EPOCHS, random_state=0, **own)
    return _prepared(params, model)


def regressor(params: Params) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.linear_model import Ridge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import SVR

    own = below(params, "model")
    match params["model"]:
        case "ridge":
            model = Ridge(**own)
        case "svr":
            model = SVR(**own)
        case "neighbours":
            model = KNeighborsRegressor(**own)
        case _:
            model = GradientBoostingRegressor(n_estimators=TREES, random_state=0, **own)
    return _prepared(params, model)


def below(params: Params, choice: str) -> dict[str, Any]:
    """The parameters that the chosen option opens, by their short names."""
    prefix = f"{choice}.{params[choice]}."
    return {n.removeprefix(prefix): x for n, x in params.items() if n.startswith(prefix)}


def _prepared(params: Params, model: Any) -> Any:
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    match params["inputs"]:
        case "components":
            number = below(params, "inputs")["number"]
            return make_pipeline(PCA(number, svd_solver="full"), model)
        case "products":
            products = PolynomialFeatures(2, include_bias=False)
            return make_pipeline(products, StandardScaler(), model)
    return model
