import pytest

peers = pytest.importorskip("experiments.peers")

from experiments.searches import initial_points, problem_of  # noqa: E402
from outcrop.space import Categorical, Float, Int, Ordinal, Space  # noqa: E402


@pytest.mark.parametrize(("peer", "package"), [("TPE", "optuna"), ("SMAC", "smac")])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.filterwarnings("ignore")
def test_a_peer_goes_on_from_the_given_points(peer, package, batch):
    pytest.importorskip(package)
    problem = problem_of("func-2C")
    initial = initial_points(problem.space, 6, run=0)
    row = peers.peer_search(problem, peer, initial, trials=15, run=0, batch=batch)
    assert row["values"][:6] == [problem(point) for point in initial]
    assert len(row["values"]) == 15
    assert len(row["seconds"]) == 9


@pytest.mark.parametrize(("peer", "package"), [("TPE", "optuna"), ("SMAC", "smac")])
@pytest.mark.filterwarnings("ignore")
def test_a_peer_proposes_legal_configurations_of_every_kind_of_parameter(peer, package):
    pytest.importorskip(package)
    space = Space(
        {
            "x": Float(1e-3, 1.0, log=True),
            "n": Int(1, 9),
            "size": Ordinal([1, 2, 8]),
            "kind": Categorical(["a", None, True]),
        }
    )
    optimizer = peers.PEERS[peer](space, 0, 12)
    for point in initial_points(space, 4, run=0):
        optimizer.add(point, 1.0)
    for _ in range(8):
        params = optimizer.ask()
        space.validate(params)
        optimizer.tell(params, 0.5)
