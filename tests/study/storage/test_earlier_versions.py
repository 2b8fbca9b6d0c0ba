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


@pytest.fixture
def url(tmp_path):
    """A copy of the database of version 0.1.0."""
    return copied(tmp_path)


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """All studies by name, only to be read."""
    url = copied(tmp_path_factory.mktemp("read"))
    return {name: oc.load_study(name, url) for name in oc.list_studies(url)}


def copied(folder):
    path = folder / "studies.db"
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
            yield event, commands.asked(state, study._strategies.for_space(state.space), event.at)
        state = apply(state, event)


def test_every_study_opens_with_what_was_recorded_of_it(studies):
    assert studies.keys() == KNOWN.keys()
    for name, known in KNOWN.items():
        study = studies[name]
        assert counts(study) == {key: known[key] for key in counts(study)}, name
        assert [study.best_trial.number, study.best_value] == known["best"], name
        assert study.stopped == known["stopped"], name


def test_every_name_of_a_method_is_known(studies):
    names = {study.method for study in studies.values() if isinstance(study.method, str)}
    assert len(names) == 12
    assert names <= oc.METHODS.keys()


def test_every_class_that_was_stored_is_restored(studies):
    restored = set()
    for name, known in KNOWN.items():
        # To open a study is to make its method, part by part, of what was stored.
        assert sorted(classes_in(studies[name].method)) == known["classes"], name
        restored.update(known["classes"])
    assert {"initial.OnePerPath", "surrogates.Arc", "maximise.DeltaCover"} <= restored
    assert len(restored) == 100


def test_a_study_is_continued_by_the_method_that_was_stored(url, studies):
    for name, known in KNOWN.items():
        if name.startswith("kind"):
            study = studies[name]
            method = oc.Method.from_json(study.method)
            options = {"direction": study.direction, "noise": study.noise, "robust": study.robust}
            again = oc.Study(study.space, name, url, method=method, **options)
            assert len(again.trials) == known["trials"]


@pytest.mark.parametrize("name", EXACT)
def test_a_study_without_a_model_replays_to_the_last_bit(studies, name):
    replay = studies[name].replay()
    assert replay.asks == KNOWN[name]["asks"]
    assert replay.identical


@pytest.mark.parametrize("names", [FEW, pytest.param(NAMES, marks=pytest.mark.slow)])
def test_stored_states_of_models_serve_for_suggestions_of_today(studies, names):
    """Rules for suggestions have changed since; the state they start from must still be read."""
    made = [
        (study.space, asked, again)
        for study in (studies[name] for name in names)
        for asked, again in suggested_again(study)
    ]
    assert len(made) == sum(KNOWN[name]["asks"] for name in names)
    for space, asked, again in made:
        assert space.validate(again.params) == again.params
        assert again.why["source"] == asked.why["source"]


@pytest.mark.parametrize("name", NAMES)
def test_every_study_goes_on(url, name):
    study = oc.load_study(name, url)
    trial = study.ask()
    study.tell(trial, -7.5)
    again = oc.load_study(name, url)
    (told,) = (each for each in again.trials if each.number == trial.number)
    assert told.value == -7.5
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


def test_events_of_every_kind_are_read(studies):
    study = studies["every event"]
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


def test_where_evaluations_really_happened_is_read(studies):
    study = studies["kind NIGP"]
    (trial,) = (trial for trial in study.trials if trial.at is not None)
    assert trial.at.keys() == trial.at_std.keys() == {"x"}
    assert trial.at_std["x"] == 0.05
