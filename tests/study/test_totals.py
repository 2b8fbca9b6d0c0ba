"""The total of a study, which no number of processes exceeds."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import MethodError, TotalReached
from outcrop.space import Float, Space
from outcrop.study import Study, load_study
from outcrop.study.running import MaxTrials
from tests.study.doubles import Roaming
from tests.study.storage.children import forked

SPACE = Space({"x": Float(0, 1)})
TOTAL = 10


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/study.db"


def test_two_processes_with_one_total_make_exactly_so_many_trials(url):
    Study(SPACE, "s", url, method="random", seed=0)

    def work(writing):
        result = load_study("s", url).optimize(
            lambda p: p["x"], stop=[MaxTrials(TOTAL)], progress=False
        )
        os.write(writing, json.dumps([result.reason, len(result.trials)]).encode())

    children = [forked(work) for _ in range(2)]
    for child, reading in children:
        with os.fdopen(reading) as pipe:
            reason, count = json.load(pipe)
        assert os.waitpid(child, 0)[1] == 0
        assert reason == f"the study has {TOTAL} trials"
        assert count == TOTAL
    trials = load_study("s", url).trials
    assert [trial.state for trial in trials] == ["finished"] * TOTAL


def test_the_total_is_checked_against_the_log_to_which_the_ask_is_appended(url):
    """Another process adds the last trial while a suggestion is computed."""

    class Slow(Roaming):
        def propose(self, view, rng):
            if view.number == 2:
                study.add({"x": 0.5}, 1.0)
            return super().propose(view, rng)

    study = Study(SPACE, "s", url, method=Slow(SPACE), seed=0)
    other = load_study("s", url, method=Slow(SPACE))
    other.ask(total=3)
    other.ask(total=3)
    with pytest.raises(TotalReached, match="the study has 3 trials"):
        other.ask(total=3)
    assert [trial.source for trial in study.trials] == ["asked", "asked", "added"]
    assert other.ask(total=4).number == 3


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.sampled_from(["ask", "many", "tell", "fail", "release", "add", "discard"]), max_size=30
    ),
    st.integers(1, 6),
)
def test_whatever_is_done_between_asks_no_ask_exceeds_the_total(acts, total):
    study = Study(SPACE, method="random", seed=0)
    for act in acts:
        before = sum(trial.state != "discarded" for trial in study.trials)
        running = [trial for trial in study.trials if trial.state == "running"]
        ended = [trial for trial in study.trials if trial.state in ("finished", "failed")]
        if act == "ask" and before >= total:
            with pytest.raises(TotalReached):
                study.ask(total=total)
        elif act == "ask":
            study.ask(total=total)
        elif act == "many" and before < total:
            assert len(study.ask(3, total=total)) == min(3, total - before)
        elif act == "add":
            study.add({"x": 0.5}, 1.0)
        elif act == "discard" and ended:
            study.discard(ended[0])
        elif act == "tell" and running:
            study.tell(running[0], 1.0)
        elif act in ("fail", "release") and running:
            getattr(study, act)(running[0])
        if act in ("ask", "many"):
            after = sum(trial.state != "discarded" for trial in study.trials)
            assert after <= max(total, before)


def test_a_trial_whose_lease_expired_is_handed_out_again_though_the_total_is_reached():
    study = Study(SPACE, method="random", seed=0)
    first = study.ask(lease=1e-6, total=1)
    while study.leases()[0] > 0:
        pass
    again = study.ask(lease=60, total=1)
    assert (again.number, again.params, again.attempt) == (0, first.params, 2)
    with pytest.raises(TotalReached):
        study.ask(total=1)


@pytest.mark.parametrize("total", [0, -1, 2.5, "3"])
def test_a_total_is_a_positive_whole_number(total):
    with pytest.raises(MethodError, match="total must be a whole number of at least 1"):
        Study(SPACE, method="random").ask(total=total)
