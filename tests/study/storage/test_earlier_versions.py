"""Databases that earlier versions wrote open, replay and go on.

`fixtures/write_0_1.py` says what is in the database of version 0.1.0.
"""

import gzip
import json
from pathlib import Path

import pytest

import outcrop as oc
from outcrop.study import commands
from outcrop.study.events import Asked
from outcrop.study.state import apply, fold
from tests.study.handles import log_of
from tests.study.storage.fixtures.write_0_1 import classes_in

FIXTURES = Path(__file__).parent / "fixtures"
KNOWN = json.loads((FIXTURES / "studies_0_1.json").read_text())["studies"]
NAMES = tuple(KNOWN)
EXACT = ("name random", "name sobol", "every event")  # no matrix is factorised for them
FEW = (
    "name gp",
    "name hierarchical",
    "kind GP",
    "kind Independent",
    "kind NIGP",
    "kind OneHot",
    "kind Thompson",
    "kind Treed",
    "with bandits",
)
CLOSE = 1e-6  # in units of the unit cube: another processor rounds otherwise


@pytest.fixture
def url(tmp_path):
    """A copy of the database of version 0.1.0."""
    path = tmp_path / "studies.db"
    path.write_bytes(gzip.decompress((FIXTURES / "studies_0_1.db.gz").read_bytes()))
    return f"sqlite:///{path}"


def counts(study):
    states = [trial.state for trial in study.trials]
    each = {state: states.count(state) for state in ("finished", "failed", "running")}
    return {"trials": len(states), **each}


def suggested_again(study):
    """Each suggestion of the log, and the same made again."""
    happened = log_of(study)
    state = fold(happened[:1])
    for event in happened[1:]:
        if isinstance(event, Asked) and event.attempt == 1:
            yield event, commands.asked(state, study._strategy, event.at)
        state = apply(state, event)


def is_close(space, one, two):
    X = space.encode([one, two]).X
    return abs(X[0] - X[1]).max() <= CLOSE


def share_of_close(study):
    pairs = list(suggested_again(study))
    return sum(is_close(study.space, *(each.params for each in pair)) for pair in pairs), len(pairs)


def test_every_study_is_listed(url):
    assert sorted(oc.list_studies(url)) == sorted(NAMES)


def test_every_method_has_a_study():
    assert {f"name {name}" for name in oc.METHODS} <= set(NAMES)


def test_every_study_opens_with_what_was_recorded_of_it(url):
    for name, known in KNOWN.items():
        study = oc.load_study(name, url)
        assert counts(study) == {key: known[key] for key in counts(study)}, name
        assert [study.best_trial.number, study.best_value] == known["best"], name
        assert study.stopped == known["stopped"], name


def test_every_class_that_was_stored_is_restored(url):
    restored = set()
    for name, known in KNOWN.items():
        study = oc.load_study(name, url)  # which makes the method of what was stored
        assert sorted(classes_in(study.method)) == known["classes"], name
        restored.update(known["classes"])
    assert {"initial.OnePerPath", "surrogates.Arc", "maximise.DeltaCover"} <= restored
    assert len(restored) == 100


def test_a_study_is_continued_by_the_method_that_was_stored(url):
    for name, known in KNOWN.items():
        if "strategies.Method" in known["classes"]:
            study = oc.load_study(name, url)
            if study.method["class"] == "strategies.Method":
                method = oc.Method.from_json(study.method)
                again = open_again(study, url, method)
                assert len(again.trials) == known["trials"]


def open_again(study, url, method):
    options = {"direction": study.direction, "noise": study.noise, "robust": study.robust}
    return oc.Study(study.space, study.name, url, method=method, **options)


@pytest.mark.parametrize("name", EXACT)
def test_a_study_without_a_model_replays_to_the_last_bit(url, name):
    replay = oc.load_study(name, url).replay()
    assert replay.asks == KNOWN[name]["asks"]
    assert replay.identical


@pytest.mark.parametrize("name", FEW)
def test_suggestions_of_models_are_made_again(url, name):
    assert share_of_close(oc.load_study(name, url)) == (KNOWN[name]["asks"],) * 2


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_suggestion_is_made_again(url, name):
    assert share_of_close(oc.load_study(name, url)) == (KNOWN[name]["asks"],) * 2


@pytest.mark.parametrize("name", NAMES)
def test_every_study_goes_on(url, name):
    study = oc.load_study(name, url)
    trial = study.ask()
    assert study.tell(trial, -7.5).state == "finished"
    again = oc.load_study(name, url)
    assert again.trials[-1].value == -7.5 or trial.attempt > 1
    assert counts(again)["finished"] == KNOWN[name]["finished"] + 1


def test_a_trial_whose_lease_ran_out_is_offered_again_by_a_later_version(url):
    study = oc.load_study("every event", url)
    running = [trial.number for trial in study.trials if trial.state == "running"]
    held, waited_for, expired = running
    again = study.ask(lease=60)
    assert (again.number, again.attempt) == (expired, 2)
    assert study.ask().number not in running, "the others are held, or waited for without end"
    assert study.tell(held, 0.25).value == 0.25
    assert study.tell(waited_for, 0.5).value == 0.5


def test_events_of_every_kind_are_read(url):
    study = oc.load_study("every event", url)
    kinds = {type(event).__name__ for event in log_of(study)}
    assert kinds == {
        "Created", "Asked", "Told", "Failed", "Expired", "Late", "Released", "Added", "Enqueued",
        "Stopped",
    }  # fmt: skip
    by_number = {trial.number: trial for trial in study.trials}
    assert by_number[0].std == 0.1
    assert by_number[0].info == {"note": "queued", "curve": [1.0, float("inf")]}
    assert (by_number[1].reason, by_number[1].info) == ("diverged", {"code": 3})
    assert (by_number[7].value, by_number[7].attempt) == (1.5, 2), "what came late is ignored"
    assert by_number[8].reason == "first"
    assert (by_number[9].value, by_number[9].attempt) == (0.1, 3), "told after it was given up"


def test_where_evaluations_really_happened_is_read(url):
    study = oc.load_study("kind NIGP", url)
    (trial,) = (trial for trial in study.trials if trial.at is not None)
    assert trial.at.keys() == trial.at_std.keys() == {"x"}
    assert trial.at_std["x"] == 0.05
