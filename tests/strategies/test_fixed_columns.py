"""Searches with some columns fixed."""

from dataclasses import replace

import numpy as np
import pytest

from outcrop.maximise import Maximiser
from outcrop.strategies.fixed_columns import FixedColumns, FreeColumnMaximiser
from tests.maximise.functions import Waves
from tests.strategies.cocabo import example
from tests.strategies.spaces import EVERY_SPACE


def test_the_free_columns_are_the_active_numbers():
    space = EVERY_SPACE["conditional"]
    names = {c.name: c.index for c in space.columns}
    codes = {"model": 2, "model.mlp.act": 1, "model.mlp.opt": 0}
    fixed = FixedColumns.with_categories(space, codes)
    assert fixed.free == (names["lr"], names["model.mlp.opt.sgd.mu"])
    assert FixedColumns.with_categories(space, {**codes, "model": 0}).free == (names["lr"],)
    Z = np.random.default_rng(0).random((5, 2))
    X = fixed.completed(Z)
    np.testing.assert_array_equal(space.snap(X), X)
    np.testing.assert_array_equal(fixed.free_values(X), Z)
    assert fixed.keys(X) == set(fixed.space.keys(Z))
    assert (
        fixed.keys(FixedColumns.with_categories(space, {**codes, "model.mlp.act": 0}).completed(Z))
        == set()
    )


def test_without_free_columns_there_is_one_configuration():
    space = EVERY_SPACE["categories"]
    fixed = FixedColumns.with_categories(space, {"c": 2, "d": 1})
    point = np.array([[2.0, 1.0]])
    np.testing.assert_array_equal(fixed.completed(np.zeros((1, 0))), point)
    assert fixed.has_more_than(np.zeros((0, 2)))
    assert fixed.has_more_than(np.array([[2.0, 0.0]]))
    assert not fixed.has_more_than(point)


@pytest.mark.parametrize("seed", range(4))
def test_a_search_of_the_free_columns_finds_their_maximum(seed):
    space = EVERY_SPACE["mixed"]
    function = Waves.on(space, seed)
    fixed = FixedColumns.with_categories(space, {"c": 1})
    search = FreeColumnMaximiser(Maximiser(), fixed, frozenset())
    rng = np.random.default_rng(seed)
    candidates = search.candidates(space, rng, example(space).X)
    found = search(function, space, rng, candidates=candidates, scales=np.ones(4), forbidden=())
    levels = [np.linspace(0, 1, 401), np.linspace(0, 1, 8), [1.0], np.linspace(0, 1, 4)]
    everything = np.stack(np.meshgrid(*levels, indexing="ij"), -1).reshape(-1, 4)
    assert found.value >= function(everything).max() - 1e-9
    assert found.value == pytest.approx(function(found.point[None])[0])
    assert found.point[2] == 1
    (key,) = fixed.keys(found.point[None])
    other = replace(search, taken=frozenset({key}))
    again = other(function, space, rng, candidates=candidates, scales=None, forbidden=())
    assert key not in fixed.keys(again.point[None])
    repeated = other(function, space, rng)  # candidates are its own, and nothing is forbidden
    assert repeated.value == pytest.approx(found.value, abs=1e-6)
