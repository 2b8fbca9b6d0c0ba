"""Parts of a conditional space."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from outcrop.kernels.within import holding

CONDITIONS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=4).map(tuple)


@given(st.lists(CONDITIONS, max_size=5), st.integers(0, 6), st.integers(0, 99))
def test_a_row_is_in_a_part_if_all_conditions_of_the_part_hold(parts, rows, seed):
    X = np.random.default_rng(seed).integers(0, 3, (rows, 4)).astype(float)
    wanted = [[all(x[column] == code for column, code in part) for part in parts] for x in X]
    inside = holding(parts, X)
    assert inside.dtype == np.bool_
    assert inside.shape == (rows, len(parts))
    assert inside.tolist() == wanted


def test_a_code_that_is_unknown_is_in_no_part_that_asks_for_it():
    assert holding([(), ((0, 1),)], np.array([[np.nan]])).tolist() == [[True, False]]
