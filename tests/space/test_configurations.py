"""Configurations: flat and nested, what is refused, and the key."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from outcrop.errors import ParamsError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from tests.space.strategies import configurations, spaces

thorough = settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

SPACE = Space(
    {
        "lr": Float(1e-5, 1e-1, log=True),
        "drop": Float(0, 1, step=0.1),
        "batch": Int(16, 512, log=True),
        "width": Int(0, 20, step=5),
        "act": Categorical(["relu", "tanh", None, (3, 3), True, 2]),
        "size": Ordinal(["s", "m", "l"]),
        "seed": Fixed(7),
        "model": Choice(
            {
                "linear": {},
                "mlp": {
                    "layers": Int(1, 4),
                    "kind": Fixed("dense"),
                    "norm": Choice({"none": {}, "batch": {"eps": Float(0, 1)}}),
                },
            }
        ),
    }
)

LINEAR = {
    "lr": 0.01,
    "drop": 0.3,
    "batch": 64,
    "width": 5,
    "act": "relu",
    "size": "m",
    "seed": 7,
    "model": "linear",
}
MLP = LINEAR | {
    "model": "mlp",
    "model.mlp.layers": 2,
    "model.mlp.kind": "dense",
    "model.mlp.norm": "batch",
    "model.mlp.norm.batch.eps": 0.5,
}


def changed(base, **changes):
    return {**base, **{name.replace("__", "."): value for name, value in changes.items()}}


def without(base, name):
    return {key: value for key, value in base.items() if key != name}


def test_a_flat_configuration_comes_back_in_declaration_order():
    shuffled = dict(reversed(MLP.items()))
    assert list(SPACE.validate(shuffled).items()) == list(MLP.items())


def test_flat_and_nested_are_one_configuration():
    nested = without(LINEAR, "model") | {
        "model": {"mlp": {"layers": 2, "kind": "dense", "norm": {"batch": {"eps": 0.5}}}}
    }
    assert SPACE.validate(nested) == MLP
    assert SPACE.nest(MLP) == nested
    assert SPACE.nest(nested) == nested
    assert SPACE.key(nested) == SPACE.key(MLP)


def test_flat_and_nested_may_be_mixed():
    mixed = changed(LINEAR, model={"mlp": {"layers": 2, "norm.batch.eps": 0.5}})
    assert SPACE.validate(mixed | {"model.mlp.norm": "batch"}) == MLP
    deep = changed(LINEAR, model="mlp", model__mlp__layers=2)
    assert SPACE.validate(deep | {"model.mlp.norm": {"batch": {"eps": 0.5}}}) == MLP


@pytest.mark.parametrize("model", ["linear", {"linear": {}}])
def test_an_option_without_parameters_may_be_written_short(model):
    assert SPACE.validate(changed(LINEAR, model=model)) == LINEAR
    assert SPACE.nest(LINEAR)["model"] == {"linear": {}}


def test_numpy_and_loosely_typed_values_become_plain():
    given = changed(
        MLP,
        lr=np.float64(0.01),
        drop=np.float64(0.1) * 3,
        batch=np.int64(64),
        width=5.0,
        act=np.str_("relu"),
        model=np.str_("mlp"),
        model__mlp__layers=np.array(2),
        model__mlp__norm__batch__eps=np.float32(0.5),
    )
    valid = SPACE.validate(given)
    assert valid == MLP
    assert [type(value) for value in valid.values()] == [type(value) for value in MLP.values()]
    json.dumps(valid)
    assert SPACE.key(given) == SPACE.key(MLP)


@pytest.mark.parametrize(
    ("value", "meant"), [(2.0, 2), ([3, 3], (3, 3)), (np.bool_(True), True), (None, None)]
)
def test_a_category_is_recognised_after_a_round_trip_through_other_formats(value, meant):
    found = SPACE.validate(changed(LINEAR, act=value))["act"]
    assert found == meant
    assert type(found) is type(meant)


def test_a_category_that_two_choices_equal_goes_by_type():
    space = Space({"c": Categorical([1, 1.0, True])})
    assert [type(space.validate({"c": value})["c"]) for value in (1, 1.0, True)] == [
        int,
        float,
        bool,
    ]


def test_whole_numbers_are_floats_for_a_float():
    value = Space({"x": Float(0, 2)}).validate({"x": 1})["x"]
    assert type(value) is float


def test_rounding_errors_at_bounds_and_grid_are_mended():
    space = Space({"x": Float(0.1, 0.7), "g": Float(0, 1, step=0.1)})
    given = {"x": 0.7 + 1e-13, "g": 0.3 + 1e-11}
    assert space.validate(given) == {"x": 0.7, "g": 0.3}
    assert space.validate({"x": 0.1 - 1e-13, "g": -1e-13}) == {"x": 0.1, "g": 0.0}


def test_fixed_values_are_filled_in():
    assert SPACE.validate(without(MLP, "seed")) == MLP
    assert SPACE.validate(without(MLP, "model.mlp.kind")) == MLP


BAD_PARAMS = [
    # params, then fragments: parameter, value, what is allowed
    (changed(LINEAR, lr=0.2), ["'lr'", "0.2", "above", "1e-05 to 0.1"]),
    (changed(LINEAR, lr=1e-6), ["'lr'", "1e-06", "below", "1e-05 to 0.1"]),
    (changed(LINEAR, lr="0.01"), ["'lr'", "'0.01'", "a number from"]),
    (changed(LINEAR, lr=True), ["'lr'", "True", "a number from"]),
    (changed(LINEAR, lr=np.bool_(True)), ["'lr'", "True", "a number from"]),
    (changed(LINEAR, lr=None), ["'lr'", "None", "a number from"]),
    (changed(LINEAR, lr=math.nan), ["'lr'", "nan", "finite"]),
    (changed(LINEAR, lr=math.inf), ["'lr'", "inf", "finite"]),
    (changed(LINEAR, lr=[0.01]), ["'lr'", "[0.01]", "a number from"]),
    (changed(LINEAR, lr={"a": 1}), ["'lr'", "{'a': 1}", "a number from"]),
    (changed(LINEAR, drop=0.35), ["'drop'", "0.35", "steps of 0.1", "nearest"]),
    (changed(LINEAR, drop=1.1), ["'drop'", "1.1", "above"]),
    (changed(LINEAR, batch=15), ["'batch'", "15", "below", "16 to 512"]),
    (changed(LINEAR, batch=513), ["'batch'", "513", "above", "16 to 512"]),
    (changed(LINEAR, batch=64.5), ["'batch'", "64.5", "whole number from 16"]),
    (changed(LINEAR, batch=True), ["'batch'", "True", "whole"]),
    (changed(LINEAR, batch="64"), ["'batch'", "'64'", "whole"]),
    (changed(LINEAR, batch=math.inf), ["'batch'", "inf", "whole"]),
    (changed(LINEAR, width=7), ["'width'", "7", "steps of 5"]),
    (changed(LINEAR, act="rely"), ["'act'", "'rely'", "'relu', 'tanh', None", "mean 'relu'"]),
    (changed(LINEAR, act=1), ["'act'", "1", "one of"]),
    (changed(LINEAR, act=object), ["'act'", "object", "one of"]),
    (changed(LINEAR, size="xl"), ["'size'", "'xl'", "'s', 'm', 'l'"]),
    (changed(LINEAR, seed=8), ["'seed'", "8", "Fixed(7)"]),
    (changed(LINEAR, model="mpl"), ["'model'", "'mpl'", "'linear', 'mlp'", "mean 'mlp'"]),
    (changed(LINEAR, model=1), ["'model'", "1", "'linear', 'mlp'"]),
    (changed(LINEAR, model={}), ["'model'", "{}", "'linear', 'mlp'"]),
    (changed(LINEAR, model={"linear": {}, "mlp": {}}), ["'model'", "one option"]),
    (changed(LINEAR, model={"cnn": {}}), ["'model'", "'cnn'", "'linear', 'mlp'"]),
    (changed(LINEAR, model={"linear": None}), ["'model'", "None", "{'linear': {…}}"]),
    (changed(LINEAR, model={"linear": {"x": 1}}), ["'model.linear.x'", "1", "unknown"]),
    (without(LINEAR, "lr"), ["'lr'", "missing", "1e-05 to 0.1"]),
    (without(LINEAR, "model"), ["'model'", "missing", "'linear', 'mlp'"]),
    (without(MLP, "model.mlp.layers"), ["'model.mlp.layers'", "missing", "'model' is 'mlp'"]),
    (changed(LINEAR, learning=1), ["'learning'", "unknown", "'lr'"]),
    (changed(LINEAR, batches=1), ["'batches'", "unknown", "mean 'batch'"]),
    (changed(without(LINEAR, "batch"), batches=64), ["'batch' is missing", "'batches'"]),
    (changed(MLP, layers=1), ["'layers'", "unknown", "mean 'model.mlp.layers'"]),
    (LINEAR | {3: 4}, ["3", "4", "unknown"]),
    (
        changed(LINEAR, model__mlp__layers=2),
        ["'model.mlp.layers'", "2", "inactive", "'model' is 'linear'", "choose 'mlp'"],
    ),
    (
        changed(without(MLP, "seed"), model__mlp__norm="none"),
        ["'model.mlp.norm.batch.eps'", "0.5", "'model.mlp.norm' is 'none'", "choose 'batch'"],
    ),
    (
        changed(LINEAR, model={"mlp": {"layers": 2, "norm": "none"}}, model__mlp__layers=2),
        ["'model.mlp.layers'", "twice"],
    ),
    ([("lr", 0.1)], ["[('lr', 0.1)]", "dict"]),
    (None, ["None", "dict"]),
]


@pytest.mark.parametrize(("params", "fragments"), BAD_PARAMS)
def test_illegal_params_are_refused_by_name_with_value_and_what_is_allowed(params, fragments):
    with pytest.raises(ParamsError) as caught:
        SPACE.validate(params)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_list_to_encode_names_the_configuration_at_fault():
    with pytest.raises(ParamsError, match="configuration 1: 'lr' is 9"):
        SPACE.encode([LINEAR, changed(LINEAR, lr=9)])


@pytest.mark.parametrize("params", [LINEAR, "lr", 3, None])
def test_encode_takes_a_list_only(params):
    with pytest.raises(ParamsError, match=r"list.*write \["):
        SPACE.encode(params)


@given(st.data())
@thorough
def test_validate_accepts_what_it_returns_and_what_nest_returns(data):
    space = data.draw(spaces())
    params = data.draw(configurations(space))
    assert list(space.validate(params).items()) == list(params.items())
    assert space.validate(space.nest(params)) == params
    assert space.key(space.nest(params)) == space.key(params)


@given(st.data())
@thorough
def test_a_key_does_not_change_by_a_round_trip_and_tells_configurations_apart(data):
    space = data.draw(spaces())
    one, other = data.draw(configurations(space)), data.draw(configurations(space))
    X = space.encode([one, other]).X
    assert space.keys(X) == [space.key(one), space.key(other)]
    assert [space.key(params) for params in space.decode(X)] == space.keys(X)
    if np.abs(X[0] - X[1]).max(initial=0.0) > 2.0**-35:
        assert space.key(one) != space.key(other)
    if repr(one) == repr(other):
        assert space.key(one) == space.key(other)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0 + 1e-12), (0.1, 0.7), (3.0, 5.9), (1e-5, 0.1)])
def test_no_float_changes_its_key_by_a_round_trip(low, high, log):
    space = Space({"x": Float(low, high, log=log)})
    rng = np.random.default_rng(1)
    X = space.encode([{"x": value} for value in rng.uniform(low, high, 5000)]).X
    again = space.encode(space.decode(X)).X
    np.testing.assert_array_equal(again, X)


def test_neighbours_in_a_narrow_range_have_different_keys():
    space = Space({"x": Float(1.0, 1.0 + 1e-12)})
    ulp = math.ulp(1.0)
    values = [1.0 + i * ulp for i in range(4000)]
    assert len({space.key({"x": value}) for value in values}) == 4000


def test_float_keys_forgive_rounding_errors():
    space = Space({"x": Float(0, 3)})
    assert space.key({"x": 0.3}) == space.key({"x": 0.1 * 3})
    assert space.key({"x": 0.3}) != space.key({"x": 0.3 + 1e-9})


def test_a_space_of_constants_has_one_configuration():
    space = Space({"a": Fixed(1), "b": Fixed((1, None))})
    assert space.sample(np.random.default_rng(0)) == {"a": 1, "b": (1, None)}
    assert space.size == 1
    assert space.columns == ()
    assert space.encode([{}, {}]).X.shape == (2, 0)
    assert space.decode(np.zeros((2, 0))) == [{"a": 1, "b": (1, None)}] * 2
    assert space.key({}) == space.key({"a": 1})
