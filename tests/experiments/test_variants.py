"""Variants of `"gp"` and `"auto"`: each differs from what is shipped in what its name says."""

import numpy as np
import pytest

import outcrop as oc
from experiments import auto_variants, plain_variants
from experiments.auto_variants import (
    FULLY_BALANCED,
    STEP,
    AveragedOrBalanced,
    Drawn,
    GrowinglyBalanced,
    Stacked,
    Tempered,
)
from experiments.suite.variants import report
from experiments.unbent import unbent_view
from outcrop.data import Observations
from outcrop.strategies.model_based import ModelBased
from outcrop.surrogates import Ensemble, Plain, Situation, Warped
from outcrop.surrogates.ensemble import WeighedMembers

SPACE = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)})


def members(how, **settings):
    ensemble = Ensemble((Plain(), Warped()), **settings)
    return how(ensemble, {kind.label: kind for kind in ensemble.members}, Situation(SPACE))


def row(variant, problem, start, found):
    return {
        "cell": {"variant": variant, "problem": problem},
        "run": 0,
        "start": start,
        "found": found,
    }


@pytest.mark.parametrize("variants", [plain_variants.VARIANTS, auto_variants.EVERY])
def test_every_variant_makes_a_strategy(variants):
    for variant in variants.values():
        method = getattr(variant, "method", variant)
        assert hasattr(oc.strategies.strategy_for(method, SPACE), "propose")


def test_a_variant_with_other_initial_points_is_measured_from_the_start_of_the_first():
    rows = [row("one", "a", 10.0, 5.0), row("one", "b", 10.0, 5.0)]
    rows += [row("two", "a", 2.0, 1.0), row("two", "b", 4.0, 5.0)]
    last = report(rows, ["one", "two"]).splitlines()[-1]
    cells = [cell.strip() for cell in last.strip("|").split("|")]
    assert cells[:5] == ["two", "2", "0.700", "+0.200 ± 0.200", "1 : 0"]


def test_half_the_design_is_followed_by_the_model():
    variant = plain_variants.VARIANTS["half the design"]
    strategy = variant.method.strategy(SPACE)
    assert isinstance(strategy, ModelBased)
    assert strategy.initial.size_for(SPACE) == variant.points(SPACE) == 3


def test_unbent_values_are_standardised_only(rng):
    X, y = rng.random((6, 2)), np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1e6])
    view = oc.strategies.View(6, X, y, np.full(6, np.nan), X[:0], X[:0])
    assert view.outcome.tail < 1
    unbent = unbent_view(view)
    np.testing.assert_allclose(unbent.outcome.apply(y), (y - y.mean()) / y.std())


def test_tempered_weights_are_in_the_ratio_of_square_roots():
    weights = members(Tempered, shared=0.0)._weights({"GP": 0.9, "warped GP": 0.1}, 20)
    assert weights["GP"] / weights["warped GP"] == pytest.approx(3.0)
    assert sum(weights.values()) == pytest.approx(1.0)


def test_stacked_weights_follow_the_gradient_of_the_log_density_of_the_mixture(monkeypatch):
    stacked = members(Stacked)
    densities = np.array([2.0, 0.5])  # of the members in the order of their labels
    monkeypatch.setattr(WeighedMembers, "_gains", lambda *_: np.log(densities)[None])
    w = np.array([0.3, 0.7])
    before = {"evidence": {"GP": 0.3, "warped GP": 0.7}}
    found = stacked._evidence(Observations(np.zeros((1, 2)), np.zeros(1)), before)
    step = 1e-6
    gradient = [
        (np.log((w + step * e) @ densities) - np.log((w - step * e) @ densities)) / (2 * step)
        for e in np.eye(2)
    ]
    expected = w * (1 - STEP + STEP * np.array(gradient))
    np.testing.assert_allclose([found["GP"], found["warped GP"]], expected, rtol=1e-6)
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_drawn_belief_has_one_member_and_remembers_all(rng):
    X = rng.random((8, 2))
    data = Observations(X, X.sum(1))
    seen = set()
    for seed in range(8):
        belief = members(Drawn).fit(data, np.random.default_rng(seed))
        assert len(set(belief.members)) == 1
        assert set(belief.state["members"]) == {"GP", "warped GP"}
        seen.update(belief.members)
    assert seen == {"GP", "warped GP"}


def test_improvements_are_averaged_or_balanced_by_lot_and_nothing_else_differs(rng):
    X = rng.random((8, 2))
    data = Observations(X, X.sum(1))
    beliefs = [
        members(AveragedOrBalanced).fit(data, np.random.default_rng(seed)) for seed in range(8)
    ]
    assert {belief.balance for belief in beliefs} == {0.0, Ensemble.balance}
    assert all(set(belief.members) == {"GP", "warped GP"} for belief in beliefs)


def test_a_growing_balance_is_proportional_to_the_observations_up_to_its_end(rng):
    X = rng.random((2 * FULLY_BALANCED, 2))
    sizes = FULLY_BALANCED // 2, FULLY_BALANCED, 2 * FULLY_BALANCED
    found = [
        members(GrowinglyBalanced).fit(Observations(X[:n], X[:n].sum(1)), rng).balance
        for n in sizes
    ]
    np.testing.assert_allclose(found, [Ensemble.balance / 2, Ensemble.balance, Ensemble.balance])


def test_members_for_categories_noise_and_conditions_run_where_these_are():
    _, mixed, noisy, trees = auto_variants.EXPERIMENT.parts
    spaces = [oc.problems.get(cell["problem"]).space for cell in mixed]
    assert all(
        any(isinstance(column.parameter, oc.Categorical) for column in space.columns)
        for space in spaces
    )
    assert len(spaces) == 7
    assert {cell["group"] for cell in noisy} == {"noisy"}
    assert {cell["variant"] for cell in noisy} == {"as shipped", "with noise that varies"}
    assert {cell["group"] for cell in trees} == {"trees"}
    assert {cell["variant"] for cell in trees} == {"as shipped", *auto_variants.CONDITIONAL}
