"""A study in memory that keeps a diary of what a run did with it."""

from __future__ import annotations

__all__ = ["SPACE", "Clock", "Diary", "studied"]

import threading
from typing import Any

from outcrop.space import Float, Space
from outcrop.study.optimizer import Optimizer
from outcrop.study.running import Result, run
from outcrop.study.trial_counts import check_total
from tests.study.doubles import Roaming

SPACE = Space({"x": Float(-1, 1)})


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Diary:
    """An optimizer with leases, which are only written down."""

    def __init__(self, space: Space = SPACE, direction: str = "minimize", method: Any = None):
        method = Roaming(space) if method is None else method
        self.optimizer = Optimizer(space, method=method, direction=direction, seed=1)
        self.acts: list[tuple[str, int]] = []
        self.leases: list[float | None] = []
        self.renewed: list[tuple[list[int], float, str]] = []
        self.stopped: list[str] = []

    @property
    def direction(self):
        return self.optimizer.direction

    @property
    def space(self):
        return self.optimizer.space

    @property
    def trials(self):
        return self.optimizer.trials

    def ask(self, *, lease=None, total=None, remaining=None, worker=None):
        check_total(self.trials, total)
        trial = self.optimizer.ask()
        self.leases.append(lease)
        self.acts.append(("ask", trial.number))
        return trial

    def tell(self, trial, value, *, std=None, info=None):
        self.acts.append(("tell", trial.number))
        return self.optimizer.tell(trial, value, std=std, info=info)

    def fail(self, trial, reason="", *, info=None):
        self.acts.append(("fail", trial.number))
        return self.optimizer.fail(trial, reason, info=info)

    def release(self, trial):
        self.acts.append(("release", trial.number))
        self.optimizer.release(trial)

    def enqueue(self, params):
        self.acts.append(("enqueue", -1))
        self.optimizer.enqueue(params)

    def renew(self, trials, lease):
        self.renewed.append((list(trials), lease, threading.current_thread().name))
        return set(trials)

    def stop(self, reason):
        self.stopped.append(reason)


def studied(objective, n_trials=None, *, study=None, **options) -> Result:
    """A run without progress, of a study of its own unless one is given."""
    study = Diary() if study is None else study
    return run(study, objective, n_trials, **({"progress": False} | options))
