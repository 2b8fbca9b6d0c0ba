"""The contract of stores: checks that every store of studies must pass.

A check is called with a function that opens one store, which is empty at first; each call returns
another handle on the same store. For a store that processes can share, the function must be
picklable, and the whole suite applies:

    @pytest.mark.parametrize("check", STORAGE_CONTRACT)
    def test_my_store_keeps_the_contract(check, tmp_path):
        check(partial(MyStore, tmp_path / "store"))

A store of a single process passes `UNSHARED_STORAGE_CONTRACT`, with a function that returns the
same object each time.
"""

from __future__ import annotations

__all__ = ["STORAGE_CONTRACT", "UNSHARED_STORAGE_CONTRACT"]

from outcrop.testing.storages.leases import LEASE_CONTRACT
from outcrop.testing.storages.logs import LOG_CONTRACT
from outcrop.testing.storages.processes import PROCESS_CONTRACT

UNSHARED_STORAGE_CONTRACT = (*LOG_CONTRACT, *LEASE_CONTRACT)
STORAGE_CONTRACT = UNSHARED_STORAGE_CONTRACT + PROCESS_CONTRACT
