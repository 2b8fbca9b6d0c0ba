"""Which parameters matter, as a study believes it."""

from __future__ import annotations

import numpy as np
import pytest

import outcrop as oc
from outcrop.errors import MethodError, NoBelief
from outcrop.study.importance import Importance, Share
from tests.html_pages import read_html
from tests.known_shares import G_FUNCTION, ISHIGAMI, LINEAR

EVIL = "<img src=x onerror=alert(1)>"


def told(space, function, n=60, method="gp", **options):
    """A study with the values of a function at Sobol points."""
    study = oc.Optimizer(space, method=method, seed=0, noise=False, **options)
    design = oc.Optimizer(space, method="sobol", seed=0)
    params = [trial.params for trial in design.ask(n)]
    study.add(params, [function(each) for each in params])
    return study


def fitted(known, n):
    space = oc.Space({f"x{i}": oc.Float(0, 1) for i in range(known.d)})
    return told(space, lambda p: float(known.on_cube(np.array([[*p.values()]]))[0]), n)


@pytest.mark.parametrize(
    ("known", "n"),
    [(ISHIGAMI, 150), (G_FUNCTION, 100), (LINEAR, 30)],
    ids=["ishigami", "g", "linear"],
)
def test_a_fitted_study_knows_the_closed_form_within_its_uncertainty(known, n):
    found = fitted(known, n).importance()
    assert found.unknown < 0.2
    names = [f"x{i}" for i in range(known.d)]
    for shares, exact in ((found.first, known.first), (found.total, known.total)):
        for name, share in zip(names, exact, strict=True):
            assert abs(shares[name].mean - share) <= 3 * shares[name].std + found.unknown + 0.005
    for (one, other), share in found.pairs.items():
        exact = known.pairs[names.index(one), names.index(other)]
        assert abs(share.mean - exact) <= 3 * share.std + found.unknown + 0.005
    assert found.ranked[0] == names[int(np.argmax(known.total))]


def test_more_observations_leave_less_unknown():
    few, many = (fitted(G_FUNCTION, n).importance() for n in (12, 100))
    assert many.unknown < few.unknown


def test_only_what_makes_a_configuration_good_counts_in_the_best_quarter():
    """Far from the optimum `coarse` causes nearly all of the variation, near it none."""

    def function(p):
        return 10 * max(p["coarse"] - 0.5, 0.0) + abs(p["fine"] - 0.3)

    space = oc.Space({"coarse": oc.Float(0, 1), "fine": oc.Float(0, 1)})
    study = told(space, function, 64)
    assert study.importance().ranked == ["coarse", "fine"]
    assert study.importance("best").ranked == ["fine", "coarse"]
    lifted = told(space, lambda p: -function(p), 64, direction="maximize")
    for region in ("all", "best"):
        low, high = study.importance(region), lifted.importance(region)
        for name in space.parameters:
            assert low.total[name].mean == pytest.approx(high.total[name].mean, abs=1e-6)


def test_categories_and_conditional_parameters_have_shares_and_branches_their_own():
    space = oc.Space(
        {
            "x": oc.Float(0, 1),
            "act": oc.Categorical(["relu", "tanh", "gelu"]),
            "model": oc.Choice({"linear": {}, "mlp": {"layers": oc.Int(1, 4)}}),
        }
    )

    def function(p):
        depth = 2 * p["layers"] if p["model"] == "mlp" else 0.0
        return depth + (p["act"] == "tanh") + 0.2 * p["x"]

    found = told(space, function, 60, method="tree").importance()
    assert {*found.total} == {*space.parameters}
    assert found.branch == {}
    by_option = {each.branch["model"]: each for each in found.branches}
    assert {*by_option} == {"linear", "mlp"}
    assert by_option["mlp"].ranked[0] == "model.mlp.layers"
    assert by_option["linear"].ranked == ["act", "x"]
    assert {*by_option["linear"].total} == {"x", "act"}
    parts = np.array([5.0, 2 / 9, 0.04 / 12])  # of 2 × layers, a third of cases, and 0.2 x
    exact = dict(zip(["model.mlp.layers", "act", "x"], parts / parts.sum(), strict=True))
    for name, share in exact.items():
        total = by_option["mlp"].total[name]
        assert abs(total.mean - share) <= 3 * total.std + by_option["mlp"].unknown + 0.005


@pytest.mark.parametrize("method", ["warped", "latent", "treed", "cocabo"])
def test_every_model_has_importances(method):
    space = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])})
    study = told(space, lambda p: 5 * p["x"] + (p["c"] == "a") + 0.1 * p["y"], 25, method)
    assert study.importance().ranked[0] == "x"


def test_a_belief_that_is_one_component_has_importances():
    space = oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])})
    study = told(space, lambda p: 5e200 * p["x"], 15, oc.Method(surrogate=oc.baselines.OneHot()))
    assert study.importance().ranked == ["x", "c"]


def test_a_constant_objective_has_no_shares():
    study = told(oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)}), lambda p: 3.0, 5)
    found = study.importance()
    assert all(np.isfinite([share.mean, share.std]).all() for share in found.total.values())
    assert max(share.mean for share in found.total.values()) <= 1.01


def test_importances_are_the_same_again_and_change_nothing():
    space = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)})
    studies = [told(space, lambda p: p["x"] * p["y"], 10) for _ in range(2)]
    first = studies[0].importance()
    assert first == studies[0].importance() == studies[1].importance()
    assert studies[0].importance() is first
    assert studies[0].ask().params == told(space, lambda p: p["x"] * p["y"], 10).ask().params
    studies[0].tell(studies[0].ask(), 0.5)
    assert studies[0].importance() != first


def test_without_a_belief_there_is_no_importance():
    space = oc.Space({"x": oc.Float(0, 1)})
    with pytest.raises(NoBelief, match="before the first value"):
        oc.Optimizer(space).importance()
    with pytest.raises(NoBelief, match="no model"):
        told(space, lambda p: p["x"], 3, method="random").importance()


@pytest.mark.parametrize("region", ["good", None, ["best"]])
def test_an_unknown_region_is_refused(region):
    study = told(oc.Space({"x": oc.Float(0, 1)}), lambda p: p["x"], 3)
    with pytest.raises(MethodError, match=r"region=.* is unknown; write 'all'"):
        study.importance(region)


def shares(**means):
    return {name: Share(mean, 0.01) for name, mean in means.items()}


def test_it_reads_as_a_table():
    found = Importance(
        region="best",
        first=shares(x=-0.001, long_name=0.7),
        total=shares(x=0.2, long_name=0.9),
        pairs={("x", "long_name"): Share(0.2, 0.05)},
        unknown=0.071,
        branch={"model": "mlp"},
    )
    assert str(found).splitlines() == [
        "importance over the best quarter of the space, model = mlp:",
        "  parameter  total        alone",
        "  long_name  0.90 ± 0.01  0.70 ± 0.01",
        "  x          0.20 ± 0.01  0.00 ± 0.01",
        "  x × long_name: 0.20 ± 0.05",
        "  7% of the variation is unknown to the belief",
    ]


def test_a_notebook_shows_names_as_text():
    space = oc.Space({EVIL: oc.Float(0, 1), "m": oc.Choice({EVIL: {"x": oc.Float(0, 1)}, "b": {}})})
    found = told(space, lambda p: p[EVIL], 10, method="tree").importance()
    tags, text = read_html(found._repr_html_())
    assert "img" not in tags
    assert text.startswith("Importance over the whole spaceparametertotalalone" + EVIL)
    assert f"m = {EVIL}" in text
