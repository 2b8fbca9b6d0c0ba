"""Checks that every kernel must pass. `X` is `(n, d)` with n ≥ 4, points the kernel accepts."""

from __future__ import annotations

__all__ = ["KERNEL_CONTRACT"]

from collections.abc import Callable
from typing import Any

import numpy as np

from outcrop.data import Pairs
from outcrop.kernels.base import Kernel
from outcrop.params import stacked
from outcrop.testing.differences import central_differences, numbers, with_number
from outcrop.typing import Mask, Points, Vector

# The mean product of features has a standard error of about 1/√20000 = 0.007; the tolerance of
# eight standard errors leaves room for heavy-tailed products.
FEATURES = 20_000
FEATURE_TOLERANCE = 0.06


def gram_is_symmetric(kernel: Kernel, X: Points) -> None:
    K = kernel.gram(X)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-13 * np.abs(K).max())


def gram_has_no_negative_eigenvalue(kernel: Kernel, X: Points) -> None:
    K = kernel.gram(np.vstack([X, X[:2]]))  # with duplicates, which may break definiteness
    assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.trace(K)


def diag_is_the_diagonal_of_the_gram(kernel: Kernel, X: Points) -> None:
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel.gram(X)), rtol=1e-10)


def covariance_swaps_with_its_arguments(kernel: Kernel, X: Points) -> None:
    half = len(X) // 2
    np.testing.assert_allclose(kernel(X[:half], X[half:]), kernel(X[half:], X[:half]).T, rtol=1e-12)


def large_sets_agree_with_small_ones(kernel: Kernel, X: Points) -> None:
    """Distances come from stored differences or from matrix products, with the same result."""
    many = np.tile(X, (400 // len(X) + 1, 1))
    assert not Pairs(many, many).is_exact
    whole = kernel.gram(many)[: len(X), len(X) : 2 * len(X)]
    np.testing.assert_allclose(whole, kernel(X, X), atol=1e-6)


def parameters_pull_back_as_finite_differences(kernel: Kernel, X: Points) -> None:
    X1, X2, K_bar = _problem(X)
    kernel_bar = kernel.with_pullback(X1, X2)[1].parameters(K_bar)
    _assert_gradient(kernel, kernel_bar, lambda other: float((K_bar * other(X1, X2)).sum()))


def gram_parameters_pull_back_as_finite_differences(kernel: Kernel, X: Points) -> None:
    K_bar = np.tril(np.random.default_rng(3).normal(size=(len(X), len(X))))
    kernel_bar = kernel.on(Pairs(X, X))[1].parameters(K_bar)
    _assert_gradient(kernel, kernel_bar, lambda other: float((K_bar * other.gram(X)).sum()))


def inputs_pull_back_as_finite_differences(kernel: Kernel, X: Points) -> None:
    X1, X2, K_bar = _problem(X)
    X1_bar, X2_bar = kernel.with_pullback(X1, X2)[1].inputs(K_bar)
    one = central_differences(lambda x: float((K_bar * kernel(x, X2)).sum()), X1)
    two = central_differences(lambda x: float((K_bar * kernel(X1, x)).sum()), X2)
    one[:, _codes(X)] = two[:, _codes(X)] = 0.0  # a step off a code is no category
    np.testing.assert_allclose(X1_bar, one, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(X2_bar, two, rtol=1e-5, atol=1e-6)


def diagonal_pulls_back_as_finite_differences(kernel: Kernel, X: Points) -> None:
    diag_bar = np.random.default_rng(5).normal(size=len(X))
    expected = central_differences(lambda x: float(diag_bar @ kernel.diag(x)), X)
    expected[:, _codes(X)] = 0.0
    np.testing.assert_allclose(kernel.pull_diag(X, diag_bar), expected, rtol=1e-5, atol=1e-6)


def features_have_the_kernel_as_mean_product(kernel: Kernel, X: Points) -> None:
    features = kernel.features(np.random.default_rng(7), FEATURES, X.shape[1])
    values = features.values(X)
    scale = np.sqrt(np.outer(kernel.diag(X), kernel.diag(X)))
    miss = (values @ values.T / FEATURES - kernel.gram(X)) / scale
    assert np.abs(miss).max() < FEATURE_TOLERANCE


def features_pull_back_as_finite_differences(kernel: Kernel, X: Points) -> None:
    features = kernel.features(np.random.default_rng(7), 6, X.shape[1])
    values_bar = np.random.default_rng(8).normal(size=(len(X), 6))
    expected = central_differences(lambda x: float((values_bar * features.values(x)).sum()), X)
    expected[:, _codes(X)] = 0.0
    np.testing.assert_allclose(features.pull(X, values_bar), expected, rtol=1e-5, atol=1e-6)


def stacked_kernels_are_evaluated_as_each_alone(kernel: Kernel, X: Points) -> None:
    """Numbers with a leading axis stand for several kernels, see `kernels.base`."""
    kernels = [kernel, _with_other_numbers(kernel)]
    stack = stacked(kernels)
    many = np.tile(X, (400 // len(X) + 1, 1))  # distances of many points are matrix products
    for X1 in (X, many):
        pairs = Pairs(X1, X[: len(X) // 2], second_moves=False)
        K, pull = stack.on(pairs)
        Ks, pulls = zip(*(each.on(pairs) for each in kernels), strict=True)
        np.testing.assert_allclose(np.broadcast_to(K, np.shape(Ks)), Ks, rtol=1e-10, atol=1e-12)
        K_bar = np.random.default_rng(2).normal(size=np.shape(Ks))
        expected = sum(own.inputs(bar)[0] for own, bar in zip(pulls, K_bar, strict=True))
        np.testing.assert_allclose(pull.inputs(K_bar)[0], expected, rtol=1e-8, atol=1e-9)
    diagonals = np.stack([each.diag(X) for each in kernels])
    np.testing.assert_allclose(np.broadcast_to(stack.diag(X), diagonals.shape), diagonals)
    diag_bar = np.random.default_rng(5).normal(size=diagonals.shape)
    expected = sum(each.pull_diag(X, bar) for each, bar in zip(kernels, diag_bar, strict=True))
    np.testing.assert_allclose(stack.pull_diag(X, diag_bar), expected, rtol=1e-10, atol=1e-12)
    scales = np.stack([each.scales(X.shape[1]) for each in kernels])
    np.testing.assert_allclose(np.broadcast_to(stack.scales(X.shape[1]), scales.shape), scales)


def children_can_be_put_back(kernel: Kernel, X: Points) -> None:
    children = kernel.children()
    assert kernel.with_children(children) is kernel
    others = tuple(map(_with_other_numbers, children))
    replaced = kernel.with_children(others)
    assert type(replaced) is type(kernel)
    assert all(one is other for one, other in zip(replaced.children(), others, strict=True))


def a_stationary_kernel_does_not_see_a_common_shift(kernel: Kernel, X: Points) -> None:
    """Checked on points with the same codes, which have the same active parameters."""
    codes = _codes(X)
    shift = np.where(codes, 0.0, 0.25)
    if kernel.is_stationary:
        alike = (X[:, None, codes] == X[None, :, codes]).all(-1)
        moved, still = kernel.gram(X + shift), kernel.gram(X)
        np.testing.assert_allclose(moved[alike], still[alike], rtol=1e-9, atol=1e-12)


def a_kernel_of_categories_does_not_see_numbers(kernel: Kernel, X: Points) -> None:
    codes = _codes(X)
    shifts = np.where(codes, 0.0, np.linspace(0, 0.2, len(X))[:, None])
    if not kernel.sees_numbers:
        np.testing.assert_array_equal(kernel.gram(X + shifts), kernel.gram(X))


KERNEL_CONTRACT = (
    gram_is_symmetric,
    gram_has_no_negative_eigenvalue,
    diag_is_the_diagonal_of_the_gram,
    covariance_swaps_with_its_arguments,
    large_sets_agree_with_small_ones,
    parameters_pull_back_as_finite_differences,
    gram_parameters_pull_back_as_finite_differences,
    inputs_pull_back_as_finite_differences,
    diagonal_pulls_back_as_finite_differences,
    features_have_the_kernel_as_mean_product,
    features_pull_back_as_finite_differences,
    stacked_kernels_are_evaluated_as_each_alone,
    children_can_be_put_back,
    a_stationary_kernel_does_not_see_a_common_shift,
    a_kernel_of_categories_does_not_see_numbers,
)


def _problem(X: Points) -> tuple[Points, Points, Vector]:
    """Two sets with one point in common, where gradients break, and a gradient to pull back."""
    half = len(X) // 2
    X1, X2 = X[:half], np.vstack([X[:1], X[half:]])
    return X1, X2, np.random.default_rng(1).normal(size=(len(X1), len(X2)))


def _assert_gradient(kernel: Kernel, kernel_bar: Any, loss: Callable[[Kernel], float]) -> None:
    """Compare `kernel_bar` with finite differences of `loss` in every number of `kernel`."""
    for steps, number in numbers(kernel):

        def changed(value: Vector, steps: Any = steps) -> float:
            return loss(with_number(kernel, steps, value))

        expected, actual = central_differences(changed, number), kernel_bar
        for step in steps:
            actual = actual[step] if isinstance(step, int) else getattr(actual, step)
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-7, err_msg=f"{steps}")


def _with_other_numbers(kernel: Kernel) -> Kernel:
    for steps, number in numbers(kernel):
        kernel = with_number(kernel, steps, 0.9 * number)
    return kernel


def _codes(X: Points) -> Mask:
    """Which columns hold codes only, `(d,)`."""
    return (np.round(X) == X).all(0)
