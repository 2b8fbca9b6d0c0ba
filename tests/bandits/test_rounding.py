import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from outcrop.bandits import dep_round
from outcrop.errors import BanditError

EVERY_P = [
    [0.1, 0.2, 0.7],
    [0.9, 0.35, 0.5, 0.25],
    [0.05, 0.15, 0.3, 0.45, 0.6, 0.65, 0.8],
    [0.99, 0.98, 0.97, 0.06],
    [0.01, 0.02, 0.03, 0.94, 1.0],
]


def membership(draw, p, n):
    """Whether each arm was drawn, `(n, K)`."""
    drawn = np.zeros((n, len(p)))
    for row in drawn:
        row[list(draw(p))] = 1
    return drawn


def marginals_p_value(drawn, p):
    """Whether the mean of `drawn` may be `p`, by a χ² test that allows for correlated arms."""
    difference = drawn.mean(0) - p
    covariance = np.cov(drawn.T, bias=True) / len(drawn)
    rank = np.linalg.matrix_rank(covariance)
    statistic = difference @ np.linalg.pinv(covariance, hermitian=True) @ difference
    return stats.chi2.sf(statistic, rank)


def published_rule(p, rng):
    """The proportions of a published programme, which are the wrong way round."""
    p = list(p)
    while len(fractional := [i for i, x in enumerate(p) if 1e-9 < x < 1 - 1e-9]) > 1:
        i, j = fractional[:2]
        up, down = min(1 - p[i], p[j]), min(p[i], 1 - p[j])
        step = up if rng.random() < up / (up + down) else -down
        p[i], p[j] = p[i] + step, p[j] - step
    return [i for i, x in enumerate(p) if x > 0.5]


@pytest.mark.parametrize("p", EVERY_P, ids=str)
def test_every_arm_is_drawn_with_its_probability(p, rng):
    drawn = membership(lambda p: dep_round(p, rng), p, 8_000)
    assert marginals_p_value(drawn, p) > 1e-3


def test_the_test_of_marginals_rejects_the_published_proportions(rng):
    p = EVERY_P[1]
    drawn = membership(lambda p: published_rule(p, rng), p, 5_000)
    assert marginals_p_value(drawn, p) < 1e-12


def test_two_arms_are_drawn_together_less_often_than_if_they_were_independent(rng):
    p = np.array(EVERY_P[2])
    drawn = membership(lambda p: dep_round(p, rng), p, 8_000)
    together = drawn.T @ drawn / len(drawn)
    excess = together - np.outer(p, p)
    assert excess[~np.eye(len(p), dtype=bool)].max() < 4 * 0.5 / np.sqrt(len(drawn))


@st.composite
def whole_sums(draw):
    """Probabilities with a whole sum, some of them 0, 1, or almost."""
    edge = st.sampled_from([0.0, 1.0, 1e-17, 1e-12, 1 - 1e-12, 1 - 2**-53, 0.5])
    p = draw(st.lists(st.floats(0, 1) | edge, max_size=12))
    p.append(float(np.clip(np.ceil(sum(p)) - sum(p), 0, 1)))
    return draw(st.permutations(p))


@given(whole_sums(), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_a_draw_has_as_many_arms_as_the_probabilities_sum_to(p, seed):
    drawn = dep_round(p, np.random.default_rng(seed))
    assert len(drawn) == round(sum(p))
    assert list(drawn) == sorted(set(drawn))
    assert {i for i, x in enumerate(p) if x == 1} <= set(drawn)
    assert not {i for i, x in enumerate(p) if x == 0} & set(drawn)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.5, 0.25], "sum to 0.75: expected the whole number"),
        ([1.5, 0.5], "numbers from 0 to 1"),
        ([-0.5, 0.5], "numbers from 0 to 1"),
        ([np.nan, 1.0], "numbers from 0 to 1"),
        ([[0.5, 0.5]], "numbers from 0 to 1"),
    ],
)
def test_what_are_no_inclusion_probabilities_is_refused(p, message, rng):
    with pytest.raises(BanditError, match=message):
        dep_round(p, rng)
