import numpy as np
import pytest

from outcrop.baselines import DeltaCover
from outcrop.maximise import Maximiser
from outcrop.space import Categorical, Choice, Float, Int, Space
from outcrop.testing.maximisers import MAXIMISER_CONTRACT
from tests.maximise.functions import Waves

SPACES = [
    Space({"x": Float(0, 1)}),
    Space({"x": Float(1e-5, 1, log=True), "n": Int(1, 50_000, log=True)}),
    Space({"a": Int(0, 60), "b": Categorical([*range(40)]), "c": Int(0, 9)}),
    Space({"x": Float(0, 1), "m": Choice({"u": {}, "v": {"n": Int(0, 99), "y": Float(0, 1)}})}),
]
QUICK = DeltaCover(spread=60, boxes=3, boxed=10)


@pytest.mark.parametrize("space", SPACES, ids=repr)
@pytest.mark.parametrize("check", MAXIMISER_CONTRACT, ids=lambda check: check.__name__)
def test_it_keeps_the_contract_of_maximisers(check, space):
    check(QUICK, space, Waves.on(space, 1))


@pytest.mark.parametrize("seed", range(5))
def test_it_finds_what_ascents_find(seed):
    space = Space({f"x{i}": Float(0, 1) for i in range(2)})
    function = Waves.on(space, seed, frequency=10.0)
    best = Maximiser()(function, space, np.random.default_rng(seed)).value
    found = DeltaCover()(function, space, np.random.default_rng(seed))
    assert found.value == pytest.approx(best, abs=1e-3 * abs(best))


def test_it_asks_for_no_gradients():
    space = SPACES[0]
    waves = Waves.on(space, 3)

    class Values:
        def __call__(self, X):
            return waves(X)

        def with_gradient(self, X):
            raise AssertionError("no gradient was to be asked for")

    assert np.isfinite(QUICK(Values(), space, np.random.default_rng(0)).value)


def test_without_halvings_the_first_boxes_are_the_last():
    space = SPACES[0]
    waves = Waves.on(space, 3)
    found = DeltaCover(spread=60, boxes=3, boxed=10, halvings=0)(
        waves, space, np.random.default_rng(0)
    )
    assert found.evaluations == 60 + 3 * 10 + 3


@pytest.mark.parametrize(("fewest", "covered"), [(3, 7 + 4 + 3 + 3), (7, 4 * 7), (9, 4 * 7)])
def test_half_as_many_boxes_are_covered_each_time_but_never_fewer_than_stated(fewest, covered):
    space = SPACES[0]
    waves = Waves.on(space, 3)
    found = DeltaCover(spread=60, boxes=7, boxed=10, halvings=3, fewest=fewest)(
        waves, space, np.random.default_rng(0)
    )
    centres = covered  # each box is scored with its centre
    assert found.evaluations == 60 + 10 * covered + centres
