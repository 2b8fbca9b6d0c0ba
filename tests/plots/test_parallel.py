"""Trials as lines through parallel axes."""

from __future__ import annotations

import numpy as np
import pytest

import outcrop as oc
from outcrop import plots
from outcrop.errors import NoBelief, ParamsError
from tests.plots.pictures import labelled, render

SPACE = oc.Space(
    {
        "lr": oc.Float(1e-4, 1.0, log=True),
        "act": oc.Categorical(["relu", "tanh", "$x_1$"]),
        "model": oc.Choice({"linear": {}, "mlp": {"layers": oc.Int(1, 5)}}),
        "always": oc.Fixed(3),
    }
)
LINEAR = {"lr": 1e-2, "act": "relu", "model": "linear"}
MLP = {"lr": 1.0, "act": "tanh", "model": "mlp", "model.mlp.layers": 2}


def told(direction="minimize"):
    study = oc.Optimizer(SPACE, method="random", seed=0, direction=direction)
    study.add([LINEAR, MLP], [1.0, 3.0])
    study.enqueue({**MLP, "act": "$x_1$"})
    study.fail(study.ask(), "diverged")
    study.ask()
    return study


def heights(line):
    assert line.get_xdata()[0] == 0
    return np.asarray(line.get_ydata())


def test_a_line_passes_its_values_and_below_inactive_parameters():
    axes = plots.parallel(told())
    render(axes)
    best = heights(labelled(axes, "best"))
    np.testing.assert_allclose(best[:3], [0.5, 0.0, 0.0])  # lr on a log scale, relu, linear
    assert best[3] < 0  # layers are inactive
    assert best[4] == 0  # the smallest value
    (other,) = [
        line for line in axes.lines if len(line.get_xdata()) == 5 and line.get_zorder() == 2
    ]
    np.testing.assert_allclose(heights(other), [1.0, 0.5, 1.0, 0.25, 1.0])


def test_failed_trials_have_no_value_and_running_ones_no_line():
    axes = plots.parallel(told())
    np.testing.assert_allclose(heights(labelled(axes, "failed")), [1.0, 1.0, 1.0, 0.25])
    assert sum(len(line.get_xdata()) >= 4 for line in axes.lines) == 3


def test_the_largest_value_is_best_if_it_is_maximised():
    axes = plots.parallel(told("maximize"))
    assert heights(labelled(axes, "best"))[-1] == 1.0


def test_every_category_is_named_as_text_and_names_choose_axes():
    axes = plots.parallel(told(), ["act", "lr"])
    render(axes)
    texts = [text.get_text() for text in axes.texts]
    assert {"relu", "tanh", r"\$x_1\$", "0.0001", "1", "3"} <= {*texts}
    assert [label.get_text() for label in axes.get_xticklabels()] == ["act", "lr", "value"]
    assert "inactive" not in texts
    assert "inactive" in [text.get_text() for text in plots.parallel(told()).texts]


def test_a_study_in_which_all_failed_and_one_of_equal_values_are_drawn():
    failing = oc.Optimizer(SPACE, method="random", seed=0)
    failing.fail(failing.ask(), "diverged")
    render(plots.parallel(failing))
    equal = oc.Optimizer(SPACE, method="random", seed=0)
    equal.add([LINEAR, MLP], [2.0, 2.0])
    render(plots.parallel(equal))


def test_without_trials_and_with_wrong_names_it_says_why():
    with pytest.raises(NoBelief, match="no trial to draw yet"):
        plots.parallel(oc.Optimizer(SPACE, seed=0))
    for names, message in (
        (["depth"], "'depth' is not in the space"),
        (["always"], "'always' is fixed"),
        (["lr", "lr"], "expected different ones"),
        ([], "expected different ones"),
    ):
        with pytest.raises(ParamsError, match=message):
            plots.parallel(told(), names)
