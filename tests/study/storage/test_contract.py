from functools import partial

import pytest

from outcrop.study.storage import Memory
from outcrop.study.storage.sql import SqlStorage
from outcrop.testing import STORAGE_CONTRACT, UNSHARED_STORAGE_CONTRACT


def named(check):
    return check.__name__


@pytest.mark.parametrize("check", UNSHARED_STORAGE_CONTRACT, ids=named)
def test_memory_keeps_the_contract(check):
    memory = Memory()
    check(lambda: memory)


@pytest.mark.parametrize("check", STORAGE_CONTRACT, ids=named)
def test_a_sqlite_file_keeps_the_contract(check, tmp_path):
    check(partial(SqlStorage, f"sqlite:///{tmp_path}/study.db"))


@pytest.mark.parametrize("check", UNSHARED_STORAGE_CONTRACT, ids=named)
def test_sqlite_in_memory_keeps_the_contract(check):
    storage = SqlStorage("sqlite://")
    check(lambda: storage)


@pytest.mark.parametrize("check", STORAGE_CONTRACT, ids=named)
def test_postgresql_keeps_the_contract(check, postgresql_url):
    check(partial(SqlStorage, postgresql_url))
