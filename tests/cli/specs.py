"""Spec files for tests: whole files from a few lines, and trials of their spaces."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from outcrop.cli.program import Program
from outcrop.cli.spec import Spec, read_spec
from outcrop.study.trial import Trial

NU = '[parameters.nu]\ntype = "float"\nlow = 0.001\nhigh = 1.0\nlog = true\n'
MODEL = """
[parameters.model]
type = "choice"
[parameters.model.options.linear]
[parameters.model.options.mlp.layers]
type = "int"
low = 1
high = 4
"""


def write_spec(folder: Path, text: str, name: str = "spec.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def spec_of(folder: Path, top: str, tables: str = NU) -> Spec:
    """The spec whose top is `name` and some lines, followed by tables."""
    return read_spec(write_spec(folder, f'name = "study"\n{top}\n{tables}'))


def program_of(
    folder: Path, code: str, *arguments: object, top: str = "", tables: str = NU, grace: float = 5.0
) -> Program:
    """The program that runs Python code with arguments; `{params}` is among them if none is."""
    command = [sys.executable, "-c", code.replace("{", "{{").replace("}", "}}")]
    command += arguments or ("{params}",)
    text = f"command = {json.dumps(command)}\n{top}"
    return Program(spec_of(folder, text, tables), grace=grace)


def trial_of(number: int = 0, attempt: int = 1, **params: object) -> Trial:
    params = {name.replace("__", "."): value for name, value in params.items()} or {"nu": 0.5}
    return Trial(number, params, params, attempt=attempt)
