"""The picture of importances."""

from __future__ import annotations

import numpy as np
import pytest

import outcrop as oc
from outcrop import plots
from outcrop.errors import MethodError
from tests.plots.pictures import render
from tests.study.test_importance import told

SPACE = oc.Space({"x": oc.Float(0, 1), "act": oc.Categorical(["relu", "tanh"])})
CONDITIONAL = oc.Space(
    {"x": oc.Float(0, 1), "$m_1$": oc.Choice({"a": {"y": oc.Int(1, 4)}, "b": {}})}
)


def test_bars_are_shares_with_the_most_important_parameter_on_top():
    study = told(SPACE, lambda p: 5 * p["x"] + (p["act"] == "tanh"), 20)
    (axes,) = plots.importance(study)
    render(axes)
    found = study.importance()
    assert [label.get_text() for label in axes.get_yticklabels()] == found.ranked == ["x", "act"]
    assert axes.yaxis_inverted()
    widths = [[bar.get_width() for bar in bars] for bars in axes.containers if len(bars) == 2]
    np.testing.assert_allclose(widths[0], [found.total[name].mean for name in found.ranked])
    np.testing.assert_allclose(widths[1], [max(found.first[n].mean, 0) for n in found.ranked])
    assert f"{found.unknown:.0%} unknown" in axes.get_xlabel()


def test_a_conditional_space_has_a_panel_for_each_branch():
    study = told(CONDITIONAL, lambda p: p["x"] + p.get("$m_1$.a.y", 0), 20, method="tree")
    panels = plots.importance(study, region="best")
    render(panels[0])
    assert len(panels) == 3
    assert {panel.get_title() for panel in panels} == {"", r"\$m_1\$ = a", r"\$m_1\$ = b"}
    assert "in the best quarter" in panels[0].get_xlabel()


def test_on_axes_of_ones_own_there_are_only_those():
    figure = plots.canvas.new_figure((5.0, 4.0))
    given = figure.add_subplot()
    study = told(CONDITIONAL, lambda p: p["x"], 12, method="tree")
    assert plots.importance(study, axes=given) == (given,)
    assert given.get_legend() is not None


def test_an_unknown_region_is_refused():
    with pytest.raises(MethodError, match="region='good' is unknown"):
        plots.importance(told(SPACE, lambda p: p["x"], 5), region="good")
