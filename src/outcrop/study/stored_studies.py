"""Load, list and delete stored studies."""

from __future__ import annotations

__all__ = ["delete_study", "list_studies", "load_study"]


from outcrop.errors import StudyError
from outcrop.space.plain import nearest
from outcrop.strategies import strategy_for
from outcrop.strategies.method_text import described, difference, restored
from outcrop.study import log
from outcrop.study.created_event import MethodLike
from outcrop.study.storage import Storage, open_storage
from outcrop.study.study import Study


def load_study(name: str, storage: str | Storage, *, method: MethodLike | None = None) -> Study:
    """A stored study, to continue it or to look at it while other processes work on it.

        study = oc.load_study("mlp", storage="sqlite:///mlp.db")

    `method` is needed only if the study's method has parts of your own, which a store cannot hold.
    """
    store = open_storage(storage)
    identity = _found(store, name)
    state = log.opened(name, store.read(identity))
    created = state.created
    if method is None:
        method = restored(created.method)
    elif lines := difference(created.method, described(method)):
        raise StudyError("\n  ".join([f"study {name!r} has another method:", *lines]))
    return Study._of(store, name, identity, state, strategy_for(method, created.space))


def list_studies(storage: str | Storage) -> list[str]:
    """Names of the studies in a store, oldest first."""
    return open_storage(storage).names()


def delete_study(name: str, storage: str | Storage) -> None:
    """Delete a study and all its trials; processes that still use it get a `StudyError`."""
    store = open_storage(storage)
    store.delete(_found(store, name))


def _found(store: Storage, name: str) -> int:
    identity = store.find(name)
    if identity is None:
        names = store.names()
        there = f"the store has {names}" if names else "the store is empty"
        raise StudyError(f"study {name!r} does not exist: {there}{nearest(name, names)}")
    return identity
