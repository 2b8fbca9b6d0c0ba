"""Networks of 0 to 4 hidden layers for binary classification, tuned over two conditional spaces.

The spaces are those of "Bayesian optimization with tree-structured dependencies" (Jenatton et al.
2017), Figure 3. In both a configuration has the same parameters by their last names, so that one
objective serves them. Splits and networks have a fixed seed: a configuration has one error.
"""

from __future__ import annotations

__all__ = ["EPOCHS", "TOPOLOGIES", "TRAINING", "independent", "mlp_problem", "network", "shared"]

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.datasets import binary_classification
from outcrop.problems import Problem
from outcrop.space import Categorical, Choice, Float, Int, Parameter, Space
from outcrop.typing import Matrix, Params, Vector

LAYERS = 4
UNITS = 30
EPOCHS = 100  # at most; takes the place of the document's limit of 5 minutes
TRAINING = 1000  # rows at most
TEST = 0.2
GIVEN = ("svmguide1",)  # come with a test part, which is used
FAILED = 1.0  # the error of a network whose training breaks down


def independent() -> Space:
    """Every number of layers has parameters of its own."""
    return Space({"layers": Choice({str(n): _own(n) for n in range(LAYERS + 1)})})


def shared() -> Space:
    """Whether there is one more layer is asked step by step; only the penalty is of each number.

    The units of a layer and, from the first one on, the activation are shared by all networks that
    have the layer; what concerns every network is above all choices.
    """
    return Space({**_training(), "layers": _more(0)})


TOPOLOGIES: dict[str, Callable[[], Space]] = {"independent": independent, "shared": shared}


def mlp_problem(data: str, topology: str) -> Problem:
    """Test error on one of the sets of `datasets.binary_classification`."""
    return Problem(
        name=f"mlp-{data}-{topology}",
        space=TOPOLOGIES[topology](),
        function=Misclassified(data),
        tags=("conditional", "tuning"),
        source="Jenatton et al. 2017, section 4.2",
    )


@dataclass(frozen=True)
class Misclassified:
    """The part of the test rows that a trained network gets wrong."""

    data: str

    def __call__(self, params: Params) -> float:
        from sklearn.exceptions import ConvergenceWarning

        normalisation, model = network(params)
        train, test, y_train, y_test = _split(self.data, normalisation)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the epochs are given
            try:
                model.fit(train, y_train)
            except ValueError as error:
                if "non-finite" not in str(error):
                    raise
                return FAILED
        return float(np.mean(model.predict(test) != y_test))


def network(params: Params) -> tuple[str, Any]:
    """How the inputs of a configuration are normalised, and its network."""
    from sklearn.neural_network import MLPClassifier

    own = {name.rpartition(".")[2]: value for name, value in params.items()}
    units = [own[f"units{n}"] for n in range(1, LAYERS + 1) if f"units{n}" in own]
    return own["normalisation"], MLPClassifier(
        hidden_layer_sizes=tuple(units),
        activation=own.get("activation", "identity"),  # of no effect without a hidden layer
        alpha=own["alpha"],
        learning_rate_init=own["learning_rate"],
        tol=own["tolerance"],
        max_iter=EPOCHS,
        random_state=0,
    )


def _own(n: int) -> dict[str, Parameter]:
    units = {f"units{i}": Int(1, UNITS) for i in range(1, n + 1)}
    return {**_training(), **(_activation() if n else {}), **units, "alpha": _penalty()}


def _more(n: int) -> Choice:
    """`n` layers, or more of them."""
    further: dict[str, Parameter] = {
        **({} if n else _activation()),
        f"units{n + 1}": Int(1, UNITS),
        **({"layers": _more(n + 1)} if n + 1 < LAYERS else {"alpha": _penalty()}),
    }
    return Choice({str(n): {"alpha": _penalty()}, "more": further})


def _training() -> dict[str, Parameter]:
    return {
        "learning_rate": Float(1e-5, 1e-1, log=True),
        "tolerance": Float(1e-5, 1e-2, log=True),
        "normalisation": Categorical(["rows", "largest", "standard", "none"]),
    }


def _activation() -> dict[str, Parameter]:
    return {"activation": Categorical(["identity", "logistic", "tanh", "relu"])}


def _penalty() -> Float:
    return Float(1e-6, 1e-1, log=True)


@lru_cache
def _split(data: str, normalisation: str) -> tuple[Matrix, Matrix, Vector, Vector]:
    """Training and test inputs, then labels; features are scaled by what the training rows say."""
    from sklearn.model_selection import train_test_split

    X, y = binary_classification(data)
    parts: list[Any]
    if data in GIVEN:
        parts = train_test_split(X, y, train_size=TRAINING, random_state=0, stratify=y)
        parts[1], parts[3] = binary_classification(f"{data}_test")
    else:
        parts = train_test_split(X, y, test_size=TEST, random_state=0, stratify=y)
    train, test, y_train, y_test = parts
    train, y_train = train[:TRAINING], y_train[:TRAINING]  # in random order since the split
    if normalisation == "rows":
        train, test = (X / _not_zero(np.linalg.norm(X, axis=1))[:, None] for X in (train, test))
    elif normalisation == "largest":
        scale = _not_zero(np.abs(train).max(0))
        train, test = train / scale, test / scale
    elif normalisation == "standard":
        mean, scale = train.mean(0), _not_zero(train.std(0))
        train, test = (train - mean) / scale, (test - mean) / scale
    return train, test, y_train, y_test


def _not_zero(scale: Vector) -> Vector:
    """One in place of zero: a constant stays what it is."""
    return np.where(scale > 0, scale, 1.0)
