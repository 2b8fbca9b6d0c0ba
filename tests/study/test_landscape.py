"""What a study says about the kind of landscape."""

import pytest

import outcrop as oc
from outcrop.errors import NoBelief
from outcrop.study.landscape import Landscape, place_of

SPACE = oc.Space({"x": oc.Float(0, 1), "lr": oc.Float(1e-5, 1, log=True)})


def bowl(params):
    return (params["x"] - 0.3) ** 2 + params["lr"]


def searched(method="auto", n=12):
    study = oc.Optimizer(SPACE, method=method, seed=0, noise=False)
    for _ in range(n):
        trial = study.ask()
        study.tell(trial, bowl(trial.params))
    return study


def landscape(*kinds):
    return Landscape({number: dict(each) for number, each in enumerate(kinds, start=6)})


def test_every_suggestion_of_auto_records_probabilities_that_sum_to_one():
    study = searched()
    found = study.landscape()
    modelled = [trial for trial in study.trials if trial.why["source"] == "model"]
    assert [*found.history] == [trial.number for trial in modelled]
    for kinds in found.history.values():
        assert sum(kinds.values()) == pytest.approx(1.0, abs=1e-3)
    assert list(found.weights.values()) == sorted(found.weights.values(), reverse=True)


def test_a_clear_leader_is_named_with_the_trial_since_which_it_leads():
    found = landscape(
        {"GP": 0.5, "warped GP": 0.3, "latent GP": 0.2},
        {"GP": 0.2, "warped GP": 0.6, "latent GP": 0.2},
        {"GP": 0.2, "warped GP": 0.7, "latent GP": 0.1},
    )
    assert found.leader == "warped GP"
    assert found.since == 7
    assert "varies faster towards one end of a parameter: most probable since trial 7" in str(found)
    assert "70%  warped GP" in str(found)


def test_nothing_is_claimed_where_no_kind_is_clearly_ahead():
    found = landscape({"GP": 0.4, "warped GP": 0.35, "latent GP": 0.25})
    assert found.leader == ""
    assert found.since is None
    assert "do not tell" in str(found)


def test_the_place_of_a_rough_region_is_named_in_the_units_of_its_parameters():
    space = oc.Space({"x": oc.Float(0, 1), "lr": oc.Float(1e-4, 1, log=True)})
    region = oc.kernels.Region([0.5, 0.25], 0.2, oc.kernels.Matern52(0.1))
    kernel = oc.kernels.LocalGlobal((region,), oc.kernels.Matern52(1.0))
    data = oc.data.Observations([[0.5, 0.2], [0.1, 0.9]], [0.0, 1.0])
    belief = oc.surrogates.Mixture.single(oc.surrogates.GP(kernel, 1e-6).condition(data))
    found = Landscape({6: {"Spartan GP": 1.0}}, place_of(space, belief))
    assert found.place == ", near x ≈ 0.5, lr ≈ 0.001"
    assert "is rough in one region and smooth elsewhere, near x ≈ 0.5, lr ≈ 0.001" in str(found)


@pytest.mark.parametrize(("method", "n"), [("gp", 9), ("random", 9), ("auto", 2), ("auto", 0)])
def test_a_method_that_weighs_nothing_says_so(method, n):
    with pytest.raises(NoBelief, match='method="auto"'):
        searched(method, n).landscape()
