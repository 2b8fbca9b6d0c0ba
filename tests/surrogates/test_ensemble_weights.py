"""How probable the members of an ensemble are, and which of them are fitted and move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from outcrop.surrogates import Ensemble, Situation
from outcrop.surrogates.ensemble import MEMBERS, MOST_CHANGE, RESOLUTION, TABLE
from outcrop.surrogates.inferred import MOST_ROWS
from tests.surrogates.ensembles import EXACT, SPACE, ConstantKind, WatchedKind, data_of, fitted


def probabilities(means, values, forgetting):
    """Those of constant kinds that predicted these values, by label."""
    expected = np.full(len(means), 1 / len(means))
    for y in values:
        gains = norm.logpdf(y, means, np.sqrt(1 + RESOLUTION**2))
        expected = expected * np.exp(np.clip(gains - gains.mean(), -MOST_CHANGE, MOST_CHANGE))
        expected = (1 - forgetting) * expected / expected.sum() + forgetting / len(means)
    labels = [ConstantKind(mean).label for mean in means]
    return dict(zip(labels, expected.tolist(), strict=True))


@given(
    means=st.lists(st.floats(-2, 2), min_size=2, max_size=5, unique=True),
    new=st.lists(st.floats(-3, 3), min_size=1, max_size=4),
    forgetting=st.floats(0, 1),
)
@settings(max_examples=50, deadline=None)
def test_probabilities_follow_the_densities_of_results_that_were_not_known(means, new, forgetting):
    ensemble = Ensemble(tuple(map(ConstantKind, means)), forgetting=forgetting)
    data = data_of([0.0, 1.0, *new])
    known = fitted(ensemble, data.rows(np.arange(2)))
    found = fitted(ensemble, data, known.state).evidence

    assert found == pytest.approx(probabilities(means, new, forgetting), rel=1e-9)
    assert sum(found.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [TABLE, MOST_ROWS])
def test_the_first_fit_to_a_table_predicts_every_second_result(n):
    means, values = [-0.5, 0.0, 1.0], np.sin(np.arange(n))
    ensemble = Ensemble(tuple(map(ConstantKind, means)))
    assert fitted(ensemble, data_of(values)).evidence == pytest.approx(
        probabilities(means, values[1::2], ensemble.forgetting), rel=1e-9
    )
    before = fitted(ensemble, data_of(values).rows(np.arange(TABLE - 1)))
    assert list(before.evidence.values()) == pytest.approx([1 / 3] * 3)


def test_the_most_probable_members_by_a_long_table_are_fitted_to_all_of_it():
    means = [-1.0, -0.5, 0.0, 0.5, 1.0]
    values = np.random.default_rng(0).normal(0.8, 0.1, MOST_ROWS + 100)
    belief = fitted(Ensemble(tuple(map(ConstantKind, means))), data_of(values))
    assert set(belief.members) == {"constant 0.5", "constant 1.0"}


def test_half_of_the_weight_is_shared_alike_and_half_follows_the_probabilities():
    ensemble = Ensemble((ConstantKind(0.0), ConstantKind(1.0), ConstantKind(2.0)))
    data = data_of([0.0, 1.0, 0.1])
    belief = fitted(ensemble, data, fitted(ensemble, data.rows(np.arange(2))).state)
    probabilities = [belief.evidence[f"constant {mean}"] for mean in (0.0, 1.0, 2.0)]
    assert belief.weights == pytest.approx(1 / 6 + 0.5 * np.array(probabilities))
    assert probabilities[0] > probabilities[1] > probabilities[2]


def test_the_first_fit_has_equal_probabilities():
    belief = fitted(Ensemble(), data_of([0.0, 1.0, -1.0]))
    assert set(belief.evidence) == {kind.label for kind in MEMBERS}
    assert list(belief.evidence.values()) == pytest.approx([1 / 5] * 5)


def test_a_member_that_was_wrong_comes_back_when_it_predicts_better():
    ensemble = Ensemble((ConstantKind(0.0), ConstantKind(2.0)))
    state = fitted(ensemble, data_of([0.0])).state
    values = [0.0] + [0.0] * 30 + [2.0] * 8
    leads = []
    for n in range(2, len(values) + 1):
        belief = fitted(ensemble, data_of(values).rows(np.arange(n)), state)
        state, leads = belief.state, [*leads, belief.evidence["constant 2.0"]]
    assert leads[28] < 0.1
    assert leads[-1] > 0.5


def test_many_observations_are_modelled_by_the_two_most_probable_members():
    n = MOST_ROWS + 1
    data = data_of(np.sin(7 * np.random.default_rng(0).random(n)))
    evidence = {kind.label: 0.1 for kind in MEMBERS} | {"Spartan GP": 0.4, "warped GP": 0.3}
    state = {"evidence": evidence, "rows": data.fingerprints, "members": {}}
    situation = Situation(SPACE, EXACT, observations=n)
    surrogate = Ensemble().surrogate(situation)
    weights = surrogate._weights(surrogate._evidence(data, state), n)
    assert set(weights) == {"Spartan GP", "warped GP"}
    assert sum(weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_every_member_moves_in_turn_also_in_batches(batch):
    moved: list[str] = []
    ensemble = Ensemble(tuple(WatchedKind(float(i), moved=moved) for i in range(5)))
    data = data_of(np.sin(np.arange(100)))
    state = fitted(ensemble, data.rows(np.arange(60))).state
    moved.clear()
    for n in range(60, 100, batch):
        for running in range(batch):
            situation = Situation(SPACE, EXACT, observations=n, running=running)
            belief = fitted(ensemble, data.rows(np.arange(n)), state, situation=situation)
            state = belief.state
    assert {moved.count(kind.label) for kind in ensemble.members} == {20}  # every second time
