import numpy as np
import pytest

import outcrop as oc
from outcrop.errors import MethodError
from outcrop.strategies import METHODS, CoCaBO, Hierarchical, Perturbed, Why, strategy_for
from outcrop.strategies.registry import MakesStrategies, registered
from tests.strategies.spaces import EVERY_SPACE
from tests.strategies.test_strategies import example


def test_every_name_has_one_entry_with_its_line_for_the_list():
    from outcrop.strategies import cocabo, hierarchical, method, sequence

    entries = [e for m in (method, cocabo, hierarchical, sequence) for e in m.NAMED]
    names = [entry.name for entry in entries]
    assert names == list(registered()) == list(METHODS)
    assert len(set(names)) == len(names)
    assert names[:2] == ["auto", "gp"]
    assert {entry.name: entry.what for entry in entries} == METHODS


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("space", EVERY_SPACE)
def test_every_name_makes_a_strategy_for_every_space(name, space):
    strategy = strategy_for(name, EVERY_SPACE[space])
    assert strategy.propose(example(EVERY_SPACE[space], n=0), np.random.default_rng(0)).params


@pytest.mark.parametrize("wrapper", [Perturbed, CoCaBO, Hierarchical])
def test_wrappers_make_strategies_and_take_methods_by_name(wrapper):
    assert isinstance(wrapper(), MakesStrategies)
    assert hasattr(wrapper("gp").strategy(EVERY_SPACE["mixed"]), "propose")
    with pytest.raises(MethodError, match=r"method='gaussian' is not known; known are auto, gp"):
        wrapper("gaussian").strategy(EVERY_SPACE["mixed"])


@pytest.mark.parametrize(
    ("method", "remedy"),
    [
        ("Auto", "did you mean 'auto'"),
        ("sparten", "did you mean 'spartan'"),
        (oc.surrogates.Spartan(), r"outcrop\.Method\(surrogate=Spartan"),
    ],
)
def test_what_is_no_method_is_refused_with_a_remedy(method, remedy):
    with pytest.raises(MethodError, match=remedy):
        strategy_for(method, EVERY_SPACE["mixed"])


@pytest.mark.parametrize("name", METHODS)
def test_the_record_of_why_has_declared_keys_only(name):
    space = EVERY_SPACE["mixed"]
    strategy = Perturbed(name, until=1).strategy(space)
    warm = {}
    for n in (0, 14, 15):
        found = strategy.propose(example(space, n=n, warm=warm), np.random.default_rng(0))
        warm = found.warm
        assert "source" in found.why
        assert found.why.keys() <= Why.__annotations__.keys()
