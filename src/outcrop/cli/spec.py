"""Spec files: a program, its parameters, and where its value is found.

    name = "heat"                                 of the study, its store and its output folder
    command = ["./sim", "--nu={nu}", ["-n", "{model.mlp.layers}"]]
    env = { OMP_NUM_THREADS = "1" }               added to the environment of `outcrop`
    cwd = "."                                     relative to the spec's folder, or "{folder}"
    direction = "minimize"                        or "maximize"
    method = "auto"
    timeout = 60                                  seconds for one run of the program
    storage = "sqlite:///heat.db"                 a relative file is beside the spec
    seed = 0
    noise = false                                 or true, or a standard deviation
    robust = false                                or true: the best average over input noise
    ask_seconds = 5                               processor time for one suggestion
    constraints = ["nu * cells <= 100"]           which configurations may be tried

    [objective]
    from = "last-line"                            or "json" with field, "file" with path (and field)

    [parameters.nu]                               see `parameters`
    [[input_covariance]]                          likewise

Placeholders are described in `placeholders`. If a parameter is not active in a trial, an argument
or an environment variable with its placeholder is left out; an inner list of arguments is left out
as a whole. Every parameter must be passed to the program: by its placeholder, or with all others in
the file `{params}`. A choice needs no placeholder if at most one of its options has no parameters.
The path of the program (`./sim`) is relative to the spec's folder, whatever `cwd` is.
"""

from __future__ import annotations

__all__ = ["Spec", "SpecError", "read_spec"]

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path, PurePath
from typing import TypeVar

from sqlalchemy import __version__ as sqlalchemy_version
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from outcrop.cli.placeholders import TomlKeys, check_placeholders
from outcrop.cli.program_output import ValueSource
from outcrop.cli.spec_parameters import read_space
from outcrop.cli.toml import SpecError, Table, load, shown
from outcrop.errors import MethodError
from outcrop.space import Space
from outcrop.space.plain import listed, nearest
from outcrop.strategies import METHODS
from outcrop.study.argument_checks import (
    ASK_SECONDS,
    DIRECTIONS,
    checked_noise,
    checked_seconds,
    checked_seed,
)
from outcrop.study.storage.url_masking import masked_url

SOURCES = {"last-line": (), "json": ("field",), "file": ("path", "field")}
T = TypeVar("T")

COMMAND = 'command = ["./sim", "--nu={nu}"]'


@dataclass(frozen=True)
class Spec:
    """A checked spec file; texts may contain placeholders."""

    file: Path
    name: str
    command: tuple[tuple[str, ...], ...]  # arguments, in groups that are used or left out together
    env: Mapping[str, str]
    cwd: str  # relative to `folder`
    direction: str
    method: str
    timeout: float | None  # seconds for one run
    storage: str = field(repr=False)  # URL, maybe with a password
    seed: int | None
    noise: bool | float | None
    robust: bool
    ask_seconds: float
    objective: ValueSource
    space: Space

    @property
    def folder(self) -> Path:
        """The folder of the file."""
        return self.file.parent

    @property
    def output(self) -> Path:
        """The folder for the output of all trials."""
        return self.folder / f"{self.name}-output"


MADE = ("file", "space")  # fields of a spec that are not keys of its file
KEYS = (
    *(each.name for each in fields(Spec) if each.name not in MADE),
    "parameters",
    "input_covariance",
    "constraints",
)


def read_spec(path: str | Path) -> Spec:
    """The spec in a file; `SpecError` says what is wrong with it."""
    top = load(Path(path), KEYS)
    top.only(KEYS, "a spec")
    file = Path(path).resolve()
    name = _read_name(top, file.parent)
    space = read_space(top)
    spec = Spec(
        file=file,
        name=name,
        command=_read_command(top),
        env=_read_env(top),
        cwd=top.get("cwd", "a string", 'cwd = "."', "."),
        direction=_read_word(top, "direction", "minimize", DIRECTIONS),
        method=_read_word(top, "method", "auto", tuple(METHODS)),
        timeout=_read_timeout(top),
        storage=_read_storage(top, file.parent, name),
        seed=_read_checked(top, "seed", checked_seed),
        noise=_read_checked(top, "noise", checked_noise),
        robust=_read_robust(top, space),
        ask_seconds=_read_checked(top, "ask_seconds", _seconds) or ASK_SECONDS,
        objective=_read_objective(top.table("objective")),
        space=space,
    )
    check_placeholders(_texts(spec), spec.space, top)
    return spec


def _texts(spec: Spec) -> dict[TomlKeys, str]:
    """Every text that may contain placeholders, by its keys in the file."""
    texts: dict[TomlKeys, str] = {("env", name): text for name, text in spec.env.items()}
    for index, group in enumerate(spec.command):
        for inner, text in enumerate(group):
            place = ("command", index) if len(group) == 1 else ("command", index, inner)
            texts[place] = text
    texts[("cwd",)] = spec.cwd
    if spec.objective.path is not None:
        texts["objective", "path"] = spec.objective.path
    return texts


def _read_name(top: Table, folder: Path) -> str:
    name: str = top.need("name", "a string", f"name = {shown(folder.name or 'study')}")
    if not re.fullmatch(r"\w([\w .+-]*[\w+-])?", name):
        raise top.error(
            f"is {shown(name)}, which cannot be part of a file name; use letters, digits, - and _",
            "name",
        )
    return name


def _read_command(top: Table) -> tuple[tuple[str, ...], ...]:
    given = top.items.get("command")
    example = COMMAND
    if isinstance(given, str) and given.strip():
        with suppress(ValueError):  # an open quote
            example = f"command = {shown(shlex.split(given))}, one string for each argument"
    command = top.need("command", "a list", example)
    if not command:
        raise top.error(f"is empty; write {COMMAND}", "command")
    groups = []
    for index, item in enumerate(command):
        group = item if isinstance(item, list) else [item]
        for text in group:
            top.check(text, "a string", shown(str(text)), "command", index)
        groups.append(tuple(group))
    if not groups[0] or not groups[0][0]:
        raise top.error(f"names no program; write {COMMAND}", "command", 0)
    return tuple(groups)


def _read_env(top: Table) -> dict[str, str]:
    table = top.table("env")
    for name, value in table.items.items():
        if not name or "=" in name:
            raise table.error("cannot be the name of an environment variable; rename it", name)
        table.check(value, "a string", shown(str(value)), name)
    return {name: str(value) for name, value in table.items.items()}


def _read_word(table: Table, key: str, default: str, allowed: Sequence[str]) -> str:
    word: str = table.get(key, "a string", f"{key} = {shown(default)}", default)
    if word not in allowed:
        raise table.error(
            f"is {shown(word)}, expected one of {listed(allowed)}{nearest(word, allowed)}", key
        )
    return word


def _read_timeout(top: Table) -> float | None:
    timeout = top.get("timeout", "a number", "timeout = 60, in seconds")
    if timeout is not None and not 0 < timeout < float("inf"):
        raise top.error(
            f"is {shown(timeout)}, expected seconds above 0; leave it out for no limit", "timeout"
        )
    return None if timeout is None else float(timeout)


def _read_storage(top: Table, folder: Path, name: str) -> str:
    """The URL of the store, with the absolute path of an SQLite file."""
    default = f"sqlite:///{name}.db"
    text = top.get("storage", "a string", f"storage = {shown(default)}", default)
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise top.error(
            f"is {shown(masked_url(text))}, expected a URL; write {shown(default)} for a file "
            "beside the spec",
            "storage",
        ) from None
    if url.get_backend_name() != "sqlite":
        return url.render_as_string(hide_password=False)
    if url.database in (None, "", ":memory:"):
        raise top.error(
            f"is {shown(masked_url(text))}, which is lost when the command ends; write "
            f"{shown(default)}",
            "storage",
        )
    url = url.set(database=str(folder / str(url.database)))
    written = url.render_as_string(hide_password=False)
    if make_url(written).database != url.database:  # with a question mark, before SQLAlchemy 2.1
        raise top.error(
            f"would be {shown(url.database)}, which SQLAlchemy {sqlalchemy_version} cannot write "
            "as a URL; rename the folder, or install SQLAlchemy 2.1",
            "storage",
        )
    return written


def _read_checked(top: Table, key: str, check: Callable[[object], T]) -> T | None:
    """A value that one of the study's checks accepts; None if the key is missing."""
    if key not in top.items:
        return None
    try:
        return check(top.items[key])
    except MethodError as error:
        raise SpecError(f"{top.file}: {error}") from None  # it begins with the key


def _seconds(given: object) -> float:
    return checked_seconds(given, "ask_seconds")


def _read_robust(top: Table, space: Space) -> bool:
    robust: bool = top.get("robust", "true or false", "robust = true", False)
    if robust and not space.has_input_noise:
        raise top.error(
            "is true, but no parameter has input noise; write input_std = 2.0 for a parameter, or "
            "[[input_covariance]] for several",
            "robust",
        )
    return robust


def _read_objective(table: Table) -> ValueSource:
    table.only(["from", "field", "path"], "objective")
    source = _read_word(table, "from", "last-line", tuple(SOURCES))
    for key in ("field", "path"):
        if key in table.items and key not in SOURCES[source]:
            other = "json" if key == "field" else "file"
            raise table.error(f'cannot be used with from = "{source}"; write from = "{other}"', key)
    read = table.need if source == "json" else table.get
    name = read("field", "a string", 'field = "loss"')
    if name == "":
        raise table.error('is empty; write field = "loss"', "field")
    path = table.need("path", "a string", 'path = "result.txt"') if source == "file" else None
    if path is not None and not _is_inside(path):
        raise table.error(
            f"is {shown(path)}, expected a file in the trial's folder, so that concurrent trials "
            'use different files; write path = "result.txt" and pass {folder} to the program',
            "path",
        )
    return ValueSource(name, path)


def _is_inside(path: str) -> bool:
    """Whether a relative path stays in the trial's folder, as far as its text shows."""
    parts = PurePath(path).parts
    return bool(parts) and not PurePath(path).is_absolute() and not {"..", "{here}"} & {*parts}
