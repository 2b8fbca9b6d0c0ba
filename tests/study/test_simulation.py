"""Virtual time, beside schedules that are worked out in another way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import outcrop as oc
from outcrop.errors import MethodError, NoBelief, ObjectiveError, ParamsError, SpaceExhausted
from outcrop.strategies.base import Suggestion
from outcrop.study.simulation import Simulation

SPACE = oc.Space({"x": oc.Float(0, 1)})
TREE = oc.Space(
    {"m": oc.Choice({"a": {}, "b": {"k": oc.Int(1, 3)}}), "c": oc.Categorical(["p", "q"])}
)

seconds = st.floats(0.01, 100.0)
schedules = given(st.lists(seconds, min_size=1, max_size=25), st.integers(1, 9), seconds)


def loss(params):
    return (params["x"] - 0.3) ** 2


def simulated(method="random", *, n_workers=3, n_trials=12, space=SPACE, objective=loss, **options):
    return oc.simulate(
        objective, method, n_workers=n_workers, n_trials=n_trials, space=space, **options
    )


def lasting(lengths, **options):
    """A simulation whose trials take these times, by number."""
    following = iter(lengths)
    return simulated(n_trials=len(lengths), duration=lambda params, rng: next(following), **options)


def summary(simulation: Simulation):
    return [
        (t.number, dict(t.params), t.state, t.value, t.started, t.finished)
        for t in simulation.trials
    ], simulation.workers


# Schedules


@schedules
@settings(max_examples=40, deadline=None)
def test_asynchronous_trials_go_to_the_first_free_worker_through_one_optimiser(lengths, k, think):
    simulation = lasting(lengths, n_workers=k, overhead=think)
    free, optimiser = [0.0] * k, 0.0
    starts, ends = [], []
    for length in lengths:  # a recurrence over trials, without a clock
        first = int(np.argmin(free))
        optimiser = max(optimiser, free[first]) + think
        free[first] = optimiser + length
        starts.append(optimiser)
        ends.append(free[first])
    assert [t.started for t in simulation.trials] == pytest.approx(starts)
    assert [t.finished for t in simulation.trials] == pytest.approx(ends)
    assert simulation.makespan == pytest.approx(max(ends))
    assert simulation.thinking == pytest.approx(think * len(lengths))


@schedules
@settings(max_examples=40, deadline=None)
def test_synchronous_batches_take_as_long_as_their_longest_trial(lengths, k, think):
    simulation = lasting(lengths, n_workers=k, overhead=think, mode="synchronous")
    batches = [lengths[i : i + k] for i in range(0, len(lengths), k)]
    assert simulation.makespan == pytest.approx(
        sum(think * len(batch) + max(batch) for batch in batches)
    )
    starts = {round(t.started, 9) for t in simulation.trials}
    assert len(starts) == len(batches)


@schedules
@settings(max_examples=25, deadline=None)
def test_a_worker_has_one_trial_at_a_time_and_utilisation_is_the_share_it_has_one(
    lengths, k, think
):
    for mode in ("asynchronous", "synchronous"):
        simulation = lasting(lengths, n_workers=k, overhead=think, mode=mode)
        waited = 0.0
        for worker in range(k):
            clock = 0.0
            for trial, where in zip(simulation.trials, simulation.workers, strict=True):
                if where == worker:
                    assert trial.started >= clock - 1e-9
                    waited += trial.started - clock
                    clock = trial.finished
            waited += simulation.makespan - clock
        idle = waited / (k * simulation.makespan)
        assert simulation.utilisation == pytest.approx(1 - idle)
        assert simulation.busy == pytest.approx(sum(lengths))


def test_constant_lengths_and_no_thinking_keep_every_worker_busy():
    for mode in ("asynchronous", "synchronous"):
        simulation = simulated(n_workers=4, n_trials=12, duration=2.0, mode=mode)
        assert simulation.utilisation == pytest.approx(1.0)
        assert simulation.makespan == pytest.approx(6.0)


@pytest.mark.parametrize("mode", ["asynchronous", "synchronous"])
def test_a_suggestion_knows_what_has_finished_by_then_and_what_runs(mode):
    seen = []

    class Spy:
        def propose(self, view, rng):
            seen.append((view.number, set(view.y), len(view.pending)))
            return Suggestion({"x": float(rng.random())})

        def belief(self, view, rng):
            raise NoBelief("none")

    think = 0.2
    simulation = simulated(Spy(), n_workers=3, n_trials=14, overhead=think, mode=mode)
    trials = simulation.trials
    for number, values, pending in seen:
        batch = [t for t in trials if t.started == trials[number].started]
        began = trials[number].started - think * len(batch)
        before = [t for t in trials if t.started <= began + 1e-9]
        known = {t.value for t in before if t.finished <= began + 1e-9}
        assert values == known
        earlier = sum(t.number < number for t in batch)
        assert pending == len(before) - len(known) + earlier
    assert len(seen) == 14


# What it says of the search


def test_the_same_seed_gives_the_same_simulation():
    options = {"n_workers": 2, "n_trials": 9, "overhead": 0.1}
    first, second = (simulated("gp", seed=5, **options) for _ in range(2))
    assert summary(first) == summary(second)
    assert summary(first) != summary(simulated("gp", seed=6, **options))


def test_a_trial_takes_equally_long_whatever_method_mode_and_workers():
    def lengths(method, **options):
        return [t.finished - t.started for t in simulated(method, seed=3, **options).trials]

    first = lengths("random")
    assert lengths("sobol", n_workers=7, mode="synchronous") == pytest.approx(first)
    assert lengths("random", overhead=2.0) == pytest.approx(first)


def test_the_asynchronous_search_on_one_worker_is_the_one_without_a_clock():
    simulation = simulated("gp", n_workers=1, n_trials=9, seed=4)
    optimizer = oc.Optimizer(SPACE, method="gp", seed=4)
    for _ in range(9):
        trial = optimizer.ask()
        optimizer.tell(trial, loss(trial.params))
    assert [t.params for t in simulation.trials] == [t.params for t in optimizer.trials]
    assert simulation.best_value == optimizer.best_value


@pytest.mark.parametrize(("direction", "better"), [("minimize", min), ("maximize", max)])
def test_the_best_so_far_is_that_of_all_that_finished_until_then(direction, better):
    simulation = simulated(direction=direction, initial=2, n_trials=15)
    times, best = simulation.best_so_far
    assert (np.diff(times) >= 0).all()
    for time in [0.0, *times, times[-1] + 1.0]:
        known = [t.value for t in simulation.trials if t.finished <= time]
        assert simulation.best_at(time) == better(known)
    np.testing.assert_array_equal(simulation.best_at(times)[1:], best[1:])
    assert simulation.best_value == best[-1]
    assert math.isnan(simulated().best_at([0.0, 1e9])[0])


def test_initial_configurations_are_known_at_time_0_and_do_not_count():
    given_ones = [{"x": 0.1}, {"x": 0.9}]
    for initial in (given_ones, 2):
        runs = [simulated(method, initial=initial, n_trials=5) for method in ("random", "sobol")]
        for run in runs:
            assert run.n_evaluations == 5
            assert run.workers[:2] == (None, None)
            assert [(t.started, t.finished) for t in run.trials[:2]] == [(None, 0.0)] * 2
            assert run.best_at(0.0) == min(t.value for t in run.trials[:2])
        assert runs[0].trials[0].params == runs[1].trials[0].params
    assert [dict(t.params) for t in simulated(initial=given_ones).trials[:2]] == given_ones


def test_configurations_to_begin_with_run_on_the_workers():
    simulation = simulated(enqueue=[{"x": 0.25}, {"x": 0.75}], n_workers=2)
    assert [t.params["x"] for t in simulation.trials[:2]] == [0.25, 0.75]
    assert [t.started for t in simulation.trials[:2]] == [0.0, 0.0]
    assert simulation.workers[:2] == (0, 1)


def test_failures_are_recorded_and_the_search_goes_on():
    def fragile(params):
        if params["x"] < 0.3:
            raise RuntimeError("burst")
        return math.nan if params["x"] > 0.8 else params["x"]

    simulation = simulated(objective=fragile, n_trials=30)
    failed = [t for t in simulation.trials if t.state == "failed"]
    assert {t.reason for t in failed} == {"RuntimeError: burst", "the value is nan"}
    assert (
        simulation.n_failed
        == len(failed)
        == sum(not 0.3 <= t.params["x"] <= 0.8 for t in simulation.trials)
    )
    assert simulation.n_evaluations == 30
    assert simulation.best_value >= 0.3


def test_without_any_value_there_is_no_best():
    simulation = simulated(objective=lambda params: None)
    assert simulation.n_failed == 12
    assert "best" not in repr(simulation)
    with pytest.raises(NoBelief):
        _ = simulation.best_value


@pytest.mark.parametrize("mode", ["asynchronous", "synchronous"])
def test_nothing_starts_from_until_on_and_what_runs_is_finished(mode):
    whole = simulated(n_trials=60, mode=mode)
    until = whole.makespan / 2
    half = simulated(n_trials=None, until=until, mode=mode)
    expected = [t for t in whole.trials if t.started < until]
    assert [t.started for t in half.trials] == [t.started for t in expected]
    assert half.makespan == max(t.finished for t in expected)
    assert half.reason == "until reached"
    assert whole.reason == "n_trials done"


@pytest.mark.parametrize("mode", ["asynchronous", "synchronous"])
def test_more_workers_than_configurations_leave_workers_without_work(mode):
    space = oc.Space({"n": oc.Int(1, 5)})
    options = {"space": space, "objective": lambda p: p["n"], "noise": False, "mode": mode}
    simulation = simulated(n_workers=9, n_trials=50, **options)
    assert sorted(t.params["n"] for t in simulation.trials) == [1, 2, 3, 4, 5]
    assert simulation.reason == "space exhausted"
    assert {*simulation.workers} == {*range(5)}
    with pytest.raises(SpaceExhausted):
        simulated(initial=[{"n": n} for n in range(1, 6)], **options)


def test_measured_thinking_is_the_time_of_the_asks():
    simulation = simulated("sobol", overhead="measured", duration=1e-6, n_workers=1)
    assert simulation.thinking > 0
    assert simulation.makespan == pytest.approx(simulation.thinking + 12e-6)


def test_a_problem_may_be_given_by_its_name():
    named = oc.simulate("branin", "random", n_workers=2, n_trials=4)
    itself = oc.simulate(oc.problems.get("branin"), "random", n_workers=2, n_trials=4)
    assert summary(named) == summary(itself)
    assert named.study.space is not None


def test_a_frame_has_the_worker_and_virtual_times():
    simulation = simulated(initial=1, n_trials=5)
    frame = simulation.to_frame()
    assert list(frame["worker"][1:]) == list(simulation.workers[1:])
    assert frame["worker"].isna().tolist() == [True] + [False] * 5
    assert frame["finished"].tolist() == [t.finished for t in simulation.trials]
    assert "x" in frame


def test_progress_is_shown_where_it_is_wanted(capsys):
    simulated(n_trials=20, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[-1].startswith("trial 20/20, best ")
    simulated(progress=False)
    assert capsys.readouterr().err == ""


def test_importing_the_library_does_not_load_the_simulator():
    import subprocess
    import sys

    code = "import sys, outcrop; print([m for m in sys.modules if 'simulation' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Durations


def test_half_normal_lengths_have_the_thesis_distribution(rng):
    draws = [oc.durations.HalfNormal()({}, rng) for _ in range(4000)]
    expected = stats.halfnorm(scale=math.sqrt(math.pi / 2))
    assert expected.mean() == pytest.approx(1.0)
    assert stats.kstest(draws, expected.cdf).pvalue > 0.001
    same = np.random.default_rng(3), np.random.default_rng(3)
    assert oc.durations.HalfNormal(60.0)({}, same[0]) == pytest.approx(
        60.0 * oc.durations.HalfNormal()({}, same[1])
    )


def test_lengths_may_be_proportional_to_a_parameter():
    duration = oc.durations.Proportional("x", 3.0, base=2.0)
    for trial in simulated(duration=duration).trials:
        assert trial.finished - trial.started == pytest.approx(2.0 + 3.0 * trial.params["x"])
    conditional = oc.durations.Proportional("m.b.k", 10.0, base=1.0)
    trials = simulated(space=TREE, objective=lambda p: 0.0, duration=conditional).trials
    lengths = {round(t.finished - t.started, 6) for t in trials}
    assert lengths == {1.0 + 10.0 * t.params.get("m.b.k", 0) for t in trials}
    assert 1.0 in lengths


# What is refused


def test_a_simulation_without_an_end_has_a_hundred_trials():
    simulation = oc.simulate("branin", "random", n_workers=16)
    assert simulation.n_evaluations == 100


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_workers": 0}, MethodError, "n_workers must be a whole number of at least 1, got 0"),
        ({"n_workers": 2.5}, MethodError, "n_workers"),
        ({"n_trials": 0}, MethodError, "n_trials"),
        ({"until": -1.0}, MethodError, "until must be a number of seconds above 0"),
        ({"mode": "parallel"}, MethodError, "mode='parallel'"),
        ({"overhead": -0.1}, MethodError, "overhead=-0.1"),
        ({"overhead": "real"}, MethodError, "or 'measured'"),
        ({"initial": -1}, MethodError, "initial=-1"),
        ({"initial": "x"}, MethodError, "initial='x'"),
        ({"initial": [{"y": 1.0}]}, ParamsError, "'y'"),
        ({"duration": 0.0}, MethodError, "duration must be a number of seconds above 0"),
        ({"duration": "long"}, MethodError, "duration='long': expected oc.durations"),
        ({"duration": oc.durations.HalfNormal}, MethodError, r"write HalfNormal\(…\)"),
        ({"duration": lambda p, rng: -3.0}, MethodError, "duration of trial 0, .*got -3.0"),
        ({"duration": lambda p, rng: math.nan}, MethodError, "duration of trial 0"),
        ({"duration": oc.durations.Proportional("z")}, ParamsError, "'z' is not in the space"),
        ({"duration": oc.durations.Proportional("x")}, MethodError, r"x = 0.0 would take 0.0"),
        (
            {"duration": oc.durations.Proportional("c"), "space": TREE},
            ParamsError,
            "'c' is Categorical.* not numeric",
        ),
        (
            {"duration": oc.durations.Proportional("k"), "space": TREE},
            ParamsError,
            "did you mean 'm.b.k'",
        ),
        (
            {"duration": oc.durations.Proportional("m.b.k"), "space": TREE},
            MethodError,
            "m.b.k inactive would take 0.0",
        ),
        ({"space": None}, MethodError, "a function needs the space"),
        ({"objective": 3.0}, ObjectiveError, "expected a function"),
        ({"objective": "branin"}, MethodError, "has its own space"),
        ({"objective": "brannin", "space": None}, ParamsError, "did you mean .*branin"),
        ({"method": "magic"}, MethodError, "'magic'"),
        ({"progress": "loud"}, MethodError, "progress"),
    ],
)
def test_what_cannot_be_simulated_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        simulated(**options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: oc.durations.HalfNormal(-1.0), "HalfNormal: mean"),
        (lambda: oc.durations.ConstantDuration(0), "ConstantDuration: seconds"),
        (lambda: oc.durations.Proportional("x", math.inf), "factor must be a finite number"),
    ],
)
def test_lengths_that_cannot_be_are_refused(make, message):
    with pytest.raises(MethodError, match=message):
        make()


@pytest.mark.slow
def test_a_thousand_workers_and_many_trials_keep_their_order():
    simulation = simulated(n_workers=1000, n_trials=4000)
    free = np.zeros(1000)
    for trial in simulation.trials:
        first = int(free.argmin())
        assert trial.started == pytest.approx(free[first])
        free[first] = trial.finished
    assert simulation.makespan == pytest.approx(free.max())
