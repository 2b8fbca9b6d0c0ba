"""Searches of CoCaBO's length in the thesis, and what is read off them."""

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

import outcrop as oc
from experiments import (
    cocabo_batches,
    cocabo_figures,
    cocabo_levels,
    cocabo_pages,
    cocabo_searches,
    cocabo_short,
)
from experiments.claims import cocabo
from experiments.cocabo_searches import DESIGN, INITIAL, Length, run, thesis, thesis_cells
from experiments.mixed_models import LearntMix
from experiments.searches import initial_points, problem_of
from experiments.verdicts import judged
from outcrop.bandits import rate
from outcrop.data import Observations
from outcrop.inference import MAP


def observed(space, n):
    X = space.encode(space.sample(np.random.default_rng(3), n)).X
    return Observations(X, np.sin(5 * X[:, -1]) + (X[:, 0] == 1) * X[:, -2])


def test_lambda_is_learnt_more_rarely_than_the_other_hyperparameters(rng):
    space = problem_of("func-2C").space
    surrogate = LearntMix(space, every=4, mix_every=10)
    first = surrogate.fit(observed(space, 20), rng)
    kept = surrogate.fit(observed(space, 23), rng, first.state)
    assert kept.state["thetas"] == first.state["thetas"]
    others = surrogate.fit(observed(space, 24), rng, kept.state)
    assert others.state["thetas"] != first.state["thetas"]
    assert first.state["mix"] == kept.state["mix"] == others.state["mix"]
    due = surrogate.fit(observed(space, 30), rng, others.state)
    assert due.state["mix"] != first.state["mix"]
    assert (due.state["learnt"], due.state["fitted"]) == (30, 30)


def test_what_was_learnt_is_what_predicts(rng):
    space = problem_of("func-2C").space
    surrogate = LearntMix(space, every=4, mix_every=10)
    first = surrogate.fit(observed(space, 30), rng)
    kept = surrogate.fit(observed(space, 33), rng, first.state)
    (part,) = first.components
    assert part.model.kernel.mix == pytest.approx(first.state["mix"])
    X = observed(space, 50).X[40:]
    expected = part.model.condition(observed(space, 33)).predict(X)[0]
    np.testing.assert_allclose(kept.predict_each(X)[0][0], expected, rtol=1e-9)


def test_lengths_and_rates_are_those_of_the_thesis():
    assert (Length(1, 200).trials, Length(4, 80).trials) == (224, 344)
    assert (Length(1).trials, Length(4).trials) == (100, 100)
    space = problem_of("func-2C").space
    for length, levels, plays in ((Length(1, 200), 17, 1), (Length(4, 80), 17, 4)):
        bandit = thesis(space, length, mix=0.5).bandit(levels)
        assert bandit.gamma == pytest.approx(rate(levels, 2 / 3 * length.iterations, plays))
    gammas = [thesis(space, Length(1, 200), mix=None).bandit(n).gamma for n in (3, 4, 5, 17)]
    assert [round(gamma, 2) for gamma in gammas] == [0.12, 0.16, 0.19, 0.46]


def test_a_search_of_the_thesis_starts_at_random_and_is_stored_with_few_digits():
    cell = {"problem": "ackley-5C5", "method": "random", "batch": "4", "iterations": "2"}
    row = run(cell, 3)
    problem = problem_of("ackley-5C5")
    first = [problem(params) for params in initial_points(problem.space, INITIAL, 3, DESIGN)]
    assert len(row["values"]) == INITIAL + 8
    np.testing.assert_allclose(row["values"][:INITIAL], first, rtol=1e-6)
    digits = [f"{value:.15g}".replace(".", "").lstrip("0") for value in row["values"]]
    assert max(map(len, digits)) == 7
    assert len(row["seconds"]) == 1
    assert "levels" not in row


@pytest.mark.parametrize("method", ["CoCaBO-0.5", "One-hot"])
def test_searches_of_the_thesis_find_hyperparameters_every_tenth_iteration(method, monkeypatch):
    found = []
    infer = MAP.infer

    def counted(self, target, *args):
        found.append(len(target.data))
        return infer(self, target, *args)

    monkeypatch.setattr(MAP, "infer", counted)
    run({"problem": "func-2C", "method": method, "batch": "2", "iterations": "11"}, 0)
    assert found == [INITIAL, INITIAL + 20]


def test_probabilities_of_levels_are_those_that_the_bandits_drew_with(monkeypatch):
    cell = {**cocabo_searches.FOLLOWED, "iterations": "12"}
    monkeypatch.setattr(cocabo_searches, "FOLLOWED", cell)
    drawn = []
    ask = oc.Optimizer.ask

    def noted(self, *args):
        trial = ask(self, *args)
        drawn.append(trial.why["drawn"])
        return trial

    problem = problem_of("func-2C")
    initial = initial_points(problem.space, INITIAL, 1, DESIGN)
    monkeypatch.setattr(cocabo_searches, "initial_points", lambda *_: initial)
    monkeypatch.setattr(oc.Optimizer, "ask", noted)
    row = run(cell, 1)
    assert len(row["levels"]["h1"]) == INITIAL + 12
    method = thesis(problem.space, Length.of(cell), mix=None)
    for name, n in (("h1", 3), ("h2", 5)):
        levels = row["levels"][name]
        p = cocabo_levels.replayed(method, levels, row["values"], n)
        np.testing.assert_allclose(p.sum(1), 1.0)
        assert np.ptp(p[-1]) > 0.01  # something was learnt
        own = [p[i, level] for i, level in enumerate(levels[INITIAL:])]
        np.testing.assert_allclose(own, [each[name] for each in drawn], rtol=1e-5)


def row(cell, run, values, **others):
    return {"cell": cell, "run": run, "values": values, "n_initial": INITIAL} | {
        "seconds": [0.1],
        **others,
    }


def filled(cells, runs=2):
    rng = np.random.default_rng(0)
    rows = []
    for cell in cells:
        n = Length.of(cell).trials
        for number in range(runs):
            more = {}
            if cell == cocabo_searches.FOLLOWED:
                more = {"levels": {"h1": rng.integers(3, size=n), "h2": rng.integers(5, size=n)}}
                more["levels"] = {name: codes.tolist() for name, codes in more["levels"].items()}
            values = 1 + rng.gamma(1.0, size=n)
            values[:INITIAL] += 5.0
            rows.append(row(cell, number, values.tolist(), **more))
    return rows


def test_every_cell_comes_once_and_what_the_thesis_claims_comes_first():
    cells = [tuple(sorted(cell.items())) for cell in cocabo_figures.EXPERIMENT.cells]
    assert len(cells) == len(set(cells))
    sequential, batched, real, *_ = cocabo_figures.EXPERIMENT.parts
    assert cocabo_searches.FOLLOWED in sequential
    for part, batch in ((sequential, "1"), (batched, "4"), (real, "4")):
        methods = {cell["method"] for cell in part}
        assert methods >= {"CoCaBO-auto", "CoCaBO-0.5", "CoCaBO-1.0", "CoCaBO-0.0", "One-hot"}
        assert {cell["batch"] for cell in part} == {batch}
    sizes = {
        (cell["problem"], int(cell["batch"]))
        for cell in cocabo_figures.EXPERIMENT.cells
        if cell["method"] == "CoCaBO-auto"
    }
    assert {(p, b) for p in cocabo_batches.SWEPT for b in cocabo_batches.BATCHES} <= sizes


@pytest.fixture
def undrawn(monkeypatch):
    """Pictures by their name alone, since drawing takes long."""
    monkeypatch.setattr(cocabo_pages, "convergence_figure", lambda *_: None)
    monkeypatch.setattr(cocabo_batches, "picture", lambda *_: None)


def test_a_report_has_a_line_for_every_cell_with_results_and_shows_every_picture(undrawn):
    cells = [
        cell
        for cell in cocabo_figures.EXPERIMENT.cells
        if cell["problem"] in ("func-2C", "ackley-5C", "svm-boston")
    ]
    (left_out,) = (
        c for c in cells if (c["batch"], c["method"]) == ("4", "SMAC") and "svm" in c["problem"]
    )
    rows = filled(cell for cell in cells if cell != left_out)
    text = cocabo_figures.report(rows)
    pictures = cocabo_figures.draw(rows)
    assert all(f"(../images/{name}.png)" in text for name in pictures)
    assert len(pictures["cocabo_levels"].axes) == 4
    lines = [[part.strip() for part in line.split("|")[1:4]] for line in text.splitlines()]
    compared = [cell for cell in cells if (cell["problem"], cell["batch"]) != ("svm-boston", "1")]
    compared.remove(left_out)
    for cell in compared:
        if cell["batch"] in ("1", "4"):
            assert [cell["problem"], cell["method"], "2"] in lines
    for problem in cocabo_batches.SWEPT:
        for batch in cocabo_batches.BATCHES:
            assert [problem, str(batch), "2"] in lines
    assert "Figure 5.5: ackley-5C, batches of 4" in text
    assert "Not made yet, and left out: func-3C; ackley-5C5; func-3C, batches of 4;" in text
    assert "; SVM-Boston, batches of 4 (SMAC); NN-Yacht, batches of 4;" in text


def test_shorter_searches_have_a_page_of_their_own(undrawn):
    assert not any("iterations" in cell for cell in cocabo_short.EXPERIMENT.cells)
    rows = filled(cocabo_short.EXPERIMENT.cells)
    text = cocabo_short.report(rows)
    lines = [[part.strip() for part in line.split("|")[1:4]] for line in text.splitlines()]
    for cell in cocabo_short.EXPERIMENT.cells:
        assert [cell["problem"], cell["method"], "2"] in lines
    pictures = cocabo_short.draw(rows)
    assert len(pictures) == 5
    assert all(f"(../images/{name}.png)" in text for name in pictures)


def test_batches_are_compared_after_equal_iterations_and_after_equal_trials():
    (one,) = thesis_cells(["ackley-5C"], ["CoCaBO-auto"], 1)
    (two,) = thesis_cells(["ackley-5C"], ["CoCaBO-auto"], 2)
    slow = [4.0] * (INITIAL + 120) + [1.0] * 80  # after 120 iterations
    fast = [4.0] * (INITIAL + 150) + [3.0] * 10  # after 75 iterations
    sweep = cocabo_batches.of_batches([row(one, 0, slow), row(two, 0, fast)])
    lines = cocabo_batches.sweep_table(sweep).splitlines()[2:]
    shown = [[part.strip() for part in line.split("|")[1:-1]] for line in lines]
    assert [line[3] for line in shown] == ["0.0000 ± 0.0000", "0.2500 ± 0.0000"]
    assert [line[5] for line in shown] == ["0.7500 ± 0.0000", "0.2500 ± 0.0000"]
    figure = cocabo_batches.picture(sweep)
    above, below = figure.axes
    data = {line.get_label(): line.get_data() for line in above.lines}
    assert data["b = 2"][0][-1] == 80
    assert data["b = 2"][1][[75, 76, 80]].tolist() == [4.0, 3.0, 3.0]
    assert {line.get_label(): line.get_xdata()[-1] for line in below.lines} == {
        "b = 1": 200,
        "b = 2": 160,
    }


def test_the_level_of_the_minimum_is_counted_at_first_and_in_the_end():
    n = Length.of(cocabo_searches.FOLLOWED).trials
    levels = {"h1": [0] * (n - 50) + [1] * 50, "h2": [1] * n}
    rows = [row(cocabo_searches.FOLLOWED, 0, [1.0] * n, levels=levels)]
    assert cocabo_levels.followed([*rows, replace_cell(rows[0], method="CoCaBO-0.5")]) == rows
    lines = cocabo_levels.level_table(rows).splitlines()[2:]
    shown = [[part.strip() for part in line.split("|")[1:-1]] for line in lines]
    assert shown[0][:6] == ["h1", "3", "1", "0.33", "0.00", "1.00"]
    assert shown[1][:6] == ["h2", "5", "1", "0.20", "1.00", "1.00"]
    assert cocabo_levels.shares(rows) == {"first 50": {0: 0.5}, "last 50": {0: 1.0}}


def replace_cell(row, **changes):
    return {**row, "cell": {**row["cell"], **changes}}


def test_every_claim_of_the_figures_is_judged_by_their_searches():
    claims = [claim for claim in cocabo.CLAIMS if claim.experiment == "cocabo_figures"]
    assert len(claims) == 10
    rng = np.random.default_rng(0)
    rows = []
    named = {*cocabo.VARIANTS, "One-hot", "SMAC", "HyperOpt"}
    for cell in cocabo_figures.EXPERIMENT.cells:
        if cell["method"] not in named or cell["problem"] in cocabo_figures.MANY_LEVELS:
            continue
        length = Length.of(cell)
        is_ahead = cell["method"].startswith("CoCaBO")
        for number in range(12):
            best = (2.0 if is_ahead else 4.0) + rng.random() - 0.2 * length.batch
            rows.append(row(cell, number, [9.0] * 60 + [best] * (length.trials - 60)))
            if cell == cocabo_searches.FOLLOWED:
                rows[-1]["levels"] = {name: [0] * 124 + [1] * 100 for name in ("h1", "h2")}
    verdicts = [each.verdict for each in judged(claims, {"cocabo_figures": rows})]
    assert verdicts == ["reproduced"] * 10
