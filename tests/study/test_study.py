"""Studies in a store: sharing, resuming, opening, replaying."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

import outcrop as oc
from outcrop.errors import MethodError, StorageError, StudyError
from outcrop.space import Float, Space
from outcrop.study import Study, delete_study, list_studies, load_study
from outcrop.study.events import Added, Asked, Created, Told, to_text
from outcrop.study.replay import Replay
from outcrop.study.study_strategies import Strategies
from tests.study.doubles import Roaming
from tests.study.handles import SPACE, forget, log_of, opened
from tests.study.running.objectives import uneven


def test_asks_and_tells_are_in_the_store_when_they_return(storage):
    study = opened(storage)
    first, second = study.ask(2)
    study.tell(first, 0.5, std=0.1, info={"note": "ok"})
    study.fail(second, "burst")
    study.add({"x": 0.25}, 2.0)
    study.enqueue({"x": 0.75})
    again = load_study("s", storage)
    assert again.trials == study.trials
    assert [trial.state for trial in again.trials] == ["finished", "failed", "finished"]
    assert again.best_trial.info == {"note": "ok"}
    assert again.ask().params == {"x": 0.75}


def test_a_study_goes_on_where_it_was(storage):
    whole = Study(SPACE, "whole", storage, method="gp", seed=3)
    for _ in range(9):
        trial = whole.ask()
        whole.tell(trial, (trial.params["x"] - 0.3) ** 2)
    for _ in range(9):  # opened anew for every trial
        parts = Study(SPACE, "parts", storage, method="gp", seed=3)
        trial = parts.ask()
        parts.tell(trial, (trial.params["x"] - 0.3) ** 2)
    assert [t.params for t in parts.trials] == [t.params for t in whole.trials]
    assert parts.recommend().probability == whole.recommend().probability
    assert parts.belief.predict({"x": 0.6}) == whole.belief.predict({"x": 0.6})


def test_a_stored_study_asks_as_an_optimizer_does(storage):
    study = opened(storage, method="gp")
    optimizer = oc.Optimizer(SPACE, method="gp", seed=1)
    for _ in range(8):
        one, two = study.ask(), optimizer.ask()
        assert one.params == two.params
        assert one.why == two.why
        study.tell(one, one.params["x"])
        optimizer.tell(two, two.params["x"])


def test_two_handles_see_each_other(storage):
    one, two = opened(storage), opened(storage)
    trial = one.ask()
    assert two.trials == [trial]
    two.tell(trial.number, 0.5)
    assert one.best_value == 0.5
    assert two.ask().number == 1


def test_threads_that_share_a_study_get_different_trials_and_lose_nothing(storage):
    study = opened(storage)

    def work():
        for _ in range(5):
            trial = study.ask()
            study.tell(trial, trial.params["x"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [trial.number for trial in study.trials] == list(range(20))
    assert len({trial.params["x"] for trial in study.trials}) == 20
    assert {trial.state for trial in study.trials} == {"finished"}


def test_tells_do_not_wait_for_an_ask(storage):
    study = opened(storage)
    first, second = study.ask(2)
    thinking, told = threading.Event(), threading.Event()

    class Slow(Roaming):
        def propose(self, view, rng):
            thinking.set()
            assert told.wait(60)
            return super().propose(view, rng)

    slow = load_study("s", storage)
    slow._strategies = Strategies(Slow(SPACE))
    asked = []
    asking = threading.Thread(target=lambda: asked.append(slow.ask()))
    asking.start()
    assert thinking.wait(60)
    seen = study._current().position
    study.tell(first, 1.0)
    study.fail(second, "burst")
    told.set()
    asking.join()
    event = log_of(study)[-1]
    assert isinstance(event, Asked)
    assert event.seen == seen, "the suggestion is recorded with what it was made of"
    assert asked[0].number == 2
    assert study.explain(2).pending == (0, 1), "both ran when it was made"


def test_a_suggestion_is_made_anew_if_its_number_is_taken_meanwhile(storage):
    study = opened(storage)
    other = load_study("s", storage)

    class Interrupted(Roaming):
        def propose(self, view, rng):
            if view.number == 0:
                other.add({"x": 0.5}, 1.0)
            return super().propose(view, rng)

    study._strategies = Strategies(Interrupted(SPACE))
    assert study.ask().number == 1
    assert [trial.source for trial in study.trials] == ["added", "asked"]


# Opening


def test_a_study_that_differs_is_refused_with_the_difference(storage):
    opened(storage, direction="maximize", seed=1)
    before = storage.read(storage.find("s"))
    for options, line in (
        ({"direction": "minimize"}, "direction: 'maximize' stored, 'minimize' given"),
        ({"direction": "maximize", "method": "gp"}, "method: 'random' stored, 'gp' given"),
        ({"direction": "maximize", "seed": 2}, "seed: 1 stored, 2 given"),
        ({"direction": "maximize", "noise": True}, "noise: None stored, True given"),
    ):
        with pytest.raises(StudyError, match=line):
            opened(storage, **options)
    with pytest.raises(StudyError, match=r"x.*0.*2") as refusal:
        Study(Space({"x": Float(0, 2)}), "s", storage, method="random", direction="maximize")
    assert "load_study" in str(refusal.value)
    assert storage.read(storage.find("s")) == before


def test_a_seed_that_was_drawn_is_stored(storage):
    first = opened(storage, seed=None)
    assert opened(storage, seed=None).seed == first.seed


def test_loading_needs_an_existing_name(storage):
    with pytest.raises(StudyError, match=r"'s' does not exist: (the store is|there is no file)"):
        load_study("s", storage)
    opened(storage, name="digits")
    with pytest.raises(StudyError, match=r"'digit' does not exist.*did you mean 'digits'"):
        load_study("digit", storage)


def test_loading_from_a_file_that_is_not_there_says_so_and_creates_none(tmp_path):
    url = f"sqlite:///{tmp_path / 'nowhere.db'}"
    with pytest.raises(StudyError) as refusal:
        load_study("mlp", url)
    assert str(refusal.value) == (
        f"study 'mlp' does not exist: there is no file for {url}; create the study with "
        f"oc.Study(space, 'mlp', '{url}') or with: outcrop run SPEC.toml"
    )
    assert [*tmp_path.iterdir()] == []


def test_studies_are_listed_and_deleted(storage):
    opened(storage, name="a")
    opened(storage, name="b")
    assert list_studies(storage) == ["a", "b"]
    delete_study("a", storage)
    assert list_studies(storage) == ["b"]
    with pytest.raises(StudyError, match="does not exist"):
        delete_study("a", storage)


def test_telling_a_study_that_was_deleted_is_a_clear_error(storage):
    study = opened(storage)
    trial = study.ask()
    delete_study("s", storage)
    for act in (lambda: study.tell(trial, 1.0), study.ask, lambda: study.trials):
        with pytest.raises(StudyError, match="deleted"):
            act()
    opened(storage)
    with pytest.raises(StudyError, match="deleted"):
        study.tell(trial, 1.0)
    assert load_study("s", storage).trials == []


def test_a_study_that_was_deleted_can_still_be_shown(storage):
    study = opened(storage)
    study.ask()
    delete_study("s", storage)
    assert repr(study).startswith("Study('s', 1 trials, ")


@pytest.mark.parametrize(
    "event",
    [
        Told(7, 1.0),
        Told("first", 1.0),
        Asked(0, {"y": 1.0}),
        Asked(0, {"x": 1.0}, attempt=0),
        Asked(0, {"x": 1.0}, attempt=-1),
        Added(0, {"x": 1.0}, 10**400),
        Added(0, {"x": 1.0}, 1.0, std=[]),
        Created(SPACE),
    ],
    ids=lambda event: repr(event)[:50],
)
def test_a_log_that_cannot_be_is_told_from_a_mistake_of_the_caller(storage, event):
    study = opened(storage)
    storage.append(study._id, 1, [to_text(event)])
    for act in (lambda: load_study("s", storage), lambda: study.trials, lambda: opened(storage)):
        with pytest.raises(StorageError, match="the log of study 's' is damaged"):
            act()


@pytest.mark.parametrize("told", [{"where": {"x": "a"}}, {"where_std": {"x": 1e308}}], ids=str)
def test_places_that_no_result_can_have_are_damage(storage, told):
    study = opened(storage)
    storage.append(study._id, 1, [to_text(Asked(0, {"x": 1.0})), to_text(Told(0, 1.0, **told))])
    with pytest.raises(StorageError, match="the log of study 's' is damaged"):
        study.trials  # noqa: B018


@pytest.mark.parametrize(
    "wrong", [{"seed": "x"}, {"seed": -1}, {"noise": "loud"}, {"direction": "up"}], ids=str
)
def test_a_log_that_begins_wrongly_is_damaged(storage, wrong):
    storage.create("s", to_text(replace(Created(SPACE), **wrong)))
    with pytest.raises(StorageError, match="'s' is damaged"):
        load_study("s", storage)


def test_a_log_that_does_not_begin_is_damaged(storage):
    storage.create("s", to_text(Told(0, 1.0)))
    with pytest.raises(StorageError, match=r"'s' is damaged \(a study begins with Created"):
        load_study("s", storage)


def test_a_log_is_read_once_to_open_it(storage, monkeypatch):
    opened(storage).ask(3)
    read, lengths = storage.read, []

    def counted(*arguments):
        lengths.append(len(found := read(*arguments)))
        return found

    monkeypatch.setattr(storage, "read", counted)
    load_study("s", storage)
    opened(storage)
    assert lengths == [4, 4]


def test_a_stored_study_needs_a_name(storage):
    with pytest.raises(StudyError, match="needs a name"):
        Study(SPACE, storage=storage)


def test_a_method_of_ones_own_must_be_given_again(storage):
    opened(storage, method=Roaming(SPACE))
    with pytest.raises(MethodError, match=r"Roaming.*method="):
        load_study("s", storage)
    assert load_study("s", storage, method=Roaming(SPACE)).ask().number == 0
    with pytest.raises(StudyError, match="another method"):
        load_study("s", storage, method="gp")


def test_a_method_of_our_parts_is_restored(storage):
    method = oc.Method(acquisition=oc.acquisition.EI(), initial=oc.initial.Sobol(size=2))
    study = opened(storage, method=method)
    for trial in study.ask(2):
        study.tell(trial, trial.params["x"])
    again = load_study("s", storage)
    assert again.ask().why["acquisition"] == "EI"
    assert again.replay().identical


# Replay


def test_replay_makes_every_suggestion_again(storage):
    study = opened(storage, method="gp")
    study.enqueue({"x": 0.125})
    study.add({"x": 0.875}, 0.3)
    running = []
    for step in range(8):
        running += study.ask(1 + step % 3, lease=60)
        trial = running.pop(step % 2)
        study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    forget(study, running[0].number)
    study.ask()
    replay = load_study("s", storage).replay()
    assert replay.identical
    assert replay.asks == sum(trial.source == "asked" for trial in study.trials)


def test_replay_notices_a_suggestion_that_was_made_otherwise(storage):
    study = opened(storage, method=Roaming(SPACE))
    study.tell(study.ask(), 1.0)
    study._strategies = Strategies(Roaming(SPACE, weight=1))
    study.ask()
    study._strategies = Strategies(Roaming(SPACE))
    assert study.replay().different == (1,)


def test_params_refused_by_the_space_write_nothing(storage):
    study = opened(storage)
    trial = study.ask()
    before = len(log_of(study))
    for act in (
        lambda: study.add({"x": 2.0}, 1.0),
        lambda: study.add([{"x": 0.5}, {"y": 0.5}], [1.0, 2.0]),
        lambda: study.enqueue({"z": 1}),
        lambda: study.tell(trial, "x"),
        lambda: study.tell(trial, None),
        lambda: study.tell(99, 1.0),
        lambda: study.fail("first"),
    ):
        with pytest.raises(oc.errors.OutcropError):
            act()
    assert len(log_of(study)) == before


@pytest.mark.parametrize(
    "trials", [pytest.param(24), pytest.param(200, marks=pytest.mark.slow)], ids=str
)
def test_a_study_of_four_workers_is_replayed_to_the_byte(tmp_path, trials):
    space = Space({"x": Float(0, 1), "y": Float(0, 1)})
    study = Study(space, "s", f"sqlite:///{tmp_path / 's.db'}", method="gp", seed=4)
    study.optimize(uneven, trials, n_workers=4)
    assert len(study.trials) == trials
    assert any(study.explain(number).pending for number in range(trials))
    assert load_study("s", study._store).replay() == Replay(asks=trials)
