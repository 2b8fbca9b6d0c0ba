import pytest

from outcrop.study.storage import open_storage


@pytest.fixture(params=["memory", "sqlite"])
def storage(request, tmp_path):
    """A store that any number of studies can be opened in."""
    store = open_storage(None if request.param == "memory" else f"sqlite:///{tmp_path}/studies.db")
    yield store
    store.close()
