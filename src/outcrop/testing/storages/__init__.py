"""What every store of studies must satisfy.

A check is called with a function that opens one store, empty at first; each call gives another
handle on the same store. A store that processes can share is given as a function that can be
pickled, and runs the whole suite:

    @pytest.mark.parametrize("check", STORAGE_CONTRACT)
    def test_my_store_keeps_the_contract(check, tmp_path):
        check(partial(MyStore, tmp_path / "store"))

One that lives in one process only runs `UNSHARED_STORAGE_CONTRACT`, with a function that gives the
same object each time.
"""

from __future__ import annotations

__all__ = ["STORAGE_CONTRACT", "UNSHARED_STORAGE_CONTRACT"]

from outcrop.testing.storages.leases import LEASE_CONTRACT
from outcrop.testing.storages.logs import LOG_CONTRACT
from outcrop.testing.storages.processes import PROCESS_CONTRACT

UNSHARED_STORAGE_CONTRACT = LOG_CONTRACT + LEASE_CONTRACT
STORAGE_CONTRACT = UNSHARED_STORAGE_CONTRACT + PROCESS_CONTRACT
