import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments.landscapes import LANDSCAPES
from experiments.leaf_borders import is_at_a_border
from outcrop.surrogates.partition import Partition


@pytest.mark.parametrize("name", LANDSCAPES)
def test_a_landscape_has_its_minimum_where_it_says(name, rng):
    problem = LANDSCAPES[name]()
    assert problem(problem.minimisers[0]) == problem.minimum == 0.0
    best = np.array([*problem.minimisers[0].values()])
    near = np.clip(best + 0.02 * rng.normal(size=(500, problem.dimension)), 0.0, 1.0)
    values = problem.evaluate(np.vstack([near, rng.random((2000, problem.dimension))]))
    assert (values > 0.0).all()


def test_a_point_is_at_a_border_if_a_side_of_a_leaf_within_the_cube_is_near():
    X = np.linspace(0.0, 1.0, 9)[:, None]
    tree = Partition.of(X, (X[:, 0] > 0.5) * 1.0, columns=(0,), smallest=5)
    points = [0.0, 0.498, 0.4995, 0.5, 0.5005, 0.502, 1.0]
    found = [is_at_a_border(tree, np.array([x])) for x in points]
    assert found == [False, False, True, True, True, False, False]
