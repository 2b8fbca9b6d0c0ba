import builtins

import numpy as np
import pytest
from scipy.stats import spearmanr

import outcrop as oc
from outcrop import plots
from outcrop.errors import MethodError, MissingExtra, NoBelief
from outcrop.inference import MAP
from outcrop.strategies import Suggestion
from outcrop.strategies.perturbed import Perturbed
from tests.plots.pictures import labelled, lightness, render

RATES = (2e-4, 1e-3, 3e-3, 8e-3, 3e-2, 0.4, 0.09)


def bumps(rate):
    return 10 + np.sin(3 * np.log10(rate)) * 4


@pytest.fixture(scope="module")
def curve():
    """A log parameter to maximise, with noise, a failure and a running trial."""
    study = oc.Optimizer(
        oc.Space({"rate": oc.Float(1e-4, 1.0, log=True)}), seed=0, direction="maximize"
    )
    study.add([{"rate": rate} for rate in RATES], [bumps(rate) for rate in RATES], std=[0.5] * 7)
    for rate in (0.7, 1e-2):
        study.enqueue({"rate": rate})
    study.fail(study.ask(), "diverged")
    study.ask()
    return study


@pytest.fixture(scope="module")
def plane():
    """Two parameters, found out by a model whose hyperparameters do not depend on luck."""
    space = oc.Space({"x": oc.Float(-1, 3), "rate": oc.Float(1e-3, 1.0, log=True)})
    study = oc.Optimizer(space, method=oc.Method(inference=MAP()), seed=1, noise=False)
    for params in space.sample(np.random.default_rng(3), 14):
        study.add(params, (params["x"] - 2) ** 2 + (np.log10(params["rate"]) + 1) ** 2)
    return study


def test_the_mean_is_that_of_the_belief_in_the_users_units(curve):
    main, _ = plots.belief(curve)
    line = labelled(main, "mean")
    x = line.get_xdata()
    assert (x[0], x[-1]) == (1e-4, 1.0)
    one_by_one = [curve.belief.predict({"rate": rate})[0] for rate in x[::40]]
    np.testing.assert_allclose(line.get_ydata()[::40], one_by_one)
    assert 5 < np.mean(line.get_ydata()) < 15
    assert main.get_xscale() == "log"
    assert main.get_ylabel() == "objective"
    render(main)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_band_holds_95_per_cent_of_the_belief_however_bent_it_is(direction):
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), seed=0, direction=direction)
    sign = 1.0 if direction == "minimize" else -1.0
    values = sign * np.array([1.0, 1.5, 1.2, 50.0, 900.0, 2.0])  # heavy-tailed on the bad side
    study.add([{"x": x} for x in (0.05, 0.3, 0.5, 0.75, 0.9, 0.15)], values)
    assert study.belief.believed.outcome.tail < 1
    (band,) = plots.belief(study)[0].collections
    vertices = band.get_paths()[0].vertices
    for x in (0.0, 0.2, 0.4, 0.65, 0.98):
        heights = vertices[np.isclose(vertices[:, 0], x), 1]
        draws = sign * study.belief.believed.sample(
            np.array([[x]]), np.random.default_rng(8), 40_000
        )
        assert np.mean(draws < heights.min()) == pytest.approx(0.025, abs=0.005)
        assert np.mean(draws > heights.max()) == pytest.approx(0.025, abs=0.005)


def test_a_belief_that_is_no_mixture_has_a_band_of_its_standard_deviation():
    class Line:
        def predict(self, X):
            return 2 * X[:, 0], 0.1 + X[:, 0]

    class Own:
        def propose(self, view, rng):
            return Suggestion({"x": 0.5})

        def belief(self, view, rng):
            return Line()

    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), method=Own(), seed=0)
    study.add({"x": 0.3}, 1.0)
    (main,) = plots.belief(study)
    vertices = main.collections[0].get_paths()[0].vertices
    for x in (0.0, 0.5, 1.0):
        heights = vertices[vertices[:, 0] == x, 1]
        expected = 2 * x - 1.96 * (0.1 + x), 2 * x + 1.96 * (0.1 + x)
        np.testing.assert_allclose((heights.min(), heights.max()), expected, rtol=1e-3)


def test_every_kind_of_trial_is_marked(curve):
    main, _ = plots.belief(curve)
    best = max(RATES, key=bumps)
    assert [*labelled(main, "best").get_xdata()] == [best]
    assert sorted(labelled(main, "data").get_xdata()) == sorted({*RATES} - {best})
    for state, rate in (("failed", 0.7), ("running", 1e-2)):
        (x,), (y,) = labelled(main, state).get_data()
        assert x == pytest.approx(rate)
        assert 0 < y < 0.1  # of the height
    bars = main.containers[0].lines[2][0].get_segments()
    drawn = {round(x, 9): (low, high) for (x, low), (_, high) in bars}
    for rate in RATES:
        expected = bumps(rate) - 0.5, bumps(rate) + 0.5
        np.testing.assert_allclose(drawn[round(rate, 9)], expected)


def test_the_acquisition_is_what_the_next_trial_is_chosen_by(plane):
    study = oc.Optimizer(
        oc.Space({"x": oc.Float(-1, 1)}), method=oc.Method(inference=MAP()), seed=3, noise=False
    )
    X = (-0.9, -0.35, 0.1, 0.7, 0.95)
    study.add([{"x": x} for x in X], [np.sin(4 * x) for x in X])
    main, beneath = plots.belief(study)
    (score,) = (line for line in beneath.lines if len(line.get_xdata()) > 2)
    peak = score.get_xdata()[np.argmax(score.get_ydata())]
    assert labelled(main, "acquisition's maximum").get_xdata()[0] == peak
    assert beneath.get_ylabel() == "LogEI"
    assert study.ask().params["x"] == pytest.approx(peak, abs=0.01)


def test_the_acquisition_keeps_away_from_where_trials_failed():
    def found(failing):
        study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), seed=0, noise=False)
        study.add([{"x": x} for x in (0.1, 0.2, 0.3, 0.5)], [3.0, 2.5, 2.0, 1.0])
        for x in failing:
            study.enqueue({"x": x})
            study.fail(study.ask())
        main = plots.belief(study)[0]
        return labelled(main, "acquisition's maximum").get_xdata()[0]

    assert found([]) > 0.5
    assert found([0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 0.95]) < 0.6


def test_maps_show_mean_deviation_and_acquisition_where_they_are(plane, rng):
    axes = plots.belief(plane)
    assert [panel.get_title() for panel in axes] == ["mean", "standard deviation", "LogEI"]
    params = plane.space.sample(rng, 60)
    x, y = [p["x"] for p in params], [p["rate"] for p in params]
    mean, std = plane.belief.predict(params)
    (best_x,), (best_y,) = labelled(axes[0], "acquisition's maximum").get_data()
    search = plane.belief.search
    (top,) = search.score([{"x": best_x, "rate": best_y}])
    score = np.clip(search.score(params), top - 10, top)  # logarithms go much deeper
    for lines in axes:
        for line in [*lines.lines]:
            line.remove()  # marks would hide the colours
    for panel, values, lighter in zip(axes, (mean, std, score), (1, -1, -1), strict=True):
        shade = lightness(panel, x, y)
        assert spearmanr(shade, lighter * values).statistic > 0.95
    assert (axes[0].get_xlabel(), axes[0].get_ylabel()) == ("x", "rate")
    assert (axes[0].get_xscale(), axes[0].get_yscale()) == ("linear", "log")
    assert axes[0].get_xlim() == (-1, 3)
    np.testing.assert_allclose(axes[0].get_ylim(), (1e-3, 1))


def test_better_is_darker_whatever_the_direction():
    space = oc.Space({"a": oc.Float(0, 1), "b": oc.Float(0, 1)})
    study = oc.Optimizer(space, seed=0, direction="maximize")
    params = space.sample(np.random.default_rng(0), 12)
    study.add(params, [p["a"] for p in params])
    mean = plots.belief(study)[0]
    low, high = lightness(mean, [0.1, 0.9], [0.5, 0.5])
    assert high < low


def test_the_diamond_is_where_the_next_trial_goes(plane):
    axes = plots.belief(plane)
    (x,), (y,) = labelled(axes[0], "acquisition's maximum").get_data()
    study = oc.Optimizer(plane.space, method=oc.Method(inference=MAP()), seed=1, noise=False)
    for trial in plane.trials:
        study.add(trial.params, trial.value)
    params = study.ask().params
    assert params["x"] == pytest.approx(x, abs=0.1)
    assert np.log10(params["rate"]) == pytest.approx(np.log10(y), abs=0.1)


def test_a_map_marks_every_trial(plane):
    mean = plots.belief(plane)[0]
    drawn = {
        (x, y)
        for label in ("data", "best")
        for x, y in zip(*labelled(mean, label).get_data(), strict=True)
    }
    assert drawn == {(t.params["x"], t.params["rate"]) for t in plane.trials}
    render(mean)


def test_while_the_design_lasts_there_is_no_acquisition():
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), seed=0)
    study.add({"x": 0.4}, 1.0)
    assert study.belief.search is None
    assert len(plots.belief(study)) == 1


def test_a_space_that_is_used_up_has_no_next_trial():
    study = oc.Optimizer(oc.Space({"n": oc.Int(1, 6)}), seed=0, noise=False)
    study.add([{"n": n} for n in range(1, 7)], [4.0, 2.0, 1.0, 3.0, 5.0, 9.0])
    assert study.belief.search is None
    (main,) = plots.belief(study)
    assert [*labelled(main, "mean").get_xdata()] == [1, 2, 3, 4, 5, 6]
    assert [text.get_text() for text in main.get_xticklabels()] == [*"123456"]
    render(main)


def test_a_perturbed_method_is_heard_through_what_it_wraps():
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), method=Perturbed("gp"), seed=0)
    study.add([{"x": x} for x in (0.1, 0.3, 0.5, 0.8)], [3.0, 2.0, 1.0, 2.0])
    assert study.belief.search.acquisition == "LogEI"
    trial = study.ask()
    study.tell(trial, 1.5)  # its perturbation is due, and nothing is maximised for it
    assert study.belief.search is None


def test_levels_of_an_ordinal_are_ticks():
    study = oc.Optimizer(oc.Space({"size": oc.Ordinal(["S", "M", "L"])}), seed=0)
    study.add([{"size": size} for size in "SL"], [1.0, 2.0])
    main = plots.belief(study)[0]
    assert [text.get_text() for text in main.get_xticklabels()] == ["S", "M", "L"]
    assert [*labelled(main, "mean").get_xdata()] == [0, 1, 2]


@pytest.mark.parametrize("value", [0.0, -1e12])
def test_a_constant_objective_has_a_picture(value):
    space = oc.Space({"a": oc.Float(0, 1), "b": oc.Int(1, 500, log=True)})
    study = oc.Optimizer(space, seed=0)
    study.add(space.sample(np.random.default_rng(0), 6), [value] * 6)
    render(plots.belief(study)[0])


def test_given_axes_are_drawn_on_and_few_take_the_first_panels(curve, plane):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert plots.belief(curve, axes=axes) == (axes,)
    assert axes.get_legend() is not None
    pair = Figure().subplots(1, 2)
    assert plots.belief(plane, axes=pair) == tuple(pair)
    assert pair[1].get_title() == "standard deviation"
    with pytest.raises(MethodError, match="has 2 panels, got 3 axes"):
        plots.belief(curve, axes=Figure().subplots(1, 3))


def test_a_picture_of_its_own_opens_no_window(curve):
    assert plots.belief(curve)[0].figure.canvas.manager is None


def test_the_legend_stands_above_the_data(curve):
    main, _ = plots.belief(curve)
    render(main)
    (legend,) = main.figure.legends
    assert legend.get_window_extent().y0 >= main.get_window_extent().y1


def test_a_search_without_a_model_says_how_to_get_one():
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), method="random", seed=0)
    study.add({"x": 0.5}, 1.0)
    with pytest.raises(NoBelief, match="use method='gp'"):
        plots.belief(study)


def test_without_matplotlib_there_is_a_hint(monkeypatch, curve):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    for picture in (plots.belief, plots.convergence):
        with pytest.raises(MissingExtra, match=r"outcrop\[plot\]"):
            picture(curve)
