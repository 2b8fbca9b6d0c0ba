"""Damaged spec files, spaces, methods and event logs: each is accepted, or refused in one sentence.

A case takes a sound text, damages it in one to three places, and reads it:

- a spec, by the command line: exit code 2 and one line, which does not contain the password of a
  URL; one that is accepted also makes a study and a first suggestion
- a space, by `Space.from_json`; one that is accepted is written, read again and sampled from
- a method, by `load_study` of a log whose first event holds it
- a log, by `load_study`; one that is accepted is looked at, asked and told
"""

from __future__ import annotations

__all__ = ["KINDS", "NAME", "attack", "case"]

import contextlib
import io
import json
import tempfile
import tomllib
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.attack.guarded import outcomes
from benchmarks.attack.random_spaces import is_inside, random_space
from benchmarks.attack.strange import JSON
from benchmarks.recorded_methods import ACQUISITIONS, PENDING
from benchmarks.recorded_parts import made
from outcrop.cli.app import main
from outcrop.cli.spec import read_spec
from outcrop.errors import OutcropError, SpaceError, SpaceExhausted
from outcrop.strategies.method_text import described
from outcrop.study.storage import Memory

NAME = "mutations"
DEADLINE = 120.0  # seconds of a case, after which it counts as a hang
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
TOKENS = [
    *("nan", "inf", "-inf", "1e400", "9" * 400, "-0.0", "true", '""', "''", "[]", "{}", "[[]]"),
    *("{", "}", "{{", "{x", '"', "'", '"""', "#", "=", ",", "\n", "\t", "\0", "\x1b[31m", "é"),
    *("1979-05-27", "07:32:00", "0x1F", "1_000", "\\u0000", "[parameters]", "[[parameters]]"),
    *("../", "/", "@", ":", "%", "?", "abc", "{here}", "{folder}", "{nu}", "sqlite://", "NaN"),
    *("null", '"class"', '"version"', "2", "-1", "[" * 3000, "{a=" * 3000, "(" * 300),
]
KINDS = ("spec", "space", "method", "log")


def case(index: int, seed: int = 0) -> dict[str, Any]:
    """Run a case: whether it was accepted, by which exception it was refused, what is wrong."""
    chance = Random(f"{seed} {index}")
    kind = KINDS[index % len(KINDS)]
    report: dict[str, Any] = {"case": index, "kind": kind, "accepted": False, "problems": []}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            CHECKS[kind](chance, report)
        except OutcropError as error:
            report["refused"] = type(error).__name__
            if not str(error).strip():
                _problem(report, "silent", repr(error))
        except Exception as error:
            foreign = "warning" if isinstance(error, Warning) else "foreign"
            _problem(report, foreign, traceback.format_exc())
    return report


def _problem(report: dict[str, Any], kind: str, text: str) -> None:
    report["problems"].append({"kind": kind, "call": report["kind"], "text": text[-1500:]})


# Checks


def _check_spec(chance: Random, report: dict[str, Any]) -> None:
    text = _damaged_spec(chance)
    while not _is_local(text):
        text = _damaged_spec(chance)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        spec = Path("spec.toml")
        spec.write_bytes(text.encode(errors="surrogateescape"))
        out, err = io.StringIO(), io.StringIO()
        command = chance.choice(["show", "best", "export"])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([command, str(spec)])
        said = out.getvalue() + err.getvalue()
        if code != 2 or not err.getvalue().startswith("error: ") or out.getvalue():
            _problem(report, "exit code", f"{code}: {said}")
        if err.getvalue().count("\n") != 1:
            _problem(report, "lines", said)
        if SECRET in said:
            _problem(report, "password", said)
        read = read_spec(spec)
    report["accepted"] = True
    options = {"direction": read.direction, "seed": read.seed, "noise": read.noise}
    study = oc.Study(read.space, method=read.method, robust=read.robust, **options)
    _ask(study, report)


def _damaged_spec(chance: Random) -> str:
    text = chance.choice(SPECS)
    for _ in range(chance.choice([1, 1, 2, 3])):
        text = _damaged_text(text, chance)
    return text


def _check_space(chance: Random, report: dict[str, Any]) -> None:
    data = json.loads(chance.choice(_space_texts()))
    space = oc.Space.from_json(_damaged(data, chance))
    report["accepted"] = True
    again = oc.Space.from_json(json.loads(json.dumps(space.to_json())))
    if again != space:
        _problem(report, "round trip", repr(space))
    for params in space.sample(np.random.default_rng(0), 3):
        if not is_inside(space, params):
            _problem(report, "outside", f"{params} in {space!r}")


def _check_method(chance: Random, report: dict[str, Any]) -> None:
    first, *_ = chance.choice(_logs())
    created = json.loads(first)
    created["method"] = json.loads(chance.choice(_method_texts()))
    for _ in range(chance.choice([1, 1, 2])):
        created["method"] = _damaged_json(created["method"], chance)
    _loaded([json.dumps(created)])
    report["accepted"] = True


def _check_log(chance: Random, report: dict[str, Any]) -> None:
    lines = list(chance.choice(_logs()))
    for _ in range(chance.choice([1, 1, 2, 3])):
        place = chance.randrange(len(lines))
        match chance.randrange(6):
            case 0:
                del lines[place]
            case 1:
                lines.insert(place, chance.choice(lines))
            case 2:
                other = chance.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
            case 3:
                lines[place] = _damaged_text(lines[place], chance)
            case _:
                with contextlib.suppress(ValueError):  # it was damaged as text before
                    lines[place] = json.dumps(_damaged_json(json.loads(lines[place]), chance))
        if not lines:
            break
    study = _loaded(lines or [""])
    report["accepted"] = True
    for trial in study.trials:
        if not is_inside(study.space, trial.params):
            _problem(report, "outside", f"{dict(trial.params)} in {study.space!r}")
    repr(study)
    for look in (study.explain, lambda: study.best_trial, study.replay):
        with contextlib.suppress(OutcropError):
            look()
    _ask(study, report)


def _loaded(lines: list[str]) -> oc.Study:
    """The study with these lines as its log."""
    store = Memory()
    identity = store.create("damaged", lines[0])
    assert identity is not None  # the store was empty
    store.append(identity, 1, lines[1:])
    return oc.load_study("damaged", store)


def _ask(study: oc.Study, report: dict[str, Any]) -> None:
    with contextlib.suppress(SpaceExhausted):
        trial = study.ask()
        if not is_inside(study.space, trial.params):
            _problem(report, "outside", f"{dict(trial.params)} in {study.space!r}")
        study.tell(trial, 0.5)


CHECKS: dict[str, Callable[[Random, dict[str, Any]], None]] = {
    "spec": _check_spec,
    "space": _check_space,
    "method": _check_method,
    "log": _check_log,
}


def _is_local(text: str) -> bool:
    """Whether a spec's store is a file beside it, or the host of the sound spec."""
    try:
        storage = tomllib.loads(text).get("storage")
    except (ValueError, RecursionError):
        return True  # it cannot be read
    if not isinstance(storage, str):
        return True
    scheme, _, rest = storage.partition("://")
    if scheme.startswith("sqlite"):
        path = PurePosixPath(rest.removeprefix("/").partition("?")[0])
        return not path.is_absolute() and ".." not in path.parts
    return "@127.0.0.1:1/" in rest or "://" not in storage or "@" not in rest


# Sound texts


@cache
def _space_texts() -> list[str]:
    chance = Random(0)
    texts: list[str] = []
    while len(texts) < 60:
        with contextlib.suppress(SpaceError):
            texts.append(json.dumps(random_space(chance).to_json()))
    return texts


@cache
def _method_texts() -> list[str]:
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
def _logs() -> list[tuple[str, ...]]:
    """Logs with every kind of event."""
    spaces = [
        oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])}),
        oc.Space({"m": oc.Choice({"a": {"k": oc.Int(1, 9)}, "b": {}}), "x": oc.Float(0, 1)}),
        oc.Space({"x": oc.Float(0, 1, input_std=0.1), "y": oc.Float(1e-3, 1, log=True)}),
    ]
    logs = []
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
        study.stop("done")
        study.tell(study.ask(), float("inf"))
        study.ask(lease=1e-9)
        study.ask(lease=600)
        logs.append(tuple(store.read(1)))
    return logs


# Damage


def _damaged(data: Any, chance: Random) -> Any:
    """JSON data with damage, or text with damage."""
    if chance.random() < 0.3:
        return _damaged_text(json.dumps(data), chance)
    for _ in range(chance.choice([1, 1, 2, 3])):
        data = _damaged_json(data, chance)
    return data


def _damaged_text(text: str, chance: Random) -> str:
    start = chance.randrange(len(text) + 1)
    stop = min(len(text), start + chance.randint(1, 20))
    lines = text.split("\n")
    match chance.randrange(9):
        case 0:
            return text[:start] + text[stop:]
        case 1:
            return text[:start] + text[start:stop] + text[start:]
        case 2:
            return text[:start]
        case 3:
            return (
                text[:start] + chr(chance.choice([0, 7, 34, 39, 91, 93, 123, 0xE9])) + text[stop:]
            )
        case 4:
            del lines[chance.randrange(len(lines))]
            return "\n".join(lines)
        case 5:
            chance.shuffle(lines)
            return "\n".join(lines)
        case 6:  # a value of a line
            place = chance.randrange(len(lines))
            key, equals, _ = lines[place].partition("=")
            if equals:
                lines[place] = f"{key}= {chance.choice(TOKENS)}"
            return "\n".join(lines)
        case _:
            return text[:start] + chance.choice(TOKENS) + text[start:]


def _damaged_json(data: Any, chance: Random) -> Any:
    """The data with one part replaced, removed, added or moved."""
    data = json.loads(json.dumps(data))
    places = list(_places(data))
    if not places or chance.random() < 0.02:
        return chance.choice(JSON)
    holder, key = chance.choice(places)
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1:
            other, name = chance.choice(places)
            holder[key] = json.loads(json.dumps(other[name]))
        case 2 if isinstance(holder, dict):
            holder[chance.choice(["new", "", "class", "version", "custom"])] = chance.choice(JSON)
        case 3 if isinstance(holder[key], int | float) and not isinstance(holder[key], bool):
            holder[key] = chance.choice([-holder[key], holder[key] * 10**9, holder[key] + 1, 0.5])
        case _:
            holder[key] = chance.choice(JSON)
    return data


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every holder and key of JSON data."""
    if not isinstance(data, dict | list):
        return
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield data, key
        yield from _places(value)


def attack(first: int, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """The reports of `count` cases from `first` on."""
    for index, outcome in outcomes(partial(case, seed=seed), range(first, first + count), DEADLINE):
        if isinstance(outcome, str):
            kind = KINDS[index % len(KINDS)]
            problem = {"kind": "hang", "call": kind, "text": outcome}
            yield {"case": index, "kind": kind, "accepted": False, "problems": [problem]}
        else:
            yield outcome
