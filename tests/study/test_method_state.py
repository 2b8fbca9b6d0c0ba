"""The state of a method in a damaged log is told as such; other errors are left alone."""

from __future__ import annotations

import json

import pytest

from outcrop.errors import StorageError
from outcrop.space import Float, Space
from outcrop.study import Study, load_study
from outcrop.study.storage import Memory
from tests.study.doubles import Roaming

SPACE = Space({"x": Float(0, 1)})


def damaged(change):
    """A study whose newest suggestion left another state than it did."""
    sound, store = Memory(), Memory()
    study = Study(SPACE, "study", sound, method="gp", seed=0)
    study.add([{"x": x / 9} for x in range(10)], [float(x) for x in range(10)])
    study.ask()
    *log, newest = sound.read(1)
    event = json.loads(newest)
    for part in event["warm"].values():  # of the model with noise and of the one without
        change(part)
    store.create("study", log[0])
    store.append(1, 1, [*log[1:], json.dumps(event)])
    return load_study("study", store)


@pytest.mark.parametrize(
    "change",
    [
        lambda warm: warm.update(thetas=[3]),
        lambda warm: warm.update(thetas=["x"]),
        lambda warm: warm["thetas"].__setitem__(0, {name: "x" for name in warm["thetas"][0]}),
        lambda warm: warm.update(widths=5),
    ],
)
def test_a_damaged_state_is_an_error_of_the_storage(change):
    study = damaged(change)
    for call in (study.ask, study.recommend, lambda: study.belief):
        with pytest.raises(StorageError, match="state of its method cannot be read"):
            call()


def test_a_sound_state_is_read():
    assert damaged(lambda warm: None).ask().number == 11


@pytest.mark.parametrize("place", [0, 1])
def test_an_event_that_is_nested_too_deeply_is_damage(place):
    store = Memory()
    study = Study(SPACE, "study", store, method="random", seed=0)
    study.ask()
    log = store.read(1)
    log[place] = "[" * 100_000
    store.create("damaged", log[0])
    store.append(2, 1, log[1:])
    with pytest.raises(StorageError, match="not JSON"):
        load_study("damaged", store)


def test_an_error_of_a_strategy_stays_what_it_is():
    class Wrong(Roaming):
        def propose(self, view, rng):
            if view.number == 1:
                raise KeyError("mine")
            return super().propose(view, rng)

    study = Study(SPACE, method=Wrong(SPACE), seed=0)
    study.ask()
    with pytest.raises(KeyError, match="mine"):
        study.ask()
