from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outcrop as oc
from outcrop import plots
from outcrop.errors import MethodError, NoBelief
from outcrop.plots.timeline import measured_spans, without_pauses
from outcrop.study.trial import Trial
from tests.plots.pictures import labelled, lightness, render

SPACE = oc.Space({"x": oc.Float(0, 1)})


def fragile(params):
    if params["x"] > 0.7:
        raise ValueError("too much")
    return params["x"]


def simulated(**options):
    options = {"n_workers": 3, "n_trials": 20, "overhead": 0.1, "initial": 2} | options
    return oc.simulate(fragile, "random", space=SPACE, **options)


def bars(axes, label):
    """Row, start and length of each bar that the legend calls `label`."""
    (found,) = [group for group in axes.containers if group.get_label() == label]
    return sorted(
        (round(bar.get_y() + bar.get_height() / 2), bar.get_x(), bar.get_width()) for bar in found
    )


@pytest.mark.parametrize("mode", ["asynchronous", "synchronous"])
def test_bars_are_the_evaluations_and_what_is_left_is_waiting(mode):
    simulation = simulated(mode=mode)
    axes = plots.timeline(simulation)
    expected = sorted(
        (worker, trial.started, trial.finished - trial.started)
        for trial, worker in zip(simulation.trials, simulation.workers, strict=True)
        if worker is not None
    )
    np.testing.assert_allclose(bars(axes, "busy"), expected)
    np.testing.assert_allclose(
        bars(axes, "waiting"), [(row, 0, simulation.makespan) for row in range(3)]
    )
    share = f"3 workers, {mode}: busy for {100 * simulation.utilisation:.1f} %"
    assert share in axes.get_xlabel()
    render(axes)


def test_busy_is_darker_than_waiting_in_black_and_white():
    simulation = simulated(mode="synchronous")
    axes = plots.timeline(simulation)
    longest = max(simulation.evaluated, key=lambda trial: trial.finished - trial.started)
    worker = simulation.workers[longest.number]
    place = longest.started + 0.25 * (longest.finished - longest.started)
    busy, waiting = lightness(axes, [place, 0.05], [worker, worker])
    assert busy < waiting - 0.2


def test_failures_and_the_best_trial_are_marked():
    simulation = simulated(direction="maximize")
    axes = plots.timeline(simulation)
    failed = [t for t in simulation.evaluated if t.state == "failed"]
    assert failed
    np.testing.assert_allclose(
        labelled(axes, "failed").get_xdata(), [(t.started + t.finished) / 2 for t in failed]
    )
    best = max((t for t in simulation.evaluated if t.value is not None), key=lambda t: t.value)
    star = labelled(axes, "best value")
    assert [*star.get_xdata()] == [best.finished]
    assert [*star.get_ydata()] == [simulation.workers[best.number]]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 10)), min_size=1, max_size=25))
@settings(max_examples=60, deadline=None)
def test_trials_of_a_study_share_as_few_rows_as_were_busy_at_once(times):
    trials = [
        Trial(number, {}, {}, state="finished", value=0.0, started=float(s), finished=float(s + d))
        for number, (s, d) in enumerate(times)
    ]
    spans = measured_spans(trials)
    for row in {span.worker for span in spans}:
        along = sorted((span.start, span.end) for span in spans if span.worker == row)
        for (_, end), (start, _) in pairwise(along):
            assert end <= start
    at_once = max(sum(s <= moment < s + d for s, d in times) for moment, _ in times)
    assert len({span.worker for span in spans}) == at_once
    assert min(span.start for span in spans) == 0.0


HOUR = 3600.0


def timed(*times, state="finished"):
    return [
        Trial(number, {}, {}, state, value=0.0, started=float(start), finished=float(end))
        for number, (start, end) in enumerate(times)
    ]


def test_nights_between_the_sessions_of_a_study_are_cut_out():
    first = [(0, 600), (100, 900), (905, 1500)]
    second = [(1500 + 9 * HOUR, 1800 + 9 * HOUR), (1900 + 9 * HOUR, 2500 + 9 * HOUR)]
    spans, pauses = without_pauses(measured_spans(timed(*first, *second)))
    assert [(span.start, span.end) for span in spans[:3]] == first
    assert [(span.start, span.end) for span in spans[3:]] == [(1500, 1800), (1900, 2500)]
    assert [(pause.place, str(pause)) for pause in pauses] == [(1500, "9 h")]


def test_a_trial_that_was_left_running_does_not_fill_the_night():
    trials = [*timed((0, 600)), Trial(1, {}, {}, started=500.0)]
    trials += [Trial(2, {}, {}, "finished", value=1.0, started=4 * HOUR, finished=5 * HOUR)]
    spans, (pause,) = without_pauses(measured_spans(trials))
    assert pause.seconds == 4 * HOUR - 600
    assert {span.trial.number: span.end for span in spans} == {0: 600, 1: 600 + HOUR, 2: 600 + HOUR}


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 300)), min_size=1, max_size=20))
@settings(max_examples=60, deadline=None)
def test_evaluations_keep_their_lengths_and_order_when_pauses_are_cut_out(times):
    before = measured_spans(timed(*((start, start + length) for start, length in times)))
    after, pauses = without_pauses(before)
    for one, two in zip(before, after, strict=True):
        assert two.end - two.start == pytest.approx(one.end - one.start)
        assert two.start <= one.start
    cut = sum(pause.seconds for pause in pauses)
    assert max(s.end for s in before) - max(s.end for s in after) == pytest.approx(cut)
    assert all(pause.seconds >= 60 for pause in pauses)
    again, none = without_pauses(after)
    assert not none
    assert again == after


def test_pauses_are_marked_with_their_lengths(monkeypatch):
    study = oc.Optimizer(SPACE, method="random", seed=0)
    clock = iter([0.0, 60.0, 90_000.0, 90_060.0, 90_070.0, 90_130.0])
    monkeypatch.setattr("time.time", lambda: next(clock))
    for _ in range(3):
        study.tell(study.ask(), 1.0)
    axes = plots.timeline(study)
    assert "asked for, without 1 pause (s)" in axes.get_xlabel()
    assert "busy for 94.7 %" in axes.get_xlabel()
    assert [text.get_text() for text in axes.texts] == ["25 h"]
    assert [*labelled(axes, "a pause, cut out").get_xdata()] == [60.0, 60.0]
    assert axes.get_xlim() == (0.0, 190.0)
    render(axes)


def test_a_study_shows_its_trials_and_what_still_runs():
    study = oc.Optimizer(SPACE, method="random", seed=0)
    asked = study.ask(3)
    study.tell(asked[0], 1.0)
    study.add({"x": 0.5}, 2.0)
    axes = plots.timeline(study)
    assert len(bars(axes, "busy")) == 1
    assert len(bars(axes, "still running")) == 2
    assert "since the first trial" in axes.get_xlabel()
    render(axes)
    result = oc.minimize(lambda p: p["x"], SPACE, n_trials=4, method="random", seed=0)
    assert len(bars(plots.timeline(result), "busy")) == 4


@pytest.mark.parametrize("n_workers", [1, 2, 60])
def test_any_number_of_workers_fits_on_a_picture(n_workers):
    axes = plots.timeline(simulated(n_workers=n_workers, n_trials=3 * n_workers))
    assert len(bars(axes, "waiting")) == n_workers
    assert axes.figure.get_figheight() < 8
    render(axes)


def test_given_axes_are_drawn_on():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert plots.timeline(simulated(), axes=axes) is axes


def test_what_has_no_time_is_refused():
    with pytest.raises(NoBelief, match="no trial was started"):
        plots.timeline(oc.Optimizer(SPACE))
    with pytest.raises(MethodError, match="expected a Study"):
        plots.timeline([1.0, 2.0])
