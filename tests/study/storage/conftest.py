from contextlib import closing

import pytest

from outcrop.study.storage.sql import SqlStorage


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/study.db"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


@pytest.fixture
def storage(url):
    with closing(SqlStorage(url, patience=60.0)) as storage:
        yield storage


@pytest.fixture
def study(storage):
    return storage.create("study", "first")
