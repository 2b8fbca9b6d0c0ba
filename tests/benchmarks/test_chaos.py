"""A short form of the chaotic runs, and proof that they notice what they look for."""

from __future__ import annotations

import json

import pytest

from benchmarks import chaos_verdict as verdict
from benchmarks.attack.figures import DOCUMENT
from benchmarks.chaos import SPACE, chaos, figures
from benchmarks.reporting import RESULTS, table
from benchmarks.sharing import crowd
from outcrop.study import Study, load_study
from outcrop.study.events import Asked, Expired, Late, Told

HERE, THERE = {"x": 1, "y": 2}, {"x": 3, "y": 4}
TOLD = Told(0, 0.5, info={"mark": "a"}, at=11.0)
LATE = Late(0, 0.7, info={"mark": "b"}, at=12.0)
ASKED = Asked(0, HERE, at=10.0)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_short_chaos_loses_nothing(engine, request):
    if engine == "postgresql":
        request.getfixturevalue("postgresql")  # skips where there is no server
    result = chaos(engine, 60, processes=4, every=0.5, seconds=120.0, seed=1)
    assert result["failures"] == []
    assert result["acknowledged"] >= 60
    assert result["kills"] > 0
    if engine == "postgresql":  # a fast machine has all results before the second restart
        assert result["restarts"] > 0
    counts = verdict.BARS.keys() - {"longest_wait"}  # which depends on the load of the machine
    assert {what: result[what] for what in counts} == dict.fromkeys(counts, 0)


def test_the_document_has_the_figures_that_were_measured():
    parts = json.loads((RESULTS / "chaos.json").read_text())["parts"]
    assert table(*figures(parts)) in DOCUMENT.read_text()


def test_a_result_that_is_missing_doubled_or_changed_is_noticed():
    notes = [["a", 0, 0.5], ["b", 0, 0.7]]

    def found(*log):
        counts = verdict.marks_compared(log, notes)
        return counts["lost"], counts["doubled"], counts["wrong_values"]

    assert found(ASKED, TOLD, LATE) == (0, 0, 0)
    assert found(ASKED, TOLD) == (1, 0, 0)
    assert found(ASKED, TOLD, LATE, LATE) == (0, 1, 0)
    assert found(ASKED, TOLD, Told(0, 0.7, info={"mark": "b"})) == (0, 1, 0), (
        "one trial, told twice"
    )
    assert found(ASKED, Told(0, 0.4, info={"mark": "a"}), LATE) == (0, 0, 1)


def test_a_trial_that_is_offered_late_or_never_is_noticed():
    again = Asked(0, HERE, attempt=2, at=16.0)
    assert verdict.waits([ASKED, TOLD]) == {"longest_wait": 1.0, "never_told": 0}
    assert verdict.waits([ASKED, again]) == {"longest_wait": 6.0, "never_told": 1}
    ended = [ASKED, again, Expired(0, at=40.0)]
    assert verdict.waits(ended) == {"longest_wait": 24.0, "never_told": 0}


def test_two_trials_that_run_at_one_point_are_noticed():
    study = Study(SPACE, method="random", seed=0)
    same, other = Asked(1, HERE), Asked(1, THERE)
    again = Asked(0, HERE, attempt=2)
    assert verdict.running_at_one_point(study, [ASKED, other, again]) == 0
    assert verdict.running_at_one_point(study, [ASKED, TOLD, same]) == 0
    assert verdict.running_at_one_point(study, [ASKED, same]) == 1


@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_processes_share_a_study(engine, request, tmp_path):
    url = f"sqlite:///{tmp_path}/study.db"
    if engine == "postgresql":
        url = request.getfixturevalue("postgresql_url")
    shares = crowd(url, "shared", processes=2, trials=3, evaluation=0.0)
    assert [len(times) for times, _, _ in shares] == [3, 3]
    trials = load_study("shared", url).trials
    assert [trial.state for trial in trials] == 6 * ["finished"]
    assert len({(trial.params["x"], trial.params["y"]) for trial in trials}) == 6
