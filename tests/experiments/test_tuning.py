import numpy as np
import pytest

tuning = pytest.importorskip("experiments.tuning")


@pytest.mark.parametrize("build", [tuning.svm_boston, tuning.nn_yacht, tuning.boosting_digits])
def test_a_configuration_has_one_finite_loss_that_depends_on_it(build):
    problem = build()
    one, other = problem.space.sample(np.random.default_rng(0), 2)
    assert problem(one) == problem(one)
    assert np.isfinite([problem(one), problem(other)]).all()
    assert problem(one) != problem(other)


def test_support_vectors_explain_house_prices():
    problem = tuning.svm_boston()
    settings = {"kernel": "rbf", "gamma": "scale", "shrinking": True, "tol": 1e-3, "nu": 0.5}
    spread = np.var(tuning._split("boston")[3])
    assert problem({**settings, "C": 10.0}) < 0.5 * spread
    assert problem({**settings, "C": 1e-3}) > 0.8 * spread


def test_yachts_are_split_as_in_the_reference():
    train, test = tuning.yacht_split(308)
    assert (len(train), len(test)) == (277, 31)
    assert sorted([*train, *test]) == list(range(308))
    order = np.random.RandomState(1).choice(range(308), 308, replace=False)
    assert train.tolist() == order[:277].tolist()


def test_a_network_explains_the_resistance_of_yachts():
    settings = {"activation": "relu", "optimiser": "adam", "dropout": 0.01, "units": 64, "tau": 0.3}
    problem = tuning.nn_yacht()
    good, slow = (problem({**settings, "learning_rate": rate}) for rate in (0.05, 1e-5))
    constant = tuning.DropoutNetwork(units=1, dropout=0.1, tau=0.3)
    _, y = tuning.yacht_hydrodynamics()
    train, test = tuning.yacht_split(len(y))
    level = -constant.log_density(np.full((1, len(test)), y[train].mean()), y[test])
    assert good < 0.5 * level
    assert slow > 0.8 * level


def test_a_network_whose_training_diverges_has_the_largest_loss(monkeypatch):
    monkeypatch.setitem(tuning.OPTIMISERS, "sgd", lambda rate: lambda gradient: 1e9 * gradient)
    params = tuning.nn_yacht().space.sample(np.random.default_rng(0), 1)[0]
    loss = tuning.nn_yacht()({**params, "activation": "relu", "optimiser": "sgd"})
    assert loss == tuning.DIVERGED
