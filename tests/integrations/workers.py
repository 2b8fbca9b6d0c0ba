"""Workers that share a study of Optuna, as processes of their own run them."""

from __future__ import annotations

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from outcrop.integrations.optuna import OutcropSampler
from tests.integrations.objectives import nested

optuna.logging.set_verbosity(optuna.logging.WARNING)


def opened(kind, path):
    """A storage in a file."""
    return f"sqlite:///{path}" if kind == "rdb" else JournalStorage(JournalFileBackend(str(path)))


def work(kind, path, method, n_trials):
    """Add trials to the study that is there."""
    sampler = OutcropSampler(seed=5, method=method)
    study = optuna.load_study(study_name="shared", storage=opened(kind, path), sampler=sampler)
    study.optimize(nested, n_trials=n_trials)
