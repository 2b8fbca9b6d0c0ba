"""Parts of the methods that `recorded` searches with, and how an expression becomes a method.

Classes are looked up by name when a case runs, so that one that is missing fails its own cases
only. `MOVED` is the one place to adapt if a class gets another name.
"""

from __future__ import annotations

__all__ = ["made", "part"]

from importlib import import_module
from math import inf  # noqa: F401  # for expressions
from types import SimpleNamespace
from typing import Any

import outcrop as oc

MOVED: dict[str, str] = {}  # such as {"surrogates.Arc": "baselines.Arc"}
MODULES = {"initial": "strategies.initial", "pending": "strategies.pending"}
DRAWN = "paths"  # what penalisation calls constants of functions that are drawn from the belief


def part(name: str) -> Any:
    """The public class or function of a name such as `"surrogates.Arc"`."""
    package, _, own = MOVED.get(name, name).rpartition(".")
    return getattr(import_module(f"outcrop.{MODULES.get(package, package)}"), own)


class Package:
    """The public names of a package, looked up when they are used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, own: str) -> Any:
        return part(f"{self.name}.{own}")


acquisition = Package("acquisition")
errors = Package("errors")
inference = Package("inference")
initial = Package("initial")
kernels = Package("kernels")
maximise = Package("maximise")
params = Package("params")
pending = Package("pending")
priors = Package("priors")
strategies = Package("strategies")
surrogates = Package("surrogates")
Method = oc.Method


def made(method: str) -> Any:
    """The method that a name or an expression stands for."""
    return method if method in oc.METHODS else eval(method, globals())


# Methods


def quick(surrogate: Any = None, **parts: Any) -> Any:
    """A method with little inference and a small search."""
    search = {"inference": few_chains(), "maximiser": small_search()}
    return oc.Method(surrogate=surrogate, **{**search, **parts})


def fitted(surrogate: Any, **parts: Any) -> Any:
    """A method with little inference, and else what goes with its surrogate."""
    return oc.Method(surrogate=surrogate, **{"inference": few_chains(), **parts})


def few_chains() -> Any:
    return inference.Slice(chains=3, burn_in=3)


def small_search() -> Any:
    return maximise.Maximiser(spread=96, perturbations=32, resamples=16, starts=2, steps=15)


# Models that a user writes, with free slots


def free(location: float = -1.0, size: Any = None) -> Any:
    return params.free(priors.LogNormal(location, 0.7), size=size)


def each() -> Any:
    """A free slot with one number for each column."""
    return free(size=params.Per.DIMENSION)


def share() -> Any:
    return params.free(priors.Beta(2.0, 2.0))


def matern(size: int | None = None) -> Any:
    return kernels.Matern52(each() if size is None else free(size=size))


def gp(kernel: Any, noise: Any = 1e-4) -> Any:
    return surrogates.GP(kernels.Scaled(free(0.0), kernel), noise)


def spartan_kernel() -> Any:
    centre = params.free(priors.Uniform(0.0, 1.0), size=2)
    return kernels.Spartan((kernels.Region(centre, free(), matern(2)),), matern(2))


def numbers() -> Any:
    """Of the numbers of the situation "mixed", with the ordered levels."""
    return kernels.Subspace((0, 1, 2, 5), matern(4))


def categories() -> Any:
    return kernels.Subspace((3, 4), kernels.Overlap(free(size=2)))


def matches() -> Any:
    return kernels.Subspace((3, 4), kernels.Matches())


LEAVES = (((1, 0),), ((1, 1), (3, 0)), ((1, 1), (3, 1)), ((1, 2),))  # of "conditional"
SEEN = ((0,), (0, 2, 4), (0, 2), (0, 5))  # numbers that are active there


def leaf_kernels() -> tuple[Any, ...]:
    return tuple(
        kernels.Within(leaf, kernels.Scaled(free(0.0), kernels.Subspace(seen, matern(len(seen)))))
        for leaf, seen in zip(LEAVES, SEEN, strict=True)
    )


def shared_kernel(basis: Any) -> Any:
    nodes = (((), (0,), ()), (((1, 1),), (2,), ()), *((leaf, (), ()) for leaf in LEAVES))
    return kernels.Scaled(free(0.0), kernels.PathFeatures(nodes, basis))


def arc_kernel() -> Any:
    columns, conditions = (0, 2, 4, 5), ((), LEAVES[1][:1], LEAVES[1], LEAVES[3])
    radii = params.free(priors.Gamma(3.0, 2.0), size=4)
    angles = params.free(priors.Uniform(0.1, 0.9), size=4)
    return kernels.Arc(columns, conditions, radii, angles, kernels.RBF((1.0,)))


def common_nodes_kernel() -> Any:
    nodes = (((), (0,), 0), *((leaf, seen, 1) for leaf, seen in zip(LEAVES, SEEN, strict=True)))
    return kernels.CommonNodes(nodes, (0, 2, 4, 5), (), free(0.0, size=2), free(size=4), None)


def conditional_kernel() -> Any:
    conditions = ((2, LEAVES[1][:1], False), (4, LEAVES[1], False), (5, LEAVES[3], False))
    own = kernels.Subspace((0, 2, 4, 5), matern(4))
    choice = kernels.Subspace((1,), kernels.Overlap(free(size=1)))
    return kernels.Conditional(conditions, kernels.Product((own, choice)))


def two() -> dict[str, Any]:
    """Two surrogates for one belief."""
    return {
        "smooth": surrogates.Inferred(gp(kernels.RBF(each())), few_chains()),
        "rough": surrogates.Inferred(gp(matern()), few_chains()),
    }


# What a user may pass instead of parts of the library


class Own:
    """A surrogate: anything with `fit`."""

    def fit(self, observations: Any, rng: Any, previous: Any = None) -> Any:
        inferred = surrogates.Inferred(gp(matern()), inference.MAP(starts=2))
        return inferred.fit(observations, rng, previous)


class Broken:
    """A surrogate whose numerics fail whenever there is an odd number of observations."""

    def fit(self, observations: Any, rng: Any, previous: Any = None) -> Any:
        if len(observations.y) % 2:
            raise errors.NumericalError("no factor")
        return Own().fit(observations, rng, previous)


class Wrong:
    """No surrogate at all."""

    def __repr__(self) -> str:
        return "Wrong()"


class OwnStrategy:
    """A strategy: anything with `propose` and `belief`."""

    def propose(self, view: Any, rng: Any) -> Any:
        x, y = rng.random(2)
        found = {"x": 5.0 * x - 2.0, "y": y}
        return strategies.Suggestion(found, {"source": "own", "mean": 1.5}, {"count": view.number})

    def belief(self, view: Any, rng: Any) -> Any:
        return SimpleNamespace(
            predict=lambda X: (X[:, 0], 1.0 + X[:, 1]),
            sample=lambda X, rng, n: rng.random((n, len(X))),
        )
