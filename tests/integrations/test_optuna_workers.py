"""Several threads, processes and tools that share a study through the sampler."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

pytest.importorskip("optuna")

import optuna
from optuna.trial import TrialState

from outcrop.inference import Slice
from outcrop.integrations.optuna import OutcropSampler
from outcrop.strategies import Method
from outcrop.strategies.initial import LatinHypercube
from tests.integrations.objectives import Spy, nested, shrunk
from tests.integrations.workers import opened, work


def told(study):
    """The parameters of a study's completed trials, which must be all of them."""
    assert all(trial.state == TrialState.COMPLETE for trial in study.trials)
    return [tuple(sorted(trial.params.items(), key=str)) for trial in study.trials]


@pytest.mark.parametrize("kind", [pytest.param("rdb", marks=pytest.mark.slow), "journal"])
def test_processes_share_a_study(kind, tmp_path):
    path = tmp_path / "study"
    study = optuna.create_study(study_name="shared", storage=opened(kind, path))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(work, kind, path, "auto", 3) for _ in range(2)]
        for job in jobs:
            job.result()
    assert len(set(told(study))) == 6  # workers with one seed do not repeat each other


@pytest.mark.parametrize("kind", ["rdb", "journal"])
def test_what_is_proposed_to_one_worker_is_pending_for_another(kind, tmp_path):
    path, spy = tmp_path / "study", Spy()
    optuna.create_study(study_name="shared", storage=opened(kind, path))
    work(kind, path, "random", 12)
    one, other = (
        optuna.load_study(
            study_name="shared", storage=opened(kind, path), sampler=OutcropSampler(method=method)
        )
        for method in ("random", spy)
    )
    running = one.ask()
    running.suggest_float("scale", 0, 1)
    other.ask().suggest_float("scale", 0, 1)
    (pending,) = spy.shown["pending"]
    nested(running)
    assert {name.rsplit(".", 1)[-1] for name in pending} == set(running.params)
    assert pending["scale"] == pytest.approx(running.params["scale"])


def test_threads_share_a_sampler():
    study = optuna.create_study(sampler=OutcropSampler(seed=0))
    study.optimize(nested, n_trials=9, n_jobs=4)
    assert len(set(told(study))) == 9


def test_a_sampler_can_be_pickled():
    method = Method(inference=Slice(chains=2, burn_in=1), initial=LatinHypercube(10))
    study = optuna.create_study(sampler=OutcropSampler(seed=0, method=method))
    study.optimize(nested, n_trials=12)
    text = pickle.dumps(study.sampler)
    trial = study.ask()._cached_frozen_trial

    def proposed(sampler):
        known = sampler.infer_relative_search_space(study, trial)
        return sampler.sample_relative(study, trial, known)

    original = proposed(study.sampler)
    assert proposed(pickle.loads(text)) == proposed(pickle.loads(text)) == original


def test_pruners_that_split_a_study_are_served():
    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=4, reduction_factor=2)
    study = optuna.create_study(sampler=OutcropSampler(seed=0, method="random"), pruner=pruner)

    def objective(trial):
        value = nested(trial)
        for step in range(4):
            trial.report(value + 1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study.optimize(objective, n_trials=30)
    states = {trial.state for trial in study.trials}
    assert states == {TrialState.COMPLETE, TrialState.PRUNED}


def test_ray_tune_searches_with_it(tmp_path):
    # Ray without its extra "tune" raises another ImportError than a missing module.
    ray = pytest.importorskip("ray.tune.search.optuna", exc_type=ImportError)
    search = ray.OptunaSearch(shrunk, metric="loss", mode="min", sampler=OutcropSampler(seed=0))
    for i in range(14):
        config = search.suggest(str(i))
        loss = config["scale"] + (config["model"] == "mlp") + config.get("shrinkage", 0)
        search.on_trial_complete(str(i), {"loss": loss})
    search.save(str(tmp_path / "search"))
    search.restore(str(tmp_path / "search"))
    assert "scale" in search.suggest("after")
