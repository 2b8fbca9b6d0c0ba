"""The study that a command refers to, by a name, a spec file and a store."""

from __future__ import annotations

__all__ = ["place_of", "storage_url", "study_of", "url_of"]

import os
from pathlib import Path

from outcrop.cli.spec import read_spec
from outcrop.errors import StudyError
from outcrop.space.plain import listed
from outcrop.study import Study, list_studies, load_study
from outcrop.study.storage import Storage, open_storage
from outcrop.study.storage.url_masking import masked_url

VARIABLE = "OUTCROP_STORAGE"


def study_of(study: str | None, storage: str | None) -> Study:
    """The study of that name or spec file; `StudyError` or `StorageError` if there is none."""
    name, store = place_of(study, storage)
    return load_study(name, store)


def place_of(study: str | None, storage: str | None) -> tuple[str, Storage]:
    """The name of a study and its store, as `url_of` finds them.

    Without a name it is the only study of the store.
    """
    name, url = url_of(study, storage)
    store = open_storage(url)
    return name or _only(store, masked_url(url)), store


def url_of(study: str | None, storage: str | None) -> tuple[str | None, str]:
    """The name of a study, None if none was given, and the URL of its store.

    `study` is a name or a spec file. `storage` is a URL or an SQLite file, by default that of the
    variable OUTCROP_STORAGE, or else the file NAME.db in the current folder.
    """
    if study is not None and study.endswith(".toml"):
        spec = read_spec(study)
        return spec.name, storage_url(storage) if storage else spec.storage
    storage = storage or os.environ.get(VARIABLE)
    if storage is not None:
        return study, storage_url(storage)
    if study is None:
        raise StudyError(
            "no study was given; give its spec file, or its name and --storage sqlite:///FILE.db"
        )
    shown = masked_url(study)
    if not Path(f"{study}.db").is_file():
        raise StudyError(
            f"study {shown!r}: the current folder has no file {shown}.db; give its store with "
            f"--storage sqlite:///FILE.db, or set {VARIABLE}"
        )
    return study, storage_url(f"{study}.db")


def _only(store: Storage, shown: str) -> str:
    names = list_studies(store)
    if len(names) == 1:
        return names[0]
    if not names:
        raise StudyError(f"{shown} contains no study; create one with: outcrop run SPEC.toml")
    raise StudyError(f"{shown} contains several studies; give one of {listed(names)}")


def storage_url(storage: str) -> str:
    """A URL, made from the name of a file if it is one."""
    is_url = "://" in storage or (":" in storage and "@" in storage)  # maybe a wrong one
    return storage if is_url else f"sqlite:///{storage}"
