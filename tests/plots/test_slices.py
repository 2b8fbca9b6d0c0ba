"""The belief along each parameter."""

from __future__ import annotations

import numpy as np
import pytest

import outcrop as oc
from outcrop import plots
from outcrop.errors import NoBelief, ParamsError
from tests.plots.pictures import labelled, render
from tests.study.test_importance import told

SPACE = oc.Space({"x": oc.Float(0, 1), "act": oc.Categorical(["a", "b"]), "n": oc.Int(1, 4)})


@pytest.fixture(scope="module")
def study():
    return told(SPACE, lambda p: 5 * p["x"] + (p["act"] == "b") + 0.1 * p["n"], 20)


def test_each_parameter_has_a_panel_the_most_important_first(study):
    panels = plots.slices(study)
    render(panels[0])
    assert [panel.get_xlabel() for panel in panels] == study.importance().ranked
    assert len({panel.get_ylim() for panel in panels}) == 1


def test_a_curve_is_the_believed_mean_through_the_best_trial(study):
    (axes,) = plots.slices(study, ["x"])
    line = labelled(axes, "mean")
    rows = [{**study.best_params, "x": x} for x in line.get_xdata()]
    np.testing.assert_allclose(line.get_ydata(), study.belief.predict(rows)[0])


def test_a_category_is_an_axis_and_at_holds_the_others(study):
    (axes,) = plots.slices(study, "act", at={"x": 0.8, "n": 2})
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    drawn = labelled(axes, "mean").get_ydata()[[0, 3]]
    rows = [{"x": 0.8, "n": 2, "act": act} for act in "ab"]
    np.testing.assert_allclose(drawn, study.belief.predict(rows)[0])


def test_parameters_that_are_inactive_in_the_best_trial_are_left_out():
    space = oc.Space({"x": oc.Float(0, 1), "m": oc.Choice({"a": {"y": oc.Float(0, 1)}, "b": {}})})
    study = told(space, lambda p: p["x"] + (p["m"] == "a"), 16, method="tree")
    assert {panel.get_xlabel().split("\n")[0] for panel in plots.slices(study)} == {"x", "m"}


def test_unknown_names_and_studies_without_values_are_refused(study):
    with pytest.raises(ParamsError, match="'z' is not in the space"):
        plots.slices(study, ["x", "z"])
    with pytest.raises(NoBelief, match="before the first value"):
        plots.slices(oc.Optimizer(SPACE))
