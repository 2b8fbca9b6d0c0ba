import numpy as np
import pytest

import outcrop as oc
from outcrop import plots
from outcrop.errors import MethodError
from outcrop.inference import Slice
from outcrop.kernels import Matern52
from outcrop.strategies.perturbed import Perturbed
from outcrop.surrogates import Latent, LatentGP, LatentPosterior, Mixture
from tests.plots.pictures import labelled, pixels, render

X = np.array([0.02, 0.15, 0.3, 0.44, 0.58, 0.71, 0.85, 0.99])
LATENTS = np.array([0.0, 0.3, -2.5, 0.1, -0.6, 0.2, 1.0, -0.1])
FEW = Slice(chains=4, burn_in=3, sweeps=1)


def told(method, x=X, values=None):
    study = oc.Optimizer(oc.Space({"x": oc.Float(-1, 3)}), method=method, seed=0, noise=False)
    values = np.sin(4 * x) if values is None else values
    study.add([{"x": 4 * u - 1} for u in x], values)
    return study


def fixed(*latents, lengthscale=0.25):
    """A method whose model has nothing to infer."""
    return oc.Method(surrogate=LatentGP(Matern52([lengthscale]), 0.2, latents, noise=1e-4))


def family(**options):
    return oc.Method(surrogate=Latent(**options), inference=FEW)


def scattered(axes):
    """The marks of observations."""
    from matplotlib.collections import PathCollection

    (marks,) = [marks for marks in axes.collections if isinstance(marks, PathCollection)]
    return marks


def medians(axes):
    return np.asarray(scattered(axes).get_offsets())


def test_distances_are_in_lengthscales_and_by_trial_number():
    left, right = plots.latents(told(fixed(LATENTS)))
    np.testing.assert_allclose(
        medians(left), np.column_stack([np.arange(8), np.abs(LATENTS) * 0.2 / 0.25])
    )
    chains = labelled(left, "a chain's")
    np.testing.assert_allclose(np.stack(chains.get_data(), -1), medians(left))
    assert left.get_ylabel() == "lengthscales off the space"
    assert left.get_xlabel() == "trial number"
    render(left)
    assert right.get_xlabel() == "x"


def test_several_coordinates_are_one_distance():
    left, _ = plots.latents(told(fixed(LATENTS, 2 * LATENTS[::-1], lengthscale=0.5)))
    expected = 0.4 * np.sqrt(LATENTS**2 + 4 * LATENTS[::-1] ** 2)
    np.testing.assert_allclose(medians(left)[:, 1], expected)


def test_observations_stand_in_the_belief_that_passes_them_by():
    values = np.sin(4 * X) + (np.abs(LATENTS) == 2.5)
    study = told(fixed(LATENTS), values=values)
    _, right = plots.latents(study)
    np.testing.assert_allclose(scattered(right).get_offsets(), np.column_stack([4 * X - 1, values]))
    mean = labelled(right, "mean")
    at = [{"x": float(x)} for x in mean.get_xdata()]
    np.testing.assert_allclose(mean.get_ydata(), study.belief.predict(at)[0])
    missed = np.abs(np.interp(4 * X - 1, *mean.get_data()) - values)
    assert missed[2] > 0.5
    assert np.delete(missed, 2).max() < 0.2


def test_marks_are_darker_the_farther_off():
    for panel in plots.latents(told(fixed(LATENTS))):
        picture = pixels(panel)
        places = panel.transData.transform(np.asarray(scattered(panel).get_offsets()))
        columns, rows = places.astype(int).T
        shade = picture[len(picture) - 1 - rows, columns].mean(-1)
        order = np.argsort(np.abs(LATENTS))
        assert (np.diff(shade[order]) <= 0).all()
        assert shade[2] < 0.1
        assert shade[0] > 0.95


def test_the_farthest_are_numbered_in_both_panels():
    panels = plots.latents(told(fixed(LATENTS)))
    assert [[text.get_text() for text in panel.texts] for panel in panels] == [["2", "6"]] * 2


def test_the_median_counts_chains_by_their_weights():
    rows = np.random.default_rng(5).normal(size=(4, 8))
    weights = np.array([1, 4, 2, 2])  # no half of the nine is reached exactly

    class Own:
        def fit(self, observations, rng, previous=None):
            models = (LatentGP(Matern52([0.4]), 0.3, (row,), noise=1e-4) for row in rows)
            return Mixture(tuple(model.condition(observations) for model in models), weights)

    left, _ = plots.latents(told(oc.Method(surrogate=Own())))
    expected = np.median(np.repeat(np.abs(rows) * 0.3 / 0.4, weights, axis=0), axis=0)
    np.testing.assert_allclose(medians(left)[:, 1], expected)
    assert len(labelled(left, "a chain's").get_xdata()) == 4 * 8


def test_the_largest_spread_is_shown_whichever_was_drawn():
    lots = told(family())
    alone = told(family(spreads=(0.1,)))
    small = told(family(spreads=(0.01,)))
    for picture, same in (
        (plots.latents(lots), plots.latents(alone)),
        (plots.latents(lots, spread=0.01), plots.latents(small)),
        (plots.latents(told(family(together=True))), plots.latents(alone)),
    ):
        np.testing.assert_array_equal(medians(picture[0]), medians(same[0]))
        lines = [labelled(panels[1], "mean").get_ydata() for panels in (picture, same)]
        np.testing.assert_array_equal(*lines)
        assert picture[0].get_ylabel() == same[0].get_ylabel()
    assert alone.belief.believed.mixture.components[0].latents.any()
    assert plots.latents(lots)[0].get_ylabel().endswith("(spread 0.1)")


def test_every_chain_is_drawn():
    study = told(family(spreads=(0.1,)))
    left, _ = plots.latents(study)
    parts = study.belief.believed.mixture.components
    assert all(isinstance(part, LatentPosterior) for part in parts)
    x, y = labelled(left, "a chain's").get_data()
    drawn = np.array([y[x == number] for number in range(8)]).T
    expected = [np.abs(p.latents[:, 0]) / p.model.kernel.kernel.kernel.lengthscales for p in parts]
    np.testing.assert_allclose(np.sort(drawn, 0), np.sort(expected, 0))
    assert len(parts) == 4


def test_an_outlier_is_the_farthest_off():
    x = np.linspace(0.02, 0.98, 17)
    values = 4 * (x - 0.6) ** 2
    values[5] += 1.0
    method = oc.Method(Latent((0.1,)), Slice(chains=4, burn_in=32))
    left, _ = plots.latents(told(method, x, values))
    assert np.argmax(medians(left)[:, 1]) == 5


def test_a_map_shows_every_observation_where_it_is():
    space = oc.Space(
        {
            "x": oc.Float(-1, 3),
            "rate": oc.Float(1e-3, 1, log=True),
            "model": oc.Choice({"a": {}, "b": {"depth": oc.Float(2, 8)}}),
        }
    )
    study = oc.Optimizer(space, method=family(), seed=0, noise=False)
    params = space.sample(np.random.default_rng(3), 16)
    study.add(params, [p["x"] ** 2 for p in params])
    left, right = plots.latents(study, ["x", "rate"])
    marks = scattered(right)
    np.testing.assert_allclose(marks.get_offsets(), [(p["x"], p["rate"]) for p in params])
    assert right.get_yscale() == "log"
    held = study.best_params["model"]
    small = marks.get_sizes() < max(marks.get_sizes())
    assert small.sum() >= sum(p["model"] != held for p in params) > 0
    render(left)
    left, right = plots.latents(study, "model.b.depth")
    assert len(medians(left)) == 16
    assert len(scattered(right).get_offsets()) == sum(p["model"] == "b" for p in params)


def test_failed_and_running_trials_have_no_latents():
    study = told(family(spreads=(0.1,)))
    study.fail(study.ask(), "diverged")
    study.ask()
    study.tell(study.ask(), 0.5)
    left, _ = plots.latents(study)
    assert [*medians(left)[:, 0]] == [0, 1, 2, 3, 4, 5, 6, 7, 10]


def test_a_perturbed_method_is_seen_through():
    left, _ = plots.latents(told(Perturbed(family())), spread=0.01)
    assert left.get_ylabel().endswith("(spread 0.01)")


def test_one_given_axes_is_the_first_panel():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert plots.latents(told(fixed(LATENTS)), axes=axes) == (axes,)
    assert axes.get_legend() is not None
    with pytest.raises(MethodError, match="has 2 panels, got 3 axes"):
        plots.latents(told(fixed(LATENTS)), axes=Figure().subplots(1, 3))


@pytest.mark.parametrize(
    ("method", "spread", "message"),
    [
        ("gp", None, "'gp' has no latents to draw; use method='latent'"),
        ("gp", 0.1, "spread=0.1: the method has no spreads; use method='latent'"),
        (family(), 0.5, r"spread=0.5: expected one of the method's, \[0.1, 0.01\]"),
        (family(), 0.0, "spread=0.0: expected one of"),
        (family(spreads=(0.0,)), None, "has no spread above 0 to draw"),
        (fixed(LATENTS), 0.1, "spread=0.1: the method has no spreads"),
    ],
    ids=["gp", "gp-spread", "unknown", "zero", "no-spread", "own"],
)
def test_what_has_no_latents_is_told_what_to_do(method, spread, message):
    with pytest.raises(MethodError, match=message):
        plots.latents(told(method), spread=spread)
