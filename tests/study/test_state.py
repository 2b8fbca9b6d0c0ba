"""The fold over events."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from outcrop.errors import ParamsError, TrialError
from outcrop.space import Choice, Float, Int, Space
from outcrop.study.events import (
    Added,
    Asked,
    Created,
    Enqueued,
    Event,
    Expired,
    Failed,
    Late,
    Released,
    Stopped,
    Told,
    from_json,
)
from outcrop.study.ledger import CHUNK, Ledger
from outcrop.study.state import State, apply, fold, follow

SPACE = Space({"x": Float(0, 4), "m": Choice({"a": {}, "b": {"k": Int(1, 3)}})})
CREATED = Created(SPACE, seed=3)


def at(x: float) -> dict[str, object]:
    return {"x": x, "m": "a"}


HISTORY: list[Event] = [
    Asked(0, at(1.0), at=1.0),
    Asked(1, at(2.0), at=2.0),
    Asked(2, at(3.0), at=3.0),
    Told(0, 0.5, at=4.0),
    Failed(1, "burst", at=5.0),
    Released(2, at=6.0),
]


def can_follow(order: tuple[Event, ...]) -> bool:
    """An oracle of its own: numbers are asked for in order, and each outcome has its trial."""
    seen: list[int] = []
    for event in order:
        if isinstance(event, Asked):
            if event.number != len(seen):
                return False
            seen.append(event.number)
        elif event.number not in seen:  # type: ignore[attr-defined]
            return False
    return True


def summary(state: State) -> list[object]:
    return [(trial, trial.started, trial.finished) for trial in state.trials]


def test_every_order_of_events_is_refused_or_leads_to_the_same_trials():
    expected = summary(fold([CREATED, *HISTORY]))
    outcomes = {True: 0, False: 0}
    for order in permutations(HISTORY):
        outcomes[can_follow(order)] += 1
        if can_follow(order):
            state = fold([CREATED, *order])
            assert summary(state) == expected
            np.testing.assert_array_equal(state.view.y, [0.5])
        else:
            with pytest.raises(TrialError):
                fold([CREATED, *order])
    # three asks in order, and each outcome behind its own: 1 · 3 · 5 ways to merge
    assert outcomes == {True: 15, False: 705}


@pytest.mark.parametrize(
    "order", list(permutations([Told(0, 1.0), Told(1, 2.0), Failed(2), Added(3, at(0.5), 3.0)]))
)
def test_a_view_is_in_order_of_numbers_whatever_came_first(order):
    asked = [Asked(number, at(number + 1.0)) for number in range(3)]
    view = fold([CREATED, *asked, *order]).view
    np.testing.assert_array_equal(view.y, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(view.X[:, 0], [0.25, 0.5, 0.125])
    np.testing.assert_allclose(view.failed[:, 0], [0.75])
    assert view.number == 4
    assert view.seed == 3


def test_a_log_read_back_from_json_gives_the_same_view():
    events = [CREATED, *HISTORY, Enqueued(at(0.25)), Added(3, at(3.5), -2.0, 0.1)]
    first, second = fold(events).view, fold([from_json(event.to_json()) for event in events]).view
    for name in ("X", "y", "std", "pending", "failed"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert first.known == second.known


def test_events_together_lead_to_the_bytes_of_one_by_one():
    space = Space(
        {
            "f": Float(1e-5, 3.0, log=True),
            "g": Float(-0.1, 0.7),
            "n": Int(1, 900, log=True),
            "m": Choice({"a": {}, "b": {"k": Float(0.3, 1e9, log=True)}}),
        }
    )
    params = space.sample(np.random.default_rng(5), 150)
    events: list[Event] = []
    for number, each in enumerate(params):
        if number % 3:
            events += [Asked(number, each), Told(number, 0.1 * number)]
        else:
            events.append(Added(number, each, 0.1 * number))
    begun = fold([Created(space)])
    slowly = begun
    for event in events:
        slowly = apply(slowly, event)
    for name in ("X", "y", "known"):
        one, other = getattr(slowly.view, name), getattr(follow(begun, events).view, name)
        assert one == other if name == "known" else one.tobytes() == other.tobytes()


def test_a_view_holds_what_was_told_what_runs_and_what_failed():
    state = fold(
        [
            Created(SPACE, direction="maximize", noise=0.5),
            Asked(0, {"x": 1, "m": {"b": {"k": 3}}}, warm={"step": 1}),
            Asked(1, at(2.0), warm={"step": 2}),
            Asked(2, at(3.0), warm={}),
            Told(0, 2.0, std=0.25),
            Failed(2),
            Added(3, at(4.0), 0.0),
        ]
    )
    view = state.view
    np.testing.assert_array_equal(view.X, SPACE.encode([state.trials[0].params, at(4.0)]).X)
    np.testing.assert_array_equal(view.y, [-2.0, 0.0])
    assert not np.signbit(view.y[1])
    np.testing.assert_array_equal(view.std, [0.25, math.nan])
    np.testing.assert_array_equal(view.pending, SPACE.encode([at(2.0)]).X)
    np.testing.assert_array_equal(view.failed, SPACE.encode([at(3.0)]).X)
    assert view.known == {SPACE.key(trial.params) for trial in state.trials}
    assert view.noise == 0.5
    assert view.warm == {"step": 2}, "a suggestion without warmth keeps the one before"
    assert state.trials[0].nested == {"x": 1.0, "m": {"b": {"k": 3}}}


def test_an_empty_view_has_arrays_of_the_right_width():
    view = fold([CREATED]).view
    assert view.X.shape == view.pending.shape == view.failed.shape == (0, 3)
    assert view.y.shape == view.std.shape == (0,)


def test_a_view_cannot_be_written_to():
    view = fold([CREATED, Added(0, at(1.0), 1.0)]).view
    for array in (view.X, view.y, view.std, view.pending):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_a_state_is_not_changed_by_what_follows_it():
    before = fold([CREATED, *HISTORY[:3]])
    trials = before.trials
    for event in HISTORY[3:]:
        apply(before, event)
    assert before.trials == trials
    assert all(trial.state == "running" for trial in trials)


def test_a_released_trial_leaves_no_trace_but_its_number():
    state = fold([CREATED, Asked(0, at(1.0), warm={"step": 1}), Released(0)])
    assert state.trials == []
    assert state.view.known == frozenset()
    assert state.next_number == 1
    with pytest.raises(TrialError, match="trial 0 was released"):
        apply(state, Told(0, 1.0))
    with pytest.raises(TrialError, match="expected trial 1 next, got 0"):
        apply(state, Asked(0, at(1.0)))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_a_failure(value):
    state = fold([CREATED, Asked(0, at(1.0)), Told(0, value), Added(1, at(2.0), value)])
    for trial in state.trials:
        assert (trial.state, trial.value, trial.reason) == ("failed", None, f"the value is {value}")
    assert len(state.view.failed) == 2


def test_a_trial_offered_again_keeps_its_number_and_counts_attempts():
    events = [CREATED, Asked(0, at(1.0), at=1.0), Asked(0, at(1.0), attempt=2, at=9.0)]
    state = fold(events)
    assert [(t.number, t.attempt, t.started) for t in state.trials] == [(0, 2, 9.0)]
    with pytest.raises(TrialError, match="expected attempt 3 next, got 2"):
        apply(state, events[-1])
    with pytest.raises(TrialError, match="finished already"):
        fold([*events[:2], Told(0, 1.0), events[2]])


HELD = [CREATED, Asked(0, at(1.0)), Asked(0, at(1.0), attempt=2)]


def test_a_value_after_a_trial_was_given_up_still_counts():
    given_up = fold([*HELD, Expired(0, "no answer")])
    assert (given_up.trials[0].state, given_up.trials[0].reason) == ("failed", "no answer")
    told = apply(given_up, Told(0, 2.5))
    assert (told.trials[0].state, told.trials[0].value, told.trials[0].reason) == (
        "finished",
        2.5,
        "",
    )
    assert apply(given_up, Failed(0, "burst")).trials[0].reason == "burst"
    for late in (Told(0, 1.0), Failed(0), Expired(0)):
        with pytest.raises(TrialError, match="finished already"):
            apply(told, late)


def test_a_value_after_the_second_holder_gave_a_trial_back_counts():
    released = fold([*HELD, Released(0)])
    assert released.trials == []
    assert released.view.known == frozenset()
    told = apply(released, Told(0, 2.5))
    assert [(trial.number, trial.value) for trial in told.trials] == [(0, 2.5)]
    assert apply(released, Failed(0, "burst")).trials[0].reason == "burst"
    for event in (Released(0), Expired(0), Asked(0, at(1.0), attempt=3)):
        with pytest.raises(TrialError, match="trial 0 was released"):
            apply(released, event)
    with pytest.raises(TrialError, match="finished already"):
        apply(told, Told(0, 1.0))


def test_what_comes_after_another_told_is_kept_and_changes_nothing():
    told = fold([*HELD, Told(0, 2.5)])
    after = apply(told, Late(0, 1.0))
    assert after.trials == told.trials
    assert after.position == told.position + 1
    with pytest.raises(TrialError, match="has no earlier result"):
        apply(fold(HELD), Late(0, 1.0))
    with pytest.raises(TrialError, match="has no earlier result"):
        fold([*HELD[:2], Told(0, 2.5), Late(0, 1.0)])


@pytest.mark.parametrize("order", list(permutations([Told(0, 1.0), Expired(0), Late(0, 3.0)])))
def test_the_end_of_a_trial_is_told_in_every_order_or_refused(order):
    kinds = [type(event) for event in order]
    if kinds in ([Expired, Told, Late], [Expired, Late, Told]):
        assert fold([*HELD, *order]).trials[0].value == 1.0
    else:
        with pytest.raises(TrialError):
            fold([*HELD, *order])


def test_a_suggestion_cannot_have_seen_more_than_there_was():
    with pytest.raises(TrialError, match="refers to 2 earlier events, but there are only 1"):
        fold([CREATED, Asked(0, at(1.0), seen=2)])


def test_the_reason_of_a_stop_holds_until_the_next_trial():
    state = fold([CREATED, Stopped("target reached")])
    assert state.stopped == "target reached"
    assert apply(state, Asked(0, at(1.0))).stopped is None


def test_the_queue_is_served_in_order():
    state = fold([CREATED, Enqueued(at(1.0)), Enqueued(at(2.0)), Asked(0, at(1.0), queued=True)])
    assert [dict(params) for params in state.queue] == [at(2.0)]
    with pytest.raises(TrialError, match="not next in the queue"):
        apply(state, Asked(1, at(3.0), queued=True))


def test_a_log_begins_with_its_creation_and_has_one():
    with pytest.raises(TrialError, match="begins with Created, got Told"):
        fold([Told(0, 1.0)])
    with pytest.raises(TrialError, match="can only be the first event"):
        fold([CREATED, CREATED])
    with pytest.raises(TrialError, match="got none"):
        fold([])


def test_params_that_do_not_fit_the_space_are_refused():
    with pytest.raises(ParamsError, match="'x'"):
        fold([CREATED, Asked(0, at(5.0))])


def test_a_ledger_agrees_with_a_list_and_shares_what_did_not_change():
    ledger, items = Ledger[int](), list[int | None]()
    rng = np.random.default_rng(4)
    for step in range(5 * CHUNK):
        before, copied = ledger, list(ledger)
        if items and rng.random() < 0.3:
            number = int(rng.integers(len(items)))
            items[number] = None if rng.random() < 0.5 else -step
            ledger = ledger.replaced(number, items[number])
        else:
            items.append(step + 1)
            ledger = ledger.appended(step + 1)
        assert [ledger[number] for number in range(len(ledger))] == items
        assert list(ledger) == [item for item in items if item is not None]
        assert list(before) == copied
        shared = sum(a is b for a, b in zip(before.chunks, ledger.chunks, strict=False))
        assert shared >= len(before.chunks) - 1


def test_what_is_made_of_a_ledger_is_made_once_for_each_chunk():
    made: list[list[int]] = []

    def total(items):
        made.append(list(items))
        return sum(items)

    ledger = Ledger[int]()
    for number in range(3 * CHUNK):
        ledger = ledger.appended(number)
    assert sum(ledger.made(total)) == sum(range(3 * CHUNK))
    made.clear()
    changed = ledger.replaced(CHUNK, None)
    assert sum(changed.made(total)) == sum(range(3 * CHUNK)) - CHUNK
    assert made == [list(range(CHUNK + 1, 2 * CHUNK))]
