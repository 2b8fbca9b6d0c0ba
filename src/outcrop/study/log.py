"""The state of a study from the texts in a store."""

from __future__ import annotations

__all__ = ["continued", "opened"]

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from outcrop.errors import StorageError
from outcrop.study.events import from_text
from outcrop.study.state import State, fold, follow


def opened(name: str, texts: Sequence[str]) -> State:
    """The state of the study `name`, of which `texts` is the whole log."""
    with _damage_told(name):
        return fold([from_text(text) for text in texts])


def continued(name: str, state: State, texts: Sequence[str]) -> State:
    """The state of the study `name` after `state` and then `texts`."""
    with _damage_told(name):
        return follow(state, [from_text(text) for text in texts])


@contextmanager
def _damage_told(name: str) -> Iterator[None]:
    """Turn errors of events that cannot follow into `StorageError`: the log is damaged."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StorageError(
            f"the log of study {name!r} is damaged ({error}); restore a copy of the storage, or "
            "delete the study"
        ) from error
