from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments.__main__ import EXPERIMENTS
from experiments.claims import CLAIMS
from experiments.measures import best_of, best_share, log10_regret_on_the_way, missed
from experiments.summary import NO_REASON, SUBJECTS, claim_table, count_table, ours
from experiments.verdicts import BOUNDS, FEWEST, Claim, Measure, judged

RUNS = 10
SPREAD = np.linspace(-0.01, 0.01, RUNS)


def read(rows, by):
    found = {}
    for row in rows:
        cell = {key: value for key, value in row["cell"].items() if key != by}
        found.setdefault(row["cell"][by], {})[tuple(cell.items()), row["run"]] = row["value"]
    return found


SCORE = Measure("score", read, (0.05, 0.02))
COST = Measure("cost", read, (0.05, 0.02), larger_is_better=False)


def claim(**fields):
    given = {"measure": SCORE, "first": ("A",), "second": ("B",), "runs": 30, **fields}
    return Claim("someone", "Table 1", "A is better than B.", "compared", **given)


def rows(method, values, problem="p", first=0):
    return [
        {"cell": {"problem": problem, "method": method}, "run": first + i, "value": float(value)}
        for i, value in enumerate(values)
    ]


def pairs(difference, spread=SPREAD, problem="p"):
    """Rows of two methods that differ by about `difference`."""
    return rows("A", 0.5 + difference + spread, problem) + rows("B", np.full(RUNS, 0.5), problem)


def verdict_on(one, stored):
    (found,) = judged([one], {"compared": stored})
    return found.verdict


@pytest.mark.parametrize(
    ("kind", "difference", "verdict"),
    [
        ("ahead", 0.1, "reproduced"),
        ("ahead", 0.03, "not reproduced"),  # significant, and too little to matter
        ("ahead", 0.0, "not reproduced"),
        ("ahead", -0.1, "contradicted"),
        ("no worse", 0.1, "reproduced"),
        ("no worse", -0.03, "reproduced"),
        ("no worse", -0.048, "not reproduced"),
        ("no worse", -0.1, "contradicted"),
        ("alike", 0.0, "reproduced"),
        ("alike", -0.03, "reproduced"),
        ("alike", 0.048, "not reproduced"),
        ("alike", 0.1, "contradicted"),
        ("alike", -0.1, "contradicted"),
    ],
)
def test_every_verdict_follows_from_the_differences(kind, difference, verdict):
    assert verdict_on(claim(kind=kind), pairs(difference)) == verdict
    mirrored = claim(kind=kind, measure=COST)
    assert verdict_on(mirrored, pairs(-difference)) == verdict


@pytest.mark.parametrize(
    ("solved", "verdict"), [(10, "reproduced"), (8, "not reproduced"), (7, "contradicted")]
)
def test_always_allows_for_as_many_misses_as_chance(solved, verdict):
    always = claim(kind="share", second=())
    stored = rows("A", [1.0] * solved + [0.0] * (RUNS - solved))
    assert verdict_on(always, stored) == verdict


def test_a_share_counts_the_searches_of_each_method():
    (found,) = judged(
        [claim(kind="share", first=("A", "C"), second=())],
        {"compared": rows("A", np.ones(RUNS)) + rows("C", np.zeros(RUNS))},
    )
    assert found.verdict == "contradicted"
    assert ours(found).startswith("10 of 20 searches")


@pytest.mark.parametrize(
    ("seen", "of", "verdict"),
    [(1, 20, "reproduced"), (0, 20, "not reproduced"), (0, 100, "contradicted")],
)
def test_what_may_occur_has_to_be_seen_once(seen, of, verdict):
    stored = rows("A", np.ones(of)) + rows("B", [1.0] * seen + [0.0] * (of - seen))
    (found,) = judged([claim(kind="occurs", first=("A", "B"), second=())], {"compared": stored})
    assert found.verdict == verdict
    assert ours(found).startswith(f"least often B: {seen} of {of} score")


def test_each_method_of_one_side_is_compared_with_each_of_the_other():
    """An average over one that is far behind and one that is ahead would be behind."""
    stored = pairs(0.1) + rows("C", np.full(RUNS, 0.0)) + rows("D", np.full(RUNS, 0.58))
    assert verdict_on(claim(second=("B", "C")), stored) == "reproduced"
    assert verdict_on(claim(second=("C", "D")), stored) == "not reproduced"
    assert verdict_on(claim(first=("A", "D"), second=("B", "C")), stored) == "reproduced"
    (found,) = judged([claim(second=("C", "D"))], {"compared": stored})
    assert found.evidence.names == ("A", "D")
    assert "least of 2 comparisons: A 0.600, D 0.580 (score)" in ours(found)
    assert verdict_on(claim(second=("C", "E")), stored) == "not run yet"


def test_one_comparison_that_contradicts_is_enough_once_it_is_corrected():
    ahead = rows("D", 0.8 + SPREAD)
    assert verdict_on(claim(second=("B", "D")), pairs(0.1) + ahead) == "contradicted"
    (found,) = judged([claim(second=("B", "D"))], {"compared": pairs(0.1) + ahead})
    (alone,) = judged([claim(second=("D",))], {"compared": pairs(0.1) + ahead})
    assert found.p == pytest.approx(2 * alone.p)


def test_ties_decide_nothing_but_that_sides_are_alike():
    tied = pairs(0.0, np.zeros(RUNS))
    assert verdict_on(claim(), tied) == "not reproduced"
    assert verdict_on(claim(kind="alike"), tied) == "reproduced"


def test_a_large_mean_that_few_runs_make_is_not_enough():
    differences = np.array([-0.01] * 9 + [3.0])
    assert verdict_on(claim(), pairs(0.0, differences)) == "not reproduced"


def test_a_claim_needs_six_pairs():
    stored = pairs(0.1)
    few = [row for row in stored if row["run"] < FEWEST - 1]
    assert verdict_on(claim(), few) == "not run yet"
    assert verdict_on(claim(), [row for row in stored if row["run"] < FEWEST]) == "reproduced"
    assert verdict_on(claim(), rows("A", np.ones(RUNS))) == "not run yet"
    assert verdict_on(claim(measure=None), stored) == "not run yet"
    assert verdict_on(claim(measure=None, untestable="no data"), stored) == "not testable here"


def test_only_runs_of_both_sides_count_and_what_is_missing_is_named():
    stored = pairs(0.1) + pairs(0.1, problem="q")[:3] + rows("A", [9.0], first=RUNS)
    (found,) = judged([claim(where={"problem": ["p", "q"]})], {"compared": stored})
    assert found.evidence.missing == ("q",)
    assert found.evidence.runs == RUNS
    assert "10 of the document's 30 runs; without q" in ours(found)


def test_a_run_is_averaged_over_problems_and_needs_a_smaller_difference():
    stored = pairs(0.06) + pairs(0.0, problem="q")
    (by_run,) = judged([claim()], {"compared": stored})
    assert by_run.verdict == "reproduced"  # 0.03 on two problems
    assert len(by_run.evidence.differences) == RUNS
    (by_problem,) = judged([claim(unit="problem")], {"compared": stored})
    assert by_problem.verdict == "not run yet"  # two problems
    many = [row for i in range(FEWEST) for row in pairs(0.06, problem=f"p{i}")]
    (by_problem,) = judged([claim(unit="problem")], {"compared": many + stored[: FEWEST - 1]})
    assert by_problem.verdict == "reproduced"
    assert len(by_problem.evidence.differences) == FEWEST  # too few runs of the last one
    (by_search,) = judged([claim(unit="search")], {"compared": stored})
    assert len(by_search.evidence.differences) == 2 * RUNS


def test_claims_of_one_source_share_a_correction():
    alone = judged([claim()], {"compared": pairs(0.1)})
    five = judged([claim()] * 5, {"compared": pairs(0.1)})
    assert five[0].p == pytest.approx(5 * alone[0].p)
    other = [replace(claim(), source=str(i)) for i in range(5)]
    assert judged(other, {"compared": pairs(0.1)})[0].p == alone[0].p


def test_a_reason_for_another_verdict_is_not_shown():
    told = claim(reasons={"not reproduced": "too few runs", "contradicted": "another field"})
    shown = {
        difference: claim_table(
            judged([told], {"compared": pairs(difference)}), {"compared": pairs(difference)}
        )
        for difference in (0.1, 0.0, -0.1)
    }
    assert "too few runs" in shown[0.0]
    assert "another field" not in shown[0.0]
    assert "another field" in shown[-0.1]
    assert not any(each in shown[0.1] for each in ("too few runs", "another field", NO_REASON))


def test_the_table_says_that_a_reason_is_missing():
    found = judged([claim(reasons={"reproduced": "yes"})], {"compared": pairs(-0.1)})
    assert NO_REASON in claim_table(found, {"compared": pairs(-0.1)})


def test_verdicts_are_counted_for_each_document():
    one, other = list(SUBJECTS)[:2]
    found = judged([replace(claim(), source=source) for source in (one, one, other)], {})
    lines = [line.split("|")[1:-1] for line in count_table(found).splitlines()]
    assert lines[0][-1].strip() == "not run yet"
    assert [line[-1].strip() for line in lines[2:]] == ["2", "1"]
    assert "(#assael-et-al-2014-processes-in-the-leaves-of-a-tree)" in lines[2][0]


def test_every_document_of_a_claim_has_a_subject():
    assert SUBJECTS.keys() == {each.source for each in CLAIMS}


@pytest.mark.parametrize("one", CLAIMS, ids=lambda each: f"{each.place}: {each.says[:30]}")
def test_a_claim_names_an_experiment_and_fits_into_a_table(one):
    assert not one.experiment or one.experiment in EXPERIMENTS
    assert one.measure is None or one.experiment
    assert (one.kind in BOUNDS) == (one.measure is not None and not one.second)
    assert one.says.endswith(".")
    assert len(one.says) < 120
    assert not any("|" in text for text in (one.says, one.place, *one.reasons.values()))
    cells = EXPERIMENTS[one.experiment].cells if one.experiment else []
    for key, values in one.where.items():
        assert set(values) <= {cell[key] for cell in cells if key in cell}


def test_the_best_variant_of_each_problem_stands_for_a_family():
    stored = rows("A", np.full(RUNS, 0.2)) + rows("B", 0.5 + SPREAD)
    stored += rows("A", 0.9 + SPREAD, problem="q") + rows("B", np.full(RUNS, 0.1), problem="q")
    found = best_of(SCORE, ("A", "B"), "family").read(stored, "method")["family"]
    assert found[(("problem", "p"),), 3] == pytest.approx(0.5 + SPREAD[3])
    assert found[(("problem", "q"),), 3] == pytest.approx(0.9 + SPREAD[3])
    costs = best_of(COST, ("A", "B"), "family").read(stored, "method")["family"]
    assert costs[(("problem", "p"),), 3] == 0.2


def test_the_best_method_of_each_run_counts_as_first():
    stored = rows("A", [0.1, 0.3]) + rows("B", [0.2, 0.2]) + rows("C", [0.0, 0.0])
    found = best_share(SCORE, ("A", "B", "C")).read(stored, "method")
    assert {name: list(places.values()) for name, places in found.items()} == {
        "A": [0.0, 1.0],
        "B": [1.0, 0.0],
        "C": [0.0, 0.0],
    }


def test_convergence_on_a_tree_is_read_from_the_values_of_a_search():
    values = [1.0, 0.5, 0.2, 0.11]  # the minimum is 0.1, the first value that of the design
    row = {"cell": {"problem": "tree-small", "method": "A"}, "run": 0, "n_initial": 1}
    place = (("problem", "tree-small"),), 0
    stored = [{**row, "values": values}]
    on_the_way = log10_regret_on_the_way(4).read(stored, "method")["A"][place]
    assert on_the_way == pytest.approx(np.log10([0.4, 0.1, 0.01]).mean())
    assert missed(3).read(stored, "method")["A"][place] == 1
    assert missed(4).read([{**row, "values": [*values[:3], 0.105]}], "method")["A"][place] == 0
