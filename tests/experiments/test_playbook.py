"""The experiments with many workers: their searches, and what is read off them."""

import json

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import (
    async_vs_sync,
    harness,
    pending_policies,
    playbook,
    playbook_tables,
    real_async,
)
from experiments.playbook_published import PUBLISHED
from experiments.refitted import Refitted
from experiments.searches import problem_of
from outcrop.data import Observations
from outcrop.kernels import Matern52, Scaled
from outcrop.params import free
from outcrop.surrogates import GP, Inferred

MODEL = GP(
    Scaled(free(playbook.VARIANCE), Matern52(free(playbook.LENGTHSCALES, size=2))),
    noise=playbook.NOISE,
)


def observed(n):
    X = np.random.default_rng(5).random((n, 2))
    return Observations(X, np.sin(5 * X[:, 0]) + X[:, 1] - 0.7)


def row(run, regrets, method="KB", problem="ack-5", workers="4", seconds=0.1):
    """One initial value and then others, a quarter of a virtual second apart."""
    cell = {"problem": problem, "workers": workers, "method": method}
    values = (problem_of(problem).minimum + np.asarray(regrets)).tolist()
    moments = (0.25 * np.arange(1, len(values))).tolist()
    return {"cell": cell, "run": run, "values": values, "n_initial": 1, "times": moments} | {
        "seconds": [seconds]
    }


def test_hyperparameters_are_kept_until_enough_observations_came_in(rng):
    surrogate = Refitted(MODEL, playbook.INFERENCE, playbook.EVERY)
    first = surrogate.fit(observed(10), rng)
    kept = surrogate.fit(observed(13), rng, first.state)
    assert kept.state["thetas"] == first.state["thetas"]
    due = surrogate.fit(observed(14), rng, kept.state)
    assert due.state["thetas"] != first.state["thetas"]
    assert (kept.state["fitted"], due.state["fitted"]) == (10, 14)


def test_kept_hyperparameters_see_all_observations(rng):
    surrogate = Refitted(MODEL, playbook.INFERENCE, playbook.EVERY)
    first = surrogate.fit(observed(10), rng)
    kept = surrogate.fit(observed(13), rng, first.state)
    (part,) = first.components
    expected = part.model.condition(observed(13))
    X = rng.random((7, 2))
    np.testing.assert_allclose(kept.predict_each(X)[0][0], expected.predict(X)[0], rtol=1e-9)


def test_a_fit_that_is_due_is_the_most_probable_within_the_bounds_of_the_thesis(rng):
    belief = Refitted(MODEL, playbook.INFERENCE, playbook.EVERY).fit(observed(12), rng)
    thorough = Inferred(MODEL, playbook.MAP(starts=40)).fit(observed(12), rng)
    (found,), (best,) = belief.components, thorough.components
    assert found.model.log_likelihood(observed(12)) == pytest.approx(
        best.model.log_likelihood(observed(12)), abs=0.02
    )
    assert ((found.scales() >= 0.025) & (found.scales() <= 0.5)).all()


def test_all_methods_of_a_run_begin_alike_and_search_without_trouble(monkeypatch):
    monkeypatch.setattr(playbook, "STEPS", 5)
    rows = [playbook.simulated("egg-2", name, 3, run=2) for name in playbook.METHODS]
    for each in rows:
        assert len(each["values"]) == 6 + 3 + 5
        assert len(each["times"]) == 3 + 5
        assert each["times"] == sorted(each["times"]) == rows[0]["times"]
        assert each["values"][:7] == rows[0]["values"][:7]  # and the first job to end
        assert each["fallbacks"] == 0
        json.dumps(each)
    assert len({tuple(each["values"]) for each in rows}) == len(rows)


def test_both_modes_begin_with_the_same_jobs_which_take_equally_long(monkeypatch):
    monkeypatch.setattr(playbook, "STEPS", 6)
    one, other = (
        playbook.simulated("egg-2", "KB", 3, 1, mode) for mode in ("asynchronous", "synchronous")
    )
    first = dict(zip(other["times"][:3], other["values"][6:9], strict=True))
    both = dict(zip(one["times"], one["values"][6:], strict=True))
    assert all(both[moment] == value for moment, value in first.items())
    assert other["times"][3] >= other["times"][2]
    assert one["times"][-1] <= other["times"][-1]


def test_log_regrets_begin_with_the_best_initial_value_and_never_rise():
    each = row(0, [0.5, 2.0, 0.1, 0.3, 0.0])
    each["n_initial"] = 2
    expected = np.log([0.5, 0.1, 0.1, playbook.FLOOR])
    np.testing.assert_allclose(playbook.log_regrets(each), expected, rtol=1e-6)


def test_published_numbers_are_those_of_the_thesis_for_all_cells():
    assert len(PUBLISHED) == 3 * len(playbook_tables.EXPERIMENT.cells)
    for cell in playbook_tables.EXPERIMENT.cells:
        for steps in playbook_tables.SHOWN:
            assert (steps, cell["problem"], cell["workers"], cell["method"]) in PUBLISHED
    assert PUBLISHED[50, "egg-2", "2", "PLAyBOOK-H"] == "-0.4 (0.4)"
    assert PUBLISHED[75, "mic-10", "16", "PLAyBOOK-HL"] == "1.7 (0.0)"
    assert PUBLISHED[100, "ack-5", "16", "KB"] == "-0.8 (0.1)"
    assert PUBLISHED[75, "egg-2", "6", "PLAyBOOK-H"] == "-0.3 (0.3)"
    assert PUBLISHED[50, "nrobot-4", "16", "PLAyBOOK-L"] == "-0.8 (0.2)"


def test_every_cell_comes_once_and_what_must_be_shown_comes_first():
    cells = [tuple(cell.items()) for cell in playbook_tables.EXPERIMENT.cells]
    assert len(cells) == len(set(cells)) == 8 * 5 * 6
    first, second, *_ = playbook_tables.EXPERIMENT.parts
    assert {cell["problem"] for cell in first} == {"ack-5", "egg-2", "mat-2", "mic-5"}
    assert {cell["workers"] for cell in [*first, *second]} == {"4", "16"}
    assert {cell["problem"] for cell in [*first, *second]} == set(playbook_tables.PROBLEMS)
    assert {cell["problem"] for cell in async_vs_sync.EXPERIMENT.parts[0]} == {"ack-5"}


def test_ranks_count_the_runs_that_all_methods_have():
    regrets = {"KB": 0.3, "TS": 0.9, "PLAyBOOK-L": 0.1, "PLAyBOOK-LL": 0.3, "PLAyBOOK-H": 0.2}
    rows = [row(0, [1.0, r], m) for m, r in (regrets | {"PLAyBOOK-HL": 0.5}).items()]
    rows += [row(1, [1.0, r], m) for m, r in regrets.items()]
    found = playbook_tables.ranks(playbook_tables.by_task(rows), 1)
    assert found.tolist() == [[3.5, 6.0, 1.0, 3.5, 2.0, 5.0]]


def test_a_table_shows_means_and_standard_errors_above_what_is_published():
    regrets = {"KB": [np.e, np.e**3], "TS": [1.0, 1.0]}
    rows = [row(n, [50.0, r], m) for m, each in regrets.items() for n, r in enumerate(each)]
    found = playbook_tables.by_task(rows)
    long = {
        task: {m: {n: np.full(51, logs[1]) for n, logs in runs.items()} for m, runs in f.items()}
        for task, f in found.items()
    }
    lines = playbook_tables.regret_table(long, 50).splitlines()[2:]
    ours, published, p = ([c.strip() for c in line.split("|")[1:-1]] for line in lines)
    assert ours[:5] == ["4", "ack-5", "2 runs", "2.00 (0.71)", "0.00 (0.00)"]
    assert published[2:5] == ["published", "-0.5 (0.1)", "-0.2 (0.0)"]
    assert p[2:5] == ["p", "", "0.500"]  # of two runs both differ in one direction


def filled(experiment, runs=2):
    rng = np.random.default_rng(0)
    return [
        row(run, rng.gamma(1.0, size=121), **cell)
        for cell in experiment.cells
        for run in range(runs)
    ]


def test_the_report_of_the_tables_has_a_line_for_every_task_and_shows_every_picture():
    rows = filled(playbook_tables.EXPERIMENT)
    text = playbook_tables.report(rows)
    pictures = playbook_tables.draw([each for each in rows if each["cell"]["problem"] == "egg-2"])
    assert len(pictures) == 5
    assert all(f"(../images/{name}.png)" in text for name in pictures)
    lines = [[c.strip() for c in line.split("|")[1:4]] for line in text.splitlines()]
    for workers in playbook_tables.WORKERS:
        for problem in playbook_tables.PROBLEMS:
            assert lines.count([workers, problem, "2 runs"]) == 3


def test_tasks_that_were_not_made_are_named():
    rows = [row(0, [1.0, 0.5], **cell) for cell in playbook_tables.EXPERIMENT.cells]
    assert playbook_tables.left_out(playbook_tables.by_task(rows)) == ""
    some = [
        each
        for each in rows
        if each["cell"]["workers"] not in ("6", "16") or each["cell"]["problem"] == "mic-5"
        if each["cell"]["workers"] != "6"
    ]
    sentence = playbook_tables.left_out(playbook_tables.by_task(some))
    assert "left out: all tasks with 6 workers; ack-5, egg-2, mat-2, ack-10" in sentence
    assert sentence.endswith("nrobot-4 with 16 workers.")


def test_a_picture_has_a_panel_for_every_problem_in_lines_of_four():
    rows = [row(0, [1.0, 0.5] * 51, **cell) for cell in playbook_tables.EXPERIMENT.cells]
    rows = [each for each in rows if each["cell"]["workers"] == "6"]
    for n, lines in ((3, 1), (5, 2), (8, 2)):
        some = [each for each in rows if each["cell"]["problem"] in playbook_tables.PROBLEMS[:n]]
        (figure,) = playbook_tables.draw(some).values()
        shown = [axes for axes in figure.axes if axes.axison]
        assert [axes.get_title() for axes in shown] == list(playbook_tables.PROBLEMS[:n])
        assert shown[0].get_gridspec().nrows == lines


def test_the_robot_has_a_goal_of_its_own_in_every_run():
    one, other = playbook.task_of("nrobot-4", 1), playbook.task_of("nrobot-4", 2)
    assert one.function.goal != other.function.goal
    assert one.function == playbook.task_of("nrobot-4", 1).function
    assert playbook.task_of("ack-5", 1) is playbook.task_of("ack-5", 2)


def test_both_modes_are_compared_at_equal_times_and_after_equal_evaluations():
    fast = row(0, [1.0] * 40 + [0.5] * 81)
    slow = row(0, [1.0] * 60 + [0.25] * 61)
    slow["times"] = (0.5 * np.arange(1, 121)).tolist()
    runs = {0: (fast, slow)}
    assert async_vs_sync.after_equal_times(runs) == (
        {0: pytest.approx(np.log(0.5))},
        {0: pytest.approx(0.0)},  # 50 evaluations in the time of 100
    )
    assert async_vs_sync.after_equal_evaluations(runs) == (
        {0: pytest.approx(np.log(0.5))},
        {0: pytest.approx(np.log(0.25))},
    )
    moments, both = async_vs_sync.over_time([(fast, slow)])
    assert (moments[0], moments[-1]) == (0.0, 30.0)
    changes = [moments[np.flatnonzero(np.diff(trace[0]))[0] + 1] for trace in both]
    assert changes == pytest.approx([10.0, 30.0])


def test_the_report_of_both_modes_takes_asynchronous_searches_from_the_tables(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    rows = filled(async_vs_sync.EXPERIMENT)
    assert "of this version are missing: `playbook_tables`" in async_vs_sync.report(rows)
    assert async_vs_sync.draw(rows) == {}
    lines = map(json.dumps, filled(playbook_tables.EXPERIMENT))
    playbook_tables.EXPERIMENT.path.write_text("\n".join(lines) + "\n", "utf-8")
    text = async_vs_sync.report(rows)
    assert all(f"(../images/{name}.png)" in text for name in async_vs_sync.draw(rows))
    found = [[c.strip() for c in line.split("|")[1:5]] for line in text.splitlines()]
    for cell in async_vs_sync.EXPERIMENT.cells:
        assert [cell["problem"], cell["workers"], cell["method"], "2"] in found


def test_both_modes_are_compared_only_where_one_version_made_them():
    now, before = {"source": "b" * 12}, {"source": "a" * 12}
    rows = [row(run, [1.0] * 121) | now for run in (0, 1)]
    others = [row(0, [1.0] * 121) | now, row(1, [1.0] * 121) | before]
    (pairs,) = async_vs_sync.by_setting(rows, others).values()
    assert list(pairs) == [0]


def test_searches_of_a_former_version_are_compared_with_those_of_the_same_runs(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    (tmp_path / "former").mkdir()
    method = "PLAyBOOK-HL"
    now = [row(run, [1.0] * 100 + [np.exp(-run)], method) for run in range(3)]
    old = [{**row(run, [1.0] * 101, method), "commit": "old"} for run in range(1, 4)]
    path = tmp_path / "former" / "async_vs_sync.jsonl"
    path.write_text("\n".join(map(json.dumps, old)) + "\n", "utf-8")
    line = async_vs_sync.changes("async_vs_sync", now).splitlines()[-1]
    expected = ["4", "ack-5", method, "2", "0.000 (0.000)", "-1.500 (0.354)", "2 : 0", "0.500"]
    assert [part.strip() for part in line.split("|")[1:-1]] == expected


def trained(mode, run, values, moments):
    return {"cell": {"mode": mode}, "run": run, "values": values, "times": moments} | {
        "failed": 0,
        "wall": moments[-1],
        "busy": 24.0,
        "processor": 12.0,
        "utilisation": 0.5,
    }


def test_errors_in_time_are_those_known_when_the_asynchronous_search_ended():
    rows = [
        trained("asynchronous", 0, [0.3, 0.1], [1.0, 4.0]),
        trained("sequential", 0, [0.3, 0.2, 0.05], [1.0, 4.0, 9.0]),
    ]
    text = real_async.report(rows)
    lines = [[c.strip() for c in line.split("|")[1:-1]] for line in text.splitlines()]
    expected = ["sequential", "1", "1", "5.00 ± 0.00", "20.00 ± 0.00", "9.0", "1.00 / 0.50"]
    assert [*expected, "0.500", "0"] in lines
    (axes,) = real_async.draw(rows)["real_async"].axes
    assert axes.lines[1].get_ydata()[[0, -1]].tolist() == [0.3, 0.05]


@pytest.mark.slow
@pytest.mark.parametrize("mode", real_async.WORKERS)
def test_a_network_is_tuned_on_real_processes(mode, monkeypatch):
    monkeypatch.setattr(real_async, "TRIALS", 5)
    found = real_async.run({"mode": mode}, 0)
    assert len(found["values"]) + found["failed"] == 5
    assert min(found["values"]) < 0.5
    assert found["times"] == sorted(found["times"])
    assert 0 < found["utilisation"] <= 1
    json.dumps(found)


def test_the_report_on_policies_ranks_them_and_compares_each_with_the_believer():
    names = list(pending_policies.POLICIES)
    regrets = {name: 0.9 ** np.arange(101.0) * (1 + i) for i, name in enumerate(names)}
    rows = [row(run, regrets[name] * (1 + run), name) for name in names for run in range(6)]
    text = [" ".join(line.split()) for line in pending_policies.EXPERIMENT.report(rows).split("\n")]
    assert any(line.startswith("| believer | 1.00 | 1.00 | 1.00 | – |") for line in text)
    assert any(line.startswith("| PLAyBOOK-HL | 6.00 | 6.00 | 6.00 | – |") for line in text)
    assert sum(line.startswith("| 4 | ack-5 | 6 runs |") for line in text) == 1
