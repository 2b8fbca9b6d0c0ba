"""One run of a hostile objective: `python -m benchmarks.attack.hostile_run NAME WAY FOLDER`."""

from __future__ import annotations

__all__ = ["QUEUE", "main", "study_of"]

import sys
from contextlib import closing
from pathlib import Path

import outcrop as oc
from benchmarks.attack.hostile_objectives import HOSTILE, Objective
from outcrop.study.storage import open_storage

SPACE = oc.Space({"x": oc.Float(0, 1), "hostile": oc.Categorical([False, True])})
QUEUE = [
    {"x": x, "hostile": hostile}
    for x, hostile in zip(
        (0.1, 0.2, 0.3, 0.4, 0.9, 0.6), (False, True, False, True, True, False), strict=True
    )
]
SPEC = """\
name = "hostile"
command = [
  "{{python}}", "-m", "benchmarks.attack.hostile_objectives", "{name}", "{{hostile}}", "{{x}}"
]
method = "random"
{timeout}
[parameters.x]
type = "float"
low = 0.0
high = 1.0
[parameters.hostile]
type = "categorical"
choices = [false, true]
"""


def study_of(folder: Path) -> oc.Study:
    """The study of a run, made if it does not exist."""
    url = f"sqlite:///{folder / 'hostile.db'}"
    return oc.Study(SPACE, "hostile", url, method="random")


def main(name: str, way: str, where: str) -> int:
    """Evaluate the queue; the exit code."""
    folder, timeout = Path(where), HOSTILE[name].timeout
    with closing(open_storage(f"sqlite:///{folder / 'hostile.db'}")) as store:
        study = oc.Study(SPACE, "hostile", store, method="random")
        for params in QUEUE:
            study.enqueue(params)
    if way == "program":
        from outcrop.cli.app import main as outcrop

        spec = folder / "spec.toml"
        limit = "" if timeout is None else f"timeout = {timeout}"
        spec.write_text(SPEC.format(name=name, timeout=limit))
        arguments = ["run", str(spec), "--resume", "--workers", "2", "--trials", str(len(QUEUE))]
        return outcrop([*arguments, "--quiet"])
    study_of(folder).optimize(
        Objective(name),
        len(QUEUE),
        n_workers=2 if way == "workers" else 1,
        trial_timeout=timeout,
        progress=False,
        on_error="record",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
