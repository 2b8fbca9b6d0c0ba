"""Every part of a method there is, found by another road than the code's, with examples."""

import inspect
import re
from dataclasses import fields, is_dataclass
from enum import Enum
from types import ModuleType

import numpy as np
from hypothesis import strategies as st

import outcrop
from outcrop import (
    acquisition,
    baselines,
    inference,
    kernels,
    maximise,
    params,
    priors,
    strategies,
    surrogates,
)
from outcrop.params import Per, free
from outcrop.strategies import initial

# What parts make, and what helps with it: values that no method holds.
MADE = {
    inference.Draws,
    maximise.Maximum,
    params.Layout,
    params.Slot,
    strategies.Suggestion,
    strategies.View,
    surrogates.ForestPosterior,
    surrogates.GPPosterior,
    surrogates.TreedGP,
    surrogates.LeafwisePosterior,
    surrogates.LatentPosterior,
    surrogates.MarginalPosterior,
    surrogates.Mixture,
    surrogates.LeafwisePosterior,
    surrogates.ProcessDraw,
    surrogates.Standardised,
}
OTHERS = {"bandits", "durations", "errors", "plots", "problems", "stop"}  # have no parts

LENGTHSCALES = np.array([0.1 + 0.2, 1e-3])
MATERN = kernels.Matern52(free(priors.LogNormal(-0.1, 1 / 3, 0.5), size=Per.DIMENSION))
SURROGATE = surrogates.Inferred(surrogates.GP(MATERN), inference.Slice(chains=2))

# One or more of each part that needs arguments, or whose arguments are of an unusual kind.
BY_HAND = [
    free(priors.Normal()),
    free(priors.Normal(), size=3),
    free(priors.Normal(), size=Per.OBSERVATION),
    priors.Gamma(1.0, 9.5),
    priors.Beta(2, 0.1),
    priors.Uniform(-1e300, 5e-324),
    priors.Shifted(priors.HalfCauchy(0.3), -0.0),
    kernels.Matern12(LENGTHSCALES),
    kernels.RationalQuadratic(LENGTHSCALES, 1 / 3),
    kernels.RationalQuadratic(free(priors.LogNormal(), size=2), free(priors.Gamma(1, 2))),
    kernels.Offset(1 / 3, kernels.Constant()),
    kernels.Scaled(free(priors.LogNormal()), MATERN),
    kernels.Subspace((2, 0), MATERN),
    kernels.Sum((MATERN, kernels.Product((MATERN, kernels.Overlap([0.5]))))),
    kernels.Additive(0.25, MATERN),
    kernels.SumProduct(free(priors.Uniform(0.0, 1.0)), (MATERN, kernels.Matches())),
    kernels.Conditional(((1, ((0, 2), (3, 1)), False), (2, ((0, 1),), True)), MATERN),
    baselines.ArcEmbedding(
        (1, 2), ((), ((0, 1),)), LENGTHSCALES, LENGTHSCALES / 2, kernels.Matern52([1.0])
    ),
    baselines.CommonNodeSum(((((0, 1),), (1, 2), 0),), (1, 2), (), [0.5], LENGTHSCALES, None),
    kernels.BranchFeatures(
        (((), (1,), ((2, 3),)), (((0, 1),), (), ())), kernels.Fourier(3, seed=1)
    ),
    kernels.Within(((0, 1), (3, 0)), MATERN),
    surrogates.BranchGP(None, (kernels.Within(((0, 1),), MATERN),), noise=free(priors.LogNormal())),
    surrogates.BranchChains(
        surrogates.BranchGP(
            kernels.Scaled(1.0, kernels.BranchFeatures((((), (1,), ()),), kernels.Linear())),
            (kernels.Within(((0, 1),), MATERN),),
        ),
        inference.Slice(chains=2),
    ),
    strategies.TopBranches(acquisition.LogEI(best=0.5), count=2, chosen=(((0, 1),),)),
    strategies.EachBranch(focus=0.5),
    surrogates.Forest(trees=7, categories=((1, 3),), conditions=((2, ((1, 0),)),)),
    surrogates.GP(MATERN, noise=free(priors.Horseshoe()), mean=-0.1),
    surrogates.GP(MATERN, mean=-np.inf),
    surrogates.GP(MATERN, mean=np.nan),
    surrogates.Inferred(surrogates.GP(MATERN), inference.Laplace(), "moment"),
    surrogates.Blend({"class": SURROGATE}),
    surrogates.Blend({"custom": SURROGATE, "tuple": SURROGATE}),
    surrogates.Blend({"tuple": SURROGATE}),
    surrogates.Lottery({"0.1": SURROGATE, "class": SURROGATE}),
    surrogates.LatentGP(MATERN, free(priors.LogNormal()), noise=0.1),
    surrogates.LatentGP(MATERN, 0.0),
    surrogates.Latent((0.3, 0.0), together=True, coordinates=2),
    surrogates.CategoryMix(),
    surrogates.CategoryMix(mix=1 / 3),
    strategies.CoCaBO(),
    strategies.CoCaBO("gp", batch=4, horizon=80, gamma=0.1, reward="raw"),
    acquisition.MaxValueEntropy(minima=np.array([[-np.inf, 0.1], [-0.0, 1e-320]])),
    acquisition.EI(best=np.array([0.1, -0.0])),
    acquisition.SrinivasUCB(delta=0.05, beta=2.0),
    initial.Sobol(size=7),
    maximise.Maximiser(spread=12),
]
# Values for arguments that have no default, by their annotation: enough for most new parts.
BY_ANNOTATION = {
    "float": 0.375,
    "int": 2,
    "Vector": LENGTHSCALES,
    "Kernel": MATERN,
    "Stationary": MATERN,
    "Prior": priors.Normal(),
    "Surrogate": SURROGATE,
    "Acquisition": acquisition.EI(),
    "Any": free(priors.LogNormal()),
}


def public_modules():
    """The modules that `outcrop` offers, and three that users import from."""
    offered = {name: getattr(outcrop, name) for name in outcrop.__all__ if name not in OTHERS}
    modules = {name: value for name, value in offered.items() if isinstance(value, ModuleType)}
    return {**modules, "maximise": maximise, "params": params, "strategies": strategies}


def classes_of_parts():
    """The public concrete dataclasses of these modules, but for those that belong to one space."""
    found = {}
    for name, module in public_modules().items():
        for kind in vars(module).values():
            if not isinstance(kind, type) or not is_dataclass(kind) or inspect.isabstract(kind):
                continue
            is_public = hasattr(module, "__path__") or kind.__module__ == module.__name__
            has_space = any(field.name == "space" for field in fields(kind))
            if is_public and not has_space and kind not in MADE:
                found.setdefault(kind, f"{name}.{kind.__name__}")
    return found


def examples_of(kind):
    """At least one instance of `kind`; fails if nobody has said how to make one."""
    by_hand = [part for part in BY_HAND if type(part) is kind]
    if by_hand:
        return by_hand
    arguments = inspect.signature(kind).parameters.values()
    wanted = {a.name: a.annotation for a in arguments if a.default is inspect.Parameter.empty}
    return [kind(**{name: _value_of(note, kind) for name, note in wanted.items()})]


def _value_of(annotation, kind):
    if annotation in BY_ANNOTATION:
        return BY_ANNOTATION[annotation]
    several = re.fullmatch(r"tuple\[(\w+), \.\.\.\]", annotation)
    if several:
        return (_value_of(several[1], kind),)
    named = [other for other in classes_of_parts() if other.__name__ == annotation]
    assert named, f"add a {kind.__name__} to BY_HAND: nothing is known for {annotation}"
    return examples_of(named[0])[0]


def exact(value):
    """All there is to a value, so that only equals compare equal: types, bits, order of keys."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return "dict", [(key, exact(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [exact(item) for item in value]
    if is_dataclass(value):
        assert vars(value).keys() == {field.name for field in fields(value)}
        return type(value), exact(dict(vars(value)))
    return (type(value), value.name) if isinstance(value, Enum) else (type(value), repr(value))


# Random models, of random parts

positive = st.floats(1e-300, 1e300)
real = st.floats(-1e300, 1e300)
some_priors = st.recursive(
    st.builds(priors.LogNormal, real, positive, real)
    | st.builds(priors.Gamma, positive, positive)
    | st.builds(priors.Normal, real, positive),
    lambda inner: st.builds(priors.Shifted, inner, real),
    max_leaves=2,
)
sizes = st.none() | st.integers(1, 9) | st.sampled_from(Per)
slots = st.builds(free, some_priors, sizes)
vectors = st.lists(positive, min_size=1, max_size=3).map(np.array) | slots
numbers = positive | slots
some_kernels = st.recursive(
    st.builds(kernels.Matern52, vectors)
    | st.builds(kernels.RBF, vectors)
    | st.builds(kernels.RationalQuadratic, vectors, numbers),
    lambda inner: st.one_of(
        st.builds(kernels.Scaled, numbers, inner),
        st.lists(inner, min_size=1, max_size=3).map(tuple).map(kernels.Sum),
        st.builds(kernels.Subspace, st.just((1, 0)), inner),
    ),
    max_leaves=4,
)
some_models = st.builds(surrogates.GP, some_kernels, noise=numbers, mean=real | slots)
names = st.text(max_size=4) | st.sampled_from(["class", "custom", "object", "tuple", "version"])
some_surrogates = st.dictionaries(
    names,
    st.builds(
        surrogates.Inferred,
        some_models,
        st.builds(inference.Slice, chains=st.integers(1, 9), moved=st.none() | st.integers(1, 9)),
    ),
    min_size=1,
    max_size=3,
).map(surrogates.Blend)
