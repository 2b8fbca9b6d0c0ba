"""Trials as values."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import FrozenInstanceError

import pytest

from outcrop.study.trial import ReadOnly, Trial

TRIAL = Trial(
    3, ReadOnly(x=1.0, m="b"), ReadOnly.deep({"x": 1.0, "m": {"b": {}}}), "finished", 0.5, std=0.1
)


def test_a_trial_and_its_mappings_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        TRIAL.value = 1.0  # type: ignore[misc]
    params = TRIAL.params
    assert isinstance(params, dict)
    for change in (
        lambda: params.update(x=2),
        lambda: params.pop("x"),
        lambda: params.setdefault("z", 1),
        lambda: params.__ior__({"x": 2}),
        lambda: params.__delitem__("x"),
        lambda: params.clear(),
        lambda: TRIAL.nested["m"].__setitem__("b", 1),
    ):
        with pytest.raises(TypeError, match="change a copy"):
            change()
    assert params == {"x": 1.0, "m": "b"}


def test_params_are_a_dict_to_json_and_to_calls():
    assert json.loads(json.dumps(TRIAL.params)) == {"x": 1.0, "m": "b"}
    assert dict(**TRIAL.params) == TRIAL.params
    assert {**TRIAL.params, "x": 2} == {"x": 2, "m": "b"}


@pytest.mark.parametrize("copied", [lambda t: pickle.loads(pickle.dumps(t)), copy.deepcopy])
def test_a_trial_survives_copying(copied):
    again = copied(TRIAL)
    assert again == TRIAL
    assert type(again.params) is ReadOnly
    assert len({again, TRIAL}) == 1


def test_a_trial_shows_what_became_of_it():
    assert repr(TRIAL) == "Trial(3, finished, value=0.5 ± 0.1, params={'x': 1.0, 'm': 'b'})"
    failed = Trial(4, {"x": 1}, {"x": 1}, "failed", reason="ValueError: no")
    assert repr(failed) == "Trial(4, failed, reason='ValueError: no', params={'x': 1})"
    assert repr(Trial(5, {"x": 1}, {"x": 1})) == "Trial(5, running, params={'x': 1})"
