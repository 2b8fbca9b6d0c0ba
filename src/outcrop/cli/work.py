"""`outcrop worker`: evaluate trials of a study that any number of workers share."""

from __future__ import annotations

__all__ = ["WorkOptions", "work"]

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from outcrop.cli.program import Program
from outcrop.cli.program_run import run_program, study_of_spec
from outcrop.cli.spec import read_spec
from outcrop.cli.study_lookup import storage_url
from outcrop.cli.study_page import best_line
from outcrop.study import Result
from outcrop.study.running.protocol import OnError
from outcrop.study.running.worker_names import worker_name
from outcrop.study.storage import open_storage
from outcrop.study.storage.url_masking import masked_url

Say = Callable[[str], object]


@dataclass(frozen=True)
class WorkOptions:
    """What `outcrop worker` was given.

    >>> WorkOptions(Path("sim.toml"), storage="sim.db", name="gpu-3").again
    'outcrop worker sim.toml --storage sim.db --name gpu-3'
    """

    path: Path
    storage: str | None = None
    name: str | None = None
    trials: int | None = None  # of the study in all
    quiet: bool = False
    on_error: OnError = "stop"

    @property
    def again(self) -> str:
        """The command that starts the worker again with the same options."""
        words = ["outcrop", "worker", str(self.path)]
        words += ["--storage", masked_url(self.storage)] if self.storage else []
        words += ["--name", self.name] if self.name else []
        words += ["--trials", str(self.trials)] if self.trials else []
        words += ["--quiet"] if self.quiet else []
        words += ["--on-error", self.on_error] if self.on_error != "stop" else []
        return shlex.join(words)


def work(options: WorkOptions, say: Say) -> Result:
    """Evaluate trials until the study ends, or until SIGTERM; the study is created if need be.

    The program and the space are those of the local spec file; a study with another space is
    refused.
    """
    spec = read_spec(options.path)
    if options.storage is not None:
        spec = replace(spec, storage=storage_url(options.storage))
    name = worker_name(options.name)
    program = Program(spec)
    program.check()
    store = open_storage(spec.storage)
    if store.find(spec.name) is None:
        store.names()  # refuses a copy of a database without its log
    study = study_of_spec(spec, store)
    say(f"worker {name} evaluates trials of study {study.name}")
    result = run_program(
        study,
        program,
        total=options.trials,
        progress=not options.quiet,
        on_error=options.on_error,
        worker=name,
        drain=True,
        again=options.again,
    )
    own = sum(trial.worker == name and trial.has_outcome for trial in result.trials)
    say(f"worker {name}: {own} of {len(result.trials)} trials; stopped: {result.reason}")
    say(best_line(study))
    return result
