import json
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

pytest.importorskip("experiments.harness")  # an sdist has the tests without the experiments

from experiments import __main__ as command
from experiments import harness
from experiments.harness import Experiment, complete, forget
from experiments.progress import Bar, Lines

THREADS = "concurrent.futures:ThreadPoolExecutor"
STATE = {"commit": "abc1234", "source": "0123456789ab"}


def double(cell, number):
    if cell["a"] == "raises":
        raise ValueError(f"run {number} is not for us")
    if cell["a"] == "dies":
        os._exit(3)
    return {"value": 2 * number}


def doubles(*parts):
    cells = [[{"a": name, "b": "z"} for name in part] for part in parts]
    said = {"source": "ours", "summary": "twice as much"}
    return Experiment("doubles", "Doubles", cells, double, lambda rows: f"{len(rows)} rows", **said)


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(harness, "tree_state", lambda: dict(STATE))
    return tmp_path


def write(experiment, *pairs, end=""):
    experiment.path.parent.mkdir(exist_ok=True)
    lines = [
        json.dumps({"cell": {"a": a, "b": "z"}, "run": run, "value": value, **STATE})
        for a, run, value in pairs
    ]
    experiment.path.write_text("\n".join([*lines, end]))


def test_results_are_lines_with_what_made_them(results):
    experiment = doubles(["x", "y"])
    assert complete(experiment, runs=2, jobs=2) == 0
    rows = [json.loads(line) for line in experiment.path.read_text().splitlines()]
    assert {(row["cell"]["a"], row["run"], row["value"]) for row in rows} == {
        ("x", 0, 0),
        ("y", 0, 0),
        ("x", 1, 2),
        ("y", 1, 2),
    }
    last = next(row for row in rows if row["cell"]["a"] == "y" and row["run"] == 1)
    assert last["command"] == "python -m experiments doubles --runs 2 --cells a=y,b=z"
    assert last["outcrop"]
    assert last["elapsed"].keys() == {"wall", "processor"}
    assert {key: last[key] for key in STATE} == STATE


def test_a_run_that_raises_and_one_that_dies_do_not_end_the_others(results, capsys):
    experiment = doubles(["raises", "dies", "x"])
    assert complete(experiment, runs=1, jobs=1) == 2
    assert [row["cell"]["a"] for row in experiment.rows()] == ["x"]
    said = capsys.readouterr().out
    assert "raises z run 0: failed, ValueError('run 0 is not for us')" in said
    assert "dies z run 0: failed, ProcessExpired" in said
    assert len(experiment.missing(1, {})) == 2  # so that the next call tries them again


def test_an_interrupted_call_keeps_what_is_finished(results, monkeypatch):
    def interrupt(self, label, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(Lines, "finished", interrupt)
    experiment = doubles(["x", "y"])
    with pytest.raises(KeyboardInterrupt):
        complete(experiment, runs=2, jobs=1)
    assert len(experiment.rows()) == 1  # whichever was first
    assert len(experiment.missing(2, {})) == 3


def test_a_line_that_was_not_finished_is_written_anew(results):
    experiment = doubles(["x"])
    write(experiment, ("x", 0, 0), end='{"cell": {"a": "x", "b": "z"}, "run": 1, "val')
    assert [row["run"] for row in experiment.rows()] == [0]
    complete(experiment, runs=2, jobs=1)
    rows = [json.loads(line) for line in experiment.path.read_text().splitlines()]
    assert [(row["run"], row["value"]) for row in rows] == [(0, 0), (1, 2)]


def test_only_what_is_missing_and_wanted_is_run_and_a_part_comes_before_the_next(results):
    experiment = doubles(["x", "y"], ["v"])
    write(experiment, ("y", 0, 0))
    order = [(cell["a"], run) for cell, run in experiment.missing(2, {})]
    assert order == [("x", 0), ("x", 1), ("y", 1), ("v", 0), ("v", 1)]
    wanted = [(cell["a"], run) for cell, run in experiment.missing(1, {"a": ["y", "v"]})]
    assert wanted == [("v", 0)]


def test_rows_follow_the_cells_and_the_latest_of_a_run_counts(results):
    experiment = doubles(["x", "y"])
    write(experiment, ("y", 0, 5), ("x", 1, 7), ("gone", 0, 1), ("y", 0, 6), ("x", 0, 8))
    assert [row["value"] for row in experiment.rows()] == [8, 7, 6]


def test_forgetting_removes_the_cells_that_match(results):
    experiment = doubles(["x", "y"])
    write(experiment, ("x", 0, 0), ("y", 0, 0), ("x", 1, 2))
    forget(experiment, {"a": ["x"]})
    assert [row["cell"]["a"] for row in experiment.rows()] == ["y"]
    forget(experiment, {})
    assert experiment.rows() == []


def spawning():
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def test_runs_can_be_made_by_another_executor(results, capsys):
    experiment = doubles(["x", "raises"])
    assert complete(experiment, 2, 9, executor=f"{__name__}:spawning") == 2
    assert [(row["cell"]["a"], row["value"]) for row in experiment.rows()] == [("x", 0), ("x", 2)]
    assert "run 1 is not for us" in capsys.readouterr().out


def test_workers_with_other_code_are_refused(results, monkeypatch, capsys):
    digests = iter(["of the caller", "of the worker"])
    monkeypatch.setattr(harness, "code_digest", lambda: next(digests))
    experiment = doubles(["x"])
    assert complete(experiment, 1, 1, executor=THREADS) == 1
    assert "another version of outcrop or of the experiments" in capsys.readouterr().out
    assert not experiment.rows()


@pytest.mark.skipif(sys.platform != "linux", reason="clusters are tested on Linux")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of its own sockets
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_runs_can_be_made_by_a_dask_cluster(results):
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "silence_logs": 50}
    with distributed.LocalCluster(dashboard_address=None, **options) as cluster:
        experiment = doubles(["x", "raises"])
        assert complete(experiment, 2, 1, executor=f"dask:{cluster.scheduler_address}") == 2
    assert [row["value"] for row in experiment.rows()] == [0, 2]


@pytest.fixture
def known(results, monkeypatch):
    experiment = doubles(["x", "y"])
    monkeypatch.setattr(command, "EXPERIMENTS", {"doubles": experiment})
    monkeypatch.setattr(command, "DOCUMENT", results / "pages")
    return experiment


def test_the_command_runs_a_part_and_writes_the_tables(known, results):
    assert command.main(["doubles", "--runs", "1", "--jobs", "1", "--cells", "a=y"]) == 0
    assert [row["cell"]["a"] for row in known.rows()] == ["y"]
    text = (results / "pages" / "doubles.md").read_text("utf-8")
    assert text.startswith("# Doubles\n")
    assert text.endswith("\n\n1 rows\n")
    index = (results / "pages" / "index.md").read_text("utf-8")
    assert "| ours | [Doubles](doubles.md) | 1 | twice as much |" in index


def test_the_command_says_what_is_missing_and_how_long_it_took(known, capsys):
    assert command.main(["doubles", "--runs", "2", "--plan"]) == 0
    assert "| doubles    |            4 |        unknown |" in capsys.readouterr().out
    assert known.rows() == []
    arguments = ["doubles", "--runs", "1", "--cells", "a=x", "--executor", THREADS]
    assert command.main(arguments) == 0
    said = capsys.readouterr().out
    assert said.index("in all") < said.index("doubles 1/1 x z run 0")
    assert "doubles: 1 runs took" in said


def test_results_of_other_versions_are_made_again_and_those_of_this_one_kept(known, monkeypatch):
    write(known, ("x", 0, 100))
    present = {"commit": "def5678", "source": "ba9876543210"}
    monkeypatch.setattr(harness, "tree_state", lambda: dict(present))
    monkeypatch.setattr(command, "tree_state", lambda: dict(present))
    arguments = ["doubles", "--runs", "1", "--executor", THREADS]
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert [row["value"] for row in known.rows()] == [100]
    assert command.main([*arguments, "--renew"]) == 0
    assert [(row["value"], row["source"]) for row in known.rows()] == [(0, "ba9876543210")] * 2
    written = known.path.read_text()
    assert command.main([*arguments, "--renew"]) == 0
    assert known.path.read_text() == written


def test_tables_alone_run_nothing(known, results):
    write(known, ("x", 0, 0))
    assert command.main(["--tables"]) == 0
    assert len(known.rows()) == 1
    assert "1 rows" in (results / "pages" / "doubles.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["triples"], "triples not known; known are doubles"),
        (["--cells", "a=q"], "a is one of x, y"),
        (["--cells", "x"], "expected KEY=VALUE"),
    ],
)
def test_a_wrong_name_is_refused_with_the_right_ones(known, capsys, arguments, message):
    with pytest.raises(SystemExit):
        command.main(arguments)
    assert message in capsys.readouterr().err
    assert not known.path.exists()


def test_lines_say_how_long_the_rest_will_take(capsys):
    now = iter([0.0, 120.0, 240.0])
    lines = Lines("doubles", 62, clock=lambda: next(now))
    lines.finished("x run 0", 119.5)
    lines.failed("x run 1", ValueError("no"))
    assert capsys.readouterr().out.splitlines() == [
        "doubles 1/62 x run 0: 119.5 s; about 2 h 02 min left",
        "doubles 2/62 x run 1: failed, ValueError('no'); about 2 h 00 min left",
    ]


def test_a_bar_counts_runs_and_names_what_is_running():
    with Bar("doubles", 3) as bar:
        bar.running(["x run 0", "y run 0"])
        bar.finished("x run 0", 1.0)
        bar.failed("y run 0", ValueError("no"))
        (task,) = bar.bar.tasks
        assert (task.completed, task.total) == (2, 3)
        assert task.fields["now"] == "x run 0 · y run 0"
