import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from experiments import mlp_tuning
from experiments.datasets import binary_classification

TRAINING = {"learning_rate": 0.01, "tolerance": 1e-4, "normalisation": "standard"}


def in_shared_topology(units, alpha, activation):
    """The same network written by hand as a way through the chain of choices."""
    params, prefix = {**TRAINING}, ""
    if units:
        params["layers.more.activation"] = activation
    for n, count in enumerate(units, 1):
        params[f"{prefix}layers"] = "more"
        prefix += "layers.more."
        params[f"{prefix}units{n}"] = count
    if len(units) < 4:
        params[f"{prefix}layers"] = str(len(units))
        prefix += f"layers.{len(units)}."
    return {**params, f"{prefix}alpha": alpha}


def in_independent_topology(units, alpha, activation):
    own = {**TRAINING, "alpha": alpha, **({"activation": activation} if units else {})}
    own |= {f"units{n}": count for n, count in enumerate(units, 1)}
    prefix = f"layers.{len(units)}."
    return {"layers": str(len(units)), **{prefix + name: value for name, value in own.items()}}


@pytest.mark.parametrize("layers", range(5))
def test_a_network_has_the_same_error_in_both_topologies(layers):
    units, errors = (7, 3, 12, 5)[:layers], []
    for topology, write in (
        ("shared", in_shared_topology),
        ("independent", in_independent_topology),
    ):
        problem = mlp_tuning.mlp_problem("sonar", topology)
        params = problem.space.validate(write(units, 0.01, "tanh"))
        normalisation, model = mlp_tuning.network(params)
        assert normalisation == "standard"
        assert model.hidden_layer_sizes == units
        assert (model.alpha, model.learning_rate_init, model.tol) == (0.01, 0.01, 1e-4)
        errors.append(problem(params))
    assert errors[0] == errors[1]


@pytest.mark.parametrize("topology", mlp_tuning.TOPOLOGIES)
def test_a_space_has_a_way_for_every_number_of_layers_and_errors_that_do_not_change(topology):
    problem = mlp_tuning.mlp_problem("sonar", topology)
    assert problem.space.n_branches == 5
    points = problem.space.sample(np.random.default_rng(0), 60)
    layers = {len(mlp_tuning.network(params)[1].hidden_layer_sizes) for params in points}
    assert layers == {0, 1, 2, 3, 4}
    errors = [problem(params) for params in points[:5]]
    assert all(0 <= error <= 1 for error in errors)
    assert errors == [problem(params) for params in points[:5]]
    assert len(set(errors)) > 1


def test_what_networks_with_a_layer_share_is_declared_once():
    names = [name.rpartition(".")[2] for name in mlp_tuning.shared().parameters]
    once = {"learning_rate", "tolerance", "normalisation", "activation"}
    once |= {f"units{n}" for n in (1, 2, 3, 4)}
    assert all(names.count(name) == 1 for name in once)
    assert names.count("alpha") == 5


def test_a_network_without_hidden_layers_is_a_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    params = in_shared_topology((), 1e-6, "relu")
    train, test, y_train, y_test = mlp_tuning._split("german_credit", "standard")
    linear = LogisticRegression(C=np.inf).fit(train, y_train)
    expected = np.mean(linear.predict(test) != y_test)
    assert abs(mlp_tuning.mlp_problem("german_credit", "shared")(params) - expected) < 0.03


@pytest.mark.parametrize("data", ["svmguide3", "a1a", "sonar"])
def test_splits_keep_a_fifth_for_the_test_and_cap_the_training_rows(data):
    X, y = binary_classification(data)
    train, test, y_train, y_test = mlp_tuning._split(data, "none")
    assert len(test) == len(y_test) == round(0.2 * len(X))
    assert len(train) == len(y_train) == min(len(X) - len(test), mlp_tuning.TRAINING)
    rows = {tuple(row) for row in np.column_stack([X, y])}
    assert {tuple(row) for row in np.column_stack([train, y_train])} <= rows
    assert abs(y_test.mean() - y.mean()) < 0.02


def test_a_set_with_a_test_part_is_tested_on_that():
    train, test, y_train, y_test = mlp_tuning._split("svmguide1", "none")
    np.testing.assert_array_equal(np.column_stack([test, y_test]), rows_of("svmguide1_test"))
    assert train.shape == (1000, 4)
    known = set(map(tuple, rows_of("svmguide1")))
    assert set(map(tuple, np.column_stack([train, y_train]))) <= known
    assert abs(y_train.mean() - 2000 / 3089) < 0.001


def rows_of(name):
    return np.column_stack(binary_classification(name))


def test_normalisations_are_those_of_scikit_learn():
    from sklearn.preprocessing import MaxAbsScaler, StandardScaler, normalize

    train, test, *_ = mlp_tuning._split("sonar", "none")
    for name, scaler in (("largest", MaxAbsScaler()), ("standard", StandardScaler())):
        scaler.fit(train)
        own_train, own_test, *_ = mlp_tuning._split("sonar", name)
        np.testing.assert_allclose(own_train, scaler.transform(train), atol=1e-12)
        np.testing.assert_allclose(own_test, scaler.transform(test), atol=1e-12)
    own_train, own_test, *_ = mlp_tuning._split("sonar", "rows")
    np.testing.assert_allclose(own_train, normalize(train))
    np.testing.assert_allclose(own_test, normalize(test))


def test_training_that_breaks_down_has_the_worst_error_and_other_faults_are_raised(monkeypatch):
    from sklearn.neural_network import MLPClassifier

    def broken(message):
        def fit(*_):
            raise ValueError(message)

        return fit

    problem = mlp_tuning.mlp_problem("sonar", "shared")
    params = in_shared_topology((3,), 0.01, "relu")
    said = "Solver produced non-finite parameter weights. The input data may contain large values"
    monkeypatch.setattr(MLPClassifier, "fit", broken(said))
    assert problem(params) == 1.0
    monkeypatch.setattr(MLPClassifier, "fit", broken("y holds one class"))
    with pytest.raises(ValueError, match="one class"):
        problem(params)
