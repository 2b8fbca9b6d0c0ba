"""What a study says about the kind of landscape."""

import pytest

import outcrop as oc
from outcrop.errors import NoBelief
from outcrop.study.landscape import FEW, Landscape, place_of

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
    head, *lines = str(found).splitlines()
    assert head.endswith("varies faster towards one end of a parameter (ahead since trial 7)")
    assert lines[0].startswith(" 70%  warped GP")


@pytest.mark.parametrize(
    ("share", "suggestions", "word"),
    [(0.9, FEW, "probably"), (0.9, FEW - 1, "perhaps"), (0.45, FEW, "perhaps")],
)
def test_a_kind_is_probable_after_many_suggestions_and_with_more_than_half(
    share, suggestions, word
):
    rest = (1 - share) / 4
    kinds = {"GP": share, "a": rest, "b": rest, "c": rest, "d": rest}
    text = str(landscape(*[kinds] * suggestions))
    assert text.startswith(f"{word} the objective varies alike everywhere")


def test_kinds_that_are_not_weighed_any_more_come_last():
    found = landscape({"GP": 0.2, "latent GP": 0.5, "a": 0.3}, {"GP": 0.4, "a": 0.6})
    assert found.kinds == ["a", "GP", "latent GP"]


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
    unlikely = Landscape({6: {"GP": 0.6, "Spartan GP": 0.4}}, found.place)
    assert "near" not in str(unlikely)


@pytest.mark.parametrize(
    ("method", "n", "reason"),
    [
        ("gp", 9, "one kind of surrogate alone, 'GP'"),
        ("random", 9, "by a model"),
        ("auto", 2, "by a model"),
        ("auto", 0, "by a model"),
    ],
)
def test_a_study_without_weights_says_why(method, n, reason):
    with pytest.raises(NoBelief, match=f'{reason}.*method="auto"'):
        searched(method, n).landscape()
