"""Samples are spread as promised."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from tests.space.strategies import spaces

N = 20_000


def draws(parameter, n=N):
    return [row["x"] for row in Space({"x": parameter}).sample(np.random.default_rng(5), n)]


def uniform_distance(u):
    """Kolmogorov's distance of a sample on [0, 1] from the uniform distribution."""
    u = np.sort(u)
    steps = np.arange(len(u) + 1) / len(u)
    return max(np.abs(u - steps[1:]).max(), np.abs(u - steps[:-1]).max())


def check_shares(values, shares):
    """Each value appears as often as its share says, within five standard errors."""
    counts = Counter(values)
    assert set(counts) == set(shares)
    for value, share in shares.items():
        error = np.sqrt(share * (1 - share) * len(values))
        assert abs(counts[value] - share * len(values)) <= 5 * error


def test_floats_are_uniform():
    assert uniform_distance((np.array(draws(Float(-2, 3))) + 2) / 5) < 1.9 / np.sqrt(N)


def test_log_floats_are_uniform_in_their_logarithm():
    exponents = np.log10(draws(Float(1e-5, 1e-1, log=True)))
    assert uniform_distance((exponents + 5) / 4) < 1.9 / np.sqrt(N)


@pytest.mark.parametrize("parameter", [Int(3, 9), Int(-4, 8, step=4), Int(0, 1)], ids=repr)
def test_every_integer_is_as_likely_ends_included(parameter):
    values = range(parameter.low, parameter.high + 1, parameter.step)
    check_shares(draws(parameter), {value: 1 / parameter.levels for value in values})


@pytest.mark.parametrize("parameter", [Int(1, 12, log=True), Int(7, 9, log=True)], ids=repr)
def test_every_log_integer_has_its_share_of_the_widened_interval(parameter):
    low, high = parameter.low, parameter.high
    total = np.log((high + 0.5) / (low - 0.5))
    shares = {v: np.log((v + 0.5) / (v - 0.5)) / total for v in range(low, high + 1)}
    check_shares(draws(parameter), shares)


def test_steps_levels_categories_and_options_are_equally_likely():
    check_shares(draws(Float(0, 0.4, step=0.1)), dict.fromkeys([0.0, 0.1, 0.2, 0.3, 0.4], 0.2))
    check_shares(draws(Ordinal(["s", "m", "l"])), dict.fromkeys("sml", 1 / 3))
    check_shares(draws(Categorical([None, (1,), "a"])), dict.fromkeys([None, (1,), "a"], 1 / 3))
    check_shares(draws(Choice({"a": {}, "b": {"y": Int(1, 9)}})), dict.fromkeys("ab", 1 / 2))
    check_shares(draws(Fixed(3)), {3: 1.0})


def test_parameters_are_independent():
    space = Space({"m": Choice({"a": {"x": Float(0, 1)}, "b": {}}), "y": Float(0, 1)})
    rows = [row for row in space.sample(np.random.default_rng(2), N) if row["m"] == "a"]
    x, y = np.array([(row["m.a.x"], row["y"]) for row in rows]).T
    assert abs(np.corrcoef(x, y)[0, 1]) < 5 / np.sqrt(len(rows))


def test_one_sample_is_a_dict_and_n_samples_are_the_same_draws_in_a_list():
    space = Space({"x": Float(0, 1), "k": Int(1, 9), "c": Categorical(["a", "b"])})
    one, many = np.random.default_rng(4), np.random.default_rng(4)
    assert [space.sample(one) for _ in range(5)] == space.sample(many, 5)
    assert isinstance(space.sample(one, 1), list)


@given(spaces(), st.integers(0, 2**32))
@settings(max_examples=80, deadline=None, derandomize=True)
def test_samples_are_legal_and_repeatable(space, seed):
    rows = space.sample(np.random.default_rng(seed), 5)
    assert rows == space.sample(np.random.default_rng(seed), 5)
    for row in rows:
        assert list(space.validate(row).items()) == list(row.items())
