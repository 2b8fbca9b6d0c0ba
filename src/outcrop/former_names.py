"""Public names of earlier versions, and what they are called now.

Stored methods name classes, and programs import them. Both stay valid after a class was renamed:
`current` is used when a stored method is read, `offer_former_names` makes a package answer to the
former names of its classes.
"""

from __future__ import annotations

__all__ = [
    "FORMER",
    "FORMER_FIELDS",
    "FORMER_VALUES",
    "accept_former_value",
    "current",
    "current_label",
    "current_field",
    "current_value",
    "offer_former_names",
]

import sys
import warnings
from importlib import import_module

# Former name of a class to its name now, both as stored: package and class.
FORMER = {
    "bandits.Choice": "bandits.ArmChoice",
    "bandits.State": "bandits.BanditState",
    "durations.Constant": "durations.ConstantDuration",
    "inference.Target": "inference.TargetDensity",
    "initial.OnePerPath": "initial.OnePerBranch",
    "initial.Uniform": "initial.RandomDesign",
    "kernels.Arc": "baselines.ArcEmbedding",
    "kernels.CommonNodes": "baselines.CommonNodeSum",
    "kernels.PathFeatures": "kernels.BranchFeatures",
    "kernels.Spartan": "kernels.LocalGlobal",
    "maximise.DeltaCover": "baselines.DeltaCover",
    "pending.Thompson": "pending.ThompsonSampling",
    "space.Path": "space.Branch",
    "strategies.EachPath": "strategies.EachBranch",
    "strategies.TopPaths": "strategies.TopBranches",
    "surrogates.Arc": "baselines.Arc",
    "surrogates.CoCaBO": "surrogates.CategoryMix",
    "surrogates.CommonNodes": "baselines.CommonNodes",
    "surrogates.Family": "surrogates.Kind",
    "surrogates.Independent": "baselines.Independent",
    "surrogates.Marginal": "baselines.Marginal",
    "surrogates.OneHot": "baselines.OneHot",
    "surrogates.PathChains": "surrogates.BranchChains",
    "surrogates.PathGP": "surrogates.BranchGP",
    "surrogates.PathPosterior": "surrogates.LeafwisePosterior",
    "surrogates.SamplePath": "surrogates.ProcessDraw",
    "surrogates.TreedPosterior": "surrogates.LeafwisePosterior",
}

# The same without packages, of the classes that a record of why names.
LABELS = {
    former.rpartition(".")[2]: now.rpartition(".")[2]
    for former, now in FORMER.items()
    if former.partition(".")[0] in ("initial", "strategies", "surrogates")
}

# By the name of a class now and a former field: the field now.
FORMER_FIELDS = {("acquisition.Thompson", "path"): "draw"}

# By the name of a class now and a field: former values of that field to the values now.
FORMER_VALUES = {
    ("pending.HardPenalisation", "constants"): {"paths": "draws"},
    ("pending.LocalPenalisation", "constants"): {"paths": "draws"},
    ("pending.PLAyBOOK", "constants"): {"paths": "draws"},
}

# Packages that are not directly below outcrop.
HOMES = {
    "durations": "study.simulation.durations",
    "initial": "strategies.initial",
    "pending": "strategies.pending",
}


def current(name: str) -> str:
    """Today's name of a class.

    >>> current("initial.OnePerPath"), current("initial.Sobol")
    ('initial.OnePerBranch', 'initial.Sobol')
    """
    return FORMER.get(name, name)


def current_label(label: str) -> str:
    """Today's name of a class without its package, as a record of why has it.

    >>> current_label("OnePerPath"), current_label("gp")
    ('OnePerBranch', 'gp')
    """
    return LABELS.get(label, label)


def current_field(name: str, field: str) -> str:
    """Today's name of a field of the class called `name` today."""
    return FORMER_FIELDS.get((name, field), field)


def current_value(name: str, field: str, value: object) -> object:
    """Today's value of a field of the class called `name` today."""
    former = FORMER_VALUES.get((name, field), {})
    return former.get(value, value) if isinstance(value, str) else value


def accept_former_value(instance: object, package: str, field: str) -> None:
    """Replace a former value of a field of a new frozen dataclass, with a warning."""
    kind, value = type(instance).__name__, getattr(instance, field)
    now = current_value(f"{package}.{kind}", field, value)
    if now != value:
        message = f"{kind}({field}={value!r}) is now written {kind}({field}={now!r})"
        warnings.warn(message, DeprecationWarning, stacklevel=4)  # where the instance is made
        object.__setattr__(instance, field, now)


def offer_former_names(module: str) -> None:
    """Let the module called `module` answer to former names of its classes, with a warning.

    Called rather than defined as a `__getattr__` of the module, so that a misspelt name stays an
    error to type checkers.
    """
    package = module.rpartition(".")[2]

    def former(name: str) -> object:
        now = FORMER.get(f"{package}.{name}")
        if now is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        message = f"outcrop.{package}.{name} is now called outcrop.{now}"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        home, _, kind = now.rpartition(".")
        return getattr(import_module(f"outcrop.{HOMES.get(home, home)}"), kind)

    vars(sys.modules[module])["__getattr__"] = former
