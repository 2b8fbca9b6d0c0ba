"""Parameters by flat, short and nested names, and the errors for other keys."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.errors import OutcropError
from outcrop.space import ActiveParams, Choice, Float, Int, Space
from tests.space.strategies import configurations, spaces

OPTIMISER = Choice({"sgd": {"momentum": Float(0, 1)}, "adam": {}})
MLP = {"layers": Int(1, 4), "optimiser": OPTIMISER}
SPACE = Space(
    {
        "lr": Float(0, 1),
        "model": Choice({"linear": {}, "mlp": MLP, "cnn": {"layers": Int(1, 9)}}),
        "head": Choice({"none": {}, "dense": {"layers": Int(1, 2)}}),
    }
)
FLAT = {
    "lr": 0.5,
    "model": "mlp",
    "model.mlp.layers": 2,
    "model.mlp.optimiser": "sgd",
    "model.mlp.optimiser.sgd.momentum": 0.9,
    "head": "none",
}


@pytest.fixture
def p():
    return SPACE.validate(FLAT)


def refusal(look_up) -> str:
    with pytest.raises(KeyError) as caught:
        look_up()
    assert isinstance(caught.value, OutcropError)
    return str(caught.value)


def drawn(data) -> tuple[Space, ActiveParams]:
    space = data.draw(spaces())
    return space, space.validate(data.draw(configurations(space)))


# Looking up


@given(st.data())
@settings(deadline=None)
def test_an_end_of_a_name_stands_for_the_one_active_parameter_that_has_it(data):
    space, p = drawn(data)
    parts = {name: name.split(".") for name in space.parameters}
    ends = {".".join(path[i:]) for path in parts.values() for i in range(len(path))}
    for key in ends | {"nothing"}:
        size = key.count(".") + 1
        active = [name for name in dict(p) if parts[name][-size:] == key.split(".")]
        exact = [key] if key in space.parameters else active
        meant = [name for name in exact if name in dict(p)]
        if len(meant) == 1:
            assert p[key] is dict(p)[meant[0]]
            assert p.get(key, "default") is p[key]
            assert key in p
            assert p.copy().pop(key) is p[key]
            assert p.copy().setdefault(key, "default") is p[key]
        elif not meant:
            refusal(lambda key=key: p[key])
            assert p.get(key, "default") == "default"
            assert key not in p
            assert p.copy().pop(key, "default") == "default"
            assert p.copy().setdefault(key, "default") == "default"
        else:
            for look_up in (p.__getitem__, p.get, p.__contains__, p.copy().pop):
                assert "ambiguous" in refusal(lambda key=key, f=look_up: f(key))


def test_a_short_name_means_the_parameter_of_the_branch():
    linear, mlp, cnn = (
        SPACE.validate({"lr": 0, "head": "none", "model": model})
        for model in (
            "linear",
            {"mlp": {"layers": 2, "optimiser": "adam"}},
            {"cnn": {"layers": 7}},
        )
    )
    assert (mlp["layers"], cnn["layers"], linear.get("layers")) == (2, 7, None)


def test_the_name_of_an_inactive_parameter_never_means_another():
    inner = {"model": Choice({"mlp": {"layers": Int(1, 4)}})}
    space = Space(
        {
            "model": Choice({"mlp": {"layers": Int(1, 4)}, "linear": {}}),
            "outer": Choice({"a": inner}),
        }
    )
    p = space.validate({"model": "linear", "outer": {"a": {"model": {"mlp": {"layers": 3}}}}})
    assert p["layers"] == p["a.model.mlp.layers"] == 3
    assert "model.mlp.layers" not in p
    assert "inactive" in refusal(lambda: p["model.mlp.layers"])
    assert p.kwargs("a.model.mlp") == {"layers": 3}
    assert "needs 'model' = 'mlp', but it is 'linear'" in refusal(lambda: p.kwargs("model.mlp"))


# Errors


def test_a_wrong_key_is_told_the_right_ones(p):
    text = refusal(lambda: p["layres"])
    assert text.startswith("'layres' is unknown: expected 'lr', 'model', 'model.mlp.layers', ")
    assert text.endswith("; did you mean 'layers'?")
    assert "p.kwargs('model.mlp')" in refusal(lambda: p["mlp"])
    assert "3 is unknown" in refusal(lambda: p[3])
    assert refusal(lambda: p.copy().pop("layres")) == text


def test_a_parameter_that_is_not_active_is_said_to_be():
    p = SPACE.validate({"lr": 0, "head": "none", "model": "linear"})
    for key in ("layers", "mlp.layers", "model.mlp.layers"):
        text = refusal(lambda key=key: p[key])
        assert f"{key!r} is inactive: 'model.mlp.layers' needs 'model' = 'mlp', but it is" in text
        assert text.endswith("active are 'lr', 'model', 'head'")
    assert "'head.dense.layers' needs 'head' = 'dense'" in refusal(lambda: p["layers"])


def test_an_ambiguous_name_is_told_what_it_may_mean():
    p = SPACE.validate(FLAT | {"head": "dense", "head.dense.layers": 1})
    text = "'layers' is ambiguous: write 'model.mlp.layers' or 'head.dense.layers'"
    assert refusal(lambda: p["layers"]) == text
    assert refusal(lambda: p.get("layers", 1)) == text
    assert refusal(lambda: "layers" in p) == text
    assert (p["mlp.layers"], p["dense.layers"]) == (2, 1)


# Other forms


@given(st.data())
@settings(deadline=None)
def test_the_nested_form_is_another_form_of_the_same_configuration(data):
    space, p = drawn(data)
    assert space.validate(p.nested) == p
    for name, value in p.items():
        *above, last = name.split(".")
        group = p.nested
        for part in above:
            group = group[part]
        found = group[last]
        assert [*found] == [value] if isinstance(found, dict) else found == value


@given(st.data())
@settings(deadline=None)
def test_arguments_of_all_options_that_are_taken_are_all_parameters(data):
    space, p = drawn(data)
    groups = {"": p.kwargs()}
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Choice) and name in p:
            option = f"{name}.{p[name]}"
            groups[f"{option}."] = p.kwargs(option)
            assert p.kwargs(name) == p.kwargs(option)
    assert p == {
        prefix + key: value for prefix, each in groups.items() for key, value in each.items()
    }


def test_an_option_is_given_in_full_or_by_its_end_or_by_its_choice(p):
    layers = {"layers": 2, "optimiser": "sgd"}
    assert p.kwargs("model.mlp") == p.kwargs("mlp") == p.kwargs("model") == layers
    assert (
        p.kwargs("optimiser") == p.kwargs("sgd") == p.kwargs("optimiser.sgd") == {"momentum": 0.9}
    )
    assert p.kwargs("head") == {}
    assert p.kwargs() == {"lr": 0.5, "model": "mlp", "head": "none"}


def test_arguments_of_an_option_that_is_not_taken_are_refused(p):
    taken = "options that are taken: 'model.mlp', 'model.mlp.optimiser.sgd', 'head.none'"
    for option in ("model.linear", "linear"):
        text = refusal(lambda option=option: p.kwargs(option))
        assert text == (
            f"kwargs({option!r}): 'model.linear' needs 'model' = 'linear', but it is 'mlp'; {taken}"
        )
    assert "is a parameter without options" in refusal(lambda: p.kwargs("lr"))
    assert "did you mean 'model.mlp'" in refusal(lambda: p.kwargs("model.mpl"))
    assert "options that are taken: none" in refusal(
        lambda: Space({"x": Int(1, 2)}).validate({"x": 1}).kwargs("y")
    )


def test_an_option_named_like_a_choice_is_ambiguous():
    below = {"mlp": Choice({"deep": {"layers": Int(1, 2)}})}
    p = Space({"model": Choice({"mlp": below})}).validate(
        {"model": {"mlp": {"mlp": {"deep": {"layers": 1}}}}}
    )
    assert "write 'model.mlp.mlp.deep' or 'model.mlp'" in refusal(lambda: p.kwargs("mlp"))
    assert p.kwargs("deep") == {"layers": 1}


# It is a dict


def test_all_but_look_ups_have_flat_names(p):
    assert list(p) == list(FLAT) == list({**p})
    assert p == FLAT
    assert json.loads(json.dumps(p)) == FLAT
    assert repr(p) == repr(FLAT)
    assert type(dict(p)) is dict
    assert (lambda **given: given)(**p) == FLAT


@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        ActiveParams.copy,
        lambda p: pickle.loads(pickle.dumps(p)),
        lambda p: p | {},
        lambda p: {} | p,
    ],
)
def test_a_copy_has_short_names_and_can_be_changed(p, copied):
    again = copied(p)
    assert again == p
    assert again["layers"] == 2
    assert type(again) is ActiveParams
    again["epochs"] = 3
    again["model.mlp.layers"] = 4
    assert (again["layers"], again.kwargs()["epochs"], p["layers"]) == (4, 3, 2)
    assert "epochs" not in p


def test_joining_is_as_of_dicts(p):
    assert p | {"lr": 1} == FLAT | {"lr": 1}
    assert {"lr": 1, "epochs": 2} | p == {"lr": 1, "epochs": 2} | FLAT
    with pytest.raises(TypeError):
        p | [1]


def test_what_a_space_samples_and_decodes_is_looked_up_alike():
    p = SPACE.sample(np.random.default_rng(0))
    assert type(p) is ActiveParams
    assert SPACE.decode(SPACE.encode([FLAT]).X)[0]["momentum"] == 0.9


def test_short_names_are_no_parameters_of_another_space(p):
    other = Space({"lr": Float(0, 1), "layers": Int(1, 4)})
    with pytest.raises(ValueError, match="'layers' is missing"):
        other.validate(p)
