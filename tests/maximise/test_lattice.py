import numpy as np
import pytest
from scipy.stats import qmc

from outcrop.maximise.lattice import lattice


def mean_discrepancy(draw, draws=4):
    return np.mean([np.sqrt(qmc.discrepancy(draw(seed))) for seed in range(draws)])


@pytest.mark.parametrize("dimension", [1, 2, 6, 10])
def test_lattice_is_about_as_even_as_a_scrambled_sobol_sequence(dimension):
    ours = mean_discrepancy(lambda seed: lattice(np.random.default_rng(seed), 1024, dimension))
    sobol = mean_discrepancy(lambda seed: qmc.Sobol(dimension, rng=seed).random(1024))
    independent = mean_discrepancy(
        lambda seed: np.random.default_rng(seed).random((1024, dimension))
    )
    assert ours < 1.5 * sobol
    assert ours < 0.6 * independent


@pytest.mark.parametrize("dimension", [20, 60])
def test_every_pair_of_coordinates_is_even_in_many_dimensions(dimension):
    X = lattice(np.random.default_rng(1), 1024, dimension)
    pairs = np.random.default_rng(2).choice(dimension, size=(20, 2))
    worst = max(np.sqrt(qmc.discrepancy(X[:, pair])) for pair in pairs if pair[0] != pair[1])
    assert worst < 0.01  # independent points have about 0.02


@pytest.mark.parametrize("n", [1, 2, 7, 100, 1000, 1021])
def test_every_coordinate_visits_every_nth_part_once(n):
    X = lattice(np.random.default_rng(3), n, 4)
    assert X.shape == (n, 4)
    assert X.min() >= 0.0
    assert X.max() < 1.0
    offset = X - X.min(0)
    for column in np.rint(np.sort(offset, axis=0) * n).T:
        np.testing.assert_array_equal(column, np.arange(n))


def test_the_shift_makes_points_uniform():
    first = np.array([lattice(np.random.default_rng(seed), 64, 2)[0] for seed in range(400)])
    assert abs(first.mean() - 0.5) < 0.05
    assert abs(first.var() - 1 / 12) < 0.01
