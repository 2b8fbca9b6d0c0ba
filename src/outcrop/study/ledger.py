"""An immutable list whose updates are cheap: they share all chunks but one with the original."""

from __future__ import annotations

__all__ = ["Chunk", "Ledger"]

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

CHUNK = 64  # items; an update copies one chunk and the tuple of chunks


@dataclass(frozen=True, eq=False)
class Chunk(Generic[Item]):
    """Consecutive items of a ledger, and cached results of functions of them."""

    places: tuple[Item | None, ...]
    _made: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    def made(self, make: Callable[[Sequence[Item]], Made]) -> Made:
        """The cached result of `make`, a module-level function, for the items."""
        if make not in self._made:
            self._made[make] = make([item for item in self.places if item is not None])
        made: Made = self._made[make]
        return made


@dataclass(frozen=True, eq=False)
class Ledger(Generic[Item]):
    """Items by number; where an item was removed, there is None.

    >>> ledger = Ledger[str]().appended("a").appended("b")
    >>> list(ledger.replaced(0, None)), list(ledger), len(ledger.replaced(0, None))
    (['b'], ['a', 'b'], 2)
    """

    chunks: tuple[Chunk[Item], ...] = ()  # all but the last are full

    def __len__(self) -> int:
        if not self.chunks:
            return 0
        return CHUNK * (len(self.chunks) - 1) + len(self.chunks[-1].places)

    def __getitem__(self, number: int) -> Item | None:
        chunk, place = divmod(number, CHUNK)
        return self.chunks[chunk].places[place]

    def __iter__(self) -> Iterator[Item]:
        """The items that were not removed, by number."""
        return (item for chunk in self.chunks for item in chunk.places if item is not None)

    def appended(self, item: Item) -> Ledger[Item]:
        """This ledger with one more item."""
        if not self.chunks or len(self.chunks[-1].places) == CHUNK:
            return Ledger((*self.chunks, Chunk((item,))))
        return Ledger((*self.chunks[:-1], Chunk((*self.chunks[-1].places, item))))

    def replaced(self, number: int, item: Item | None) -> Ledger[Item]:
        """This ledger with another item, or none, at `number`."""
        where, place = divmod(number, CHUNK)
        places = self.chunks[where].places
        chunk = Chunk((*places[:place], item, *places[place + 1 :]))
        return Ledger((*self.chunks[:where], chunk, *self.chunks[where + 1 :]))

    def exchanged(self, items: Iterable[Item]) -> Ledger[Item]:
        """This ledger with other items in the places of those that were not removed, by number."""
        others = iter(items)
        chunks = (
            tuple(None if item is None else next(others) for item in chunk.places)
            for chunk in self.chunks
        )
        return Ledger(tuple(map(Chunk, chunks)))

    def made(self, make: Callable[[Sequence[Item]], Made]) -> list[Made]:
        """The result of `make` for each chunk, cached for all ledgers that share the chunk.

        >>> Ledger[int]().appended(3).appended(4).made(sum)
        [7]
        """
        return [chunk.made(make) for chunk in self.chunks]
