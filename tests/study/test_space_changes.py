"""Studies whose space changes: what is translated, what is set aside, and what stays possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop.errors import MethodError, ParamsError, SpaceError, StudyError, TrialError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Space
from outcrop.study import Optimizer, Study, load_study
from outcrop.study.copies import known_log
from outcrop.study.events import Asked, Created, Expired, SpaceChanged
from outcrop.study.state import fold
from outcrop.study.storage import Memory
from tests.study.doubles import Roaming
from tests.study.handles import forget, log_of

NARROW, WIDE = Space({"x": Float(0, 1)}), Space({"x": Float(-1, 2)})


def study_in(space: Space, storage: Any = None, **options: Any) -> Study:
    chosen: dict[str, Any] = {"method": "random", "seed": 1} | options
    return Study(space, "s", Memory() if storage is None else storage, **chosen)


def tried(study: Any, count: int) -> list[float]:
    """Values of so many further trials, which depend on the trial alone."""
    told = []
    for _ in range(count):
        trial = study.ask()
        told.append(study.tell(trial, trial.params["x"] ** 2 + 0.01 * trial.number).value)
    return told


STAGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"x": Float(-1, 2), "c": Categorical(["a", "b"])}, {}),
    ({"x": Float(0, 0.5), "c": Categorical(["a", "b"])}, {}),
    ({"x": Float(0, 0.5), "c": Categorical(["a", "b", "new"])}, {}),
    ({"x": Float(0, 0.5), "c": Categorical(["a", "b", "new"]), "k": Int(1, 9)}, {"k": 2}),
]


@pytest.mark.parametrize(("method", "each"), [("random", 40), ("gp", 3)])
def test_a_study_that_is_widened_narrowed_and_extended_loses_nothing_and_replays(method, each):
    storage = Memory()
    study = study_in(
        Space({"x": Float(0, 1), "c": Categorical(["a", "b"])}), storage, method=method
    )
    other = load_study("s", storage)
    told = tried(study, each)
    for declared, defaults in STAGES:
        held = study.ask()
        told.append(9.0)  # of the trial that runs while the space changes
        report = study.change_space(Space(declared), defaults=defaults)
        assert report.fitting + report.n_aside == len(study.trials)
        assert other.tell(held, 9.0).value == 9.0
        told += tried(other, each)
    assert [trial.value for trial in study.trials] == told
    assert len(told) == 5 * each + 4
    fitting = [trial for trial in study.trials if not trial.aside]
    assert 4 * each / 2 < len(fitting) < len(told)
    assert all(study.space.validate(trial.params) == trial.params for trial in fitting)
    assert study.best_value == min(trial.value for trial in fitting)
    newest = [trial.params for trial in study.trials[-each:]]
    assert all(0 <= params["x"] <= 0.5 and "k" in params for params in newest)
    again = load_study("s", storage)
    assert [(t.params, t.aside) for t in again.trials] == [
        (t.params, t.aside) for t in study.trials
    ]
    replay = again.replay()
    assert replay.asks == len(told)
    assert replay.identical


# What is translated

NAMES = ("x", "y", "n", "c", "m")


@st.composite
def spaces(draw: Any) -> Space:
    """Spaces that overlap in names, ranges, categories and options."""
    low, options = draw(st.integers(0, 3)), draw(st.integers(2, 3))
    pool = {
        "x": Float(low, low + 4),
        "y": Float(0, 1) if draw(st.booleans()) else Fixed(0.5),
        "n": Int(1, draw(st.integers(2, 5))),
        "c": Categorical(["a", "b", "c"][: draw(st.integers(2, 3))]),
        "m": Choice({name: {"k": Int(1, 2)} for name in "uvw"[:options]}),
    }
    names = draw(st.sets(st.sampled_from(NAMES), min_size=1))
    return Space({name: pool[name] for name in NAMES if name in names})


DEFAULTS = {"x": 3.5, "y": 0.5, "n": 2, "c": "a", "m": "u", "m.u.k": 1, "m.v.k": 1, "m.w.k": 1}


def by_hand(
    params: dict[str, Any], space: Space, defaults: dict[str, Any]
) -> dict[str, Any] | None:
    """The only configuration of `space` with these values, found by trying: None if there is none.

    Parameters that `space` does not have are left out, or must equal their default.
    """
    gone = params.keys() - space.parameters.keys()
    if any(name in defaults and params[name] != defaults[name] for name in gone):
        return None
    usable = {**defaults, **params}
    found = {name: usable[name] for name in space.parameters if name in usable}
    for name in list(found):
        outer = name.split(".")
        if len(outer) == 3 and found.get(outer[0]) != outer[1]:
            del found[name]
    try:
        return dict(space.validate(found))
    except ParamsError:
        return None


@settings(max_examples=60, deadline=None, derandomize=True)
@given(spaces(), spaces(), st.integers(0, 99))
def test_the_model_sees_the_trials_that_fit_as_if_they_had_been_added_to_a_new_study(
    first, second, seed
):
    params = first.sample(np.random.default_rng(seed), 6)
    outcomes = [1.0, float("nan"), 2.0, -1.0, float("nan"), 0.5]
    changed = Optimizer(first, method="random", seed=0)
    changed.add(params, outcomes)
    new = second.parameters.keys() - first.parameters.keys()
    defaults = {name: DEFAULTS[name] for name in new}
    if first == second:
        return
    changed.change_space(second, defaults=defaults)
    expected = [by_hand(dict(each), second, defaults) for each in params]
    assert [bool(trial.aside) for trial in changed.trials] == [each is None for each in expected]
    plain = Optimizer(second, method="random", seed=0)
    for each, outcome in zip(expected, outcomes, strict=True):
        if each is not None:
            plain.add(each, outcome)
    assert [dict(t.params) for t in changed.trials if not t.aside] == [
        dict(t.params) for t in plain.trials
    ]
    one, other = changed._state.view, plain._state.view
    assert one.known == other.known
    for name in ("X", "y", "std", "pending", "failed"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    changed.change_space(first)
    assert [dict(trial.params) for trial in changed.trials] == params, "back as it was"
    assert not any(trial.aside or trial.original for trial in changed.trials)


def test_defaults_are_the_values_in_trials_without_the_parameter():
    study = study_in(NARROW)
    tried(study, 2)
    both = Space({"x": Float(0, 1), "y": Float(0, 1)})
    report = study.change_space(both, defaults={"y": 0.25})
    assert report.added == {"y": 2}
    assert [trial.params["y"] for trial in study.trials] == [0.25, 0.25]
    assert study.trials[0].original == {"x": study.trials[0].params["x"]}
    assert study.trials[0].nested == study.trials[0].params
    new = tried(study, 1)
    report = study.change_space(NARROW)  # without y it is 0.25, as was stated
    assert (report.fitting, report.aside) == (2, {"'y' is 0.25 if it is left out": (2,)})
    study.change_space(both)
    assert study.trials[2].value == new[0]
    assert not study.trials[2].aside


def test_a_parameter_that_is_removed_is_left_out_unless_its_value_is_stated():
    both = Space({"x": Float(0, 1), "y": Categorical(["u", "v"])})
    study = study_in(both)
    study.add([{"x": 0.5, "y": "u"}, {"x": 0.6, "y": "v"}], [1.0, 2.0])
    report = study.change_space(NARROW)
    assert (report.fitting, report.left_out) == (2, {"y": 2})
    assert "2 lost 'y'; if values depend on it, state what it is from now on" in str(report)
    report = study.change_space(NARROW, defaults={"y": "v"})
    assert [bool(trial.aside) for trial in study.trials] == [True, False]
    assert report.left_out == {}
    assert study.best_trial.number == 1


def test_places_are_translated_with_their_trial():
    both = Space({"x": Float(0, 1), "y": Float(0, 1)})
    study = study_in(both)
    for x in (0.5, 0.6):
        study.enqueue({"x": x, "y": 0.5})
    first, second = study.ask(2)
    study.tell(first, 1.0, at={"x": 0.5, "y": 0.6}, at_std={"y": 0.1})
    study.tell(second, 2.0, at={"x": 0.9})
    study.change_space(Space({"x": Float(-3, 0.7)}))
    assert (study.trials[0].at, study.trials[0].at_std) == ({"x": 0.5}, {})
    assert "'x' is 0.9" in study.trials[1].aside
    study.change_space(both)
    assert study.trials[0].at == {"x": 0.5, "y": 0.6}


def test_corrections_reach_trials_that_are_set_aside():
    study = study_in(WIDE)
    study.add({"x": 1.5}, 1.0)
    study.change_space(NARROW)
    assert study.trials[0].aside
    assert study.amend(0, value=0.5).aside
    assert study.discard(0).state == "discarded"
    study.amend(0, value=0.25)
    study.change_space(WIDE)
    assert study.best_value == 0.25


def test_the_queue_is_translated_or_dropped():
    study = study_in(WIDE)
    for x in (0.5, 1.5):
        study.enqueue({"x": x})
    report = study.change_space(Space({"x": Float(0, 1), "y": Fixed(3)}))
    assert report.dropped == ({"x": 1.5},)
    assert "1 queued configurations do not fit" in str(report)
    assert study.ask().params == {"x": 0.5, "y": 3}
    assert study.ask().why["source"] == "initial"


def test_constraints_decide_who_fits_too():
    free = {"x": Float(0, 1), "y": Float(0, 1)}
    study = study_in(Space(free))
    study.add([{"x": 0.1, "y": 0.2}, {"x": 0.9, "y": 0.8}], [1.0, 0.0])
    report = study.change_space(Space(free, constraints=["x + y <= 1"]))
    assert report.aside == {"the constraint 'x + y <= 1' is violated": (1,)}
    assert study.best_trial.number == 0
    trial = study.ask()
    assert trial.params["x"] + trial.params["y"] <= 1
    assert study.replay().identical


def test_the_next_suggestion_starts_cold():
    study = study_in(NARROW, method="gp")
    tried(study, 5)
    assert study._current().warm
    study.change_space(WIDE)
    assert not study._current().warm


# What is refused


@pytest.mark.parametrize(
    ("space", "defaults", "error", "words"),
    [
        ("x", {}, SpaceError, "expected a Space, got 'x'"),
        (NARROW, {}, StudyError, "has this space already"),
        (
            Space({"x": Float(0, 1), "y": Float(0, 1)}),
            {},
            ParamsError,
            "'y' is new, and trials that would fit do not have it .2.*defaults={'y': …}",
        ),
        (WIDE, {"z": 1}, ParamsError, "'z' is unknown, neither the new space nor an earlier one"),
        (WIDE, {"x": 9.0}, ParamsError, "defaults: 'x' is 9.0, above its upper bound"),
        (WIDE, [], ParamsError, "defaults must be a dict"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(space, defaults, error, words):
    study = study_in(NARROW)
    tried(study, 2)
    before = len(log_of(study))
    with pytest.raises(error, match=words):
        study.change_space(space, defaults=defaults)
    assert len(log_of(study)) == before


def test_only_trials_that_could_fit_need_a_default():
    study = study_in(Space({"m": Choice({"u": {}, "v": {}})}))
    study.add({"m": "u"}, 1.0)
    study.change_space(Space({"m": Choice({"u": {}, "v": {"k": Int(1, 3)}})}))
    study.add({"m": "v", "m.v.k": 2}, 1.0)
    more = Space({"m": Choice({"v": {"k": Int(1, 3), "q": Float(0, 1)}, "w": {}})})
    with pytest.raises(ParamsError, match=r"'m.v.q' is new, .* \(1\)"):
        study.change_space(more)
    report = study.change_space(more, defaults={"m": {"v": {"q": 0.5}}})
    assert (report.fitting, [*report.aside.values()]) == (1, [(0,)])


def test_a_study_without_trials_needs_no_defaults():
    optimizer = Optimizer(NARROW, method="random", seed=0)
    optimizer.change_space(Space({"y": Int(1, 3)}))
    assert [*optimizer.ask().params] == ["y"]


def test_a_strategy_that_was_made_for_one_space_is_refused():
    study = study_in(NARROW, method=Roaming(NARROW))
    with pytest.raises(MethodError, match="made for one space"):
        study.change_space(WIDE)


def test_a_robust_study_needs_a_space_with_input_noise():
    study = study_in(Space({"x": Float(0, 1, input_std=0.1)}), method="gp", robust=True)
    with pytest.raises(MethodError, match="averages over input noise"):
        study.change_space(WIDE)


def test_a_study_is_opened_with_its_current_space(storage):
    study_in(NARROW, storage).change_space(WIDE)
    assert study_in(WIDE, storage).space == WIDE
    with pytest.raises(StudyError, match=r"x: Float\(-1.0, 2.0\)[^$]*change_space.*migrate"):
        study_in(NARROW, storage)


# Several processes


@dataclass(frozen=True)
class Interfering:
    """A method whose first suggestion is overtaken by a change of the space."""

    other: list[Study]

    def strategy(self, space: Space) -> Any:
        return Overtaken(space, other=self.other)


@dataclass(frozen=True)
class Overtaken(Roaming):
    other: list[Study] = ()  # type: ignore[assignment]

    def propose(self, view: Any, rng: Any) -> Any:
        if self.other:
            self.other.pop().change_space(Space({"x": Float(5, 6)}))
        return super().propose(view, rng)


def test_a_suggestion_that_is_overtaken_by_a_change_is_made_again(storage):
    others: list[Study] = []
    study = study_in(NARROW, storage, method=Interfering(others))
    others.append(load_study("s", storage, method=Interfering([])))
    assert 5 <= study.ask().params["x"] <= 6
    assert [type(event) for event in log_of(study)] == [Created, SpaceChanged, Asked]
    assert study.replay().identical


def test_a_log_with_a_suggestion_for_an_earlier_space_is_refused():
    with pytest.raises(TrialError, match="an earlier space"):
        fold([Created(NARROW), SpaceChanged(WIDE), Asked(0, {"x": 0.5}, seen=1)])


def test_a_running_trial_that_no_longer_fits_is_not_handed_out_again_but_may_be_told(storage):
    study = study_in(WIDE, storage)
    study.enqueue({"x": 1.75})
    trial = study.ask(lease=60.0)
    study.change_space(NARROW)
    assert [*study.leases()] == [0]
    forget(study, 0)
    assert study.ask().number == 1
    assert isinstance(log_of(study)[-2], Expired)
    told = study.tell(trial, 3.0)
    assert (told.value, bool(told.aside)) == (3.0, True)
    with pytest.raises(oc.errors.NoBelief):
        _ = study.best_trial
    study.change_space(WIDE)
    assert study.best_value == 3.0


def test_a_trial_is_told_in_the_form_in_which_it_was_asked_for_or_is_shown(storage):
    both = Space({"x": Float(0, 1), "y": Float(0, 1)})
    study = study_in(both, storage)
    asked = study.ask(2)
    study.change_space(Space({"x": Float(0, 1), "z": Fixed("new")}))
    shown = study.trials[1]
    assert shown.params.keys() == {"x", "z"}
    study.change_space(Space({"x": Float(0, 1)}))
    assert study.tell(asked[0], 1.0, at={"y": 0.5}).value == 1.0
    assert study.tell(shown, 2.0).value == 2.0
    foreign = study_in(Space({"x": Float(0, 1)}), Memory(), seed=9).ask()
    with pytest.raises(TrialError, match="belongs to another study"):
        study.amend(foreign, value=1.0)


def test_a_released_trial_that_is_told_later_is_in_the_new_form(storage):
    study = study_in(WIDE, storage)
    trial = study.ask(lease=60.0)
    forget(study, 0)
    study.release(study.ask(lease=60.0))
    study.change_space(Space({"x": Float(-1, 2), "y": Fixed(1)}))
    assert study.tell(trial, 2.0).params == {**trial.params, "y": 1}


def test_a_copy_of_known_results_has_the_changes_between_them():
    study = study_in(WIDE)
    for declared in ({"x": Float(0, 1)}, {"x": Float(-2, 2), "c": Categorical(["a", "b"])}):
        tried(study, 3)
        study.change_space(Space(declared), defaults={"c": "a"} if "c" in declared else {})
    tried(study, 2)
    copy = fold(known_log(study._current()))
    assert copy.space == study.space
    assert [(t.params, t.value, t.aside) for t in copy.trials] == [
        (t.params, t.value, t.aside) for t in study.trials
    ]


def test_frames_have_all_parameters_and_reasons():
    study = study_in(Space({"x": Float(0, 4), "y": Int(1, 3)}))
    study.add([{"x": 1, "y": 2}, {"x": 3, "y": 1}], [1.0, 2.0])
    study.change_space(Space({"x": Float(0, 2), "c": Categorical(["a", "b"])}), defaults={"c": "a"})
    frame = study.to_frame()
    assert frame["y"].tolist() == [2, 1]
    assert frame["x"].tolist() == [1.0, 3.0]
    assert frame["c"].tolist() == ["a", None]
    assert frame["aside"].tolist()[0] == ""
    assert "above its upper bound" in frame["aside"].tolist()[1]


def test_stopping_rules_and_pictures_leave_out_what_is_set_aside():
    plots = pytest.importorskip("outcrop.plots")
    study = study_in(Space({"x": Float(0, 4)}), method="gp")
    study.add([{"x": 1.0}, {"x": 1.5}, {"x": 3.0}], [1.0, 2.0, -9.0])
    study.change_space(Space({"x": Float(0, 2)}))
    assert not oc.stop.Target(0.0)(study)
    assert oc.stop.Target(1.0)(study)
    assert study.recommend().trial.number in (0, 1)
    plots.belief(study)
    plots.convergence(study)
