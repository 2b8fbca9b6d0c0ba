"""Which study a command means, from a name, a spec file and a store."""

from __future__ import annotations

__all__ = ["found", "place_of"]

import os
from pathlib import Path

from outcrop.cli.spec import read_spec
from outcrop.errors import StudyError
from outcrop.space.plain import listed
from outcrop.study import Study, list_studies, load_study
from outcrop.study.storage import Storage, open_storage

VARIABLE = "OUTCROP_STORAGE"


def found(study: str | None, storage: str | None) -> Study:
    """The study that is meant; `StudyError` or `StorageError` says what is missing."""
    name, store = place_of(study, storage)
    return load_study(name, store)


def place_of(study: str | None, storage: str | None) -> tuple[str, Storage]:
    """The name of a study and the store it is in.

    `study` is a name or a spec file, and may be left out where a store holds only one. `storage` is
    a URL or an SQLite file; else the variable OUTCROP_STORAGE, or the file NAME.db if it is here.
    """
    if study is not None and study.endswith(".toml"):
        spec = read_spec(study)
        return spec.name, open_storage(_url(storage) if storage else spec.storage)
    storage = storage or os.environ.get(VARIABLE)
    if storage is None:
        if study is None:
            raise StudyError(
                "which study? Give its name, or its spec file, and --storage sqlite:///FILE.db"
            )
        if not Path(f"{study}.db").is_file():
            raise StudyError(
                f"study {study!r}: there is no file {study}.db here; say where it is kept with "
                f"--storage sqlite:///FILE.db, or set {VARIABLE}"
            )
        storage = f"{study}.db"
    store = open_storage(_url(storage))
    return study or _only(store, storage), store


def _only(store: Storage, storage: str) -> str:
    names = list_studies(store)
    if len(names) == 1:
        return names[0]
    if not names:
        raise StudyError(f"{storage} holds no study yet; make one with: outcrop run SPEC.toml")
    raise StudyError(f"{storage} holds several studies; name one of {listed(names)}")


def _url(storage: str) -> str:
    """A file's name, as people type it, or a URL."""
    return storage if "://" in storage else f"sqlite:///{storage}"
