"""A spec's program as an objective.

A trial's folder is `<name>-output/000012-1` beside the spec: its number and attempt, followed by
another number if that folder already exists, so that nothing is overwritten. It contains `stdout`,
`stderr`, `params.json` and `command.json`.
"""

from __future__ import annotations

__all__ = ["Program", "ProgramFailed", "ProgramStopped", "ProgramUnusable"]

import errno
import json
import math
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Event

from outcrop.cli import process
from outcrop.cli.placeholders import fill, written
from outcrop.cli.program_output import NoValue, last_lines, read_value
from outcrop.cli.spec import Spec, SpecError
from outcrop.errors import ObjectiveError, OutcropError
from outcrop.study.trial import Trial

GRACE = 5.0  # seconds from SIGTERM to SIGKILL
QUOTED = 3  # lines of output in a message
# Exit codes of a shell, and errors of the system, for what cannot be run.
UNUSABLE = {126: "a command cannot be executed", 127: "a command was not found"}
NOT_A_PROGRAM = (errno.ENOENT, errno.EACCES, errno.ENOEXEC)


class ProgramFailed(OutcropError, RuntimeError):
    """A run without a value; the message is one line with the reason and the output folder."""


class ProgramUnusable(ProgramFailed, ObjectiveError):
    """A program that cannot be run, whatever its parameters are."""


class ProgramStopped(ProgramFailed):
    """A run that `Program.kill` ended, so that its parameters are not to blame."""


@dataclass(frozen=True, eq=False)
class Program:
    """A spec's program as an objective; any number of threads may use it at once.

    program = Program(read_spec("spec.toml"))
    program.check()
    value = program.evaluate(trial)
    """

    spec: Spec
    grace: float = GRACE
    _stop: Event = field(default_factory=Event, repr=False)

    def check(self) -> None:
        """Refuse with `SpecError` what would fail in every trial: a missing program or folder."""
        spec, file, values = self.spec, self.spec.file.name, _constants(self.spec)
        name, cwd = fill(spec.command[0][0], values), fill(spec.cwd, values)
        try:
            if name is not None:  # otherwise the program depends on the trial
                process.find(name, spec.folder, _environment(self._env(values)).get("PATH"))
        except process.NotFound as error:
            raise SpecError(f"{file}: {error}") from None
        if cwd is not None and not (spec.folder / cwd).is_dir():
            raise SpecError(
                f'{file}: cwd is "{spec.cwd}", but {spec.folder / cwd} is not a folder; create it, '
                "or correct cwd"
            )
        try:
            spec.output.mkdir(exist_ok=True)
        except OSError as error:
            raise SpecError(
                f"{file}: the output folder {spec.output} cannot be created: {error.strerror}; "
                "move the spec to a writable folder"
            ) from None

    def evaluate(self, trial: Trial) -> float:
        """Run the program with the trial's parameters; its value, or `ProgramFailed`."""
        if self._stop.is_set():
            raise ProgramStopped("not started, because all programs were stopped")
        try:
            folder = self._new_folder(trial)
            return self._evaluate(trial, folder)
        except OSError as error:
            place = error.filename or self.spec.output
            raise ProgramFailed(f"cannot store its output: {error.strerror}: {place}") from None

    def kill(self) -> None:
        """Stop all running programs and start no others.

        A program has `grace` seconds from SIGTERM to SIGKILL; then its thread goes on.
        """
        self._stop.set()

    def _new_folder(self, trial: Trial) -> Path:
        name = f"{trial.number:06d}-{trial.attempt}"
        for again in count(1):
            folder = self.spec.output / (name if again == 1 else f"{name}.{again}")
            with suppress(FileExistsError):
                folder.mkdir(parents=True)
                break
        return folder

    def _evaluate(self, trial: Trial, folder: Path) -> float:
        values = {
            **_constants(self.spec),
            **{name: written(value) for name, value in trial.params.items()},
            "trial": str(trial.number),
            "folder": str(folder),
            "params": str(folder / "params.json"),
        }
        _write(folder / "params.json", dict(trial.params))
        seconds = math.inf if self.spec.timeout is None else self.spec.timeout
        deadline = time.monotonic() + seconds
        try:
            code = self._run(folder, values)
            if code in UNUSABLE:
                raise ProgramUnusable(
                    f"{_described(code)}, {UNUSABLE[code]}{_quoted(folder)}; output in {folder}"
                )
            if code:
                raise ProgramFailed(f"{_described(code)}{_quoted(folder)}; output in {folder}")
            return read_value(self.spec.objective, folder, values, deadline)
        except NoValue as error:
            raise ProgramFailed(f"{error}; output in {folder}") from None
        except process.TimedOut:
            raise ProgramFailed(
                f"timeout after {self.spec.timeout:g} s{_quoted(folder)}; output in {folder}"
            ) from None
        except process.StopRequested:
            raise ProgramStopped(f"stopped on request; output in {folder}") from None

    def _run(self, folder: Path, values: Mapping[str, str]) -> int:
        """Run the program and return its exit code; its command is stored in its folder."""
        spec, env = self.spec, self._env(values)
        groups = [[fill(text, values) for text in group] for group in spec.command]
        command = [str(text) for group in groups if None not in group for text in group]
        cwd = spec.folder / str(fill(spec.cwd, values))
        _write(folder / "command.json", {"command": command, "env": env, "cwd": str(cwd)})
        environment = _environment(env)
        try:
            command[0] = process.find(command[0], spec.folder, environment.get("PATH"))
            return process.run(
                command,
                str(cwd),
                environment,
                folder / "stdout",
                folder / "stderr",
                timeout=spec.timeout,
                grace=self.grace,
                stop=self._stop,
            )
        except process.NotFound as error:
            raise ProgramUnusable(f"{error}; see {folder}") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            is_unusable = getattr(error, "errno", None) in NOT_A_PROGRAM
            raise (ProgramUnusable if is_unusable else ProgramFailed)(
                f'command "{command[0]}" could not be started: {why}; see {folder}'
            ) from None

    def _env(self, values: Mapping[str, str]) -> dict[str, str | None]:
        """The spec's environment variables; None for one that must be unset."""
        return {name: fill(text, values) for name, text in self.spec.env.items()}


def _constants(spec: Spec) -> dict[str, str]:
    """The placeholders that are the same in every trial."""
    return {"here": str(spec.folder), "python": sys.executable}


def _environment(env: Mapping[str, str | None]) -> dict[str, str]:
    """The environment of this process with changes."""
    changed = {**os.environ, **env}
    return {name: value for name, value in changed.items() if value is not None}


def _described(code: int) -> str:
    """An exit code in words."""
    if code > 0:
        return f"exit code {code}"
    name = f" ({signal.Signals(-code).name})" if -code in {*signal.Signals} else ""
    return f"killed by signal {-code}{name}"


def _quoted(folder: Path) -> str:
    """The end of standard error, or of standard output if that is empty."""
    for name in ("stderr", "stdout"):
        text = last_lines(folder / name, QUOTED)
        if text:
            return f", the last lines of {name}: {text}"
    return ", no output"


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
