"""`outcrop run`: tune a program with its spec file."""

from __future__ import annotations

__all__ = ["opened", "tune"]

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from outcrop.cli.program import Program
from outcrop.cli.spec import Spec, read_spec
from outcrop.cli.study_page import best_line
from outcrop.errors import AllTrialsFailed, OutcropError, StorageDamaged, StudyError
from outcrop.study import Result, Study
from outcrop.study.storage import Storage, open_storage

Say = Callable[[str], object]


def tune(
    path: Path, workers: int, trials: int, *, resume: bool, progress: bool, say: Say
) -> Result | None:
    """Run the program until the study has `trials` trials; None if it has them already."""
    spec = read_spec(path)
    program = Program(spec)
    program.check()
    study = opened(spec, open_storage(spec.storage), path, resume)
    done = sum(trial.has_outcome for trial in study.trials)
    if done >= trials:
        say(f"study {study.name} already has {done} trials; --trials {done + 20} would add 20")
        return None
    with ThreadPoolExecutor(workers) as executor:  # waits until the program of each thread ended
        try:
            result = study.optimize(
                program, trials - done, n_workers=workers, executor=executor, progress=progress
            )
        except AllTrialsFailed as error:
            raise AllTrialsFailed(
                f"{error}; correct the program or the spec, then: outcrop run {path} --resume"
            ) from error
        except StorageDamaged as error:
            saved = "" if error.stored or error.copy else _saved(study, spec)
            raise StorageDamaged(f"{error}{saved}") from error
        finally:
            program.kill()
    for line in _closing(result, spec, path):
        say(line)
    return result


def opened(spec: Spec, storage: Storage, path: Path, resume: bool) -> Study:
    """The study of a spec: a new one, or with `resume` maybe that which exists."""
    exists = storage.find(spec.name) is not None
    if resume and not exists:
        storage.names()  # refuses a copy of a database without its log
    if exists and not resume:
        raise StudyError(
            f"study {spec.name!r} already exists; continue it with: outcrop run {path} --resume, "
            "or change the name in the spec"
        )
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


def _saved(study: Study, spec: Spec) -> str:
    """Where the trials that this run knows are saved, if their store does not have them all."""
    names = (f"{spec.name}-saved{number or ''}.db" for number in count())
    file = next(path for path in map(spec.folder.joinpath, names) if not path.exists())
    try:
        study.copy_to(f"sqlite:///{file}")
    except OutcropError as error:
        return f" (what this run knew could not be saved: {error})"
    return f" (what this run knew is saved in {file.name})"


def _closing(result: Result, spec: Spec, path: Path) -> list[str]:
    counts = f"{len(result.trials)} trials, {result.n_failed} failed"
    lines = [f"{counts}; stopped: {result.reason}", best_line(result.study)]
    if result.interrupted:
        lines.append(f"all trials are stored; continue with: outcrop run {path} --resume")
    else:
        lines.append(f"show the study with: outcrop show {path}")
    return [*lines, f"the output of every trial is in {spec.output.name}"]
