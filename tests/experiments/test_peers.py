from importlib import import_module

import pytest

peers = pytest.importorskip("experiments.peers")

from experiments.levels import coded  # noqa: E402
from experiments.searches import initial_points, problem_of  # noqa: E402
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space  # noqa: E402

PACKAGES = [("TPE", "optuna"), ("SMAC", "smac"), ("GPSampler", "torch")]
ANY_SPACE = pytest.mark.parametrize(("peer", "package"), PACKAGES)
BRANCHES = pytest.mark.parametrize(("peer", "package"), PACKAGES[:2])
EVERY = pytest.mark.parametrize(
    ("peer", "package"),
    [
        *PACKAGES,
        ("SMAC4AC", "smac"),
        ("BoTorch", "botorch"),
        ("HEBO", "hebo"),
        ("HyperOpt", "hyperopt"),
    ],
)
STARTED = 10  # points after which every peer asks its model; TPE draws so many at random


@EVERY
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.filterwarnings("ignore")
def test_a_peer_goes_on_from_the_given_points(peer, package, batch):
    pytest.importorskip(package)
    problem = problem_of("func-2C")
    initial = initial_points(problem.space, STARTED, run=0)
    row = peers.peer_search(problem, peer, initial, trials=STARTED + 5, run=0, batch=batch)
    assert row["values"][:STARTED] == [problem(point) for point in initial]
    assert len(row["values"]) == STARTED + 5
    assert len(row["seconds"]) == 5  # a whole batch of four, and one that is cut short


@EVERY
@pytest.mark.filterwarnings("ignore")
def test_a_peer_proposes_legal_configurations_of_every_kind_of_parameter(peer, package):
    pytest.importorskip(package)
    space = Space(
        {
            "x": Float(1e-3, 1.0, log=True),
            "n": Int(1, 9),
            "rate": Float(0, 1, step=0.1),
            "whole": Float(-2, 2, step=1),
            "even": Int(2, 512, step=2),
            "units": Int(1, 64, log=True),
            "size": Ordinal([1, 2, 8]),
            "kind": Categorical(["a", None, True]),
            "version": Fixed(3),
        }
    )
    optimizer = peers.ALL_PEERS[peer](space, 0, STARTED + 4)
    for point in initial_points(space, STARTED, run=0):
        optimizer.add(point, 1.0)
    for _ in range(4):
        params = optimizer.ask()
        assert params == space.validate(params)
        optimizer.tell(params, 0.5)


NESTED = Space(
    {
        "model": Choice(
            {
                "linear": {},
                "net": {
                    "units": Int(1, 30),
                    "decay": Choice({"none": {}, "steps": {"rate": Float(0.1, 1), "by": Fixed(2)}}),
                },
                "forest": {"depth": Int(1, 9), "split": Categorical(["gini", "entropy"])},
            }
        ),
        "share": Float(0.5, 1.0),
    }
)


@ANY_SPACE
@pytest.mark.filterwarnings("ignore")
def test_a_peer_sets_exactly_what_its_choices_open(peer, package):
    pytest.importorskip(package)
    optimizer = peers.ALL_PEERS[peer](NESTED, 0, 40)
    for number, point in enumerate(initial_points(NESTED, 6, run=0)):
        optimizer.add(point, float(number % 3))  # no branch is the better one
    met = set()
    for number in range(30):
        params = optimizer.ask()
        assert params == NESTED.validate(params)  # which refuses what is inactive or missing
        met.add(frozenset(params))
        optimizer.tell(params, float(number % 3))
    assert len(met) > 1


@BRANCHES
@pytest.mark.filterwarnings("ignore")
def test_a_peer_learns_which_branch_is_the_better(peer, package):
    pytest.importorskip(package)
    problem = problem_of("tree-small")
    optimizer = peers.ALL_PEERS[peer](problem.space, 0, 40)

    def value(params):
        return problem(params) + 5 * (params["x1"] == "1")

    for point in initial_points(problem.space, 8, run=0):
        optimizer.add(point, value(point))
    right = 0
    for _ in range(32):
        params = optimizer.ask()
        right += params["x1"] == "0"
        optimizer.tell(params, value(params))
    assert right > 24


def test_tpe_is_told_only_the_active_parameters_of_an_initial_point():
    pytest.importorskip("optuna")
    optimizer = peers.tpe(NESTED, 0, 10)
    points = [
        {"model": "linear", "share": 0.7},
        {"model": "forest", "model.forest.depth": 3, "model.forest.split": "gini", "share": 0.9},
    ]
    for point in points:
        optimizer.add(point, 1.0)
    trials = optimizer.study.trials
    assert [trial.params for trial in trials] == points
    assert [set(trial.distributions) for trial in trials] == [set(point) for point in points]


def test_hyperopt_suggests_what_its_own_loop_would_after_the_same_trials():
    hyperopt = pytest.importorskip("hyperopt")
    problem = problem_of("func-2C")
    initial = initial_points(problem.space, 30, run=0)
    values = [problem(point) for point in initial]
    optimizer = peers.ALL_PEERS["HyperOpt"](problem.space, 0, 60)
    for point, value in zip(initial, values, strict=True):
        optimizer.add(point, value)
    columns = problem.space.columns
    codes = [{c.name: coded(c.parameter, point[c.name]) for c in columns} for point in initial]
    loop = import_module("hyperopt.fmin")
    trials, told = loop.generate_trials_to_calculate(codes), iter(values)
    domain = hyperopt.base.Domain(lambda params: next(told), optimizer.domain.expr)
    loop.FMinIter(
        hyperopt.tpe.suggest, domain, trials, None, max_evals=0, show_progressbar=False
    ).serial_evaluate()
    assert trials.losses() == values
    ids = trials.new_trial_ids(1)
    trials.refresh()
    (expected,) = hyperopt.tpe.suggest(ids, optimizer.domain, trials, 0, verbose=False)
    optimizer.ask()
    assert optimizer.trials.trials[-1]["misc"]["vals"] == expected["misc"]["vals"]
