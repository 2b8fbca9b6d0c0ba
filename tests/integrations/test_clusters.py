"""The same study on processes, threads, a Dask cluster and a Ray cluster of this machine."""

from __future__ import annotations

import importlib
import os
import runpy
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import outcrop as oc
from outcrop.errors import MethodError, MissingExtra, ObjectiveError
from outcrop.study.running.workers import OnExecutor
from tests.integrations.clusters import SPACE, Killed, Noisy, Poisoned, bowl, kill_noted
from tests.study.running.processes import ENVIRONMENT, eventually

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the clusters are tested on Linux"),
    # Of their own sockets and processes, which they close in threads after their end.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def needed(module):
    return pytest.importorskip(module, reason=f"{module} is not installed: NOT TESTED HERE")


@pytest.fixture(scope="module")
def client():
    """A Dask cluster of two processes."""
    distributed = needed("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def ray():
    """A Ray cluster of two processes, on free ports."""
    module = needed("ray")
    options = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100_000_000}
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    terminated = signal.getsignal(signal.SIGTERM)
    # By default, workers of Ray are nice, and wait for long on a machine that does other work.
    module.init(**options, **quiet, _system_config={"worker_niceness": 0})
    yield module
    module.shutdown()
    # Ray leaves its own handler behind, which would end the tests of signals that follow.
    signal.signal(signal.SIGTERM, terminated)


@pytest.fixture(params=["processes", "threads", "Dask", "Ray"])
def executor(request):
    if request.param == "processes":
        with ProcessPoolExecutor(2) as pool:
            yield pool
    elif request.param == "threads":
        with ThreadPoolExecutor(2) as pool:
            yield pool
    elif request.param == "Dask":
        yield request.getfixturevalue("client").get_executor()
    else:
        request.getfixturevalue("ray")
        with ray_executor() as executor:
            yield executor


def ray_executor(**options):
    return importlib.import_module("outcrop.integrations.ray").RayExecutor(**options)


def searched(objective, executor, n_trials=8, **options):
    """A search, whose values and suggestions are checked."""
    study = oc.Study(SPACE, seed=0)
    result = study.optimize(objective, n_trials, executor=executor, progress=False, **options)
    assert study.replay().identical
    return result


def check_values(result, n_trials):
    assert [trial.state for trial in result.trials] == ["finished"] * n_trials
    assert all(trial.value == bowl(trial.params) for trial in result.trials)


def test_a_study_has_valid_results_on_every_executor(executor, caplog):
    check_values(searched(bowl, executor), 8)
    assert "set their number with n_workers=" not in caplog.text, "its size is known"


@pytest.mark.parametrize("executor", ["Dask", "Ray"], indirect=True)
def test_a_worker_that_is_killed_loses_nothing_and_the_study_completes(executor, tmp_path):
    killing = kill_noted(tmp_path)
    check_values(searched(Killed(str(tmp_path)), executor), 8)
    killing.join()


@pytest.mark.parametrize("executor", ["Dask", "Ray"], indirect=True)
def test_equal_calls_of_a_noisy_objective_are_all_evaluated(executor):
    study = oc.Study(SPACE, method="random", seed=0)
    for _ in range(4):
        study.enqueue({"x": 0.5, "y": 0.5})
    result = study.optimize(Noisy(), 4, executor=executor, progress=False)
    assert len({trial.value for trial in result.trials}) == 4
    evaluating = OnExecutor(Noisy(), executor, 2)
    jobs = [evaluating.start(result.trials[0]) for _ in range(3)]  # the very same call
    assert eventually(lambda: all(job.done() for job in jobs))
    assert len({job.outcome().value for job in jobs}) == 3


def test_a_trial_that_kills_workers_of_dask_fails_alone(client):
    scheduler = client.cluster.scheduler
    allowed, scheduler.allowed_failures = scheduler.allowed_failures, 0
    try:
        result = searched(Poisoned(), client.get_executor())
    finally:
        scheduler.allowed_failures = allowed
    check_one_failed(result, "KilledWorker")


def test_a_trial_that_kills_workers_of_ray_fails_alone(ray):
    with ray_executor(max_retries=0) as executor:
        check_one_failed(searched(Poisoned(), executor), "WorkerCrashedError")


def check_one_failed(result, reason):
    failed = [trial for trial in result.trials if trial.state == "failed"]
    assert [trial.number for trial in failed] == [2]
    assert failed[0].reason.startswith(reason)
    others = [trial for trial in result.trials if trial.number != 2]
    assert all(trial.value == bowl(trial.params) for trial in others)
    assert len(others) == 7


@pytest.mark.parametrize("executor", ["Dask", "Ray"], indirect=True)
def test_an_executor_that_is_shut_down_is_one_clear_line(executor):
    executor.shutdown()
    with pytest.raises(ObjectiveError) as caught:
        oc.Study(SPACE, seed=0).optimize(bowl, 3, executor=executor, progress=False)
    cause = "RuntimeError: cannot schedule new futures after shutdown"
    assert str(caught.value) == f"the executor accepts no trials ({cause}); pass one that runs"


def test_a_client_that_is_closed_is_one_clear_line(client):
    distributed = needed("distributed")
    with distributed.Client(client.cluster) as other:
        executor = other.get_executor()
    with pytest.raises(ObjectiveError, match="the executor accepts no trials") as caught:
        oc.Study(SPACE, seed=0).optimize(bowl, 3, executor=executor, progress=False)
    assert "\n" not in str(caught.value)


def test_a_future_of_ray_returns_raises_waits_and_is_cancelled(ray):
    with ray_executor() as executor:
        assert executor._max_workers == 2
        assert executor.submit(int, "7").result() == 7
        assert isinstance(executor.submit(int, "x").exception(), ValueError)
        sleeping = executor.submit(importlib.import_module("time").sleep, 600)
        assert not sleeping.done()
        with pytest.raises(TimeoutError):
            sleeping.result(timeout=0.01)
        assert sleeping.cancel()
        assert sleeping.exception() is not None
        assert sleeping.done()
        assert not sleeping.cancel()


def test_a_ray_executor_that_no_machine_can_serve_is_refused(ray):
    with pytest.raises(MethodError, match=r"a task needs .*'GPU': 64.*but the cluster has"):
        ray_executor(num_gpus=64)
    assert ray_executor(num_gpus=64, max_workers=1)._max_workers == 1
    assert ray_executor(num_cpus=0.5)._max_workers == 4


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'outcrop\[ray\]'"):
        ray_executor()


def test_without_a_cluster_of_ray_its_start_is_named(ray, monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(MethodError, match=r"call ray\.init\(\) first"):
        ray_executor()


@pytest.mark.parametrize("name", ["dask_cluster", "ray_cluster"])
def test_the_example_of_a_cluster_runs(request, capsys, name):
    if name == "ray_cluster":
        request.getfixturevalue("ray")
    else:
        needed("distributed")
    result = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](6)
    assert [trial.state for trial in result.trials] == ["finished"] * 6
    assert "best value" in capsys.readouterr().out


def test_the_example_of_mpi_runs():
    needed("mpi4py.futures")
    launcher = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if launcher is None:
        pytest.skip("mpiexec is not installed: NOT TESTED HERE")
    program = [sys.executable, "-m", "mpi4py.futures", str(EXAMPLES / "mpi_workers.py")]
    command = [launcher, "-n", "2", *program]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "best value" in done.stdout
