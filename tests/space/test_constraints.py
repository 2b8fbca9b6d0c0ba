"""Constraints of a space: what is refused, sampled, counted, stored and compared."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop.errors import ParamsError, SpaceError
from outcrop.space import Categorical, Choice, Float, Int, Ordinal, Space
from outcrop.space.enumeration import every
from tests.space.strategies import spaces

SQUARE = {"x": Float(0, 1), "y": Float(0, 1)}
MIXED = {
    "x": Float(1e-3, 10, log=True),
    "n": Int(1, 1000, log=True),
    "k": Int(0, 60, step=3),
    "s": Float(0, 1, step=0.1),
    "kind": Categorical(["a", "b", "c"]),
    "size": Ordinal([1, 5, 7]),
    "model": Choice({"linear": {}, "mlp": {"layers": Int(1, 4), "rate": Float(0, 1)}}),
}
LIMITS = [
    "x * n <= 50",
    "k + size >= 20",
    "kind == 'a' or s > 0.35",
    "model.mlp.layers * model.mlp.rate <= 1.5",
]


def by_python(params):
    """`LIMITS` in Python."""
    p = dict(params)
    return (
        p["x"] * p["n"] <= 50
        and p["k"] + p["size"] >= 20
        and (p["kind"] == "a" or p["s"] > 0.35)
        and p.get("model.mlp.layers", 0) * p.get("model.mlp.rate", 0) <= 1.5
    )


def test_points_are_admitted_where_python_admits_their_configurations(rng):
    space = Space(MIXED, constraints=LIMITS)
    X = space.from_uniform(rng.random((4000, len(space.columns))))
    expected = [by_python(params) for params in space.decode(X)]
    assert 0.05 < np.mean(expected) < 0.95
    np.testing.assert_array_equal(space.admits(X), expected)
    np.testing.assert_array_equal(Space(MIXED, constraints=[by_python]).admits(X), expected)


@settings(max_examples=40)
@given(spaces(), st.integers(0, 2**32 - 1))
def test_a_column_of_numbers_is_what_decode_gives(space, seed):
    X = space.from_uniform(np.random.default_rng(seed).random((20, len(space.columns))))
    for column in space.columns:
        values = column.codec.decode(X[:, column.index])
        if all(type(value) in (int, float) for value in values):
            try:
                numbers = column.codec.numbers(X[:, column.index])
            except (TypeError, ValueError):
                continue  # other values of the column are not numbers
            np.testing.assert_array_equal(numbers, [float(value) for value in values])
            np.testing.assert_allclose(
                column.codec.between(X[:, column.index]), numbers, rtol=1e-12, atol=1e-300
            )
        back = column.codec.spread(column.codec.uniform(X[:, column.index]))
        np.testing.assert_array_equal(back, X[:, column.index])


def test_samples_satisfy_the_constraints_and_are_uniform(rng):
    space = Space(SQUARE, constraints=["x + y <= 0.6"])
    sample = space.sample(rng, 3000)
    assert all(space.validate(params) == params for params in sample)
    sums = np.array([params["x"] + params["y"] for params in sample]) / 0.6
    assert np.mean(sums <= 0.5) == pytest.approx(0.25, abs=0.03)  # the share of the triangle


@pytest.mark.parametrize("limits", [["x + y + z + w <= 0.22"], ["0 <= x - y <= 1e-4"]])
def test_a_small_region_is_found_and_sampled_uniformly(limits):
    names = "xyzw" if "w" in limits[0] else "xy"  # volumes 1e-4
    space = Space({name: Float(0, 1) for name in names}, constraints=limits)
    sample = space.sample(np.random.default_rng(1), 1500)
    assert all(space.validate(params) == params for params in sample)
    if len(names) == 4:
        sums = np.array([sum(params.values()) for params in sample]) / 0.22
        assert np.mean(sums <= 0.5 ** (1 / 4)) == pytest.approx(0.5, abs=0.08)
    else:
        assert np.mean([params["x"] <= 0.5 for params in sample]) == pytest.approx(0.5, abs=0.08)


def test_a_small_region_of_a_function_is_found_and_sampled():
    space = Space(SQUARE, constraints=[lambda p: (p["x"] - 0.7) ** 2 + (p["y"] - 0.2) ** 2 < 0.003])
    sample = space.sample(np.random.default_rng(1), 50)
    assert all(space.validate(params) == params for params in sample)
    assert len({params["x"] for params in sample}) == 50


def test_the_same_generator_gives_the_same_sample_and_longer_ones_begin_alike():
    space = Space(SQUARE, constraints=["0 <= x - y <= 1e-3"])
    one, two = (space.region.points(np.random.default_rng(3), n) for n in (40, 9))
    np.testing.assert_array_equal(one[:9], two)
    assert space.sample(np.random.default_rng(3)) == space.sample(np.random.default_rng(3))


def test_a_violation_is_refused_with_the_constraint_and_the_values():
    space = Space(SQUARE, constraints=["x + y <= 1"])
    assert space.validate({"x": 0.75, "y": 0.25}) == {"x": 0.75, "y": 0.25}
    for call in (space.validate, space.key, space.nest, lambda params: space.encode([params])):
        with pytest.raises(ParamsError) as caught:
            call({"x": 0.75, "y": 0.5})
        assert "'x + y <= 1'" in str(caught.value)
        assert "'x' is 0.75, 'y' is 0.5" in str(caught.value)
    assert space.unconstrained.validate({"x": 1, "y": 1}) == {"x": 1.0, "y": 1.0}


def test_finite_spaces_count_and_list_what_is_admissible():
    space = Space({"a": Int(1, 9), "b": Int(1, 9)}, constraints=["a + b == 10", "a != 5"])
    assert space.size == 8
    points = space.decode(every(space))
    assert points == [{"a": a, "b": 10 - a} for a in range(1, 10) if a != 5]
    assert Space({"a": Int(1, 9)}, constraints=[lambda p: p["a"] > 7]).size == 2
    assert Space({"a": Int(1, 10**9)}, constraints=["a > 7"]).size is None


def test_one_configuration_among_many_is_found():
    space = Space(
        {"a": Int(1, 400), "b": Int(1, 400)}, constraints=["a == 371", "b == 2 * a - 713"]
    )
    assert space.size == 1
    assert space.sample(np.random.default_rng(0)) == {"a": 371, "b": 29}


@pytest.mark.parametrize(
    ("declared", "limits", "fragments"),
    [
        (SQUARE, ["x + y == 1"], ["1000000", "'x + y == 1'", "declare fewer parameters"]),
        (SQUARE, ["x < 0.5", "y > 2"], ["1000000", "'y > 2' alone"]),
        ({"a": Int(1, 3)}, ["a > 3"], ["none of the 3 configurations", "'a > 3'"]),
        (SQUARE, "x <= 1", ["expected a list", "constraints=["]),
        (SQUARE, [3], ["3 is neither", "'x1 + x2 <= 1'"]),
        (
            SQUARE,
            [lambda p: p["z"] > 1],
            ["raised NoSuchParameter: 'z' is unknown", "inactive parameters are absent"],
        ),
        (SQUARE, [lambda p: 1], ["returned 1", "True or False"]),
    ],
)
def test_constraints_that_cannot_be_used_are_refused(declared, limits, fragments):
    with pytest.raises(SpaceError) as caught:
        Space(declared, constraints=limits)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_expressions_are_stored_compared_and_pickled():
    space, bare = Space(MIXED, constraints=LIMITS), Space(MIXED)
    data = json.loads(json.dumps(space.to_json()))
    assert data["version"] == 2
    assert data["constraints"] == LIMITS
    assert Space.from_json(data) == space == pickle.loads(pickle.dumps(space))
    assert hash(pickle.loads(pickle.dumps(space))) == hash(space)
    assert eval(repr(space), vars(oc)) == space
    assert space == Space(MIXED, constraints=[" x*n<=50", *LIMITS[:0:-1]])
    assert space != bare
    assert space.unconstrained == bare
    assert bare.to_json()["version"] == 1
    assert "constraints" not in bare.to_json()
    assert space.difference(bare) == [f"constraint {text!r}: only in this space" for text in LIMITS]
    assert bare.difference(space)[0] == f"constraint {LIMITS[0]!r}: only in the other space"


def test_a_function_is_kept_in_memory_and_refused_where_it_would_be_stored(tmp_path):
    space = Space(SQUARE, constraints=[lambda p: p["x"] <= p["y"]])
    with pytest.raises(SpaceError, match="cannot be stored"):
        space.to_json()
    with pytest.raises(SpaceError, match="cannot be stored"):
        oc.Study(space, "stored", f"sqlite:///{tmp_path / 'a.db'}")
    study = oc.Study(space, seed=0, method="random")
    trial = study.ask()
    study.tell(trial, 1.0)
    assert trial.params["x"] <= trial.params["y"]
    assert study.space == space
    assert study.replay().identical
    assert study.copy_to(oc.study.storage.Memory()).space == space
    with pytest.raises(SpaceError, match="cannot be stored"):
        study.copy_to(f"sqlite:///{tmp_path / 'b.db'}")


def test_a_reference_to_a_function_of_another_process_is_refused():
    data = {**Space(SQUARE).to_json(), "version": 2, "constraints": [{"predicate": "f00"}]}
    with pytest.raises(SpaceError, match="another process"):
        Space.from_json(data)


def test_a_stored_study_keeps_its_constraints_and_refuses_other_ones(tmp_path):
    space, url = Space(SQUARE, constraints=["x + y <= 0.5"]), f"sqlite:///{tmp_path / 'a.db'}"
    study = oc.Study(space, "s", url, method="random", seed=1)
    study.tell(study.ask(), 1.0)
    assert oc.load_study("s", url).space == space
    with pytest.raises(oc.errors.StudyError, match="only in this space"):
        oc.Study(space.unconstrained, "s", url, method="random")
    for call in (study.enqueue, lambda params: study.add(params, 1.0)):
        with pytest.raises(ParamsError, match="is violated"):
            call({"x": 0.5, "y": 0.25})
    assert len(study.trials) == 1
