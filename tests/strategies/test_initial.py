import numpy as np
import pytest

from outcrop.errors import ModelError
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Space
from outcrop.strategies.initial import (
    LatinHypercube,
    OnePerBranch,
    RandomDesign,
    Sobol,
    design_size,
)

BOX = Space({"x": Float(0, 1), "y": Float(0, 1), "z": Float(0, 1)})
MIXED = Space(
    {
        "lr": Float(1e-4, 1, log=True),
        "n": Int(1, 5),
        "kind": Choice({"a": {}, "b": {"c": Categorical(["u", "v"])}}),
    }
)
DESIGNS = [Sobol(), LatinHypercube(), RandomDesign(), LatinHypercube(size=6)]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("space", [BOX, MIXED], ids=["box", "mixed"])
def test_points_are_legal(design, space, rng):
    X = design.points(space, 20, rng)
    np.testing.assert_array_equal(space.snap(X), X)
    for params in space.decode(X):
        space.validate(params)


@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_a_longer_design_starts_with_the_shorter_one(design):
    few = design.points(BOX, 5, np.random.default_rng(3))
    many = design.points(BOX, 40, np.random.default_rng(3))
    np.testing.assert_array_equal(many[:5], few)


TREE = Space(
    {
        "x": Float(0, 1),
        "y": Float(0, 1),
        "kind": Choice({"a": {}, "b": {"z": Float(0, 1)}, "c": {"n": Int(1, 9)}}),
    },
    constraints=["x + y <= 0.6", "kind != 'a' or x > 0.7", "kind.b.z <= y", "kind.c.n >= 4"],
)
THIN = Space(BOX.declared, constraints=["0 <= x - y <= 1e-3", "z <= 0.5"])


@pytest.mark.parametrize("design", [*DESIGNS, OnePerBranch(), OnePerBranch(size=4)], ids=str)
@pytest.mark.parametrize("space", [TREE, THIN], ids=["tree", "thin"])
def test_points_satisfy_constraints_and_longer_designs_begin_alike(design, space):
    few = design.points(space, 5, np.random.default_rng(3))
    many = design.points(space, 40, np.random.default_rng(3))
    assert len(space.encode(space.decode(many)).X) == 40
    np.testing.assert_array_equal(many[:5], few)
    assert len(np.unique(many, axis=0)) == 40


def test_branches_without_admissible_points_are_left_out():
    X = OnePerBranch(size=6).points(TREE, 6, np.random.default_rng(0))
    assert sorted(X[:, 2]) == [1, 1, 1, 2, 2, 2]


def test_constrained_designs_are_spread_more_than_by_chance():
    def nearest(X):
        away = np.linalg.norm(X[:, None] - X, axis=2) + 9 * np.eye(len(X))
        return away.min()

    seeds = [np.random.default_rng(seed) for seed in range(20)]
    space = Space({"x": Float(0, 1), "y": Float(0, 1)}, constraints=["x + y <= 0.6"])
    even = [nearest(LatinHypercube().points(space, 6, rng)) for rng in seeds]
    chance = [nearest(space.region.points(rng, 6)) for rng in seeds]
    assert np.mean(even) > 1.5 * np.mean(chance)


@pytest.mark.parametrize("size", [4, 9])
def test_a_latin_hypercube_has_one_point_in_every_slice(size, rng):
    U = LatinHypercube(size=size).uniforms(size, 3, rng)
    for column in U.T:
        assert sorted(np.floor(column * size)) == list(range(size))


def test_sobol_points_are_more_even_than_uniform_ones(rng):
    from scipy.stats import qmc

    even = [qmc.discrepancy(Sobol().uniforms(16, 3, np.random.default_rng(s))) for s in range(10)]
    chance = [
        qmc.discrepancy(RandomDesign().uniforms(16, 3, np.random.default_rng(s))) for s in range(10)
    ]
    assert np.mean(even) < 0.7 * np.mean(chance)


@pytest.mark.parametrize(("d", "size"), [(1, 4), (3, 8), (5, 12), (20, 12)])
def test_design_grows_with_the_parameters_up_to_twelve(d, size):
    assert design_size(Space({f"x{i}": Float(0, 1) for i in range(d)})) == size


def test_constants_do_not_count_as_parameters():
    assert design_size(Space({"x": Float(0, 1), "k": Fixed(3)})) == 4


def test_a_design_of_nothing_is_refused():
    for wrong in (0, 2.5, "x"):
        with pytest.raises(ModelError, match="whole number"):
            Sobol(size=wrong)
