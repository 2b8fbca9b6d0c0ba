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
