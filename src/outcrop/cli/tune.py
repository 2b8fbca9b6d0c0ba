"""`outcrop run`: tune a program with its spec file."""

from __future__ import annotations

__all__ = ["TuneOptions", "tune"]

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from outcrop.cli.program import Program
from outcrop.cli.program_run import run_program, study_of_spec
from outcrop.cli.spec import Spec, read_spec
from outcrop.cli.study_page import best_line
from outcrop.errors import StudyError
from outcrop.study import Result, Study
from outcrop.study.running.protocol import OnError
from outcrop.study.storage import Storage, open_storage
from outcrop.study.trial_counts import counted

Say = Callable[[str], object]


@dataclass(frozen=True)
class TuneOptions:
    """What `outcrop run` was given.

    >>> TuneOptions(Path("my spec.toml"), workers=4, trials=50).resumed
    "outcrop run 'my spec.toml' --resume --workers 4 --trials 50"
    """

    path: Path
    workers: int = 1
    trials: int = 100  # of the study in all
    resume: bool = False
    quiet: bool = False
    on_error: OnError = "stop"

    @property
    def resumed(self) -> str:
        """The command that continues the study with the same options."""
        words = ["outcrop", "run", str(self.path), "--resume"]
        words += ["--workers", str(self.workers), "--trials", str(self.trials)]
        words += ["--quiet"] if self.quiet else []
        words += ["--on-error", self.on_error] if self.on_error != "stop" else []
        return shlex.join(words)


def tune(options: TuneOptions, say: Say) -> Result | None:
    """Run the program until the study has all its trials; None if it has them already."""
    spec = read_spec(options.path)
    program = Program(spec)
    program.check()
    study = _opened(spec, open_storage(spec.storage), options)
    trials = options.trials
    running = sum(trial.state == "running" for trial in study.trials)
    done = counted(study.trials) - running
    if done >= trials:
        say(f"study {study.name} already has {done} trials; --trials {done + 20} would add 20")
        return None
    result = run_program(
        study,
        program,
        n_trials=trials - done,
        workers=options.workers,
        total=trials,
        progress=not options.quiet,
        on_error=options.on_error,
        again=options.resumed,
    )
    for line in _closing(result, spec, options):
        say(line)
    return result


def _opened(spec: Spec, storage: Storage, options: TuneOptions) -> Study:
    resume, exists = options.resume, storage.find(spec.name) is not None
    if resume and not exists:
        storage.names()  # refuses a copy of a database without its log
    if exists and not resume:
        raise StudyError(
            f"study {spec.name!r} already exists; continue it with: {options.resumed}; or change "
            "the name in the spec"
        )
    return study_of_spec(spec, storage)


def _closing(result: Result, spec: Spec, options: TuneOptions) -> list[str]:
    counts = f"{len(result.trials)} trials, {result.n_failed} failed"
    if discarded := sum(trial.state == "discarded" for trial in result.trials):
        counts += f", {discarded} discarded"
    lines = [f"{counts}; stopped: {result.reason}", best_line(result.study)]
    if result.interrupted:
        lines.append(f"all trials are stored; continue with: {options.resumed}")
    else:
        lines.append(f"show the study with: {shlex.join(['outcrop', 'show', str(options.path)])}")
    return [*lines, f"the output of every trial is in {spec.output.name}"]
