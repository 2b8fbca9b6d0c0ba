"""What a run needs of a study."""

from __future__ import annotations

__all__ = ["Callback", "Rule", "Runnable"]

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from outcrop.space import Space
from outcrop.study.trial import Trial


class Runnable(Protocol):
    """A study as a run sees it: asked and told from one thread, renewed from another."""

    @property
    def direction(self) -> str: ...

    @property
    def space(self) -> Space: ...

    @property
    def trials(self) -> list[Trial]: ...

    def ask(self, *, lease: float | None = None) -> Trial:
        """The next trial, or `SpaceExhausted`."""

    def tell(
        self,
        trial: Trial,
        value: float,
        *,
        std: float | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> Trial: ...

    def fail(
        self, trial: Trial, reason: str = "", *, info: Mapping[str, Any] | None = None
    ) -> Trial: ...

    def release(self, trial: Trial) -> None: ...

    def renew(self, trials: Sequence[int], lease: float) -> None:
        """Keep trials for another `lease` seconds; those that run no longer are passed over."""

    def stop(self, reason: str) -> None:
        """Record why a run ended."""


Callback: TypeAlias = Callable[[Any, Trial], object]  # the study, and a trial that is done
Rule: TypeAlias = Callable[[Any], str | None]  # why the study should stop, or None
