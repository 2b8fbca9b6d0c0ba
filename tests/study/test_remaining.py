"""What a strategy is told of the trials that remain, and that the log repeats it."""

from __future__ import annotations

import json

import pytest

import outcrop as oc
from outcrop.errors import MethodError, TrialError
from outcrop.space import Float, Space
from outcrop.strategies.base import Suggestion
from outcrop.study import Optimizer, Study, commands
from outcrop.study.created_event import created_of
from outcrop.study.events import Asked, from_text, to_text
from outcrop.study.running import MaxTrials
from outcrop.study.state import apply, fold
from tests.study.doubles import Roaming

SPACE = Space({"x": Float(0, 1)})


class Frugal(Roaming):
    """Proposes a point that only what remains decides."""

    def propose(self, view, rng):
        left = view.remaining
        return Suggestion({"x": 1.0 if left is None else 1 / (1 + left)}, {"source": "model"})


def seen(study):
    """What the strategy of `study` was told for each trial."""
    left = [round(1 / trial.params["x"] - 1) for trial in study.trials]
    return [None if number == 0 else number for number in left]


def frugal(kind=Study):
    return kind(SPACE, method=Frugal(SPACE), seed=0, noise=True)


def value(params):
    return params["x"]


def test_a_run_counts_down_to_its_last_trial():
    study = frugal()
    study.optimize(value, n_trials=3, progress=False)
    study.optimize(value, n_trials=2, progress=False)
    assert seen(study) == [3, 2, 1, 2, 1]


def test_a_total_counts_down_and_the_nearer_end_counts():
    study = frugal()
    study.add({"x": 1.0}, 1.0)
    study.optimize(value, n_trials=10, stop=[MaxTrials(4)], progress=False)
    assert seen(study) == [None, 3, 2, 1]
    study.optimize(value, n_trials=2, stop=[MaxTrials(100)], progress=False)
    assert seen(study)[4:] == [2, 1]


def test_without_a_known_end_nothing_is_told():
    study = frugal()
    study.ask()
    study.optimize(value, stop=[lambda s: "done" if len(s.trials) == 3 else None], progress=False)
    assert seen(study) == [None] * 3


@pytest.mark.parametrize("kind", [Study, Optimizer])
def test_each_of_several_trials_is_told_of_those_after_it(kind):
    study = frugal(kind)
    study.ask(3, remaining=5)
    study.ask(remaining=2)
    assert seen(study) == [5, 4, 3, 2]


def test_a_simulation_counts_down_as_a_run_does():
    simulated = oc.simulate(
        value,
        Frugal(SPACE),
        space=SPACE,
        n_workers=2,
        n_trials=4,
        noise=True,
        mode="synchronous",
        progress=False,
    )
    assert seen(simulated) == [4, 3, 2, 1]


def test_a_replay_tells_what_was_recorded():
    study = frugal()
    study.ask(remaining=7)
    study.ask(total=6)
    study.ask()
    assert seen(study) == [7, 5, None]
    assert study.replay().identical


def test_an_ask_without_an_end_is_stored_as_it_always_was():
    state, strategy = fold([created_of(SPACE, "random", "minimize", 3, None, False)]), Frugal(SPACE)
    unknown = json.loads(to_text(commands.asked(state, strategy, 0.0)))
    assert "remaining" not in unknown
    assert unknown["version"] == 1
    known = to_text(commands.asked(state, strategy, 0.0, remaining=4))
    assert json.loads(known)["version"] == 2
    assert from_text(known).remaining == 4


def test_a_queued_trial_does_not_depend_on_what_remains():
    study = frugal()
    study.enqueue({"x": 0.25})
    study.ask(remaining=9)
    assert study.trials[0].params["x"] == 0.25
    assert study.replay().identical


@pytest.mark.parametrize("kind", [Study, Optimizer])
@pytest.mark.parametrize("remaining", [0, -1, 1.5, "3", True])
def test_what_remains_is_a_positive_whole_number(kind, remaining):
    with pytest.raises(MethodError, match="remaining must be a whole number of at least 1"):
        frugal(kind).ask(remaining=remaining)


@pytest.mark.parametrize("kind", [Study, Optimizer])
def test_what_remains_includes_what_is_asked_for(kind):
    with pytest.raises(MethodError, match="remaining=2 is less than the 3 trials asked for"):
        frugal(kind).ask(3, remaining=2)


@pytest.mark.parametrize("remaining", [0, 2.0, "a", True])
def test_a_stored_number_that_cannot_be_is_damage(remaining):
    state = fold([created_of(SPACE, "gp", "minimize", 3, None, False)])
    with pytest.raises(TrialError, match="remaining"):
        apply(state, Asked(0, {"x": 0.5}, remaining=remaining))
