import numpy as np
import pytest

from outcrop import plots
from outcrop.errors import ShapeError
from tests.plots.pictures import lightness


def test_a_surface_shows_all_trials_and_the_best():
    points = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 0.5]])
    axes = plots.surface_2d(lambda X: X.sum(1), np.array([[0, 4], [0, 5]]), points, best=2)
    (scatter,) = [c for c in axes.collections if len(c.get_offsets()) == 3]
    np.testing.assert_array_equal(scatter.get_offsets(), points)
    (star,) = axes.lines
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (0.5, 0.5)
    assert axes.get_xlim() == (0, 4)


def test_plain_lists_will_do():
    points = [[1.0, 2.0], [3.0, 4.0]]
    axes = plots.surface_2d(lambda X: X.sum(1), [[0, 4], [0, 5]], points)
    (scatter,) = [c for c in axes.collections if len(c.get_offsets()) == 2]
    np.testing.assert_array_equal(scatter.get_offsets(), points)


def test_the_surface_is_darker_where_it_is_lower():
    bounds = np.array([[-3, 1], [10, 20]])
    axes = plots.surface_2d(lambda X: X[:, 0] + 0.01 * X[:, 1], bounds, np.empty((0, 2)))
    west, east = lightness(axes, [-2.5, 0.5], [12.0, 12.0])
    assert west < east


def test_a_surface_of_three_parameters_is_refused():
    with pytest.raises(ShapeError, match=r"got \(3, 2\)"):
        plots.surface_2d(lambda X: X.sum(1), np.zeros((3, 2)), np.zeros((1, 3)))
