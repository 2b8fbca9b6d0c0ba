"""What calls answered: which were refused, which raised what they must not, how long they took."""

from __future__ import annotations

__all__ = ["Answered", "Report"]

import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from outcrop.errors import OutcropError

SLOW = 5.0  # seconds of a call's processor time that are reported


@dataclass
class Report:
    """What happened in a case."""

    calls: int = 0
    suggestions: int = 0
    refused: Counter[str] = field(default_factory=Counter)  # by the name of the exception
    problems: list[dict[str, Any]] = field(default_factory=list)
    slow: list[dict[str, Any]] = field(default_factory=list)
    longest: float = 0.0

    def problem(self, kind: str, call: str, text: str = "") -> None:
        self.problems.append({"kind": kind, "call": call, "text": text[-1500:]})

    @contextmanager
    def calling(self, call: str, may: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Count a call; an exception of `may` is an answer, any other one is a problem.

        Both end what follows in the block of `Answered`.
        """
        self.calls += 1
        start = time.process_time()
        try:
            yield
        except may as error:
            self.refused[type(error).__name__] += 1
            raise Answered from None
        except Exception as error:
            if isinstance(error, Warning):
                kind = "warning"
            else:
                kind = "refusal" if isinstance(error, OutcropError) else "foreign"
            self.problem(kind, call, traceback.format_exc())
            raise Answered from None
        finally:
            seconds = time.process_time() - start
            self.longest = max(self.longest, seconds)
            if seconds > SLOW:
                self.slow.append({"call": call, "seconds": round(seconds, 1)})


class Answered(Exception):
    """A call was refused; its result cannot be used."""
