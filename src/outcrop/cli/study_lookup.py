"""The study that a command refers to, by a name, a spec file and a store."""

from __future__ import annotations

__all__ = ["study_of", "place_of"]

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
    """The name of a study and its store.

    `study` is a name or a spec file; None stands for the only study of a store. `storage` is a URL
    or an SQLite file, by default that of the variable OUTCROP_STORAGE, or else the file NAME.db in
    the current folder.
    """
    if study is not None and study.endswith(".toml"):
        spec = read_spec(study)
        return spec.name, open_storage(_url(storage) if storage else spec.storage)
    storage = storage or os.environ.get(VARIABLE)
    shown = None if study is None else masked_url(study)
    if storage is None:
        if study is None:
            raise StudyError(
                "no study was given; give its spec file, or its name and --storage sqlite:///FILE.db"
            )
        if not Path(f"{study}.db").is_file():
            raise StudyError(
                f"study {shown!r}: the current folder has no file {shown}.db; give its store with "
                f"--storage sqlite:///FILE.db, or set {VARIABLE}"
            )
        storage = f"{study}.db"
    store = open_storage(_url(storage))
    return study or _only(store, masked_url(storage)), store


def _only(store: Storage, shown: str) -> str:
    names = list_studies(store)
    if len(names) == 1:
        return names[0]
    if not names:
        raise StudyError(f"{shown} contains no study; create one with: outcrop run SPEC.toml")
    raise StudyError(f"{shown} contains several studies; give one of {listed(names)}")


def _url(storage: str) -> str:
    """A URL, made from the name of a file if it is one."""
    is_url = "://" in storage or (":" in storage and "@" in storage)  # maybe a wrong one
    return storage if is_url else f"sqlite:///{storage}"
