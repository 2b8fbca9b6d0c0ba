"""How a conditional space becomes nodes, leaves and kernels."""

import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.inference import Slice
from outcrop.params import Layout
from outcrop.problems import get
from outcrop.space import Categorical, Choice, Float, Space
from outcrop.surrogates import GP, Arc, CommonNodes, Independent, Marginal, TreeStructured
from outcrop.surrogates.structured import MOST_LEAVES, places
from tests.surrogates.trees import PRIORS, random_points, random_space

FAMILIES = [TreeStructured(), Marginal(), Independent(), CommonNodes(), CommonNodes(False), Arc()]


def names(columns):
    return [column.name for column in columns]


def test_nodes_and_leaves_of_the_small_tree_are_those_of_the_source():
    shared, leaves = places(get("tree-small-shared").space)
    assert [names(node.own) for node in shared] == [[], ["x1.0.r8"], ["x1.1.r9"]]
    assert [names(leaf.own) for leaf in leaves] == [
        ["x1.0.x2.0.x4"],
        ["x1.0.x2.1.x5"],
        ["x1.1.x3.0.x6"],
        ["x1.1.x3.1.x7"],
    ]
    assert [sorted(names(leaf.seen)) for leaf in leaves][1] == ["x1.0.r8", "x1.0.x2.1.x5"]


def test_what_several_ways_pass_is_shared_even_if_nothing_is_opened_there():
    space = Space(
        {
            "a": Choice({"0": {"x": Float(0, 1)}, "1": {}}),
            "b": Choice({"0": {"c": Categorical(["u", "v"])}, "1": {}}),
        }
    )
    shared, leaves = places(space)
    assert len(leaves) == 4
    assert [names(node.own) for node in shared] == [[], ["a.0.x"], [], ["b.0.c"], []]
    assert all(leaf.own == () for leaf in leaves)
    assert names(leaves[0].seen) == ["a.0.x", "b.0.c"]


@pytest.mark.parametrize("seed", range(5))
def test_every_point_lies_in_one_leaf_and_leaves_see_what_is_active(seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    _, leaves = places(space)
    X = random_points(space, 40, rng)
    active = space.active(X)
    for x, is_active in zip(X, active, strict=True):
        (own,) = [p for p in leaves if all(x[c] == code for c, code in p.conditions)]
        choices = {c for c, _ in own.conditions}
        assert {c.index for c in own.seen} | choices == set(np.flatnonzero(is_active))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.label)
@pytest.mark.parametrize("seed", range(4))
def test_covariances_are_positive_and_blind_to_what_is_inactive(seed, family):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    X = random_points(space, 40, rng)
    layout = Layout.of(family.kernel(space, PRIORS), Observations(X, np.zeros(len(X))))
    kernel = layout.bind(layout.sample_prior(rng, 1)[0])
    K = kernel.gram(X)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.trace(K)
    is_code = np.array([column.is_code for column in space.columns])
    other = np.where(space.active(X) | is_code, X, 0.83)
    np.testing.assert_allclose(kernel.gram(other), K, rtol=1e-12)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.label)
def test_every_family_is_fitted_and_predicts(family):
    space = get("tree-small-shared").space
    rng = np.random.default_rng(0)
    X = random_points(space, 12, rng)
    data = Observations(X, np.sin(X.sum(1)))
    model = GP(family.kernel(space, PRIORS), noise=1e-4)
    surrogate = family.surrogate(model, Slice(chains=2, burn_in=2), ())
    mean, var = surrogate.fit(data, rng).moments(X)
    np.testing.assert_allclose(mean, data.y, atol=0.2)
    assert (var > 0).all()


def test_the_dense_process_and_that_of_leaves_have_the_same_slots():
    space = get("tree-small-shared").space
    data = Observations(random_points(space, 3, np.random.default_rng(0)), np.zeros(3))
    one = Layout.of(Marginal().kernel(space, PRIORS), data)
    two = Layout.of(TreeStructured().kernel(space, PRIORS), data)
    assert one.names == two.names


def test_spaces_without_choices_or_with_too_many_ways_are_left_to_others():
    plain = Space({"x": Float(0, 1), "c": Categorical(["a", "b"])})
    many = Space({f"k{i}": Choice({"0": {}, "1": {}}) for i in range(9)})
    assert many.n_branches > MOST_LEAVES
    for family in FAMILIES:
        assert not family.suits_space(plain)
        assert not family.suits_space(many)
        assert family.suits_space(get("tree-large").space)
