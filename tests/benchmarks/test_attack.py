"""Small versions of the attacks, and proof that each of them notices what it looks for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

import outcrop as oc
from benchmarks.attack import Tally, fuzz, hostile, kills, mutations
from benchmarks.attack.call_report import Answered, Report
from benchmarks.attack.figures import DOCUMENT, figures
from benchmarks.attack.guarded import outcomes
from benchmarks.attack.marked import MARK, end, left_after, marked
from benchmarks.attack.random_spaces import is_inside
from benchmarks.reporting import RESULTS

SPACE = oc.Space(
    {
        "x": oc.Float(0, 1, step=0.25),
        "k": oc.Int(1, 9, step=2),
        "c": oc.Categorical([1, "a"]),
        "m": oc.Choice({"p": {"y": oc.Float(1, 2)}, "q": {}}),
    }
)
INSIDE = {"x": 0.5, "k": 3, "c": 1, "m": "p", "m.p.y": 1.5}


def test_processes_that_are_killed_lose_nothing():
    result = kills.attack(seconds=1.2, every=0.2, processes=3)
    assert result["failures"] == []
    assert (result["kills"], result["lost"], result["identical"]) == (6, 0, True)


def test_a_note_that_the_study_does_not_have_is_a_loss():
    study = oc.Study(oc.Space({"x": oc.Float(0, 1)}), method="random", seed=0)
    study.tell(study.ask(), 1.0)
    notes = {0: [[0.1, "asked", 0, 1], [0.2, "told", 0, 1.0], [0.3, "told", 1, 2.0]]}
    assert kills._compared(study, notes)["lost"] == 1


def test_time_in_which_others_wait_is_counted_once():
    assert kills._union([(5.0, 6.0), (0.0, 3.0), (1.0, 2.0), (2.5, 3.5)]) == 4.5


@pytest.mark.parametrize("index", range(12))
def test_random_calls_meet_no_problem(index):
    assert fuzz.case(index, seed=1)["problems"] == []


def test_a_suggestion_outside_its_space_is_noticed(monkeypatch):
    def outside(self):
        return oc.Trial(0, {"x": 9.0}, {"x": 9.0})

    monkeypatch.setattr(oc.Optimizer, "ask", outside)
    monkeypatch.setattr(oc.Study, "ask", outside)
    kinds = {each["kind"] for i in range(3) for each in fuzz.case(i, seed=1)["problems"]}
    assert "outside" in kinds


def test_a_foreign_exception_and_a_warning_are_noticed():
    report = Report()
    for error in (KeyError("x"), RuntimeWarning("overflow"), oc.errors.NumericalError("no")):
        with pytest.raises(Answered), report.calling("ask", (oc.errors.SpaceExhausted,)):
            raise error
    assert [each["kind"] for each in report.problems] == ["foreign", "warning", "refusal"]


@pytest.mark.parametrize(
    ("changes", "inside"),
    [
        ({}, True),
        ({"x": 1.0}, True),
        ({"x": 0.3}, False),
        ({"x": 1.25}, False),
        ({"x": 1}, False),
        ({"k": 4}, False),
        ({"k": True}, False),
        ({"c": True}, False),
        ({"m": "q"}, False),
        ({"new": 1}, False),
    ],
    ids=str,
)
def test_what_lies_in_a_space_is_decided_without_it(changes, inside):
    assert is_inside(SPACE, INSIDE | changes) is inside


@pytest.mark.parametrize("kind", mutations.KINDS)
def test_damaged_files_are_accepted_or_refused_with_an_error_of_ours(kind):
    first = mutations.KINDS.index(kind)
    for index in range(first, first + 15 * len(mutations.KINDS), len(mutations.KINDS)):
        report = mutations.case(index, seed=1)
        assert report["problems"] == [], index


def test_a_case_that_hangs_is_given_up_and_the_others_go_on():
    answers = list(outcomes(time.sleep, [0, 60, 0], deadline=3.0))
    assert [case for case, _ in answers] == [0, 60, 0]
    assert [answer for _, answer in answers] == [None, "the process ended with 1", None]


def test_a_forked_child_of_an_objective_spoils_no_run():
    run = hostile.run_one("forks and leaves", "process")
    assert run["problems"] == [], run


def test_every_hostile_objective_says_what_must_become_of_it():
    assert len({name for name, _ in hostile.cases()}) >= 22
    assert {way for _, way in hostile.cases()} == {"workers", "process", "program"}


def test_processes_are_found_by_their_mark_and_ended():
    program = [sys.executable, "-c", "import time; time.sleep(300)"]
    process = subprocess.Popen(program, env=os.environ | {MARK: "mine"})
    try:
        deadline = time.monotonic() + 60
        while not (found := marked("mine")) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [*found] == [process.pid]
        assert left_after("another", 0.0) == {}
        end(found)
        assert process.wait(60) < 0
    finally:
        process.kill()
        process.wait()


def test_the_document_shows_the_stored_figures():
    stored = json.loads((RESULTS / "attack.json").read_text(encoding="utf-8"))
    assert figures(stored) in DOCUMENT.read_text(encoding="utf-8")


def test_a_tally_adds_up_reports_and_is_complete_only_with_all_cases():
    tally = Tally({"cases": 0})
    problem = {"kind": "hang", "call": "ask", "text": ""}
    report = {"calls": 3, "suggestions": 1, "longest": 0.5, "slow": [], "refused": {"NoBelief": 2}}
    tally.add({"case": 0, "problems": [], **report})
    assert tally.finished(2)["met"] is False
    tally.add({"case": 1, "problems": [], **report})
    assert tally.finished(2)["met"] is True
    assert (tally.result["calls"], tally.result["refused"]) == (6, {"NoBelief": 4})
    tally.add({"case": 2, "problems": [problem], **report})
    assert tally.finished(3)["met"] is False
