"""Damaged spec files, spaces, methods and event logs: each is accepted, or refused in one sentence.

A case takes a sound text, damages it in one to three places, and reads it:

- a spec, by the command line: exit code 2 and one line, which does not contain the password of a
  URL; one that is accepted also makes a study and a first suggestion
- a space, by `Space.from_json`; one that is accepted is written, read again and sampled from
- a method, by `load_study` of a log whose first event holds it
- a log, by `load_study`; one that is accepted is looked at, asked and told. A tenth of them is also
  checked by `outcrop check`
"""

from __future__ import annotations

__all__ = ["KINDS", "attack", "case"]

import contextlib
import io
import json
import tempfile
import tomllib
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.attack.damage import damaged, damaged_json, damaged_text
from benchmarks.attack.guarded import outcomes
from benchmarks.attack.random_spaces import is_inside
from benchmarks.attack.sound_texts import SECRET, SPECS, logs, method_texts, space_texts
from outcrop.cli.app import main
from outcrop.cli.spec import read_spec
from outcrop.errors import OutcropError, SpaceExhausted
from outcrop.study.storage import Memory, open_storage

DEADLINE = 120.0  # seconds of a case, after which it counts as a hang
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
        code, out, err = _commanded([chance.choice(["show", "best", "export"]), str(spec)])
        if code != 2 or not err.startswith("error: ") or out:
            _problem(report, "exit code", f"{code}: {out}{err}")
        if err.count("\n") != 1:
            _problem(report, "lines", out + err)
        if SECRET in out + err:
            _problem(report, "password", out + err)
        read = read_spec(spec)
    report["accepted"] = True
    options = {"direction": read.direction, "seed": read.seed, "noise": read.noise}
    study = oc.Study(read.space, method=read.method, robust=read.robust, **options)
    _ask(study, report)


def _damaged_spec(chance: Random) -> str:
    text = chance.choice(SPECS)
    for _ in range(chance.choice([1, 1, 2, 3])):
        text = damaged_text(text, chance)
    return text


def _check_space(chance: Random, report: dict[str, Any]) -> None:
    data = json.loads(chance.choice(space_texts()))
    space = oc.Space.from_json(damaged(data, chance))
    report["accepted"] = True
    again = oc.Space.from_json(json.loads(json.dumps(space.to_json())))
    if again != space:
        _problem(report, "round trip", repr(space))
    for params in space.sample(np.random.default_rng(0), 3):
        if not is_inside(space, params):
            _problem(report, "outside", f"{params} in {space!r}")


def _check_method(chance: Random, report: dict[str, Any]) -> None:
    first, *_ = chance.choice(logs())
    created = json.loads(first)
    created["method"] = json.loads(chance.choice(method_texts()))
    for _ in range(chance.choice([1, 1, 2])):
        created["method"] = damaged_json(created["method"], chance)
    _loaded([json.dumps(created)])
    report["accepted"] = True


def _check_log(chance: Random, report: dict[str, Any]) -> None:
    lines = list(chance.choice(logs()))
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
                lines[place] = damaged_text(lines[place], chance)
            case _:
                with contextlib.suppress(ValueError):  # it was damaged as text before
                    lines[place] = json.dumps(damaged_json(json.loads(lines[place]), chance))
        if not lines:
            break
    if lines and chance.random() < 0.1:
        _check_by_command(lines, report)
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


def _check_by_command(lines: list[str], report: dict[str, Any]) -> None:
    """`outcrop check` of a log in a file: a known exit code and at most one line of error."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/damaged.db"
        with contextlib.closing(open_storage(url)) as store:
            identity = store.create("damaged", lines[0])
            assert identity is not None  # the store was empty
            store.append(identity, 1, lines[1:])
        code, out, err = _commanded(["check", "damaged", "--storage", url])
    if code not in (0, 1, 2, 3) or err.count("\n") > 1:
        _problem(report, "exit code", f"{code}: {out}{err}")


def _commanded(arguments: list[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    return code, out.getvalue(), err.getvalue()


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


def attack(first: int, count: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """The reports of `count` cases from `first` on."""
    for index, outcome in outcomes(partial(case, seed=seed), range(first, first + count), DEADLINE):
        if isinstance(outcome, str):
            kind = KINDS[index % len(KINDS)]
            problem = {"kind": "hang", "call": kind, "text": outcome}
            yield {"case": index, "kind": kind, "accepted": False, "problems": [problem]}
        else:
            yield outcome
