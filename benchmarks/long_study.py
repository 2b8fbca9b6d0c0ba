"""A study of many trials in SQLite: processor seconds and megabytes of what is done with it.

Every step runs in a process of its own. Its seconds are those beyond `import outcrop` and of
loading the study, its megabytes those by which the largest resident size exceeds that after the
import. A tenth of the trials is measured too: the state is a fold over the log, so a study ten
times as long should take ten times as long to load, and a snapshot of the state is not needed.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import json
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import outcrop as oc
from benchmarks.reporting import provenance, save, table
from outcrop.typing import Params

SPACE = oc.Space(
    {f"x{i}": oc.Float(0, 1) for i in range(5)} | {"kind": oc.Categorical(["a", "b", "c"])}
)
NAME = "long"
STEPS = {  # code that is timed; `study` is loaded before, in all but the first
    "load": f"oc.load_study({NAME!r}, storage=url)",
    "trials": "study.trials",
    "best": "study.best_trial",
    "recommended by the model": "study.recommend()",
    "replay": "assert study.replay().identical",
    "ask and tell": "study.tell(study.ask(), 1.0)",
    "data frame": "study.to_frame()",
    "outcrop show": "command('show')",
    "outcrop best": "command('best')",
    "outcrop export, CSV": "command('export', '--output', folder + '/trials.csv')",
    "outcrop export, JSON": "command('export', '--output', folder + '/trials.json')",
}
ADDED_ONLY = ("recommended by the model",)  # which takes a model, as the study of results added has
PROGRAM = """
import io, json, re, sys, time
from contextlib import redirect_stdout
import outcrop as oc
oc.Optimizer
url, folder, code = sys.argv[1:]

def largest():
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) / 1e3

def command(name, *more):
    from outcrop.cli.app import main
    try:
        main([name, "NAME", "--storage", url, *more])
    except SystemExit as end:
        assert not end.code, end.code

before = largest()
study = None if "load_study" in code or "command" in code else oc.load_study("NAME", storage=url)
start = time.process_time()
with redirect_stdout(io.StringIO()):
    exec(code)
print(json.dumps([time.process_time() - start, largest() - before]))
""".replace("NAME", NAME)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, default=10_000)


def run(options: Namespace) -> None:
    rows: list[dict[str, Any]] = []
    for trials in (options.trials // 10, options.trials):
        for how in ("asked and told", "added"):
            with TemporaryDirectory() as folder:
                url = f"sqlite:///{folder}/long.db"
                made(how, trials).copy_to(url)
                size = Path(folder, "long.db").stat().st_size / 1e6
                for step, code in STEPS.items():
                    if step in ADDED_ONLY and how != "added":
                        continue
                    seconds, megabytes = measured(url, folder, code)
                    rows.append(
                        {"study": how, "trials": trials, "step": step}
                        | {"seconds": seconds, "megabytes": megabytes, "file": size}
                    )
                    print(shown(rows[-1:]).splitlines()[-1], flush=True)
    print(shown(rows))
    save("long_study", provenance() | {"rows": rows})


def made(how: str, trials: int) -> oc.Study:
    """A study in memory: of suggestions that were told, or of results that were added."""
    study = oc.Study(SPACE, name=NAME, method="gp" if how == "added" else "random", seed=0)
    if how == "added":
        known = [trial.params for trial in oc.Optimizer(SPACE, method="random", seed=0).ask(trials)]
        study.add(known, list(map(value, known)))
        return study
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, value(trial.params))
    return study


def value(params: Params) -> float:
    return sum((params[f"x{i}"] - 0.3) ** 2 for i in range(5)) + 0.1 * (params["kind"] == "b")


def measured(url: str, folder: str, code: str) -> tuple[float, float]:
    """Seconds and megabytes of `code` in a fresh process."""
    words = [sys.executable, "-c", PROGRAM, url, folder, code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{code} failed: {done.stderr}")
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return float(seconds), float(megabytes)


def shown(rows: list[dict[str, Any]]) -> str:
    return table(
        ["study", "trials", "step", "seconds", "megabytes"],
        [
            [
                row["study"],
                str(row["trials"]),
                row["step"],
                f"{row['seconds']:.3f}",
                f"{row['megabytes']:.0f}",
            ]
            for row in rows
        ],
    )
