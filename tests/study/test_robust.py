"""Robust studies: what they are made with, what they recommend, and that they find it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import outcrop as oc
from outcrop.errors import MethodError, StudyError
from outcrop.space import Float, Space
from outcrop.strategies import Method
from outcrop.strategies.initial import LatinHypercube
from outcrop.study import Optimizer, Study, load_study
from outcrop.study.events import Created, from_text, to_text

LINE = Space({"x": Float(0, 10, input_std=0.9)})
SQUARE = Space({"x": Float(0, 1, input_std=0.14), "y": Float(0, 1, input_std=0.14)})

# Of dips: where, how wide, how deep. The second is deeper, and the first still is once both are
# averaged over the noise.
DIPS = {
    "line": (LINE, [((3.0,), 2.0, 1.0), ((7.8,), 0.5, 1.4)]),
    "square": (SQUARE, [((0.3, 0.35), 0.25, 1.0), ((0.78, 0.72), 0.12, 1.4)]),
}
TRIALS = {"line": (12, 25), "square": (40, 60)}  # of the initial design, and in all
LONGER = {"line": 25, "square": 90}  # in all, if no place is told: a value then says less


def dips(x, parts):
    far = [np.square(np.subtract(x, place)).sum() / width**2 for place, width, _ in parts]
    depths = [depth for _, _, depth in parts]
    return -float(np.dot(depths, np.exp(-0.5 * np.array(far))))


def averaged_dips(x, parts, std):
    """Its average over noise, which a Gaussian dip has in closed form."""
    total = 0.0
    for place, width, depth in parts:
        wider = width**2 + std**2
        far = np.square(np.subtract(x, place)).sum() / wider
        total -= depth * (width**2 / wider) ** (len(place) / 2) * np.exp(-0.5 * far)
    return total


@pytest.mark.parametrize("name", DIPS)
def test_the_broad_dip_is_better_on_average_and_the_sharp_one_is_deeper(name):
    space, parts = DIPS[name]
    std = space.parameters["x"].input_std
    (broad, *_), (sharp, *_) = parts
    assert dips(sharp, parts) < dips(broad, parts) - 0.3
    assert averaged_dips(broad, parts, std) < averaged_dips(sharp, parts, std) - 0.08
    noise = std * np.random.default_rng(0).normal(size=(20_000, len(broad)))
    drawn = np.mean([dips(np.add(sharp, each), parts) for each in noise])
    assert averaged_dips(sharp, parts, std) == pytest.approx(drawn, abs=0.02)


def searched(name, robust, seed, report):
    """What is recommended once evaluations happened near what was asked for."""
    space, parts = DIPS[name]
    design, trials = TRIALS[name]
    trials = trials if report else LONGER[name]
    method = Method(initial=LatinHypercube(size=design))
    optimizer = Optimizer(space, method=method, seed=seed, robust=robust)
    rng = np.random.default_rng([seed, 99])
    for _ in range(trials):
        trial = optimizer.ask()
        at = {
            key: value + space.parameters[key].input_std * np.clip(rng.normal(), -4.9, 4.9)
            for key, value in trial.params.items()
        }
        told = {"at": at} if report else {}
        optimizer.tell(trial, dips([*at.values()], parts), **told)
    x = [*optimizer.recommend().params.values()]
    near = [np.linalg.norm(np.subtract(x, place)) < width for place, width, _ in parts]
    return ("broad", "sharp")[near.index(True)] if any(near) else "neither"


@pytest.mark.slow
@pytest.mark.parametrize("name", DIPS)
def test_a_robust_search_finds_the_broad_dip_where_a_nominal_one_takes_the_sharp_one(name):
    taken = (seed for seed in range(20) if searched(name, False, seed, report=True) == "sharp")
    robust = [searched(name, True, seed, report=True) for seed in islice(taken, 10)]
    assert len(robust) == 10
    assert robust.count("broad") >= 9


@pytest.mark.slow
@pytest.mark.parametrize("name", DIPS)
def test_a_robust_search_finds_the_broad_dip_also_if_no_place_is_told(name):
    assert [searched(name, True, seed, report=False) for seed in range(10)].count("broad") >= 9


@pytest.mark.parametrize(
    "make",
    [
        lambda space: Optimizer(space, robust=True),
        lambda space: Study(space, robust=True),
        lambda space: oc.minimize(lambda params: 0.0, space, 2, robust=True),
        lambda space: oc.maximize(lambda params: 0.0, space, 2, robust=True),
    ],
)
def test_robust_needs_noise_to_average_over(make):
    with pytest.raises(MethodError, match=r"the space has none: declare it, .*input_std=2\.0"):
        make(Space({"x": Float(0, 1)}))


def test_robust_is_a_question_of_yes_or_no():
    with pytest.raises(MethodError, match="robust must be True or False, got 1"):
        Optimizer(LINE, robust=1)  # type: ignore[arg-type]


def test_a_study_remembers_that_it_is_robust_and_refuses_to_be_another(storage):
    study = Study(LINE, "s", storage, method="random", seed=1, robust=True)
    assert study.robust
    assert load_study("s", storage).robust
    assert Study(LINE, "s", storage, method="random", robust=True).trials == []
    with pytest.raises(StudyError, match="robust: True stored, False given"):
        Study(LINE, "s", storage, method="random")


def test_a_study_that_is_not_robust_begins_as_it_always_did():
    text = to_text(Created(LINE, seed=3))
    assert "robust" not in text
    assert from_text(text) == Created(LINE, seed=3)
    assert from_text(to_text(Created(LINE, robust=True))).robust  # type: ignore[attr-defined]


def grid_of(**options):
    """A study that knows both dips well."""
    optimizer = Optimizer(LINE, seed=0, **options)
    parts = DIPS["line"][1]
    for x in np.linspace(0, 10, 26):
        optimizer.add({"x": x}, dips([x], parts))
    return optimizer


def test_both_optima_are_offered_whatever_is_searched_for():
    nominal, robust = grid_of(), grid_of(robust=True)
    for each in (nominal, robust):
        assert each.recommend(robust=True).params["x"] == pytest.approx(3.0, abs=0.45)
        assert each.recommend(robust=False).params["x"] == pytest.approx(7.8, abs=0.25)
        assert each.best_trial.params["x"] == pytest.approx(7.8, abs=0.25)
    assert nominal.recommend() == nominal.recommend(robust=False)
    assert robust.recommend() == robust.recommend(robust=True)
    assert robust.recommend().robust
    assert not nominal.recommend().robust


def test_what_is_recommended_comes_with_the_mean_of_the_average():
    robust = grid_of(robust=True)
    found = robust.recommend()
    expected = averaged_dips([found.params["x"]], DIPS["line"][1], 0.9)
    assert found.mean == pytest.approx(expected, abs=0.02)
    mean, _ = robust.belief.predict({"x": 7.8})  # of the objective itself
    assert mean == pytest.approx(dips([7.8], DIPS["line"][1]), abs=0.05)


def test_recommending_the_average_needs_noise():
    optimizer = Optimizer(Space({"x": Float(0, 1)}), seed=0)
    optimizer.add({"x": 0.5}, 1.0)
    with pytest.raises(MethodError, match="the space has none"):
        optimizer.recommend(robust=True)


def test_a_robust_suggestion_says_so():
    optimizer = grid_of(robust=True)
    optimizer.ask()
    assert "robust: True" in str(optimizer.explain())
    assert optimizer.explain().more["robust"] is True


def test_replay_makes_robust_suggestions_again(storage):
    study = Study(LINE, "s", storage, method=Method(initial=LatinHypercube(3)), seed=1, robust=True)
    for number in range(6):
        trial = study.ask()
        x = trial.params["x"] + 0.1
        study.tell(trial, dips([x], DIPS["line"][1]), at={"x": x} if number % 2 else None)
    assert study.replay().identical
    assert load_study("s", storage).replay().identical


def test_maximising_averages_too():
    parts = DIPS["line"][1]
    optimizer = Optimizer(LINE, seed=0, robust=True, direction="maximize")
    for x in np.linspace(0, 10, 26):
        optimizer.add({"x": x}, -dips([x], parts))
    found = optimizer.recommend()
    assert found.params["x"] == pytest.approx(3.0, abs=0.45)
    assert found.mean == pytest.approx(-averaged_dips([found.params["x"]], parts, 0.9), abs=0.02)
