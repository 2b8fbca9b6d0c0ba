import numpy as np
import pytest

import outcrop as oc
from outcrop import plots
from outcrop.errors import MethodError
from outcrop.inference import MAP
from outcrop.strategies import Perturbed
from tests.plots.pictures import labelled, lightness, render

LINE = oc.Space({"x": oc.Float(-2, 4)})
PLANE = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 2)})


def searching(space, policy, running=(), around=lambda method: method):
    """A study with a few values whose method penalises, and given running trials."""
    method = oc.Method(
        acquisition=oc.acquisition.UCB(2.0),
        inference=MAP(starts=1),
        initial=oc.initial.RandomDesign(size=1),
        pending=policy,
    )
    study = oc.Optimizer(space, method=around(method), seed=0, noise=False)
    past = space.sample(np.random.default_rng(5), 8)
    study.add(past, [np.sin(sum(params.values())) for params in past])
    for params in running:
        study.enqueue(params)
        study.ask()
    return study


def test_a_curve_falls_to_nothing_at_busy_points():
    study = searching(LINE, oc.pending.HardPenalisation(), [{"x": 1.0}, {"x": -0.5}])
    before, after = plots.penalised(study)
    x, height = after.lines[0].get_data()
    for place in (1.0, -0.5):
        assert height[np.abs(x - place).argmin()] < 0.05 * height.max()
    np.testing.assert_array_equal(labelled(after, "running").get_xdata(), [1.0, -0.5])
    assert (before.get_ylabel(), after.get_ylabel()) == ("UCB", "penalised UCB")
    assert before.get_xlabel() == ""
    assert after.get_xlabel() == "x"
    render(before)


def test_before_is_the_search_of_the_same_study_without_running_trials():
    study = searching(LINE, oc.pending.HardPenalisation(), [{"x": 1.0}])
    x, height = plots.penalised(study)[0].lines[0].get_data()
    alone = searching(LINE, oc.pending.HardPenalisation()).belief.search
    np.testing.assert_allclose(height, alone.score([{"x": value} for value in x]), atol=0.05)


def test_a_map_is_lighter_around_busy_points():
    busy = {"x": 0.4, "y": 1.1}
    study = searching(PLANE, oc.pending.PLAyBOOK("HL"), [busy])
    before, after = plots.penalised(study)
    near = [busy["x"] + 0.04], [busy["y"]]
    assert lightness(after, *near)[0] > lightness(before, *near)[0] + 0.1
    np.testing.assert_array_equal(labelled(after, "running").get_xydata(), [[0.4, 1.1]])
    render(after)


def test_beliefs_and_methods_around_methods_are_drawn_too():
    study = searching(LINE, oc.pending.Believer(), [{"x": 1.0}], around=Perturbed)
    before, after = (panel.lines[0].get_data()[1] for panel in plots.penalised(study, "x"))
    assert not np.allclose(before, after)


def test_own_axes_are_drawn_on():
    study = searching(LINE, oc.pending.Believer(), [{"x": 1.0}])
    figure = plots.penalised(study)[0].figure
    axes = figure.add_subplot()
    assert plots.penalised(study, axes=axes) == (axes,)


def test_without_running_trials_or_an_acquisition_there_is_nothing_to_draw():
    with pytest.raises(MethodError, match="no trial is running"):
        plots.penalised(searching(LINE, oc.pending.Believer()))
    study = oc.Optimizer(LINE, method=oc.Method(initial=oc.initial.RandomDesign(size=9)), seed=0)
    study.tell(study.ask(), 1.0)
    study.ask()
    with pytest.raises(MethodError, match="the initial design is incomplete"):
        plots.penalised(study)
