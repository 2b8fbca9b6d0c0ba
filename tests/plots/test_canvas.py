"""Where figures come from, and who knows of them."""

import pytest
from matplotlib import pyplot

import outcrop as oc
from outcrop import plots
from outcrop.plots import canvas

MANY = 22  # pyplot warns of more than 20 open figures, and here a warning is an error


@pytest.fixture
def study():
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), method="random", seed=0)
    study.add([{"x": 0.1}, {"x": 0.4}], [1.0, 2.0])
    return study


@pytest.fixture(autouse=True)
def no_figures():
    pyplot.close("all")
    yield
    pyplot.close("all")


def test_a_script_leaves_no_figures_behind(study):
    for _ in range(MANY):
        plots.convergence(study)
    assert pyplot.get_fignums() == []


def test_a_notebook_gets_figures_of_pyplot(study, monkeypatch):
    monkeypatch.setattr(canvas, "in_notebook", lambda: True)
    monkeypatch.setattr("matplotlib.get_backend", lambda: "inline")
    settings = dict(pyplot.rcParams)
    for number in range(MANY):
        axes = plots.convergence(study)
        assert pyplot.get_fignums() == [*range(1, number + 2)]
        assert pyplot.gca() is axes
    assert dict(pyplot.rcParams) == settings
    pyplot.close("all")
    own = pyplot.figure().add_subplot()
    assert plots.convergence(study, axes=own) is own
    assert len(pyplot.get_fignums()) == 1


def test_a_notebook_that_draws_to_files_keeps_no_figures(study, monkeypatch):
    monkeypatch.setattr(canvas, "in_notebook", lambda: True)
    monkeypatch.setattr("matplotlib.get_backend", lambda: "Agg")
    plots.convergence(study)
    assert pyplot.get_fignums() == []
