"""The plot of how probable each kind of landscape was."""

import pytest

import outcrop as oc
from outcrop import plots
from outcrop.errors import NoBelief
from tests.plots.pictures import render

SPACE = oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)})


def searched(method):
    return oc.minimize(
        lambda p: p["x"] + p["y"], SPACE, 10, method=method, seed=0, noise=False, progress=False
    )


def test_the_layers_are_the_kinds_and_fill_the_plot():
    result = searched("auto")
    axes = plots.weights(result)
    render(axes)
    labels = axes.get_legend_handles_labels()[1]
    numbers = [t.number for t in result.trials if "evidence" in t.why]
    assert {*labels} == {*result.trials[-1].why["evidence"]}
    assert axes.get_ylim() == (0.0, 1.0)
    assert axes.get_xlim() == (numbers[0], numbers[-1])
    top = axes.collections[-1].get_paths()[0].vertices[:, 1]
    assert top.max() == pytest.approx(1.0, abs=1e-3)


def test_a_search_without_weights_has_no_such_plot():
    with pytest.raises(NoBelief, match="no kinds of landscape are weighed"):
        plots.weights(searched("gp"))
