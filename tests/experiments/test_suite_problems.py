import itertools

import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments.suite import coco, experiment, groups, noisy
from experiments.suite.bounds import BOUNDS, PROBLEMS, bounds_problem
from experiments.suite.instances import HALVES, ReservedInstance, instance_of, seed_of
from experiments.suite.own import OWN, TREES, own_problem
from outcrop.problems import Problem
from outcrop.space import Float, Int, Space

EVERY = [(group, name) for group, each in groups.GROUPS.items() for name in each.problems]


@pytest.mark.parametrize("instance", [*range(-1, 11), 21])
@pytest.mark.parametrize("name", ["bbob-f01-d2", "mixint-f01-d5"])
def test_reserved_instances_are_refused_before_anything_is_loaded(instance, name, monkeypatch):
    def loaded(*where):
        raise AssertionError("a reserved instance was loaded")

    monkeypatch.setattr(coco, "_load", loaded)
    with pytest.raises(ReservedInstance, match="never evaluated"):
        coco.coco_problem(name, instance)
    with pytest.raises(ReservedInstance):
        coco.Coco("bbob", 1, 2, instance)({"x1": 0.0, "x2": 0.0})


def test_halves_share_neither_instance_nor_seed_and_each_instance_has_two_seeds():
    made = {
        half: [(instance_of(half, run), seed_of(half, run)) for run in range(10)] for half in HALVES
    }
    choose, confirm = made["choose"], made["confirm"]
    assert {i for i, _ in choose} == set(range(11, 16))
    assert {i for i, _ in confirm} == set(range(16, 21))
    assert not {s for _, s in choose} & {s for _, s in confirm}
    for pairs in made.values():
        assert len(set(pairs)) == 10
        assert all(sum(i == instance for i, _ in pairs) == 2 for instance, _ in pairs)


def test_a_run_beyond_the_ten_is_refused():
    cell = {"group": "own", "half": "choose", "problem": "branin", "method": "random"}
    with pytest.raises(ValueError, match="10 runs"):
        experiment.run(cell, 10)


def test_groups_have_the_problems_and_budgets_that_were_planned():
    sizes = {group: len(each.problems) for group, each in groups.GROUPS.items()}
    assert sizes["bbob"] == 24 + 24 + 6
    assert sizes["bbob-mixint"] == 24
    assert sizes["bounds"] == 10
    assert sizes["tuning"] >= 6
    assert {groups.trials_of("bbob", f"bbob-f01-d{d}") for d in (2, 5, 10)} == {40, 60, 80}
    assert all(40 <= groups.trials_of(group, name) <= 80 for group, name in EVERY)


def test_names_of_problems_are_unique():
    names = [name for _, name in EVERY]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("instance", [11, 18])
@pytest.mark.parametrize("name", [*OWN, *TREES])
def test_the_minimum_of_an_own_problem_is_at_its_minimisers(name, instance, rng):
    problem = own_problem(name, instance)
    for point in problem.minimisers:
        assert problem(point) == pytest.approx(problem.minimum, abs=1e-6)
    drawn = [problem(params) for params in problem.space.sample(rng, 50)]
    assert min(drawn) >= problem.minimum - 1e-9


@pytest.mark.parametrize("name", BOUNDS)
def test_the_minimum_of_a_bounds_problem_is_lowest_on_a_grid(name):
    known, problem = PROBLEMS[name], bounds_problem(name, 13)
    (point,) = problem.minimisers
    assert problem(point) == pytest.approx(known.minimum, abs=1e-12)
    per_axis = {2: 201, 3: 41, 4: 15, 5: 9, 6: 7}[len(known.box)]
    axes = [np.linspace(low, high, per_axis) for low, high in known.box]
    X = np.array(list(itertools.product(*axes)))
    assert known.formula(X).min() >= known.minimum - 1e-12


def test_optima_are_at_corners_on_faces_and_within_three_percent_of_bounds():
    kinds = {"corner": 0, "face": 0, "near": 0}
    for known in PROBLEMS.values():
        low, high = np.array(known.box).T
        u = (np.array(known.minimiser) - low) / (high - low)
        distance = np.minimum(u, 1 - u)
        on = distance == 0
        kind = "corner" if on.all() else "face" if on.any() else "near"
        kinds[kind] += 1
        if kind == "near":
            assert 0.01 <= distance.min() <= 0.03
    assert sum(kinds.values()) == 10
    assert min(kinds["corner"], kinds["face"]) >= 3


def test_instances_of_a_bounds_problem_differ_by_reflection():
    places = {
        tuple(bounds_problem("slope-face-3", i).minimisers[0].values()) for i in range(11, 21)
    }
    assert len(places) > 2
    assert {place[0] for place in places} == {0.0, 1.0}


@pytest.mark.parametrize("instance", [11, 20])
@pytest.mark.parametrize("name", ["bbob-f03-d2", "bbob-f24-d5", "bbob-f20-d10"])
def test_the_optimum_that_coco_discloses_is_a_minimum(name, instance, rng):
    pytest.importorskip("cocoex")
    problem = coco.coco_problem(name, instance)
    (point,) = problem.minimisers
    assert problem(point) == problem.minimum
    assert all(p.low == -5 and p.high == 5 for p in problem.space.parameters.values())
    near = [
        {n: np.clip(x + 1e-3 * rng.normal(), -5, 5) for n, x in point.items()} for _ in range(20)
    ]
    assert min(map(problem, [*near, *problem.space.sample(rng, 100)])) >= problem.minimum


def test_integers_of_mixed_coco_problems_are_int_parameters(rng):
    pytest.importorskip("cocoex")
    problem = coco.coco_problem("mixint-f15-d5", 12)
    kinds = [type(p) for p in problem.space.parameters.values()]
    assert kinds == [Int] * 4 + [Float]
    assert problem.minimisers[0] == problem.space.validate(problem.minimisers[0])
    assert min(map(problem, problem.space.sample(rng, 200))) >= problem.minimum


@pytest.mark.parametrize("name", groups.GROUPS["tuning"].problems)
def test_a_tuning_task_is_deterministic_and_its_splits_differ(name, rng):
    pytest.importorskip("sklearn")
    one, other = (groups.problem_of("tuning", name, instance) for instance in (11, 16))
    points = one.space.sample(rng, 3)
    values = [one(point) for point in points]
    assert values == [one(point) for point in points]
    assert np.isfinite(values).all()
    assert any(other(point) != value for point, value in zip(points, values, strict=True))


def test_at_least_two_tuning_tasks_have_conditions():
    tuning = groups.GROUPS["tuning"]
    conditional = [
        name
        for name in tuning.problems
        if any(column.conditions for column in tuning.make(name, 11).space.columns)
    ]
    assert len(conditional) >= 2
    assert all(groups.why_not("BoTorch", "tuning", name) for name in conditional)


def test_botorch_is_left_out_where_there_are_conditions_or_categories():
    left_out = {name for group, name in EVERY if groups.why_not("BoTorch", group, name)}
    assert left_out > {*TREES, "func-2C", "ackley-5C5", "noisy-func-2C", "network-wine"}
    assert not left_out & {*BOUNDS, *coco.BBOB, *coco.MIXINT, "branin", "mat-2", "svr-diabetes"}
    assert not any(groups.why_not("TPE", group, name) for group, name in EVERY)


def test_hebo_is_left_out_where_there_are_conditions_alone():
    left_out = {name for group, name in EVERY if groups.why_not("HEBO", group, name)}
    assert left_out > {*TREES}
    assert not left_out & {*BOUNDS, *coco.BBOB, *coco.MIXINT, "func-2C", "ackley-5C5"}


def test_noise_is_the_same_for_all_methods_and_true_values_are_kept():
    problem = Problem("line", Space({"x": Float(0, 1)}), lambda params: params["x"])
    one, other = (noisy.NoisyCalls(problem, 0.5, seed=3) for _ in range(2))
    added = [one({"x": 0.2}) - 0.2 for _ in range(4)]
    np.testing.assert_allclose([other({"x": 0.9}) - 0.9 for _ in range(4)], added)
    assert len(set(added)) == 4
    assert other.true == [0.9] * 4
    assert noisy.NoisyCalls(problem, 0.5, seed=4)({"x": 0.2}) - 0.2 != added[0]


def test_the_spread_of_a_line_is_the_distance_of_two_of_its_quantiles():
    problem = Problem("line", Space({"x": Float(0, 3)}), lambda params: 2 * params["x"])
    assert noisy.spread(problem, 4000) == pytest.approx(6 * (0.25 - 0.05), rel=0.05)


def test_a_noisy_run_is_judged_by_the_true_value_of_what_is_recommended(monkeypatch):
    cell = {"group": "noisy", "half": "choose", "problem": "noisy-branin", "method": "gp"}
    monkeypatch.setattr(experiment, "trials_of", lambda group, name: 9)
    row = experiment.run(cell, 2)
    plain = experiment.run({**cell, "group": "own", "problem": "branin", "method": "random"}, 2)
    assert row["start"] == plain["start"]  # same initial points, true values
    assert row["noise"] > 0
    assert row["found"] >= 0


def test_all_methods_of_a_run_start_from_the_same_points():
    cell = {"group": "bounds", "half": "confirm", "problem": "root-corner-2"}
    rows = [experiment.run({**cell, "method": method}, 4) for method in ("random", "sobol")]
    assert rows[0]["start"] == rows[1]["start"]
    assert rows[0]["instance"] == 20


def test_improvements_are_the_trials_that_were_best_so_far():
    values = [5.0, 7.0, 3.0, 3.0, 1.23456789]
    assert experiment.improvements(values) == [(1, 5.0), (3, 3.0), (5, 1.23457)]
