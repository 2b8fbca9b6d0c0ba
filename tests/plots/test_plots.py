import builtins

import numpy as np
import pytest

from outcrop import demo, plots
from outcrop.data import Observations
from outcrop.errors import MissingExtra, ShapeError
from outcrop.kernels import Matern52
from outcrop.surrogates import GP, Mixture, Standardised


@pytest.fixture
def belief():
    X, y = np.linspace(0.1, 0.9, 5)[:, None], np.array([30.0, 10.0, 20.0, 10.0, 40.0])
    outcome = Standardised.of(y)
    data = Observations(X, outcome.apply(y))
    parts = tuple(GP(Matern52(scale), noise=1e-6).condition(data) for scale in (0.2, 0.5))
    return Mixture(parts, np.ones(2)), data, outcome


def test_a_belief_is_drawn_in_the_objectives_units(belief):
    axes = plots.belief_1d(*belief, truth=np.sin)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == [
        "95 % of the belief",
        "mean of each component",
        "mean of the belief",
        "truth",
        "data",
    ]
    (data,) = [line for line in axes.lines if line.get_label() == "data"]
    np.testing.assert_allclose(data.get_ydata(), [30, 10, 20, 10, 40])


def test_a_belief_of_two_parameters_is_refused(belief):
    mixture, _, outcome = belief
    with pytest.raises(ShapeError, match="1 dimension"):
        plots.belief_1d(mixture, Observations(np.zeros((2, 2)), np.zeros(2)), outcome)


def test_a_surface_shows_all_trials_and_the_best():
    points = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 0.5]])
    axes = plots.surface_2d(lambda X: X.sum(1), np.array([[0, 4], [0, 5]]), points, best=2)
    (scatter,) = [c for c in axes.collections if len(c.get_offsets()) == 3]
    np.testing.assert_array_equal(scatter.get_offsets(), points)
    (star,) = axes.lines
    assert (star.get_xdata()[0], star.get_ydata()[0]) == (0.5, 0.5)
    assert axes.get_xlim() == (0, 4)


def test_a_surface_of_three_parameters_is_refused():
    with pytest.raises(ShapeError, match=r"got \(3, 2\)"):
        plots.surface_2d(lambda X: X.sum(1), np.zeros((3, 2)), np.zeros((1, 3)))


def test_without_matplotlib_there_is_a_hint(monkeypatch, belief):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"outcrop\[plot\]"):
        plots.belief_1d(*belief)


def test_the_demo_finds_the_funnel_and_writes_its_picture(tmp_path, capsys):
    result = demo.main(trials=30, picture=tmp_path / "demo.png")
    assert result.best_value < 5
    assert (tmp_path / "demo.png").stat().st_size > 10_000
    assert "best value" in capsys.readouterr().out
