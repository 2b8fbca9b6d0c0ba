"""A study of a spec file, and its program as the objective of a run."""

from __future__ import annotations

__all__ = ["run_program", "study_of_spec"]

from concurrent.futures import ThreadPoolExecutor
from itertools import count

from outcrop.cli.program import Program
from outcrop.cli.spec import Spec
from outcrop.errors import AllTrialsFailed, ObjectiveError, OutcropError, StorageDamaged
from outcrop.study import Result, Study
from outcrop.study.running import MaxTrials
from outcrop.study.running.protocol import OnError, Runnable, StopRule
from outcrop.study.storage import Storage


def study_of_spec(spec: Spec, storage: Storage) -> Study:
    """The study that a spec declares; it is created if it does not exist."""
    return Study(
        spec.space,
        spec.name,
        storage,
        method=spec.method,
        direction=spec.direction,
        seed=spec.seed,
        noise=spec.noise,
        robust=spec.robust,
        ask_seconds=spec.ask_seconds,
    )


def run_program(
    study: Study,
    program: Program,
    *,
    n_trials: int | None = None,
    workers: int = 1,
    total: int | None = None,
    progress: bool = True,
    on_error: OnError = "stop",
    worker: str | None = None,
    drain: bool = False,
    again: str,
) -> Result:
    """Evaluate trials with a program, up to `total` trials of the study.

    `again` is the command that goes on after an error; the other options are those of `optimize`.
    """
    spec = program.spec
    stop: list[StopRule] = [] if total is None else [MaxTrials(total)]
    with ThreadPoolExecutor(workers) as executor:  # waits until the program of each thread ended
        try:
            return study.optimize(
                program,
                n_trials,
                n_workers=workers,
                executor=executor,
                stop=[*stop, lambda study: _changed(study, spec)],
                progress=progress,
                on_error=on_error,
                worker=worker,
                drain=drain,
            )
        except AllTrialsFailed as error:
            failed = " ".join(str(t.number) for t in study.trials if t.state == "failed")
            raise AllTrialsFailed(
                f"{error}; correct the program or the spec, then: {again}; if these failures say "
                f"nothing about parameters: outcrop discard STUDY {failed} --reason …"
            ) from error
        except ObjectiveError as error:
            raise ObjectiveError(f"{error} Then: {again}") from error
        except StorageDamaged as error:
            saved = "" if error.stored or error.copy else _saved(study, spec)
            raise StorageDamaged(f"{error}{saved}") from error
        finally:
            program.kill()


def _changed(study: Runnable, spec: Spec) -> str | None:
    """Why to stop once the study has another space: the program does not know its parameters."""
    return None if study.space == spec.space else "the space of the study has changed"


def _saved(study: Study, spec: Spec) -> str:
    """Where the trials that this run knows are saved, if their store does not have them all."""
    names = (f"{spec.name}-saved{number or ''}.db" for number in count())
    file = next(path for path in map(spec.folder.joinpath, names) if not path.exists())
    try:
        study.copy_to(f"sqlite:///{file}")
    except OutcropError as error:
        return f" (what this run knew could not be saved: {error})"
    return f" (what this run knew is saved in {file.name})"
