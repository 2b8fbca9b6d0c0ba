import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop import plots
from outcrop.errors import MethodError, NoBelief, ShapeError
from tests.plots.pictures import labelled, render

SPACE = oc.Space({"x": oc.Float(0, 1)})


def study_of(values, direction="minimize"):
    """A study that was told these values, None being a failure."""
    study = oc.Optimizer(SPACE, method="random", seed=0, direction=direction)
    for value in values:
        trial = study.ask()
        study.fail(trial) if value is None else study.tell(trial, value)
    return study


def replaying(values):
    """An objective that gives these values one after the other."""
    following = iter(values)
    return lambda params: next(following)


def best_so_far(run, better=min):
    return [better(run[: i + 1]) for i in range(len(run))]


def edges(axes):
    """The outlines of the bands, in the order of the methods."""
    return [line.get_ydata() for line in axes.lines if line.get_linewidth() < 1]


@given(
    st.integers(0, 2**32),
    st.sampled_from(["minimize", "maximize"]),
    st.floats(0, 0.5),
    st.floats(0.5, 1),
)
@settings(max_examples=15, deadline=None)
def test_median_and_band_are_quantiles_of_the_best_so_far(seed, direction, low, high):
    values = np.random.default_rng(seed).normal(size=(7, 12))
    axes = plots.convergence({"ours": values}, direction=direction, band=(low, high))
    better = min if direction == "minimize" else max
    best = np.array([best_so_far([*run], better) for run in values])
    line = labelled(axes, "ours")
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 13))
    np.testing.assert_allclose(line.get_ydata(), np.median(best, axis=0))
    for drawn, level in zip(edges(axes), (low, high), strict=True):
        np.testing.assert_allclose(drawn, np.quantile(best, level, axis=0))
    (band,) = axes.collections
    extent = band.get_paths()[0].vertices[:, 1]
    assert extent.min() == pytest.approx(min(map(np.min, edges(axes))))
    assert extent.max() == pytest.approx(max(map(np.max, edges(axes))))


def test_best_values_so_far_are_drawn_as_they_are():
    best = np.minimum.accumulate(np.random.default_rng(0).normal(size=(5, 9)), axis=1)
    axes = plots.convergence({"ours": best})
    np.testing.assert_allclose(labelled(axes, "ours").get_ydata(), np.median(best, axis=0))


def test_studies_and_results_are_drawn_as_their_values():
    runs = [[3.0, 4.0, 1.0], [5.0, 2.0, 2.5], [4.0, 3.0, 0.5]]
    studies = [study_of(run) for run in runs]
    results = [
        oc.minimize(replaying(run), SPACE, n_trials=3, method="random", seed=0) for run in runs
    ]
    axes = plots.convergence({"array": np.array(runs), "studies": studies, "results": results})
    medians = [labelled(axes, name).get_ydata() for name in ("array", "studies", "results")]
    np.testing.assert_array_equal(medians, [[4.0, 3.0, 1.0]] * 3)
    render(axes)


def test_failures_are_passed_over_and_a_method_starts_when_all_its_runs_have():
    studies = [study_of([None, 3.0, None, 1.0]), study_of([2.0, 5.0, 1.0, 4.0])]
    line = labelled(plots.convergence({"ours": studies}), "ours")
    np.testing.assert_array_equal(line.get_xdata(), [2, 3, 4])
    np.testing.assert_array_equal(line.get_ydata(), [2.5, 2.0, 1.0])


def test_runs_count_up_to_the_shortest():
    runs = [[3.0, 2.0, 1.0], [4.0, 1.0]]
    for given_runs in (runs, [study_of(run) for run in runs]):
        line = labelled(plots.convergence({"ours": given_runs}), "ours")
        np.testing.assert_array_equal(line.get_ydata(), [3.5, 1.5])


def test_the_direction_is_that_of_the_studies():
    studies = [study_of([1.0, 3.0, 2.0], "maximize")]
    line = labelled(plots.convergence({"ours": studies}), "ours")
    np.testing.assert_array_equal(line.get_ydata(), [1.0, 3.0, 3.0])
    with pytest.raises(MethodError, match="different directions: maximize, minimize"):
        plots.convergence({"ours": studies, "theirs": [study_of([1.0])]})
    with pytest.raises(MethodError, match="different directions"):
        plots.convergence({"ours": studies}, direction="minimize")


@pytest.mark.parametrize(("direction", "sign"), [("minimize", 1.0), ("maximize", -1.0)])
def test_with_the_optimum_regrets_are_drawn_on_a_log_scale(direction, sign):
    values = sign * np.array([[5.0, 3.0, 2.5], [9.0, 4.0, 2.0]])
    axes = plots.convergence({"ours": values}, minimum=2.0 * sign, direction=direction)
    np.testing.assert_allclose(labelled(axes, "ours").get_ydata(), [5.0, 1.5, 0.25])
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel().startswith("regret")
    render(axes)  # a regret of 0 is no reason to warn
    linear = plots.convergence({"ours": values}, minimum=2.0 * sign, direction=direction, log=False)
    assert linear.get_yscale() == "linear"


def test_methods_differ_in_dashes_and_marks_not_only_in_colour():
    names = [f"method {i}" for i in range(10)]
    axes = plots.convergence({name: np.ones((2, 20)) for name in names})
    lines = [labelled(axes, name) for name in names]
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == len(names)
    assert len({line.get_marker() for line in lines[:7]}) == 7


@pytest.mark.parametrize(("direction", "better"), [("minimize", min), ("maximize", max)])
def test_one_study_shows_its_values_and_the_best_so_far(direction, better):
    values = [3.0, None, 5.0, 1.0, 4.0]
    study = study_of(values, direction)
    study.ask()
    axes = plots.convergence(study)
    dots = labelled(axes, "value")
    np.testing.assert_array_equal(dots.get_xdata(), [0, 2, 3, 4])
    np.testing.assert_array_equal(dots.get_ydata(), [3.0, 5.0, 1.0, 4.0])
    steps = labelled(axes, "best so far")
    assert steps.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(steps.get_xdata(), [0, 2, 3, 4, 5])
    known = best_so_far([3.0, 5.0, 1.0, 4.0], better)
    np.testing.assert_array_equal(steps.get_ydata(), [*known, known[-1]])
    assert [*labelled(axes, "failed").get_xdata()] == [1]
    assert [*labelled(axes, "running").get_xdata()] == [5]
    render(axes)


def test_one_study_with_the_minimum_shows_regrets():
    axes = plots.convergence(study_of([3.0, 2.0]), minimum=1.0)
    np.testing.assert_array_equal(labelled(axes, "value").get_ydata(), [2.0, 1.0])
    assert axes.get_yscale() == "log"
    assert axes.get_ylabel() == "regret"


def test_a_single_study_may_stand_for_a_method():
    axes = plots.convergence({"ours": study_of([3.0, 2.0])})
    np.testing.assert_array_equal(labelled(axes, "ours").get_ydata(), [3.0, 2.0])


def test_given_axes_are_drawn_on():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert plots.convergence({"ours": np.ones((2, 3))}, axes=axes) is axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours"]


@pytest.mark.parametrize(
    ("traces", "options", "error", "message"),
    [
        ({}, {}, ShapeError, "at least one name"),
        (
            {"a": np.ones(3)},
            {},
            ShapeError,
            r"'a': expected its runs, as an array \(runs, trials\)",
        ),
        ({"a": []}, {}, ShapeError, "'a': expected its runs"),
        ({"a": "text"}, {}, ShapeError, "'a': expected its runs"),
        ({"a": [[]]}, {}, ShapeError, "'a': expected its runs"),
        ({"a": np.full((1, 3), np.nan)}, {}, NoBelief, "'a': a run has no finite value"),
        ({"a": np.ones((1, 3))}, {"band": (0.8, 0.2)}, MethodError, "two quantiles"),
        ({"a": np.ones((1, 3))}, {"direction": "up"}, MethodError, 'expected "minimize"'),
        (np.ones((2, 3)), {}, MethodError, "expected a Study, an Optimizer or a Result"),
    ],
)
def test_what_is_no_trace_is_refused(traces, options, error, message):
    with pytest.raises(error, match=message):
        plots.convergence(traces, **options)
