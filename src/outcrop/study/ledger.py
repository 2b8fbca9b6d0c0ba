"""A list that is never changed: an update shares all but one chunk with where it came from."""

from __future__ import annotations

__all__ = ["Ledger"]

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")

CHUNK = 64  # an update copies this many places and one per chunk: few up to some 10 000 items


@dataclass(frozen=True, eq=False)
class Ledger(Generic[Item]):
    """Items by number; a number whose item was taken out keeps its place and holds None.

    >>> ledger = Ledger[str]().appended("a").appended("b")
    >>> list(ledger.replaced(0, None)), list(ledger), len(ledger.replaced(0, None))
    (['b'], ['a', 'b'], 2)
    """

    chunks: tuple[tuple[Item | None, ...], ...] = ()  # all but the last are full

    def __len__(self) -> int:
        return CHUNK * (len(self.chunks) - 1) + len(self.chunks[-1]) if self.chunks else 0

    def __getitem__(self, number: int) -> Item | None:
        chunk, place = divmod(number, CHUNK)
        return self.chunks[chunk][place]

    def __iter__(self) -> Iterator[Item]:
        """Items that are there, by number."""
        return (item for chunk in self.chunks for item in chunk if item is not None)

    def appended(self, item: Item) -> Ledger[Item]:
        """This ledger with one more item."""
        if not self.chunks or len(self.chunks[-1]) == CHUNK:
            return Ledger((*self.chunks, (item,)))
        return Ledger((*self.chunks[:-1], (*self.chunks[-1], item)))

    def replaced(self, number: int, item: Item | None) -> Ledger[Item]:
        """This ledger with another item, or none, at `number`."""
        where, place = divmod(number, CHUNK)
        chunk = self.chunks[where]
        chunk = (*chunk[:place], item, *chunk[place + 1 :])
        return Ledger((*self.chunks[:where], chunk, *self.chunks[where + 1 :]))
