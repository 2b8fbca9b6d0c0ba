"""How a conditional space becomes nodes, leaves and kernels."""

import numpy as np
import pytest

from outcrop.baselines import Arc, CommonNodes, Independent, Marginal
from outcrop.data import Observations
from outcrop.inference import Slice
from outcrop.kernels import Linear, Sum
from outcrop.params import Layout
from outcrop.problems import get
from outcrop.space import Categorical, Choice, Float, Space
from outcrop.surrogates import BranchGP, TreeStructured
from outcrop.surrogates.situation import NoiseFacts, Situation
from outcrop.surrogates.space_nodes import MOST_LEAVES, nodes_of
from outcrop.surrogates.tree_structured import leaf_kernels
from tests.surrogates.trees import random_points, random_space, situation

KINDS = [TreeStructured(), Marginal(), Independent(), CommonNodes(), CommonNodes(False), Arc()]


def kernel_of(kind, space):
    """The covariance of a kind as one kernel."""
    if isinstance(kind, TreeStructured):
        shared, leaves = leaf_kernels(situation(space), kind.basis, kind.sees_shared)
        return Sum((shared, *leaves))
    if isinstance(kind, Independent):
        return Sum(kind.kernels(situation(space)))
    return kind.kernel(situation(space))


def names(columns):
    return [column.name for column in columns]


def test_nodes_and_leaves_of_the_small_tree_are_those_of_the_source():
    shared, leaves = nodes_of(get("tree-small-shared").space)
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
    shared, leaves = nodes_of(space)
    assert len(leaves) == 4
    assert [names(node.own) for node in shared] == [[], ["a.0.x"], [], ["b.0.c"], []]
    assert all(leaf.own == () for leaf in leaves)
    assert names(leaves[0].seen) == ["a.0.x", "b.0.c"]


@pytest.mark.parametrize("seed", range(5))
def test_every_point_lies_in_one_leaf_and_leaves_see_what_is_active(seed):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    _, leaves = nodes_of(space)
    X = random_points(space, 40, rng)
    active = space.active(X)
    for x, is_active in zip(X, active, strict=True):
        (own,) = [p for p in leaves if all(x[c] == code for c, code in p.conditions)]
        choices = {c for c, _ in own.conditions}
        assert {c.index for c in own.seen} | choices == set(np.flatnonzero(is_active))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
@pytest.mark.parametrize("seed", range(4))
def test_covariances_are_positive_and_blind_to_what_is_inactive(seed, kind):
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    X = random_points(space, 40, rng)
    layout = Layout.of(kernel_of(kind, space), Observations(X, np.zeros(len(X))))
    kernel = layout.bind(layout.sample_prior(rng, 1)[0])
    K = kernel.gram(X)
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.trace(K)
    is_code = np.array([column.is_code for column in space.columns])
    other = np.where(space.active(X) | is_code, X, 0.83)
    np.testing.assert_allclose(kernel.gram(other), K, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
def test_every_kind_is_fitted_and_predicts(kind):
    space = get("tree-small-shared").space
    rng = np.random.default_rng(0)
    X = random_points(space, 12, rng)
    data = Observations(X, np.sin(X.sum(1)))
    noise, inference = NoiseFacts(declared=False), Slice(chains=2, burn_in=2)
    surrogate = kind.surrogate(situation(space, noise=noise, inference=inference))
    mean, var = surrogate.fit(data, rng).moments(X)
    np.testing.assert_allclose(mean, data.y, atol=0.2)
    assert (var > 0).all()


def test_the_dense_process_and_that_of_leaves_have_the_same_slots():
    space = get("tree-small-shared").space
    data = Observations(random_points(space, 3, np.random.default_rng(0)), np.zeros(3))
    one = Layout.of(Marginal().kernel(situation(space)), data)
    two = Layout.of(BranchGP(*leaf_kernels(situation(space), Linear(), True)), data)
    assert len(one.names) == len(two.names)
    assert {name.split(".", 2)[2] for name in one.names} == {
        name.removeprefix("leaves.").split(".", 1)[1] for name in two.names
    }


def test_spaces_without_choices_or_with_too_many_ways_are_left_to_others():
    plain = Space({"x": Float(0, 1), "c": Categorical(["a", "b"])})
    many = Space({f"k{i}": Choice({"0": {}, "1": {}}) for i in range(9)})
    assert many.n_branches > MOST_LEAVES
    for kind in KINDS:
        assert kind.surrogate(Situation(plain)) is None
        assert kind.surrogate(Situation(many)) is None
        assert kind.surrogate(Situation(get("tree-large").space)) is not None
