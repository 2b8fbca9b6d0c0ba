"""Studies by their address: the name of a study and the storage that it is in."""

from __future__ import annotations

__all__ = ["delete_study", "found", "list_studies", "load_study", "log_of", "unpickled"]

from collections.abc import Callable

from outcrop.errors import StudyError
from outcrop.space.plain import nearest
from outcrop.strategies.method_text import described, difference, restored
from outcrop.strategies.registry import MethodLike
from outcrop.study import argument_checks
from outcrop.study.events import Created
from outcrop.study.storage import Storage, missing_file, open_storage
from outcrop.study.study import Study, state_of
from outcrop.study.study_strategies import Strategies


def load_study(
    name: str,
    storage: str | Storage,
    *,
    method: MethodLike | None = None,
    ask_seconds: float | None = argument_checks.ASK_SECONDS,
) -> Study:
    """A stored study, to continue it or to look at it while other processes work on it.

        study = oc.load_study("mlp", storage="sqlite:///mlp.db")

    `method` is needed only if the study's method has parts of your own, which a store cannot hold.
    `ask_seconds` is not stored: every process that asks has its own.
    """
    limit = argument_checks.checked_ask_seconds(ask_seconds)

    def chosen(created: Created) -> MethodLike:
        if method is None:
            return restored(created.method)
        if lines := difference(created.method, described(method)):
            raise StudyError("\n  ".join([f"study {name!r} has another method:", *lines]))
        return method

    return _opened(name, open_storage(storage), chosen, limit)


def _opened(
    name: str, store: Storage, method: Callable[[Created], MethodLike], ask_seconds: float | None
) -> Study:
    identity = found(store, name)
    state = state_of(name, store.read(identity))
    study = Study.__new__(Study)  # a new one would be compared with the arguments
    study._open(store, name, identity, state, Strategies(method(state.created)), ask_seconds)
    return study


def unpickled(
    name: str, store: Storage, custom: MethodLike | None, ask_seconds: float | None
) -> Study:
    """The study at an address; `custom` is a method that the store cannot hold."""
    if custom is None:
        return load_study(name, store, ask_seconds=ask_seconds)
    return _opened(name, store, lambda created: custom, ask_seconds)


def list_studies(storage: str | Storage) -> list[str]:
    """Names of the studies in a store, oldest first."""
    return open_storage(storage).names()


def delete_study(name: str, storage: str | Storage) -> None:
    """Delete a study and all its trials; processes that still use it get a `StudyError`."""
    store = open_storage(storage)
    store.delete(found(store, name))


def log_of(name: str, store: Storage) -> list[str]:
    """The log of a stored study, whatever its method."""
    return store.read(found(store, name))


def found(store: Storage, name: str) -> int:
    identity = store.find(name)
    if identity is None:
        names = store.names()
        there = f"the store has {names}" if names else "the store is empty"
        if not names and (url := missing_file(store)):
            there = (
                f"there is no file for {url}; create the study with oc.Study(space, {name!r}, "
                f"{url!r}) or with: outcrop run SPEC.toml"
            )
        raise StudyError(f"study {name!r} does not exist: {there}{nearest(name, names)}")
    return identity
