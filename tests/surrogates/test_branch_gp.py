"""Processes in leaves, held against the dense process with the same covariance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.data import Observations
from outcrop.errors import ModelError
from outcrop.kernels import Constant, Fourier, Level, Linear, Matern52, Scaled, Within
from outcrop.params import shaped
from outcrop.surrogates import GP, Mixture
from outcrop.surrogates.branch_gp import BranchGP
from outcrop.surrogates.stack import LeafwiseStack
from outcrop.testing import POSTERIOR_CONTRACT, central_differences
from outcrop.testing.differences import numbers, with_number
from tests.surrogates.trees import bound, random_data, random_points, random_space

BASES = [Level(), Linear(), Fourier(7)]


def dense(model):
    return GP(model.kernel, model.noise, model.mean)


def example(seed, basis=None, n=25, depth=4, sees_shared=True, noise=False, most=40):
    rng = np.random.default_rng(seed)
    space = random_space(rng, depth, most)
    data = random_data(space, n, rng, noise)
    return space, data, bound(space, rng, data, basis=basis, sees_shared=sees_shared), rng


@given(st.integers(0, 10**6), st.sampled_from(BASES), st.booleans(), st.booleans())
@settings(max_examples=12, deadline=None, derandomize=True)
def test_posterior_and_likelihood_are_those_of_the_dense_process(seed, basis, sees_shared, noise):
    space, data, model, rng = example(seed, basis, sees_shared=sees_shared, noise=noise)
    X = random_points(space, 12, rng)
    ours, theirs = model.condition(data), dense(model).condition(data)
    assert model.log_likelihood(data) == pytest.approx(theirs.log_likelihood, abs=1e-8)
    for mine, other in zip(ours.predict(X), theirs.predict(X), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-8)
    for mine, other in zip(ours.predict_joint(X), theirs.predict_joint(X), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-8)
    assert ours.incumbent() == pytest.approx(theirs.incumbent(), abs=1e-8)


@given(st.integers(0, 10**6), st.sampled_from(BASES))
@settings(max_examples=8, deadline=None, derandomize=True)
def test_gradient_of_the_likelihood_is_that_of_finite_differences(seed, basis):
    _, data, model, _ = example(seed, basis, n=12, depth=3, most=6)
    value, bar = model.log_likelihood_with_gradient(data)
    assert value == pytest.approx(model.log_likelihood(data), abs=1e-9)
    for path, number in numbers(model):

        def likelihood(x, path=path):
            return with_number(model, path, x).log_likelihood(data)

        own = bar
        for step in path:
            own = own[step] if isinstance(step, int) else getattr(own, step)
        expected = central_differences(likelihood, number)
        np.testing.assert_allclose(own, expected, rtol=1e-5, atol=1e-6, err_msg=str(path))


@given(st.integers(0, 10**6))
@settings(max_examples=8, deadline=None, derandomize=True)
def test_without_anything_shared_leaves_are_independent(seed):
    space, data, model, rng = example(seed)
    alone = BranchGP(None, model.leaves, model.noise, model.mean)
    posterior = alone.condition(data)
    X = random_points(space, 20, rng)
    total = 0.0
    for leaf in model.leaves:
        own = GP(leaf.kernel, model.noise, model.mean)
        rows = np.flatnonzero(leaf.diag(data.X))
        here = np.flatnonzero(leaf.diag(X))
        if not len(rows):
            np.testing.assert_allclose(posterior.predict(X[here])[0], model.mean)
            continue
        own_data = Observations(data.X[rows], data.y[rows])
        total += own.log_likelihood(own_data)
        if len(here):
            theirs = own.condition(own_data).predict(X[here])
            np.testing.assert_allclose(posterior.predict(X[here])[0], theirs[0], atol=1e-9)
            np.testing.assert_allclose(posterior.predict(X[here])[1], theirs[1], atol=1e-9)
    assert alone.log_likelihood(data) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("check", POSTERIOR_CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("seed", range(3))
def test_posterior_keeps_the_contract(seed, check):
    sees_shared = seed % 2 == 0
    space, data, model, rng = example(seed, BASES[seed % 3], sees_shared=sees_shared, most=8)
    X = random_points(space, 5, rng)
    codes = [column.index for column in space.columns if column.is_code]
    if check.__name__ == "pullback_agrees_with_finite_differences":
        posterior = _OffCodes(model.condition(data), codes, X)
    else:
        posterior = model.condition(data)
    check(posterior, X)


class _OffCodes:
    """A posterior that takes codes from where they were: a step off a code is no category."""

    def __init__(self, posterior, codes, X):
        self.posterior, self.codes, self.X = posterior, codes, X

    def _legal(self, X):
        X = X.copy()
        X[:, self.codes] = self.X[:, self.codes]
        return X

    def predict(self, X):
        return self.posterior.predict(self._legal(X))

    def predict_with_pullback(self, X):
        return self.posterior.predict_with_pullback(self._legal(X))


def test_believing_more_is_fitting_all_of_it():
    space, data, model, rng = example(3)
    more = random_data(space, 9, rng)
    X = random_points(space, 15, rng)
    grown = model.condition(data).condition(more.X, more.y)
    whole = model.condition(data.append(more.X, more.y))
    np.testing.assert_allclose(grown.predict(X)[0], whole.predict(X)[0], atol=1e-9)
    np.testing.assert_allclose(grown.predict(X)[1], whole.predict(X)[1], atol=1e-9)
    assert grown.incumbent() == pytest.approx(whole.incumbent(), abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_beliefs_are_predicted_from_at_once_as_one_by_one(seed):
    space, data, model, rng = example(seed, BASES[seed % 3], n=9, most=12)
    theirs = [
        with_number(model, ("shared", "variance"), np.array(v)).condition(data) for v in (0.3, 2.0)
    ]
    more = random_points(space, 2, rng)
    parts = tuple(part.condition(more, np.array([0.1, 0.4])) for part in theirs)
    belief = Mixture(parts, np.ones(2))
    assert [type(group) for group in belief._groups] == [LeafwiseStack]
    X = random_points(space, 14, rng)
    means, variances, pull = belief.predict_each_with_pullback(X)
    mean_bar, var_bar = rng.normal(size=(2, 2, len(X)))
    X_bar = np.zeros_like(X)
    for i, part in enumerate(parts):
        mean, var, own = part.predict_with_pullback(X)
        np.testing.assert_allclose(means[i], mean, atol=1e-9)
        np.testing.assert_allclose(variances[i], var, atol=1e-9)
        X_bar += own(mean_bar[i], var_bar[i])
    np.testing.assert_allclose(pull(mean_bar, var_bar), X_bar, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(belief.predict_each(X)[0], means, atol=1e-12)


def test_beliefs_at_different_points_are_not_stacked():
    space, data, model, rng = example(1)
    one = model.condition(data)
    other = one.condition(random_points(space, 1, rng), np.zeros(1))
    assert LeafwiseStack.of([one, other]) is None
    assert LeafwiseStack.of([one, "something else"]) is None
    assert LeafwiseStack.of([]) is None


def test_the_value_of_an_inactive_parameter_changes_nothing():
    space, data, model, rng = example(11)
    X = random_points(space, 30, rng)
    inactive = ~space.active(X)
    assert inactive.any()
    other = np.where(inactive & ~np.array([c.is_code for c in space.columns]), 0.77, X)
    shifted = Observations(np.where(space.active(data.X), data.X, 0.0), data.y)
    for one, two in zip(
        model.condition(data).predict(X), model.condition(shifted).predict(other), strict=True
    ):
        np.testing.assert_allclose(one, two, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 5, 8])
def test_covariance_of_any_tree_has_no_negative_eigenvalue(seed):
    space, _, model, rng = example(seed)
    K = model.kernel.gram(random_points(space, 60, rng))
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.trace(K)


def test_draws_have_the_moments_of_the_prediction():
    space, data, model, rng = example(7, n=12, most=5)
    X = random_points(space, 5, rng)
    posterior = model.condition(data)
    mean, covariance = posterior.predict_joint(X)
    draws = posterior.sample(X, rng, 20_000)
    np.testing.assert_allclose(draws.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.08)
    paths = np.array([posterior.draw(rng, 64)(X) for _ in range(600)])
    deviation = np.sqrt(np.diagonal(covariance))
    np.testing.assert_allclose(paths.mean(0), mean, atol=5 * deviation.max() / 600**0.5)
    np.testing.assert_allclose(paths.std(0), deviation, rtol=0.2, atol=0.05)


def test_gradient_of_a_drawn_function_is_that_of_finite_differences():
    space, data, model, rng = example(9)
    path = model.condition(data).draw(rng, 64)
    X = random_points(space, 6, rng)
    codes = np.array([column.is_code for column in space.columns])
    expected = central_differences(lambda x: float(path(np.where(codes, X, x)).sum()), X)
    np.testing.assert_allclose(path.gradient(X), expected, rtol=1e-5, atol=1e-6)


def test_levels_are_the_belief_without_the_process_of_a_leaf():
    space, data, model, rng = example(4)
    X = random_points(space, 6, rng)
    mean, var, pull = model.condition(data).predict_levels(X)
    theirs = dense(model).condition(data)
    cross = model.shared(X, data.X)
    alpha = np.linalg.solve(model.kernel.gram(data.X) + 0.05 * np.eye(25), data.y - model.mean)
    np.testing.assert_allclose(mean, model.mean + cross @ alpha, atol=1e-8)
    V = np.linalg.solve(theirs.chol, cross.T)
    np.testing.assert_allclose(var, model.shared.diag(X) - (V**2).sum(0), atol=1e-8)
    mean_bar, var_bar = rng.normal(size=(2, 6))
    codes = np.array([column.is_code for column in space.columns])

    def loss(x):
        mean, var, _ = model.condition(data).predict_levels(np.where(codes, X, x))
        return float(mean_bar @ mean + var_bar @ var)

    np.testing.assert_allclose(
        pull(mean_bar, var_bar), central_differences(loss, X), rtol=1e-5, atol=1e-6
    )


def test_models_that_make_no_sense_are_refused():
    leaf = Within((), Matern52([0.3]))
    with pytest.raises(ModelError, match="BranchFeatures"):
        BranchGP(Scaled(1.0, Constant()), (leaf,))
    with pytest.raises(ModelError, match="each branch"):
        BranchGP(None, ())
    with pytest.raises(ModelError, match="at least 0"):
        BranchGP(None, (leaf,), noise=-1.0)
    model = BranchGP(None, (Within(((0, 0),), Matern52([0.3])),))
    with pytest.raises(ModelError, match="no leaf"):
        model.sorted(Observations([[1.0]], [0.0]))
    posterior = model.condition(Observations([[0.0]], [0.0]))
    with pytest.raises(ModelError, match="no leaf"):
        posterior.predict(np.array([[1.0]]))


def test_a_leaf_that_cannot_be_factorised_has_no_likelihood():
    _, data, model, _ = example(2)
    broken = shaped(model, **{**vars(model), "noise": float("nan")})
    assert broken.log_likelihood(data) == -np.inf
