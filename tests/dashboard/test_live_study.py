"""What is shown of a study while it goes on, and what of it a browser is sent."""

from __future__ import annotations

import json

import pytest

import outcrop as oc
from outcrop.dashboard.followed_study import FollowedStudy
from outcrop.dashboard.live_study import CHEAP_PARTS, LiveStudy
from outcrop.errors import StorageError, StudyError
from outcrop.reports.page_parts import MODEL_PARTS, PARTS, part_of, trials_of
from outcrop.study.storage import Memory
from tests.clocks import Ticking
from tests.reports.studies import KINDS
from tests.study.doubles import Roaming

SPACE = oc.Space({"x": oc.Float(0, 1), "k": oc.Categorical(["a", "b"])})


def never():
    return False


@pytest.fixture
def store():
    return Memory()


@pytest.fixture
def study(store):
    return oc.Study(SPACE, name="s", storage=store, method="random", seed=0)


class Browser:
    """A page that has what it was sent, and nothing else."""

    def __init__(self, live):
        self.live, self.version, self.parts, self.columns, self.rows = live, 0, {}, None, {}

    def update(self):
        """Ask for changes; what was sent."""
        changes = self.live.changes(self.version)
        if changes is None:
            return None
        json.dumps(changes, allow_nan=False)
        self.version = changes["version"]
        self.parts |= changes["parts"]
        trials = changes["trials"]
        if "columns" in trials:
            self.columns, self.rows = trials["columns"], {}
        self.rows |= {row[0]: row for row in trials["rows"]}
        return changes


@pytest.fixture
def clock():
    return Ticking(step=0.0)


@pytest.fixture
def live(store, clock):
    return LiveStudy(FollowedStudy("s", store), clock)


def refreshed(live, clock):
    clock.now += 10.0
    live.refresh()


def shown_by(browser, study):
    """Whether a browser has what a new report would have."""
    expected = trials_of(study)
    assert browser.columns == expected["columns"]
    assert [browser.rows[number] for number in sorted(browser.rows)] == expected["rows"]
    for name in CHEAP_PARTS:
        part = part_of(study, name)
        assert browser.parts[name] == {"html": part.html, "figures": part.figures}
    return True


def test_a_browser_that_follows_has_what_a_report_has(study, live, clock):
    first, late = Browser(live), Browser(live)
    refreshed(live, clock)
    first.update()
    assert shown_by(first, study)
    steps = [
        lambda: study.ask(),
        lambda: study.tell(0, 1.5),
        lambda: study.ask(3, worker="w"),
        lambda: study.fail(1, "diverged"),
        lambda: study.release(2),
        lambda: study.tell(3, 0.5, std=0.1),
        lambda: study.amend(3, value=2.5),
        lambda: study.discard(0, reason="wrong"),
        lambda: study.change_space(oc.Space({"x": oc.Float(0, 2)})),
        lambda: study.add([{"x": 1.5}], [0.1]),
    ]
    for step in steps:
        step()
        refreshed(live, clock)
        first.update()
        assert shown_by(first, study)
    late.update()
    assert shown_by(late, study)


def test_only_what_is_new_is_sent(study, live, clock):
    study.add([{"x": i / 100, "k": "a"} for i in range(100)], [float(i) for i in range(100)])
    browser = Browser(live)
    refreshed(live, clock)
    assert len(browser.update()["trials"]["rows"]) == 100
    assert browser.update() is None
    study.add([{"x": 0.999, "k": "b"}], [7.0])
    refreshed(live, clock)
    sent = browser.update()
    assert [row[0] for row in sent["trials"]["rows"]] == [100]
    assert "columns" not in sent["trials"]
    assert "convergence" in sent["parts"]
    assert not {"origin", "failures", "best"} & sent["parts"].keys()  # they are as they were


def test_what_needs_a_model_is_computed_apart_and_seldom(store, live, clock):
    study = oc.Study(SPACE, name="s", storage=store, method="gp", seed=0)
    study.add([{"x": i / 8, "k": "ab"[i % 2]} for i in range(8)], [float(i) for i in range(8)])
    browser = Browser(live)
    refreshed(live, clock)
    assert {*browser.update()["parts"]} == {*CHEAP_PARTS}
    live.compute(never)
    sent = browser.update()
    assert {*sent["parts"]} == {*MODEL_PARTS}
    assert sent["model"]["trials"] == 8
    assert browser.parts["recommended"]["html"] == part_of(study, "recommended").html
    assert {*browser.parts} == {*PARTS} - {"trials"}  # the page has the table, which stays
    clock.now += 100.0
    live.compute(never)
    assert browser.update() is None  # nothing is new
    study.tell(study.ask(), 9.0)
    refreshed(live, clock)
    browser.update()
    live.compute(never)
    assert browser.update()["model"]["trials"] == 9
    study.tell(study.ask(), 9.5)
    clock.now += 0.6
    live.refresh()
    assert browser.update()["model"]["trials"] == 9
    live.compute(never)
    assert browser.update() is None  # not so soon
    clock.now += 10.0
    live.compute(lambda: True)
    assert browser.update() is None  # the server ends
    live.compute(never)
    assert browser.update()["model"]["trials"] == 10


def test_a_study_is_not_read_more_often_than_is_useful(study, live, clock):
    clock.now = 1.0
    live.refresh()
    browser = Browser(live)
    browser.update()
    study.ask()
    clock.now = 1.4
    live.refresh()
    assert browser.update() is None
    clock.now = 1.6
    live.refresh()
    assert browser.update() is not None


def test_a_study_that_is_missing_or_cannot_be_read_says_so_until_it_can(
    store, live, clock, monkeypatch
):
    refreshed(live, clock)
    browser = Browser(live)
    assert "study 's' does not exist" in browser.update()["problem"]
    study = oc.Study(SPACE, name="s", storage=store, method="random")
    refreshed(live, clock)
    assert browser.update()["problem"] is None
    study.tell(study.ask(), 1.0)

    def away(*arguments):
        raise StorageError("cannot reach postgresql://me:secret@host/db: timeout")

    with monkeypatch.context() as patch:
        patch.setattr(Memory, "read", away)
        refreshed(live, clock)
    problem = browser.update()["problem"]
    assert problem == "cannot reach postgresql://me:***@host/db: timeout"
    refreshed(live, clock)
    assert browser.update()["problem"] is None
    assert shown_by(browser, study)


def test_a_study_that_was_created_again_is_followed_from_its_beginning(store, study, live, clock):
    study.ask(3)
    refreshed(live, clock)
    browser = Browser(live)
    browser.update()
    oc.delete_study("s", store)
    again = oc.Study(SPACE, name="s", storage=store, method="random", seed=1)
    again.ask()
    refreshed(live, clock)
    browser.update()
    assert shown_by(browser, again)


def test_a_browser_that_knows_more_than_the_server_gets_all(study, live, clock):
    study.ask(2)
    refreshed(live, clock)
    changes = live.changes(10**17)
    assert len(changes["trials"]["rows"]) == 2
    assert {*changes["parts"]} == {*CHEAP_PARTS}


def test_a_method_that_a_store_cannot_hold_is_no_reason_to_show_nothing(store, live, clock):
    study = oc.Study(SPACE, name="s", storage=store, method=Roaming(SPACE))
    study.tell(study.ask(), 1.0)
    refreshed(live, clock)
    live.compute(never)
    browser = Browser(live)
    browser.update()
    assert browser.rows[0][2] == 1.0
    assert "Not shown" in browser.parts["recommended"]["html"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_summary_has_what_the_study_has(kind, store):
    study = KINDS[kind]()
    study.copy_to(store)
    summary = FollowedStudy(study.name, store).summary()
    assert (summary.name, summary.trials) == (study.name, len(study.trials))
    known = [trial.value for trial in study.trials if trial.value is not None]
    better = max if study.direction == "maximize" else min
    assert summary.best == (better(known) if known else None)
    times = [t for trial in study.trials for t in (trial.started, trial.finished) if t]
    assert summary.active == max(times, default=study._state.created.at)


def test_nothing_is_written(store, study, live, clock, monkeypatch):
    study.tell(study.ask(lease=60), 1.0)
    for name in ("create", "delete", "append", "acquire", "renew", "release"):
        monkeypatch.setattr(Memory, name, None)
    refreshed(live, clock)
    live.compute(never)
    FollowedStudy("s", store).summary()
    with pytest.raises(StudyError):
        FollowedStudy("other", store).newest()
