import numpy as np
import pytest

geostatistics = pytest.importorskip("experiments.geostatistics")

import outcrop as oc  # noqa: E402
from outcrop.errors import ShapeError  # noqa: E402


@pytest.mark.parametrize(
    ("element", "maximum", "cell"), [("v", 1631.16, (59, 192)), ("u", 9499.51, (62, 228))]
)
def test_walker_lake_keeps_its_maximum(element, maximum, cell):
    field = geostatistics.walker_lake(element)
    assert field.locations.shape == (19_500, 2)
    assert field.minimum == -maximum
    assert field(field.minimiser) == -maximum
    first = 1 + (np.array(cell) - 1) % 2  # the first kept row and column
    expected = (np.array(cell) - first) / (np.array([258, 298]))
    np.testing.assert_allclose(field.locations[field.minimiser], expected)


def test_babbitt_copper_is_three_dimensional():
    field = geostatistics.babbitt_copper()
    assert field.locations.shape == (2_123, 3)
    assert field.dimension == 3
    assert field.minimum == pytest.approx(-6.196, abs=5e-4)
    assert np.median(-field.values) == pytest.approx(0.324, abs=1e-3)
    assert np.quantile(-field.values, 0.99) == pytest.approx(1.06, abs=0.01)


@pytest.mark.parametrize("build", [geostatistics.walker_lake, geostatistics.babbitt_copper])
def test_locations_fill_the_unit_cube_without_repeats(build):
    field = build()
    np.testing.assert_array_equal(field.locations.min(0), 0)
    np.testing.assert_array_equal(field.locations.max(0), 1)
    assert len(np.unique(field.locations, axis=0)) == len(field)


def test_locations_and_values_go_together():
    with pytest.raises(ShapeError, match=r"got \(3, 2\) and \(4,\)"):
        geostatistics.TableProblem("odd", np.zeros((3, 2)), np.zeros(4))


def test_a_search_of_a_field_visits_listed_locations_only_and_each_once():
    field = geostatistics.babbitt_copper()
    method = oc.Method(initial=oc.initial.LatinHypercube(size=3), maximiser=field.maximiser)
    initial = [field.params(row) for row in (5, 17, 99)]
    optimizer = oc.Optimizer(field.problem.space, method=method, seed=0, noise=False)
    optimizer.add(initial, [field.problem(point) for point in initial])
    for _ in range(4):
        trial = optimizer.ask()
        optimizer.tell(trial, field.problem(trial.params))
    rows = [field.nearest(trial.params) for trial in optimizer.trials]
    assert [field.params(row) for row in rows] == [trial.params for trial in optimizer.trials]
    assert [field(row) for row in rows] == [trial.value for trial in optimizer.trials]
    assert len(set(rows)) == 7


def test_the_problem_of_a_field_has_its_minimum():
    field = geostatistics.walker_lake()
    assert field.problem(field.problem.minimisers[0]) == field.problem.minimum
