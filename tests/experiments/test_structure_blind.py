"""Conditional problems without their conditions."""

import pytest

pytest.importorskip("experiments.harness")

from experiments.searches import initial_points, problem_of
from experiments.structure_blind import flat_configurations, flattened
from experiments.tree_figure2 import BLIND, METHODS, tree_search
from outcrop.space import Categorical


@pytest.mark.parametrize("name", ["tree-small-shared", "tree-large", "tree-unbalanced-4"])
def test_a_flat_problem_has_all_parameters_always_and_the_same_values(name):
    problem = problem_of(name)
    flat = flattened(problem)
    assert not any(column.conditions for column in flat.space.columns)
    assert len(flat.space.columns) == len(problem.space.columns)
    own = initial_points(problem.space, 20, 0)
    for configuration, wide in zip(own, flat_configurations(problem, own, 0), strict=True):
        assert set(wide) == set(flat.space.parameters)
        assert flat(wide) == problem(configuration)


def test_what_is_not_active_changes_nothing():
    problem = problem_of("tree-small")
    flat = flattened(problem)
    [own] = initial_points(problem.space, 1, 3)
    first, second = (flat_configurations(problem, [own], seed)[0] for seed in (0, 1))
    assert first != second
    assert flat(first) == flat(second)


def test_choices_are_categories():
    parameters = flattened(problem_of("tree-large")).space.parameters.values()
    assert sum(isinstance(parameter, Categorical) for parameter in parameters) == 7


def test_a_blind_search_starts_where_all_do():
    blind, random = (
        tree_search({"problem": "tree-small", "method": method}, METHODS, 1, 6)
        for method in (BLIND, "random")
    )
    assert blind["n_initial"] == random["n_initial"] == 4
    assert blind["values"][:4] == random["values"][:4]
    assert len(blind["values"]) == 6
