"""Contract suites: checks that every kernel, acquisition, ... must pass, your own ones included.

Each suite is a tuple of checks that raise `AssertionError`. With pytest:

    @pytest.mark.parametrize("check", KERNEL_CONTRACT)
    def test_my_kernel_keeps_the_contract(check):
        check(MyKernel(0.3), points)
"""

from __future__ import annotations

__all__ = [
    "ACQUISITION_CONTRACT",
    "KERNEL_CONTRACT",
    "MAXIMISER_CONTRACT",
    "PENDING_CONTRACT",
    "POSTERIOR_CONTRACT",
    "STORAGE_CONTRACT",
    "STRATEGY_CONTRACT",
    "UNSHARED_STORAGE_CONTRACT",
    "central_differences",
    "view_of",
]

from outcrop.testing.acquisitions import ACQUISITION_CONTRACT
from outcrop.testing.differences import central_differences
from outcrop.testing.kernels import KERNEL_CONTRACT
from outcrop.testing.maximisers import MAXIMISER_CONTRACT
from outcrop.testing.pending import PENDING_CONTRACT
from outcrop.testing.posteriors import POSTERIOR_CONTRACT
from outcrop.testing.storages import STORAGE_CONTRACT, UNSHARED_STORAGE_CONTRACT
from outcrop.testing.strategies import STRATEGY_CONTRACT, view_of
