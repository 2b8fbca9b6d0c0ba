"""Thirteen tuning tasks on scikit-learn's bundled data; the minimum of none is known.

Support vectors, kernels, boosting, forests and networks with fixed seeds; `pipelines` has those
with conditions. An instance is a split of the data into three folds.
"""

from __future__ import annotations

__all__ = ["TUNING", "tuning_problem"]

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from experiments.suite import pipelines
from experiments.suite.folds import Build, Fold, error, folds, log_loss, ranking_loss, rmse
from experiments.suite.instances import require_open
from outcrop.problems import Problem
from outcrop.space import Categorical, Float, Int, Space
from outcrop.typing import Params

EPOCHS = 30

Loss: TypeAlias = Callable[[Build, tuple[Fold, ...]], float]


@dataclass(frozen=True, eq=False)
class Task:
    """What is tuned: the space, the data, the model of a configuration, and its loss."""

    data: str
    space: Space
    model: Callable[[Params], Any]
    loss: Loss


@dataclass(frozen=True, eq=False)
class OnFolds:
    """The loss of a configuration of a task on the folds of an instance."""

    name: str
    instance: int

    def __call__(self, params: Params) -> float:
        task = TASKS[self.name]
        return task.loss(partial(task.model, params), folds(task.data, self.instance))


def tuning_problem(name: str, instance: int) -> Problem:
    require_open(instance)
    return Problem(
        name=f"{name}-i{instance}",
        space=TASKS[name].space,
        function=OnFolds(name, instance),
        tags=("tuning",),
        source=f"scikit-learn, {TASKS[name].data}",
    )


def support_vectors(params: Params) -> Any:
    from sklearn.svm import SVC

    return SVC(**params)


def support_regression(params: Params) -> Any:
    from sklearn.svm import SVR

    return SVR(**params)


def kernel_ridge(params: Params) -> Any:
    from sklearn.kernel_ridge import KernelRidge

    return KernelRidge(**params)


def boosting(params: Params) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(random_state=0, **params)


def boosting_regression(params: Params) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor

    return GradientBoostingRegressor(random_state=0, **params)


def forest(params: Params) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=25, random_state=0, **params)


def network(params: Params) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(**_network_settings(params))


def network_regression(params: Params) -> Any:
    from sklearn.neural_network import MLPRegressor

    return MLPRegressor(**_network_settings(params))


def _network_settings(params: Params) -> dict[str, Any]:
    settings = dict(params)
    units = settings.pop("units")
    return {"hidden_layer_sizes": (units,), "max_iter": EPOCHS, "random_state": 0, **settings}


BOOSTING = Space(
    {
        "n_estimators": Int(5, 40, log=True),
        "learning_rate": Float(0.01, 1.0, log=True),
        "max_depth": Int(1, 5),
        "subsample": Float(0.3, 1.0),
        "max_features": Float(0.1, 1.0),
    }
)
NETWORK = {
    "units": Int(4, 64, log=True),
    "activation": Categorical(["relu", "tanh", "logistic"]),
    "alpha": Float(1e-6, 1.0, log=True),
    "learning_rate_init": Float(1e-4, 0.3, log=True),
    "batch_size": Int(8, 128, log=True),
}
FOREST = Space(
    {
        "max_depth": Int(1, 12),
        "min_samples_leaf": Int(1, 20, log=True),
        "max_features": Float(0.05, 1.0),
        "max_samples": Float(0.1, 1.0),
        "criterion": Categorical(["gini", "entropy"]),
    }
)
RADIAL = {"C": Float(1e-3, 1e3, log=True), "gamma": Float(1e-5, 10.0, log=True)}

TASKS = {
    "svc-breast-cancer": Task("breast_cancer", Space(RADIAL), support_vectors, ranking_loss),
    "svc-digits": Task(
        "digits",
        Space(
            {
                "kernel": Categorical(["rbf", "poly", "sigmoid"]),
                "C": Float(1e-3, 1e3, log=True),
                "gamma": Float(1e-5, 1.0, log=True),
                "coef0": Float(-1.0, 1.0),
            }
        ),
        support_vectors,
        error,
    ),
    "svr-diabetes": Task(
        "diabetes",
        Space({**RADIAL, "epsilon": Float(1e-3, 1.0, log=True)}),
        support_regression,
        rmse,
    ),
    "kernel-ridge-diabetes": Task(
        "diabetes",
        Space(
            {
                "kernel": Categorical(["rbf", "laplacian", "polynomial"]),
                "alpha": Float(1e-4, 100.0, log=True),
                "gamma": Float(1e-5, 1.0, log=True),
                "coef0": Float(0.0, 2.0),
            }
        ),
        kernel_ridge,
        rmse,
    ),
    "boosting-breast-cancer": Task("breast_cancer", BOOSTING, boosting, log_loss),
    "boosting-diabetes": Task("diabetes", BOOSTING, boosting_regression, rmse),
    "forest-wine": Task("wine", FOREST, forest, log_loss),
    "network-wine": Task("wine", Space(NETWORK), network, log_loss),
    "network-iris": Task(
        "iris",
        Space(
            {
                **NETWORK,
                "solver": Categorical(["adam", "sgd"]),
                "momentum": Float(0.0, 0.99),
            }
        ),
        network,
        log_loss,
    ),
    "network-diabetes": Task("diabetes", Space(NETWORK), network_regression, rmse),
    "pipeline-digits": Task("digits", pipelines.DIGITS, pipelines.classifier, error),
    "pipeline-breast-cancer": Task(
        "breast_cancer", pipelines.BREAST_CANCER, pipelines.classifier, ranking_loss
    ),
    "pipeline-diabetes": Task("diabetes", pipelines.DIABETES, pipelines.regressor, rmse),
}
TUNING = list(TASKS)
