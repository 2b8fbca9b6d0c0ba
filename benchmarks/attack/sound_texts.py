"""Sound spec files, spaces, methods and event logs, which the attack damages."""

from __future__ import annotations

__all__ = ["SECRET", "SPECS", "logs", "method_texts", "space_texts"]

import contextlib
import json
import warnings
from functools import cache
from random import Random

import numpy as np

import outcrop as oc
from benchmarks.attack.random_spaces import random_space
from benchmarks.recorded_methods import ACQUISITIONS, PENDING
from benchmarks.recorded_parts import made
from outcrop.errors import SpaceError
from outcrop.strategies.method_text import described
from outcrop.study.storage import Memory

SECRET = "hunter2"
SPECS = (
    """\
name = "sim"
command = ["./sim", "--nu={nu}", "--stencil={stencil}", ["-n", "{model.mlp.layers}"], "{c}"]
env = { OMP_NUM_THREADS = "1", CASE = "{trial}" }
cwd = "."
direction = "maximize"
method = "gp"
timeout = 60
storage = "sqlite:///sim.db"
seed = 0
noise = false
robust = false

[objective]
from = "json"
field = "loss.total"

[parameters.nu]
type = "float"
low = 1e-4
high = 1.0
log = true

[parameters.stencil]
type = "categorical"
choices = ["5-point", "9-point", 3, 1.5, true]

[parameters.c]
type = "ordinal"
values = ["s", "m", "l"]

[parameters.model]
type = "choice"
[parameters.model.options.linear]
[parameters.model.options.mlp.layers]
type = "int"
low = 1
high = 4
""",
    """\
name = "noisy"
command = ["{python}", "{here}/sim.py", "{params}"]
robust = true
noise = 0.1
[objective]
from = "file"
path = "out/result.json"
field = "loss"
[parameters.north]
type = "float"
low = 0
high = 500
[parameters.east]
type = "float"
low = 0.0
high = 300.0
step = 0.5
[parameters.k]
type = "int"
low = 0
high = 100
step = 5
input_std = 2.0
[parameters.one]
type = "fixed"
value = "a"
[[input_covariance]]
names = ["north", "east"]
matrix = [[4.0, 1.5], [1.5, 9.0]]
""",
    """\
name = "remote"
command = ["sim", "{x}"]
storage = "postgresql://user:hunter2@127.0.0.1:1/studies"
[parameters.x]
type = "float"
low = -1
high = 1
""",
)


@cache
def space_texts() -> list[str]:
    chance = Random(0)
    texts: list[str] = []
    while len(texts) < 60:
        with contextlib.suppress(SpaceError):
            texts.append(json.dumps(random_space(chance).to_json()))
    return texts


@cache
def method_texts() -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        expressions = [
            *(f"quick(acquisition=acquisition.{each})" for each in ACQUISITIONS),
            *(f"quick(pending=pending.{each})" for each in PENDING),
            "quick(surrogates.Spartan())",
            "quick(surrogates.Treed(surrogates.Warped(), smallest=6))",
            "quick(gp(kernels.Sum((matern(), kernels.Offset(1.0, kernels.RBF(each()))))))",
            "strategies.Perturbed(quick())",
            "strategies.CoCaBO(quick(), horizon=20)",
            "strategies.Hierarchical(quick(), quick(), trials=3)",
        ]
        texts = [json.dumps(described(made(each))) for each in expressions]
    return [*texts, *(json.dumps(name) for name in oc.METHODS)]


@cache
def logs() -> list[tuple[str, ...]]:
    """Logs with every kind of event."""
    spaces = [
        oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])}),
        oc.Space({"m": oc.Choice({"a": {"k": oc.Int(1, 9)}, "b": {}}), "x": oc.Float(0, 1)}),
        oc.Space({"x": oc.Float(0, 1, input_std=0.1), "y": oc.Float(1e-3, 1, log=True)}),
    ]
    found = []
    for space, method in zip(spaces, ["random", "gp", "gp"], strict=True):
        store = Memory()
        study = oc.Study(space, "sound", store, method=method, seed=0)
        rng = np.random.default_rng(0)
        study.add(space.sample(rng, 6), [1.0, 2.0, float("nan"), 0.5, 3.0, 4.0])
        study.enqueue(space.sample(rng))
        trials = study.ask(4)
        where = {"x": 0.5} if space is spaces[2] else None
        study.tell(trials[0], 1.5, std=0.1, info={"note": [1, None]}, at=where)
        study.fail(trials[1], "diverged", info={"traceback": "x"})
        study.release(trials[2])
        study.amend(0, value=0.75, std=0.2, at=where, reason="mistyped")
        study.discard([2, 4], "the disk was full")
        study.stop("done")
        study.tell(study.ask(), float("inf"))
        study.change_space(
            oc.Space({**space.declared, "new": oc.Float(0, 1)}), defaults={"new": 0.5}
        )
        study.ask(lease=1e-9)
        study.ask(lease=600)
        found.append(tuple(store.read(1)))
    return found
