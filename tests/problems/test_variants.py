import math

import numpy as np
import pytest

from outcrop import problems
from outcrop.errors import ParamsError
from outcrop.problems import draws
from outcrop.problems.draws import KernelSum


def test_scaled_problem_is_the_original_at_the_mapped_point():
    original, scaled = problems.branin(), problems.get("bra-2")
    x = np.array([[0.2, -0.6]])
    native = [[-5 + 15 * 0.6, 15 * 0.2]]
    assert scaled.evaluate(x) == pytest.approx(original.evaluate(np.array(native)) / 300)


@pytest.mark.parametrize(
    ("name", "minimum", "place"),
    [
        ("egg-2", -9.596407, (1, 0.78951543)),
        ("mic-5", -4.687658, None),
        ("mic-10", -9.660152, None),
        ("ack-5", 0.0, (0,) * 5),
        ("ack-10", 0.0, (0,) * 10),
        ("cam-2", -1.031628453490 / 5, (0.089842 / 2, -0.712656)),
    ],
)
def test_scaled_optima_are_those_of_the_thesis(name, minimum, place):
    problem = problems.get(name)
    assert problem.minimum == pytest.approx(minimum, abs=1e-6)
    np.testing.assert_array_equal(problem.bounds, [(-1, 1)] * problem.dimension)
    if place is not None:
        np.testing.assert_allclose(problem.minimiser_points[0], place, atol=1e-6)


def test_corruption_never_lowers_and_is_bounded_by_its_height():
    U = np.random.default_rng(0).random((5000, 2))
    clean, corrupted = problems.holder_table(), problems.get("corrupted-holder-table")
    added = corrupted.evaluate(clean.from_unit(U)) - clean.evaluate(clean.from_unit(U))
    assert added.min() >= 0
    assert added.max() < 5
    assert added.std() == pytest.approx(1.02, abs=0.03)


def test_corruption_repeats_and_jumps():
    corrupted, clean = problems.get("corrupted-exponential-1"), problems.exponential(1)
    x = np.array([[-0.0179], [-0.0181], [-0.0361]])
    added = corrupted.evaluate(x) - clean.evaluate(x)
    np.testing.assert_allclose(added, [0.0179 / 0.018, 0.0001 / 0.018, 0.0001 / 0.018], atol=1e-9)


def test_standard_deviations_of_the_corrupted_exponential():
    U = np.random.default_rng(1).random((20_000, 8))
    clean, corrupted = problems.exponential(8), problems.get("corrupted-exponential-8")
    values = clean.evaluate(clean.from_unit(U))
    assert values.std() == pytest.approx(0.12, abs=0.01)
    assert (corrupted.evaluate(clean.from_unit(U)) - values).std() == pytest.approx(0.10, abs=0.005)


@pytest.mark.parametrize("seed", range(5))
def test_rotation_moves_the_minimiser_inside_the_box(seed):
    problem = problems.rotated(problems.egg_holder(), seed)
    place = problem.to_unit(problem.minimiser_points[0])
    assert ((place > 0.19) & (place < 0.81)).all()


def test_rotation_keeps_distances_from_the_minimiser():
    problem = problems.ackley(3)
    turned = problems.rotated(problem, seed=3)
    rng = np.random.default_rng(0)
    direction = rng.normal(size=3)
    step = 0.05 * direction / np.linalg.norm(direction)
    X = turned.from_unit(turned.to_unit(turned.minimiser_points) + step)
    bowl = problems.box_problem("bowl", lambda Z: (Z**2).sum(1), problem.bounds, 0.0, [(0, 0, 0)])
    assert problems.rotated(bowl, seed=3).evaluate(X) == pytest.approx((40 * 0.05) ** 2)


def test_rotation_takes_only_values_of_the_original():
    def ramp(X):
        return X[:, 0]

    original = problems.box_problem("ramp", ramp, [(2, 3), (-1, 1)], 2.0, [(2, 0)])
    turned = problems.rotated(original, seed=1)
    values = turned.evaluate(turned.from_unit(np.random.default_rng(0).random((5000, 2))))
    assert values.min() >= 2
    assert values.max() <= 3


def test_rotation_needs_a_minimiser_to_turn_about():
    unknown = problems.box_problem("unknown", lambda X: X[:, 0], [(0, 1)])
    with pytest.raises(ParamsError, match="unknown has no known minimiser"):
        problems.rotated(unknown, seed=0)


def test_rotations_are_reproducible_and_differ_by_seed():
    X = np.array([[1.0, 2.0]])
    values = [problems.rotated(problems.branin(), seed).evaluate(X)[0] for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]


def test_rotation_knows_the_other_minimisers_that_stay_inside():
    turned = [problems.rotated(problems.shubert(), seed) for seed in range(4)]
    assert all(len(problem.minimisers) > 3 for problem in turned)


@pytest.mark.parametrize("rotate", [False, True])
def test_an_embedded_problem_has_its_minimum_inside_a_larger_cube(rotate):
    problem = problems.embedded(problems.hartmann6(), 9, seed=2, rotate=rotate)
    place = problem.minimiser_points
    assert problem.dimension == 9
    assert ((place >= 0.2) & (place <= 0.8)).all()
    assert problem.evaluate(place)[0] == pytest.approx(problem.minimum)
    U = np.random.default_rng(0).random((2000, 9))
    assert (problem.evaluate(U) >= problem.minimum - 1e-9).all()


def test_an_embedded_problem_changes_along_the_axes_of_the_original_only():
    problem = problems.embedded(problems.branin(), 5, seed=4)
    point = np.full((1, 5), 0.5)
    changed = problem.evaluate(point + 0.1 * np.eye(5)) != problem.evaluate(point)
    assert changed.sum() == 2


def test_a_rotated_embedding_has_as_many_active_directions_as_the_original_dimensions():
    bowl = problems.box_problem("bowl", lambda Z: (Z**2).sum(1), [(-1, 1)] * 2, 0.0, [(0, 0)])
    problem = problems.embedded(bowl, 6, seed=1, rotate=True)
    step, base = 1e-3, problem.minimiser_points
    pairs = base + step * (np.eye(6)[:, None] + np.eye(6)[None, :]).reshape(36, 6)
    singles = problem.evaluate(base + step * np.eye(6))
    hessian = problem.evaluate(pairs).reshape(6, 6) - singles[:, None] - singles[None, :]
    lengths = np.linalg.eigvalsh(hessian / (8 * step**2))  # a step is twice as long on the bowl
    np.testing.assert_allclose(lengths, [0, 0, 0, 0, 1, 1], atol=1e-6)


def test_an_embedding_in_fewer_dimensions_is_refused():
    with pytest.raises(ParamsError, match="at least the 6 dimensions"):
        problems.embedded(problems.hartmann6(), 5, seed=0)


def test_levy_has_the_values_of_its_textbook_definition():
    x = [3.0, -2.0, 7.5]
    w = [1 + (each - 1) / 4 for each in x]
    value = math.sin(math.pi * w[0]) ** 2
    value += sum((u - 1) ** 2 * (1 + 10 * math.sin(math.pi * u + 1) ** 2) for u in w[:-1])
    value += (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    assert problems.levy(3).evaluate(np.array([x]))[0] == pytest.approx(value)


@pytest.mark.parametrize(("name", "nodes"), [("mat-2", 28**2), ("mat-6", 3**6), ("rbf-3", 6**3)])
def test_draw_has_the_nodes_of_the_thesis_and_unit_variance_there(name, nodes):
    formula = problems.get(name).formula
    assert isinstance(formula, KernelSum)
    assert len(formula.nodes) == nodes
    assert 0.3 < formula(formula.nodes).std() < 1.3


def test_draws_are_reproducible_and_differ_by_seed():
    x = np.array([[0.3, -0.4]])
    first, other = (problems.rbf_draw(2, seed).evaluate(x)[0] for seed in (1, 2))
    again = draws.drawn.__wrapped__("again", draws.rbf, 0.4, 2, 300, 1, "").evaluate(x)[0]
    assert again == first != other
    assert problems.rbf_draw(2, seed=1).name == "rbf-2-seed-1"


@pytest.mark.parametrize("name", ["mat-2", "rbf-3"])
def test_gradient_of_a_draw_agrees_with_differences(name):
    problem = problems.get(name)
    x, step = np.full(problem.dimension, 0.23), 1e-6 * np.eye(problem.dimension)
    assert isinstance(problem.formula, KernelSum)
    value, gradient = problem.formula.with_gradient(x)
    slopes = (problem.evaluate(x + step) - problem.evaluate(x - step)) / 2e-6
    assert value == pytest.approx(problem.evaluate(x[None])[0])
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-7)


def test_minimum_of_a_draw_withstands_a_grid_search():
    problem = problems.get("mat-2")
    axis = np.linspace(-1, 1, 101)
    X = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    lowest = problem.evaluate(X).min()
    assert problem.minimum is not None
    assert problem.minimum <= lowest < problem.minimum + 0.05
