"""Stopping rules, on lists of trials made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outcrop.errors import MethodError
from outcrop.study.running import ImprovementLeft, MaxTrials, NoImprovement, Target
from outcrop.study.trial import Trial
from tests.study.running.doubles import Diary, studied


@dataclass
class Stub:
    """What a rule looks at."""

    direction: str = "minimize"
    trials: list[Trial] = field(default_factory=list)


def study_of(values, direction="minimize", improvements=()):
    """A study whose trials ended in this order; a value of None is a failure, "…" still runs."""
    states = {None: "failed", "…": "running"}
    trials = [
        Trial(
            number,
            {},
            {},
            states.get(value, "finished"),
            value=value if value not in states else None,
            finished=None if value == "…" else 100.0 + number,
        )
        for number, value in enumerate(values)
    ]
    for number, improvement in enumerate(improvements, start=len(values)):
        why = {} if improvement is None else {"improvement": improvement}
        trials.append(Trial(number, {}, {}, why=why))
    return Stub(direction, trials)


def test_a_target_is_reached_in_the_direction_of_the_study():
    assert Target(1.5)(study_of([3, 1.25])) == "target 1.5 reached: 1.25"
    assert Target(1.5)(study_of([3, 1.5])) == "target 1.5 reached: 1.5"
    assert Target(1.5)(study_of([3, 2])) is None
    assert Target(1.5)(study_of([-3, 2], "maximize")) == "target 1.5 reached: 2"
    assert Target(1.5)(study_of([-3, 1], "maximize")) is None
    assert Target(1.5)(study_of([None, "…"])) is None


VALUES = st.lists(st.one_of(st.none(), st.just("…"), st.integers(-4, 4)), max_size=10)


@given(VALUES, st.integers(1, 5))
def test_trials_without_improvement_are_counted_since_the_best_value_last_changed(values, n):
    best, count = None, 0
    for value in values:
        if value == "…":
            continue
        count += 1
        if value is not None and (best is None or value < best):
            best, count = value, 0
    expected = best is not None and count >= n
    flipped = [-value if isinstance(value, int) else value for value in values]
    for study in (study_of(values), study_of(flipped, "maximize")):
        assert (NoImprovement(n)(study) is not None) == expected


def test_an_improvement_may_have_to_be_of_some_size():
    values = [5.0, 4.9, 4.8, 4.7]
    assert NoImprovement(2, by=0.25)(study_of(values)) == (
        "no improvement by more than 0.25 in 2 trials"
    )
    assert NoImprovement(3, by=0.25)(study_of(values)) is None
    assert NoImprovement(2)(study_of([5.0, 5.0, None])) == "no improvement in 2 trials"


def test_the_last_trials_are_those_that_ended_last():
    study = study_of([1.0, 2.0, 3.0])
    study.trials.reverse()
    assert NoImprovement(2)(study) is not None
    late = Trial(0, {}, {}, "finished", value=1.0, finished=200.0)  # asked first, told last
    assert NoImprovement(2)(Stub(trials=[late, *study_of([9, 3, 2]).trials[1:]])) is None


def test_the_improvement_left_is_compared_with_what_the_best_is_ahead_of_the_median():
    values = [0.0, 1.0, 2.0, 3.0, 10.0]  # 2 between the best and the median
    rule = ImprovementLeft(0.1)
    assert rule(study_of(values, improvements=[0.19, 0.05, 0.1])) == (
        "expected improvement 0.1, less than 0.1 of the spread"
    )
    flipped = [-value for value in values]
    assert rule(study_of(flipped, "maximize", [0.19, 0.05, 0.1])) is not None
    assert rule(study_of(values, improvements=[0.9, 0.19, 0.05, 0.1])) is not None
    for improvements in (
        [],
        [0.05, 0.05],
        [0.2, 0.05, 0.05],
        [0.05, None, 0.05],
        [0.05, 0.05, 0.21],
        [0.05, 0.05, float("nan")],
    ):
        assert rule(study_of(values, improvements=improvements)) is None
    assert rule(study_of([], improvements=[0.0] * 3)) is None
    assert rule(study_of([1.0, 1.0], improvements=[0.0] * 3)) is None, "nothing was gained yet"


def test_the_trials_of_a_study_are_counted_whatever_their_state():
    assert MaxTrials(3)(study_of([1.0, None])) is None
    assert MaxTrials(3)(study_of([1.0, None, "…"])) == "the study has 3 trials"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Target(float("nan")), "value must be a finite number, got nan"),
        (lambda: Target("low"), "value must be a finite number, got 'low'"),
        (lambda: NoImprovement(0), "trials must be a whole number of at least 1"),
        (lambda: NoImprovement(3, by=-1), "by must be a finite number of at least 0, got -1"),
        (lambda: ImprovementLeft(0), "fraction must be above 0"),
        (lambda: ImprovementLeft(None), "fraction must be a finite number of at least 0"),
        (lambda: MaxTrials(1.5), "total must be a whole number of at least 1"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(make, message):
    with pytest.raises(MethodError, match=message):
        make()


def test_a_run_ends_by_the_first_rule_that_says_so_and_records_its_reason():
    study = Diary()
    values = iter([3.0, 2.0, 1.0, 0.0])
    rules = [NoImprovement(2), Target(1.0), MaxTrials(50)]
    result = studied(lambda p: next(values), 100, study=study, stop=rules)
    assert [trial.value for trial in result.trials] == [3, 2, 1]
    assert study.stopped == [result.reason] == ["target 1 reached: 1"]


def test_a_study_that_has_done_enough_is_asked_for_nothing_more():
    study = Diary()
    studied(lambda p: 1.0, 4, study=study)
    result = studied(lambda p: 1.0, study=study, stop=[MaxTrials(4)])
    assert len(result.trials) == 4
    assert result.reason == "the study has 4 trials"
