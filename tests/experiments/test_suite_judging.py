import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import bootstrap, wilcoxon

pytest.importorskip("experiments.harness")

from experiments import harness
from experiments.provenance import MixedVersions
from experiments.suite import __main__ as command
from experiments.suite import comparing, known_best
from experiments.suite.comparing import Side, compare, require_one_version
from experiments.suite.experiment import EXPERIMENT
from experiments.suite.judging import bootstrap_interval, gap, judge, problem_differences, verdict

OWN = ["branin", "beale", "levy-2", "shubert", "hartmann-6", "egg-holder", "exp-2d", "rkhs-1d"]
BOUNDS = ["edge-6", "bowl-near-2", "slope-face-3", "sharp-near-5", "root-corner-2"]


def row(method, group, problem, run, found, source="s1", optimum=0.0, start=1.0, **more):
    cell = {"group": group, "half": "choose", "problem": problem, "method": method}
    origin = {"peer": "optuna 5.0.0"} if method == "TPE" else {"source": source}
    values = {"instance": 11 + run % 5, "optimum": optimum, "start": start, "found": found}
    return {"cell": cell, "run": run, **values, "commit": "abc", **origin, **more}


def made_up(rng, shift):
    """Gaps by problem and run; those of the second method are higher by about `shift`."""
    keys = [*(("own", name) for name in OWN), *(("bounds", name) for name in BOUNDS)]
    one = {key: dict(enumerate(rng.uniform(0.3, 0.6, 10))) for key in keys}
    two = {
        key: {run: g + shift + 0.02 * rng.normal() for run, g in runs.items()}
        for key, runs in one.items()
    }
    return one, two


@pytest.mark.parametrize(
    ("start", "found", "optimum", "expected"),
    [(5, 2, 1, 0.75), (5, 5, 1, 0), (5, 7, 1, 0), (5, 0.9, 1, 1), (1, 1, 1, 1), (-3, -4, -5, 0.5)],
)
def test_the_gap_is_the_part_of_the_way_that_was_gone(start, found, optimum, expected):
    assert gap(start, found, optimum) == expected


def test_tests_are_over_problems_and_corrected_for_the_groups(rng):
    reference, method = made_up(rng, 0.03)
    judged = {one.group: one for one in judge(problem_differences(method, reference))}
    raw = {}
    for group in ("own", "bounds"):
        means = [
            (np.mean([*method[key].values()]), np.mean([*reference[key].values()]))
            for key in method
            if key[0] == group
        ]
        mine, theirs = np.array(means).T
        raw[group] = wilcoxon(mine, theirs).pvalue
        one = judged[group]
        assert one.problems == len(mine)
        assert one.runs == 10 * len(mine)
        assert one.difference == pytest.approx(mine.mean() - theirs.mean())
        interval = bootstrap(
            (mine - theirs,), np.mean, method="percentile", rng=np.random.default_rng(5)
        ).confidence_interval
        assert (one.low, one.high) == pytest.approx(tuple(interval), abs=1e-3)
    first, last = sorted(raw, key=raw.get)
    assert judged[first].p == pytest.approx(min(2 * raw[first], 1))
    assert judged[last].p == pytest.approx(max(raw[last], min(2 * raw[first], 1)))


def test_only_runs_that_both_methods_have_are_averaged():
    method = {("own", "branin"): {0: 0.9, 1: 0.5, 2: 0.1}, ("own", "beale"): {0: 1.0}}
    reference = {("own", "branin"): {1: 0.3, 2: 0.2, 3: 0.0}}
    (one,) = problem_differences(method, reference)
    assert (one.problem, one.runs) == ("branin", 2)
    assert one.difference == pytest.approx(0.05)
    assert one.error == pytest.approx(np.std([0.2, -0.1], ddof=1) / np.sqrt(2))


@pytest.mark.parametrize(
    ("difference", "low", "high", "p", "expected"),
    [
        (0.05, 0.03, 0.07, 0.001, "better"),
        (-0.05, -0.07, -0.03, 0.001, "worse"),
        (0.05, -0.01, 0.11, 0.2, "undecided"),
        (0.015, 0.005, 0.025, 0.001, "undecided"),  # significant, too small to matter
        (0.01, 0.005, 0.015, 0.001, "no difference that matters"),
        (0.0, -0.019, 0.019, 1.0, "no difference that matters"),
        (0.0, -0.05, 0.05, 1.0, "undecided"),
    ],
)
def test_a_verdict_needs_significance_and_an_effect_that_matters(
    difference, low, high, p, expected
):
    assert verdict(difference, low, high, p) == expected


def test_the_interval_of_equal_differences_is_a_point():
    assert bootstrap_interval(np.full(6, 0.1)) == pytest.approx((0.1, 0.1))


def sides(rows):
    names = dict.fromkeys(each["cell"]["method"] for each in rows)
    return [
        require_one_version(name, [each for each in rows if each["cell"]["method"] == name])
        for name in names
    ]


def test_a_report_has_a_line_for_each_group_and_for_problems_that_differ():
    rows = [
        row(method, "own", problem, run, found)
        for method, level in (("gp", 0.2), ("TPE", 0.21))
        for problem, found in zip(OWN, [level] * 7 + [level * 3], strict=True)
        for run in range(3)
    ]
    for each in rows:
        if each["cell"]["method"] == "TPE" and each["cell"]["problem"] == "beale":
            each["found"] = 0.9
    text = compare(*sides(rows), {})
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    (group,) = [line for line in cells if line[:1] == ["own"]]
    assert group[1:5] == ["8", "24", "0.750", "0.651"]  # (6 × 0.79 + 0.1 + 0.37) / 8
    assert [line[0] for line in cells if line and line[0] in OWN] == ["beale"]
    assert "1 of 8" in text
    assert "optuna 5.0.0" in text
    assert "src s1" in text


def test_rows_of_two_sources_are_not_one_method():
    rows = [row("gp", "own", "branin", 0, 0.1), row("gp", "own", "beale", 0, 0.1, source="s2")]
    with pytest.raises(MixedVersions, match=r"gp are of 2 versions \(s1, s2\)"):
        require_one_version("gp", rows)


def test_two_methods_of_different_sources_are_compared_only_under_labels():
    old = [row("gp", "own", name, 0, 0.1) for name in OWN]
    new = [row("warped", "own", name, 0, 0.2, source="s2") for name in OWN]
    with pytest.raises(MixedVersions, match="gp is of src s1, warped of s2"):
        compare(Side("gp", old), Side("warped", new), {})
    assert "src s2" in compare(Side("gp", old), Side("warped@later", new), {})
    peer = [row("TPE", "own", name, 0, 0.2) for name in OWN]
    assert compare(Side("gp", old), Side("TPE", peer), {})


def test_tasks_without_an_optimum_are_measured_down_to_the_best_known_value():
    rows = [
        row(method, "tuning", "svr-diabetes", 0, found, optimum=None, start=0.9)
        for method, found in (("gp", 0.7), ("TPE", 0.8))
    ]
    best = {"svr-diabetes": {"11": {"value": 0.7}}}
    gaps = comparing.gaps_of(rows[1:], best)
    assert gaps["tuning", "svr-diabetes"][0] == pytest.approx(0.5)
    with pytest.raises(ValueError, match=r"experiments\.suite best"):
        comparing.gaps_of(rows, {})
    best["svr-diabetes"]["11"]["value"] = 0.75
    assert "1 runs found less than the best known value" in compare(*sides(rows), best)


def test_the_best_known_value_is_the_lowest_and_says_which_run_found_it(tmp_path):
    path = tmp_path / "best.json"
    task = {"optimum": None, "start": 0.9}
    rows = [
        row("gp", "tuning", "svr-diabetes", 0, 0.72, **task),
        row("TPE", "tuning", "svr-diabetes", 5, 0.71, **task),
        row("gp", "noisy", "noisy-svr-diabetes", 1, 0.5, **task),
        row("gp", "own", "branin", 0, 0.0),
    ]
    assert known_best.update(rows, path) == 3
    best = known_best.load(path)
    expected = {"value": 0.71, "method": "TPE", "run": 5, "version": "optuna 5.0.0"}
    assert best == {"svr-diabetes": {"11": expected, "12": best["svr-diabetes"]["12"]}}
    assert best["svr-diabetes"]["12"]["value"] == 0.5
    assert known_best.update(rows, path) == 0


def test_the_command_compares_stored_results_and_labels(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(harness, "RESULTS", tmp_path)
    for label, source, found in (("", "s1", 0.3), ("wider", "s2", 0.1)):
        stored = replace(EXPERIMENT, label=label)
        rows = [row("gp", "own", name, run, found, source) for name in OWN for run in range(2)]
        path = stored.path_of(rows[0]["cell"])
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    assert command.main(["compare", "gp@wider", "gp"]) == 0
    text = capsys.readouterr().out
    assert "better" in text
    assert "src s2" in text
    assert [file.name for file in sorted((tmp_path / "suite").iterdir())] == [
        "own.gp.jsonl",
        "own.gp@wider.jsonl",
    ]
    with pytest.raises(SystemExit):
        command.main(["compare", "gp", "TPE"])
    assert "no results of TPE" in capsys.readouterr().err
