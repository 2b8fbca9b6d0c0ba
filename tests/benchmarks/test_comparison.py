from itertools import product

import numpy as np
import pytest

from benchmarks.comparison import gaps, holm, paired_p_value, summarise
from benchmarks.regret import initial_points
from outcrop.problems import get


def test_gap_is_the_part_of_the_way_from_the_first_points_to_the_minimum():
    values = np.array([[9.0, 5.0, 7.0, 2.0], [5.0, 5.0, 1.0, 3.0], [5.0, 6.0, 8.0, 9.0]])
    np.testing.assert_allclose(gaps(values, n_initial=2, minimum=1.0), [0.75, 1.0, 0.0])


def test_wilcoxon_p_value_matches_counting_all_signs():
    differences = np.array([0.3, -0.1, 0.7, 0.4, 0.25, 0.9])
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    observed = ranks[differences > 0].sum()
    sums = np.array([ranks @ signs for signs in product((0, 1), repeat=6)])
    counted = 2 * min((sums >= observed).mean(), (sums <= observed).mean())
    assert paired_p_value(differences) == pytest.approx(counted)


def test_no_difference_at_all_is_no_evidence():
    assert paired_p_value(np.zeros(10)) == 1.0


def test_pairs_without_a_difference_do_not_count():
    differences = np.array([0.3, -0.1, 0.7, 0.4, 0.25, 0.9])
    padded = paired_p_value(np.append(differences, 0.0))
    assert padded == pytest.approx(paired_p_value(differences))


def test_holm_matches_the_example_worked_by_hand():
    # 0.01 × 4, 0.02 × 3, 0.03 × 2 (not below the one before), 0.9 × 1.
    assert holm([0.03, 0.01, 0.9, 0.02]) == pytest.approx([0.06, 0.04, 0.9, 0.06])


@pytest.mark.parametrize("start", ["latin", "sobol"])
def test_initial_points_depend_on_problem_and_seed_and_lie_in_the_box(start):
    branin, griewank = get("branin"), get("griewank-2")
    X = initial_points(branin, 3, start)
    low, high = branin.bounds.T
    assert X.shape == (6, 2)
    assert np.all((low <= X) & (high >= X))
    np.testing.assert_array_equal(X, initial_points(branin, 3, start))
    assert not np.allclose(X, initial_points(branin, 4, start))
    assert not np.allclose(branin.to_unit(X), griewank.to_unit(initial_points(griewank, 3, start)))


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.comparison.RESULTS", tmp_path)
    monkeypatch.setattr("benchmarks.reporting.RESULTS", tmp_path)
    return tmp_path


def record(method, seed, values):
    return {
        "method": method,
        "problem": "branin",
        "seed": seed,
        "n_initial": 2,
        "values": values,
        "seconds_per_trial": 0.1,
        "versions": {"numpy": "2"},
    }


def test_summary_compares_seeds_that_both_have(results, capsys):
    runs = [record("outcrop", seed, [4.0, 3.0, 1.0]) for seed in range(3)]
    runs += [record("botorch", seed, [4.0, 3.0, 2.0]) for seed in range(1, 5)]
    summarise(runs, {"branin": 0.0}, "regret", "latin")
    text = (results / "regret.md").read_text(encoding="utf-8")
    assert text.strip() in capsys.readouterr().out
    assert "| botorch |  branin |     2 |  0.6667 | 0.3333 |      2 |     0 |" in text


def test_summary_refuses_runs_from_different_initial_points(results):
    runs = [record("outcrop", 0, [4.0, 3.0, 1.0]), record("botorch", 0, [4.0, 2.9, 2.0])]
    with pytest.raises(ValueError, match="same points"):
        summarise(runs, {"branin": 0.0}, "regret", "latin")
