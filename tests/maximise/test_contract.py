import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.maximise import Maximiser
from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.testing.maximisers import MAXIMISER_CONTRACT
from tests.maximise.functions import Constant, Waves
from tests.space.strategies import spaces

SPACES = [
    Space({"x": Float(0, 1)}),
    Space({"x": Float(1e-5, 1, log=True), "n": Int(1, 500, log=True)}),
    Space({"a": Int(0, 60), "b": Categorical([*range(40)]), "c": Int(0, 9)}),
    Space({"c": Categorical(["a", "b"]), "d": Int(0, 3)}),
    Space({"x": Float(0, 1), "m": Choice({"u": {}, "v": {"n": Int(0, 99), "y": Float(0, 1)}})}),
]
QUICK = Maximiser(spread=64, perturbations=32, resamples=16, starts=3, steps=6, enumerate_up_to=50)


@pytest.mark.parametrize("space", SPACES, ids=repr)
@pytest.mark.parametrize("check", MAXIMISER_CONTRACT, ids=lambda check: check.__name__)
def test_the_maximiser_keeps_its_contract(check, space):
    check(Maximiser(), space, Waves.on(space, 1))


@pytest.mark.parametrize("check", MAXIMISER_CONTRACT, ids=lambda check: check.__name__)
def test_the_contract_holds_on_random_spaces(check):
    @settings(max_examples=25, deadline=None, database=None)
    @given(spaces(), st.integers(0, 100), st.booleans())
    def holds(space, seed, flat):
        check(QUICK, space, Constant(0.5) if flat else Waves.on(space, seed))

    holds()


@settings(max_examples=40, deadline=None)
@given(spaces(), st.integers(0, 100))
def test_random_finite_spaces_are_solved_when_enumerated(space, seed):
    function = Waves.on(space, seed)
    found = Maximiser()(function, space, np.random.default_rng(seed))
    if space.columns and space.size is not None and space.size <= 5000:
        assert len(found.values) == space.size
        assert found.value == found.values.max()
