import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import outcrop
from outcrop import kernels, priors
from outcrop.acquisition import EI, UCB, LogEI, MaxValueEntropy, Thompson
from outcrop.errors import MethodError
from outcrop.inference import MAP, Laplace, Slice
from outcrop.maximise import Maximiser
from outcrop.params import Per, free
from outcrop.strategies import METHODS, Method, Sequence, strategy_for
from outcrop.strategies.initial import LatinHypercube, RandomDesign, Sobol
from outcrop.strategies.method_text import described, difference, restored, worded
from outcrop.strategies.pending import Believer
from outcrop.study.events import Created, from_json
from outcrop.surrogates import GP, Blend, Inferred, Plain, Situation
from outcrop.testing import view_of
from tests.strategies.spaces import EVERY_SPACE

FAST = Slice(chains=2, burn_in=1)
SMALL = Maximiser(spread=32, perturbations=8, resamples=8, starts=2, steps=5)
SLOTS = free(priors.LogNormal(-1.0, 0.7), size=Per.DIMENSION)


def method_for(space, name):
    situation = Situation(space, inference=FAST)
    return {
        "nothing": Method(maximiser=SMALL),
        "default surrogate": Method(Plain().surrogate(situation), maximiser=SMALL),
        "model": Method(
            GP(kernels.Scaled(free(priors.Gamma(2.0, 1.0)), kernels.Matern32(SLOTS)), noise=1e-4),
            FAST,
            acquisition=EI(),
            pending=Believer(),
            initial=Sobol(size=4),
            maximiser=SMALL,
        ),
        "bound": Method(
            Inferred(GP(kernels.RBF([1 / 3]), noise=0.1 + 0.2), FAST), None, UCB(0.7), None,
            LatinHypercube(6), SMALL,
        ),
        "laplace": Method(None, Laplace(starts=1), MaxValueEntropy(samples=3), maximiser=SMALL),
        "thompson": Method(None, MAP(starts=1), Thompson(features=16), maximiser=SMALL),
    }[name]  # fmt: skip


def example(space, n):
    rng = np.random.default_rng(n)
    X = space.from_uniform(rng.random((n + 2, len(space.columns))))
    return view_of(space, X[:n], np.sin(3 * X[:n].sum(1)), X[n:], seed=5)


def bits(suggestion):
    """A suggestion with every bit of its numbers."""
    return [repr(each) for each in (suggestion.params, suggestion.why, suggestion.warm)]


@pytest.mark.parametrize("space", ["box", "mixed", "conditional"])
@pytest.mark.parametrize(
    "name", ["nothing", "default surrogate", "model", "bound", "laplace", "thompson"]
)
def test_a_restored_method_proposes_the_same_points_to_the_last_bit(space, name):
    space = EVERY_SPACE[space]
    method = method_for(space, name)
    again = restored(json.loads(json.dumps(described(method))))
    for n in (1, 12):
        one, two = (
            strategy_for(each, space).propose(example(space, n), np.random.default_rng(3))
            for each in (method, again)
        )
        assert bits(one) == bits(two)
    assert one.why["source"] == "model"


@pytest.mark.parametrize("name", METHODS)
def test_a_name_describes_itself(name):
    assert restored(described(name)) == described(name) == worded(name).strip("'") == name


def test_a_description_survives_the_event_that_holds_it():
    space = EVERY_SPACE["mixed"]
    for method in ("gp", method_for(space, "default surrogate"), Sequence(space, RandomDesign())):
        created = Created(space, method=described(method))
        assert from_json(json.loads(json.dumps(created.to_json()))).method == described(method)


@dataclass(frozen=True)
class Own:
    """A strategy, a surrogate and an acquisition of a user's, by its looks."""

    number: float = 0.0

    def propose(self, view, rng): ...

    def fit(self, observations, rng, previous=None): ...

    def prepare(self, posterior, incumbent, candidates, rng, step): ...


@pytest.mark.parametrize(
    "method",
    [
        Own(),
        Method(surrogate=Own()),
        Method(acquisition=Own()),
        Method(surrogate=Blend({"a": Inferred(GP(kernels.RBF([1.0])), FAST), "b": Own()})),
    ],
    ids=["strategy", "surrogate", "acquisition", "deep"],
)
def test_a_method_with_parts_of_ones_own_must_be_passed_again(method):
    description = described(method)
    with pytest.raises(MethodError, match=r"is or holds Own, .*pass method= again"):
        restored(json.loads(json.dumps(description)))
    assert difference(description, described(method)) == []


def test_a_strategy_or_a_kind_of_method_of_ones_own_is_named():
    class Mine(Method):
        pass

    assert described(Mine())["custom"] == Mine.__qualname__
    assert described(Sequence(EVERY_SPACE["line"], Sobol()))["custom"] == "Sequence"
    assert described(3)["custom"] == "int"  # which no strategy is made of


def test_a_name_of_a_newer_release_is_refused():
    with pytest.raises(MethodError, match="'divination' is not known; a newer release"):
        restored("divination")


def test_equal_methods_do_not_differ_and_are_described_alike():
    space = EVERY_SPACE["mixed"]
    one, two = (described(method_for(space, "default surrogate")) for _ in range(2))
    assert one == two
    assert difference(one, two) == []
    nan = free(priors.Shifted(priors.Normal(), np.nan))
    assert described(Method(GP(kernels.RBF(nan)))) == described(Method(GP(kernels.RBF(nan))))


GAUSSIAN = kernels.RBF([0.1, 0.2])
MODEL = GP(kernels.Sum((GAUSSIAN, kernels.Scaled(2.0, GAUSSIAN))), noise=0.0)
DIFFERENCES = [
    ("gp", "random", ["method: 'gp' stored, 'random' given"]),
    ("gp", Method(initial=Sobol(5)), ["method: 'gp' stored, Method(initial=Sobol(size=5)) given"]),
    ("gp", Own(), ["method: 'gp' stored, Own given"]),
    (Method(), Own(), ["method: Method() stored, Own given"]),
    (Own(), Sequence(EVERY_SPACE["line"], Sobol()), ["method: Own stored, Sequence given"]),
    (
        Method(acquisition=EI()),
        Method(acquisition=LogEI()),
        ["acquisition: EI() stored, LogEI() given"],
    ),
    (Method(), Method(acquisition=Own()), ["acquisition: None stored, Own given"]),
    (
        Method(inference=Slice(3), initial=Sobol(5)),
        Method(inference=Slice(4), initial=Sobol()),
        ["inference.chains: 3 stored, 4 given", "initial.size: 5 stored, None given"],
    ),
    (
        Method(MODEL),
        Method(replace(MODEL, kernel=kernels.Sum((GAUSSIAN, kernels.Scaled(3.0, GAUSSIAN))))),
        ["surrogate.kernel.kernels[1].variance: 2.0 stored, 3.0 given"],
    ),
    (
        Method(GP(kernels.RBF([0.2]))),
        Method(GP(kernels.RBF([0.2 + 1e-15]))),
        ["surrogate.kernel.lengthscales: array([0.2]) stored, array([0.200000000000001]) given"],
    ),
    (
        Method(GP(kernels.RBF(free(priors.Normal(), size=Per.DIMENSION)))),
        Method(GP(kernels.RBF(free(priors.Normal(std=2.0), size=3)))),
        [
            "surrogate.kernel.lengthscales.prior.std: 1.0 stored, 2.0 given",
            "surrogate.kernel.lengthscales.size: Per.DIMENSION stored, 3 given",
        ],
    ),
    (
        Method(Blend({"a": Inferred(MODEL, FAST)})),
        Method(Blend({"a": Inferred(MODEL, FAST, "moment")})),
        ["surrogate.parts['a'].variance: 'thesis' stored, 'moment' given"],
    ),
    (
        Method(GP(GAUSSIAN, mean=np.inf)),
        Method(GP(GAUSSIAN, mean=-np.inf)),
        ["surrogate.mean: inf stored, -inf given"],
    ),
    (
        Method(GP(kernels.Sum((GAUSSIAN,)))),
        Method(GP(kernels.Sum(()))),
        ["surrogate.kernel.kernels: (RBF(lengthscales=array([0.1, 0.2])),) stored, () given"],
    ),
]


@pytest.mark.parametrize(("stored", "given", "lines"), DIFFERENCES)
def test_a_difference_names_its_place_and_both_sides(stored, given, lines):
    one, two = described(stored), described(given)
    assert one != two
    assert difference(one, two) == lines
    assert len(difference(two, one)) == len(lines)


def test_a_difference_of_long_arrays_is_still_one_line():
    one, two = (described(Method(GP(kernels.RBF(np.full(60, s))))) for s in (1 / 3, 2 / 3))
    (line,) = difference(one, two)
    assert "\n" not in line
    assert line.count(repr(1 / 3)) == line.count(repr(2 / 3)) == 60


def test_a_field_that_is_newer_than_the_store_makes_no_difference_at_its_default():
    given = described(Method(inference=Slice(3), acquisition=EI()))
    stored = {name: part for name, part in given.items() if name != "pending"}
    stored["inference"] = {"class": "inference.Slice", "chains": 3}
    assert difference(stored, given) == difference(given, stored) == []
    stored["inference"]["sweeps"] = 9
    assert difference(stored, given) == ["inference.sweeps: 9 stored, 1 given"]


def test_a_stored_part_of_a_newer_release_is_shown_as_it_is():
    method = {"version": 1, "class": "strategies.Method"}
    stored = {**method, "acquisition": {"class": "acquisition.Oracle", "eyes": 3}}
    assert difference(stored, described(Method(acquisition=EI()))) == [
        "acquisition: Oracle(eyes=3) stored, EI() given"
    ]


def test_words_are_code_that_makes_the_method_again():
    method = Method(
        surrogate=GP(kernels.Sum((kernels.Matern52([0.1 + 0.2]), kernels.Constant())), noise=1e-3),
        inference=Slice(3),
        acquisition=EI(best=0.25),
        initial=Sobol(5),
    )
    words = worded(described(method))
    parts = (outcrop.kernels, outcrop.inference, outcrop.acquisition, outcrop.initial)
    names = {name: value for module in parts for name, value in vars(module).items()}
    again = eval(words, {**names, "GP": GP, "Method": Method, "array": np.array})
    assert described(again) == described(method)
