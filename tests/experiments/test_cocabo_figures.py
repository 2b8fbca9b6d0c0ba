import json
from math import sqrt

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import cocabo_short, cocabo_table53, harness
from experiments.cocabo_searches import INITIAL, LEARNING, METHODS, Length
from experiments.former import before_and_after, former_rows
from experiments.mixed_models import LENGTHSCALE, Symmetric, one_hot_model
from experiments.searches import initial_points, problem_of, search
from outcrop.baselines.one_hot import Cube
from outcrop.kernels import Matern52
from outcrop.strategies import strategy_for
from outcrop.testing import central_differences


def test_one_hot_codes_are_1_apart_where_numbers_are_2_apart():
    """[−1, 1]ᵈ × {0, 1}ᴺ with one lengthscale for all columns."""
    space = problem_of("func-2C").space
    kernel = one_hot_model(space).kernel
    assert isinstance(kernel, Symmetric)
    free = kernel.kernel.lengthscales
    assert (free.prior.low, free.prior.high) == (LENGTHSCALE.low, LENGTHSCALE.high) == (1e-4, 3.0)
    numbers = [column.index for column in space.columns if not column.is_code]
    bound = Symmetric(kernel.columns, Matern52([0.8]))
    X = space.from_uniform(np.random.default_rng(0).random((6, len(space.columns))))
    W = Cube(space).encoded(X)
    codes = [i for i in range(len(X[0])) if i not in numbers]
    square = (4 * (X[:, None, numbers] - X[:, numbers]) ** 2).sum(-1)
    square = square + 2 * (X[:, None, codes] != X[:, codes]).sum(-1)
    s = sqrt(5) * np.sqrt(square) / 0.8
    np.testing.assert_allclose(bound(W, W), (1 + s + s**2 / 3) * np.exp(-s), rtol=1e-9)
    expected = central_differences(lambda w: float(bound(w, W[3:]).sum()), W[:3])
    _, pull = bound.with_pullback(W[:3], W[3:])
    np.testing.assert_allclose(pull(np.ones((3, 3)))[1], expected, rtol=1e-4, atol=1e-6)


def test_the_search_by_one_hot_codes_has_the_model_of_the_thesis():
    space = problem_of("func-2C").space
    strategy = strategy_for(METHODS["One-hot"](space, Length(1)), space)
    assert isinstance(strategy.model.kind.model.kernel, Symmetric)
    strategy = strategy_for(METHODS["One-hot"](space, Length(4, 80)), space)
    refitted = strategy.model.kind.given
    assert isinstance(refitted.model.kernel, Symmetric)
    assert refitted.every == 40


@pytest.mark.parametrize("levels", [2, 4, 17])
def test_bandits_learn_in_batches_if_there_are_more_levels_than_points_or_their_rate_is_given(
    levels,
):
    space = problem_of("svm-boston").space
    usual, learning = (
        METHODS[name](space, Length(4, 80)).bandit(levels).gamma
        for name in ("CoCaBO-auto", "CoCaBO-learns")
    )
    assert learning == LEARNING
    assert (0 < usual < 1) == (levels > 4)


@pytest.mark.parametrize("name", ["CoCaBO-auto", "CoCaBO-raw", "CoCaBO-learns", "One-hot"])
@pytest.mark.parametrize("length", [Length(1), Length(1, 200)], ids=["short", "thesis"])
def test_methods_of_the_thesis_search(name, length):
    problem = problem_of("func-2C")
    initial = initial_points(problem.space, INITIAL, run=0)
    method = METHODS[name](problem.space, length)
    row = search(problem, method, initial, len(initial) + 2, run=0)
    assert row["fallbacks"] == 0
    assert len(row["values"]) == len(initial) + 2


@pytest.fixture
def former(tmp_path, monkeypatch):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    (tmp_path / "former").mkdir()
    return tmp_path / "former"


def test_versions_are_compared_on_the_runs_that_both_have():
    before = {run: 0.1 * run for run in range(8)}
    after = {run: 0.1 * run + 0.5 for run in range(1, 10)}
    text = before_and_after(["problem"], {("a",): (before, after)}, larger_is_better=True)
    line = [cell.strip() for cell in text.splitlines()[-1].split("|")[1:-1]]
    assert line == ["a", "7", "0.400 (0.076)", "0.900 (0.076)", "7 : 0", "0.016"]
    text = before_and_after(["problem"], {("a",): (before, after)}, larger_is_better=False)
    assert "0 : 7" in text


def test_a_report_shows_what_a_change_did(former):
    cell = {"problem": "func-2C", "method": "One-hot"}
    rows = [
        {"cell": cell, "run": run, "log_likelihood": value, "commit": "new"}
        for run, value in enumerate([-90.0, -80.0, -100.0])
    ]
    assert former_rows("cocabo_table53", rows) == []
    old = [{**row, "log_likelihood": row["log_likelihood"] - 20, "commit": "old"} for row in rows]
    path = former / "cocabo_table53.jsonl"
    path.write_text("\n".join(map(json.dumps, old)) + "\n", "utf-8")
    text = " ".join(cocabo_table53.report(rows).split())
    assert "| func-2C | 3 | -110.000 (4.714) | -90.000 (4.714) | 3 : 0 | 0.250 |" in text
    assert "Not made again" not in text
    assert former_rows("cocabo_table53", old) == []
    text = cocabo_table53.report(old)
    assert "of the former version: func-2C One-hot." in text


def test_the_reported_gaps_of_a_former_version_have_the_minimum_of_all_searches(former):
    cell = {"problem": "svm-boston", "method": "cocabo", "batch": "1"}
    new = {"cell": cell, "run": 0, "values": [3.0] * 24 + [2.0] * 76, "n_initial": 24}
    old = {**new, "values": [3.0] * 24 + [1.0] * 76, "commit": "old"}
    (former / "cocabo_short.jsonl").write_text(json.dumps(old) + "\n", "utf-8")
    line = cocabo_short.changes([new]).splitlines()[-1]
    assert [part.strip() for part in line.split("|")[3:7]] == [
        "cocabo",
        "1",
        "1.000 (0.000)",
        "0.500 (0.000)",
    ]
