import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.surrogates.partition import Partition, best_split


@st.composite
def tables(draw, most=40):
    """Points and values with many ties among them, or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, most)), draw(st.integers(1, 3))
    X = rng.random((n, d))
    if draw(st.booleans()):
        X = np.round(X * 4) / 4
    y = rng.normal(size=n) * 10.0 ** draw(st.integers(-3, 3)) + draw(st.sampled_from([0.0, 5.0]))
    return X, y


def squared_error(y):
    return float(((y - y.mean()) ** 2).sum())


def brute_force(X, y, columns, smallest):
    """Every threshold of every column, straight from the definition."""
    found = []
    for column in columns:
        for threshold in np.unique(X[:, column]):
            left, right = X[:, column] <= threshold, X[:, column] >= threshold
            if min(left.sum(), right.sum()) < smallest or max(left.sum(), right.sum()) == len(y):
                continue
            error = squared_error(y[left]) + squared_error(y[right])
            found.append((squared_error(y) - error) / len(y))
    return max(found, default=None)


@given(tables(), st.integers(2, 8))
@settings(max_examples=80, deadline=None)
def test_the_best_split_is_that_of_brute_force(table, smallest):
    X, y = table
    columns = range(X.shape[1])
    expected = brute_force(X, y, columns, smallest)
    split = best_split(X, y, columns, smallest)
    tolerance = 1e-9 * squared_error(y) / len(y)
    if split is None:
        assert expected is None or expected <= tolerance
        return
    assert split.reduction == pytest.approx(expected, abs=tolerance)
    left = X[:, split.column] <= split.threshold
    right = X[:, split.column] >= split.threshold
    error = squared_error(y[left]) + squared_error(y[right])
    assert split.reduction == pytest.approx((squared_error(y) - error) / len(y), abs=tolerance)


@given(tables(), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_a_threshold_is_an_observation_that_both_children_hold(table, smallest):
    X, y = table
    tree = Partition.of(X, y, range(X.shape[1]), smallest)
    for node, (column, threshold) in enumerate(zip(tree.columns, tree.thresholds, strict=True)):
        if column < 0:
            continue
        left, right = (set(tree.rows[child].tolist()) for child in tree.children[node])
        shared = left & right
        assert shared
        assert all(X[row, column] == threshold for row in shared)
        assert left | right == set(tree.rows[node].tolist())
        assert min(len(left), len(right)) >= smallest
        assert max(len(left), len(right)) < len(tree.rows[node])


@given(tables(), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_no_observation_is_used_twice_on_a_path_and_none_is_lost(table, smallest):
    X, y = table
    tree = Partition.of(X, y, range(X.shape[1]), smallest)
    for leaf in range(len(tree)):
        rows = np.concatenate(tree.factor_rows(leaf))
        assert sorted(rows.tolist()) == list(range(len(y)))
        assert tree.ancestors(leaf)[0] == tree.leaves[leaf]
        assert tree.ancestors(leaf)[-1] == 0


@given(tables(), st.integers(2, 6))
@settings(max_examples=40, deadline=None)
def test_points_are_routed_as_one_at_a_time(table, smallest):
    X, y = table
    tree = Partition.of(X, y, range(X.shape[1]), smallest)
    queries = np.vstack([X, np.random.default_rng(0).random((20, X.shape[1]))])
    boxes = tree.boxes(X.shape[1])
    shares = tree.shares(queries)
    for row, (x, leaf) in enumerate(zip(queries, tree.leaf_of(queries), strict=True)):
        node = 0
        while tree.columns[node] >= 0:
            is_left = x[tree.columns[node]] <= tree.thresholds[node]
            node = tree.children[node, 0 if is_left else 1]
        assert tree.leaves[leaf] == node
        inside = [i for i, (low, high) in enumerate(boxes) if ((low <= x) & (x <= high)).all()]
        assert inside == [i for i, rows in enumerate(shares) if row in rows]
        assert leaf in inside


@given(tables())
@settings(max_examples=40, deadline=None)
def test_a_tree_survives_json(table):
    X, y = table
    tree = Partition.of(X, y, range(X.shape[1]), 3)
    again = Partition.from_json(json.loads(json.dumps(tree.to_json())))
    assert again.same_as(tree)
    np.testing.assert_array_equal(again.leaf_of(X), tree.leaf_of(X))


@given(tables(), st.floats(-100, 100), st.sampled_from([0.25, 2.0, 64.0]))
@settings(max_examples=40, deadline=None)
def test_the_tree_does_not_depend_on_the_scale_of_values(table, shift, scale):
    X, y = table
    y = np.round(y, 6)
    one = best_split(X, y, range(X.shape[1]), 4)
    other = best_split(X, scale * y + shift, range(X.shape[1]), 4)
    if one is not None and other is not None:
        assert other.reduction == pytest.approx(scale**2 * one.reduction, rel=1e-6)


def test_nothing_is_split_without_columns_without_spread_or_with_too_few_observations(rng):
    X, y = rng.random((30, 2)), rng.normal(size=30)
    assert len(Partition.of(X, y, (), 5)) == 1
    assert len(Partition.of(X, np.full(30, 3.7), (0, 1), 5)) == 1
    assert len(Partition.of(X[:8], y[:8], (0, 1), 5)) == 1
    assert len(Partition.of(X[:9], y[:9], (0, 1), 5)) == 2


def test_only_the_columns_asked_for_are_split(rng):
    X = rng.random((60, 3))
    tree = Partition.of(X, X[:, 0] + 0.1 * X[:, 2], (1, 2), 5)
    assert set(tree.columns.tolist()) <= {-1, 1, 2}


def test_a_split_must_take_away_its_share_of_all_squared_error(rng):
    x = np.sort(rng.random(60))
    y = np.where(x < 0.5, 0.0, 10.0) + 0.01 * rng.normal(size=60)
    fine, coarse = (Partition.of(x[:, None], y, (0,), 5, least) for least in (0.0, 0.05))
    assert len(fine) > 4
    assert len(coarse) <= 3
    assert coarse.thresholds[0] == fine.thresholds[0]
    bounded = Partition.of(x[:, None], y, (0,), 5, least=0.05, largest=20)
    assert max(len(rows) for rows in bounded.leaf_rows) <= 20
