from math import inf

import numpy as np
import pytest

from outcrop.data import Observations
from outcrop.inference import Slice
from outcrop.kernels import Matern52, Offset
from outcrop.params import free
from outcrop.priors import LogNormal
from outcrop.surrogates import GP, inferred, local_processes
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.local_processes import Boxes
from outcrop.surrogates.partition import Partition

LENGTHS = np.array([0.3, 0.5])
PROCESS = GP(Offset(1.0, Matern52(LENGTHS)), noise=1e-6)
ANY = GP(Matern52(free(LogNormal(-1.0), size=2)), noise=1e-6)


def wave(X):
    return np.sin(7 * X[:, 0]) + np.cos(4 * X[:, 1])


@pytest.fixture
def many(rng):
    X = rng.random((600, 2))
    return Observations(X, wave(X))


def test_halves_hold_at_most_so_many_and_every_observation_is_in_one(many):
    partition = Partition.halved(many.X, (0, 1), LENGTHS, largest=100)
    assert max(map(len, partition.leaf_rows)) <= 100
    assert set(np.concatenate(partition.leaf_rows)) == set(range(600))
    for leaf, rows in enumerate(partition.leaf_rows):
        low, high = partition.boxes(2)[leaf]
        assert ((many.X[rows] >= low) & (many.X[rows] <= high)).all()


def test_halves_are_cut_where_lengthscales_are_short(many):
    first = Partition.halved(many.X, (0, 1), np.array([1.0, 0.1]), largest=300).columns[0]
    assert first == 1


def test_what_cannot_be_cut_stays_in_one_leaf():
    X = np.tile([[0.0, 0.5], [1.0, 0.5]], (50, 1))
    assert len(Partition.halved(X, (0, 1), LENGTHS, largest=10)) == 1
    assert len(Partition.halved(X, (), LENGTHS, largest=10)) == 1


def test_boxes_that_see_all_observations_predict_as_the_process(many, rng, monkeypatch):
    monkeypatch.setattr(local_processes, "BEYOND", 600)
    boxes = Boxes.of(many, (0, 1), LENGTHS)
    assert len(boxes.seen) > 1
    X = rng.random((40, 2))
    for local, exact in zip(
        boxes.condition(PROCESS).predict(X), PROCESS.condition(many).predict(X), strict=True
    ):
        np.testing.assert_allclose(local, exact, rtol=1e-6, atol=1e-9)


def test_boxes_predict_nearly_as_well_as_the_process(many, rng):
    """Against a process on a part of the data that costs as much, far better."""
    X = rng.random((300, 2))
    of_boxes = np.abs(Boxes.of(many, (0, 1), LENGTHS).condition(PROCESS).predict(X)[0] - wave(X))
    part = many.rows(np.arange(400))
    of_part = np.abs(PROCESS.condition(part).predict(X)[0] - wave(X))
    of_all = np.abs(PROCESS.condition(many).predict(X)[0] - wave(X))
    assert of_boxes.mean() < 1.5 * of_all.mean() < of_part.mean()


def test_a_box_sees_its_own_observations_and_the_nearest_ones_outside(many):
    boxes = Boxes.of(many, (0, 1), LENGTHS)
    for leaf, seen in enumerate(boxes.seen):
        low, high = boxes.partition.boxes(2)[leaf]
        inside = ((low <= many.X) & (high >= many.X)).all(1)
        away = np.maximum(np.maximum(low - many.X, many.X - high), 0.0) / LENGTHS
        order = np.argsort(np.where(inside, -inf, (away**2).sum(1)), kind="stable")
        expected = many.X[order[: len(seen)]]
        assert set(map(tuple, seen.X)) == set(map(tuple, expected))


def test_components_share_boxes_so_that_they_predict_at_once(many, rng):
    fitted = Inferred(ANY, Slice(chains=2, burn_in=1), cuts=(0, 1)).fit(many, rng)
    assert len(fitted._groups) == 1 < len(fitted)
    each = np.stack([part.predict(many.X[:5])[0] for part in fitted.components])
    np.testing.assert_allclose(fitted.predict_each(many.X[:5])[0], each, rtol=1e-6, atol=1e-8)


def test_few_observations_or_no_columns_to_cut_are_conditioned_on_exactly(many, rng):
    few = many.rows(np.arange(local_processes.EXACT_ROWS))
    for data, cuts in ((few, (0, 1)), (many, ())):
        fitted = Inferred(ANY, Slice(chains=1, burn_in=1), cuts=cuts).fit(data, rng)
        assert len(fitted.components[0].data) == len(data)


def test_hyperparameters_of_many_data_are_inferred_from_a_part(many, rng, monkeypatch):
    sizes = set()
    real = GP.log_likelihood

    def counted(self, data):
        sizes.add(len(data))
        return real(self, data)

    monkeypatch.setattr(GP, "log_likelihood", counted)
    Inferred(ANY, Slice(chains=2, burn_in=2)).fit(many, rng)
    assert sizes == {inferred.COLD_ROWS, inferred.MOST_ROWS}


def test_the_part_holds_the_best_and_hardly_changes_with_one_more_observation(many):
    part = inferred.best_and_others(many, 200)
    more = inferred.best_and_others(many.append(np.array([[0.5, 0.5]]), np.array([0.0])), 200)
    assert set(np.sort(many.y)[:66]) <= set(part.y)
    assert len(part) == len(more) == 200
    assert len(set(map(tuple, part.X)) & set(map(tuple, more.X))) >= 198


def test_every_chain_of_a_first_fit_to_many_data_has_seen_more_than_it_started_on(many):
    surrogate = Inferred(ANY, Slice(chains=3, burn_in=1, moved=1))
    started = surrogate.fit(
        inferred.best_and_others(many, inferred.COLD_ROWS), np.random.default_rng(1)
    )
    first = surrogate.fit(many, np.random.default_rng(1))
    later = surrogate.fit(many, np.random.default_rng(2), first.state)

    def unmoved(one, other):
        pairs = zip(one.state["thetas"], other.state["thetas"], strict=True)
        return sum(before == after for before, after in pairs)

    assert unmoved(started, first) == 0
    assert unmoved(first, later) == 2
