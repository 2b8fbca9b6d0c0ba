"""Five tasks for searches over the parameters of estimators, on scikit-learn's bundled data.

A task is declared once, in Outcrop's parameters, and translated to the form of each library. The
parameters of the pipeline depend on its steps: it is a list of alternatives, and for libraries that
know no alternatives an estimator that has the parameters of all of them.
"""

from __future__ import annotations

__all__ = ["TASKS", "FlatPipeline", "SearchTask", "data_of"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, SVR

from outcrop.space import Categorical, Choice, Float, Int, Parameter

FOLDS, REPEATS = 5, 10  # of the judge
JUDGE = 1000  # its seed, which no run has
DIGITS = 400  # samples of the digits

SCALERS = {"standard": StandardScaler(), "range": MinMaxScaler(), "none": "passthrough"}
MODELS: dict[str, tuple[Any, dict[str, Parameter]]] = {
    "svc": (SVC(), {"C": Float(1e-2, 1e3, log=True), "gamma": Float(1e-5, 1.0, log=True)}),
    "forest": (
        RandomForestClassifier(n_estimators=10, random_state=0),
        {"max_depth": Int(1, 12), "max_features": Float(0.05, 1.0)},
    ),
    "logistic": (LogisticRegression(max_iter=100), {"C": Float(1e-4, 1e2, log=True)}),
    "neighbours": (
        KNeighborsClassifier(),
        {"n_neighbors": Int(1, 30), "weights": Categorical(["uniform", "distance"])},
    ),
}


@dataclass(frozen=True)
class SearchTask:
    """Data, an estimator, its parameters, and how a configuration is scored."""

    data: str
    estimator: Any
    parameters: Mapping[str, Parameter]
    scoring: str
    is_conditional: bool = False

    @property
    def alternatives(self) -> list[dict[str, Any]]:
        """The parameters by alternatives, each with its own estimator."""
        if not self.is_conditional:
            return [dict(self.parameters)]
        scaling = {"scale": list(SCALERS.values()), "reduce__n_components": Int(2, 20)}
        return [
            {
                **scaling,
                "model": [model],
                **{f"model__{name}": parameter for name, parameter in own.items()},
            }
            for model, own in MODELS.values()
        ]

    @property
    def tree(self) -> dict[str, Any]:
        """The parameters with a choice among models, each of which has parameters of its own."""
        return {
            "scale": list(SCALERS.values()),
            "reduce__n_components": Int(2, 20),
            "model": Choice({name: own for name, (_, own) in MODELS.items()}),
        }

    @property
    def models(self) -> dict[str, dict[str, Any]]:
        """The estimators among which the tree chooses."""
        if not self.is_conditional:
            return {}
        return {"model": {name: model for name, (model, _) in MODELS.items()}}

    @property
    def judge(self) -> Any:
        """The folds that decide how good a configuration is; no search sees them."""
        kind = RepeatedKFold if self.data == "diabetes" else RepeatedStratifiedKFold
        return kind(n_splits=FOLDS, n_repeats=REPEATS, random_state=JUDGE)


class FlatPipeline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The conditional pipeline with the parameters of all its models at once."""

    def __init__(
        self,
        scale: str = "none",
        components: int = 2,
        model: str = "svc",
        svc_C: float = 1.0,
        svc_gamma: float = 0.1,
        forest_max_depth: int = 3,
        forest_max_features: float = 0.5,
        logistic_C: float = 1.0,
        neighbours_n_neighbors: int = 5,
        neighbours_weights: str = "uniform",
    ) -> None:
        self.scale = scale
        self.components = components
        self.model = model
        self.svc_C = svc_C
        self.svc_gamma = svc_gamma
        self.forest_max_depth = forest_max_depth
        self.forest_max_features = forest_max_features
        self.logistic_C = logistic_C
        self.neighbours_n_neighbors = neighbours_n_neighbors
        self.neighbours_weights = neighbours_weights

    def fit(self, X: Any, y: Any) -> FlatPipeline:
        self.classes_ = np.unique(y)
        params = flat_params(self.get_params())
        self.pipeline_ = clone(PIPELINE).set_params(**clone(params, safe=False)).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        return self.pipeline_.predict(X)

    def decision_function(self, X: Any) -> Any:
        if hasattr(self.pipeline_, "decision_function"):
            return self.pipeline_.decision_function(X)
        return self.pipeline_.predict_proba(X)[:, 1]


def flat_params(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of the pipeline that those of `FlatPipeline` stand for."""
    model, own = MODELS[flat["model"]]
    return {
        "scale": SCALERS[flat["scale"]],
        "reduce__n_components": flat["components"],
        "model": model,
        **{f"model__{name}": flat[f"{flat['model']}_{name}"] for name in own},
    }


@cache
def data_of(name: str) -> tuple[Any, Any]:
    """Features and labels."""
    load: Callable[..., Any] = getattr(datasets, f"load_{name}")
    X, y = load(return_X_y=True)
    if name == "digits":
        chosen = np.random.default_rng(0).permutation(len(y))[:DIGITS]
        return X[chosen], y[chosen]
    return X, y


PIPELINE = Pipeline([("scale", StandardScaler()), ("reduce", PCA()), ("model", SVC())])
TASKS = {
    "svc-digits": SearchTask(
        "digits",
        SVC(),
        {"C": Float(1e-2, 1e3, log=True), "gamma": Float(1e-6, 1e-1, log=True)},
        "accuracy",
    ),
    "trees-breast-cancer": SearchTask(
        "breast_cancer",
        ExtraTreesClassifier(n_estimators=15, random_state=0),
        {
            "max_depth": Int(1, 15),
            "max_features": Float(0.03, 1.0),
            "min_samples_leaf": Int(1, 20),
            "min_samples_split": Int(2, 40),
            "criterion": Categorical(["gini", "entropy"]),
        },
        "neg_brier_score",
    ),
    "network-wine": SearchTask(
        "wine",
        Pipeline(
            [("scale", StandardScaler()), ("net", MLPClassifier(max_iter=30, random_state=0))]
        ),
        {
            "net__hidden_layer_sizes": Int(2, 40),
            "net__alpha": Float(1e-6, 10.0, log=True),
            "net__learning_rate_init": Float(1e-4, 1.0, log=True),
            "net__activation": Categorical(["relu", "tanh", "logistic"]),
        },
        "neg_log_loss",
    ),
    "svr-diabetes": SearchTask(
        "diabetes",
        Pipeline([("scale", StandardScaler()), ("svr", SVR())]),
        {
            "svr__C": Float(1e-1, 1e4, log=True),
            "svr__gamma": Float(1e-5, 1.0, log=True),
            "svr__epsilon": Float(1e-1, 1e2, log=True),
        },
        "neg_root_mean_squared_error",
    ),
    "pipeline-breast-cancer": SearchTask(
        "breast_cancer",
        PIPELINE,
        {
            "scale": Categorical([*SCALERS]),
            "components": Int(2, 20),
            "model": Categorical([*MODELS]),
            **{
                f"{model}_{name}": parameter
                for model, (_, own) in MODELS.items()
                for name, parameter in own.items()
            },
        },
        "roc_auc",
        is_conditional=True,
    ),
}
