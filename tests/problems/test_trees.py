import pytest

from outcrop import problems
from outcrop.errors import SpaceError


@pytest.mark.parametrize(
    ("params", "value"),
    [
        ({"x1": "0", "x1.0.r8": 0.7, "x1.0.x2": "0", "x1.0.x2.0.x4": -0.5}, 0.25 + 0.1 + 0.7),
        ({"x1": "0", "x1.0.r8": 0.7, "x1.0.x2": "1", "x1.0.x2.1.x5": 0.3}, 0.09 + 0.2 + 0.7),
        ({"x1": "1", "x1.1.r9": 0.2, "x1.1.x3": "0", "x1.1.x3.0.x6": 0.3}, 0.09 + 0.3 + 0.2),
        ({"x1": "1", "x1.1.r9": 0.2, "x1.1.x3": "1", "x1.1.x3.1.x7": 1.0}, 1.0 + 0.4 + 0.2),
    ],
)
def test_small_tree_is_the_formula_of_the_paper(params, value):
    shared = problems.balanced_tree(2, shared=True)
    shared.space.validate(params)
    assert shared(params) == pytest.approx(value)
    r = next(params[name] for name in params if ".r" in name)
    assert problems.balanced_tree(2)(params) == pytest.approx(value - r)
    quadratic = problems.balanced_tree(2, shared=True, quadratic=True)
    assert quadratic(params) == pytest.approx(value - r + (r - 0.5) ** 2)


@pytest.mark.parametrize(
    ("name", "leaves", "decisions", "continuous"),
    [
        ("tree-small", 4, 3, 4),
        ("tree-small-shared", 4, 3, 6),
        ("tree-large", 8, 7, 8),
        ("tree-large-shared", 8, 7, 10),  # as the paper counts them
        ("tree-large-quadratic", 8, 7, 10),
        ("tree-unbalanced-4", 4, 3, 4),
        ("tree-unbalanced-16", 16, 15, 16),
    ],
)
def test_size_of_a_tree(name, leaves, decisions, continuous):
    space = problems.get(name).space
    kinds = [type(parameter).__name__ for parameter in space.parameters.values()]
    assert len(space.branches) == leaves
    assert kinds.count("Choice") == decisions
    assert kinds.count("Float") == continuous


def test_leaves_of_the_large_tree_are_shifted_from_left_to_right():
    problem = problems.get("tree-large")
    params = {"x1": "1", "x1.1.x3": "0", "x1.1.x3.0.x6": "1", "x1.1.x3.0.x6.1.x13": 0.0}
    problem.space.validate(params)
    assert problem(params) == pytest.approx(0.6)


def test_deeper_leaves_of_the_caterpillar_are_worse():
    problem = problems.unbalanced_tree(4)
    shallow = {"x1": "0", "x1.0.x4": 0.5}
    deep = {"x1": "1", "x1.1.x2": "1", "x1.1.x2.1.x3": "1", "x1.1.x2.1.x3.1.x7": 0.5}
    problem.space.validate(shallow)
    problem.space.validate(deep)
    assert problem(shallow) == pytest.approx(0.25 + 0.1)
    assert problem(deep) == pytest.approx(0.25 + 0.4)


def test_a_single_leaf_is_no_tree():
    with pytest.raises(SpaceError, match="two leaves or more"):
        problems.unbalanced_tree(1)
