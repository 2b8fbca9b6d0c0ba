"""Explanations: why a trial was suggested, from the record of its suggestion."""

from __future__ import annotations

__all__ = ["Explanation", "explained"]

from collections.abc import Mapping
from dataclasses import dataclass, field

from outcrop.errors import TrialError
from outcrop.study.commands import found
from outcrop.study.state import Record, State
from outcrop.study.trial import ReadOnly, Trial
from outcrop.typing import JsonObject

# Keys of a suggestion's record that an explanation has fields for; "pending" is only a count.
FACTS = ("source", "surrogate", "mean", "std", "acquisition", "value", "pending", "cut")


@dataclass(frozen=True)
class Explanation:
    """Why a trial was suggested: its source, and the prediction before it was evaluated.

    Fields that do not apply are None: a trial of the initial design has no prediction.
    """

    trial: Trial
    source: str  # "initial", "model", "fallback", "queue", "added", or another of the strategy
    pending: tuple[int, ...] = ()  # numbers of the trials that were running
    surrogate: str | None = None
    mean: float | None = None
    std: float | None = None
    acquisition: str | None = None
    score: float | None = None  # the acquisition at the point
    cut: Mapping[str, int] = field(
        default_factory=dict
    )  # steps made before time ran out, if it did
    more: JsonObject = field(default_factory=ReadOnly)  # the strategy's other entries

    def __str__(self) -> str:
        running = ", ".join(map(str, self.pending)) or "none"
        lines = [f"trial {self.trial.number}: {dict(self.trial.params)}", f"source: {self.source}"]
        if self.surrogate is not None:
            lines.append(f"surrogate: {self.surrogate}")
        if self.mean is not None:
            spread = "" if self.std is None else f" ± {self.std:.6g}"
            lines.append(f"predicted: {self.mean:.6g}{spread}")
        if self.acquisition is not None:
            at = "" if self.score is None else f" = {self.score:.6g}"
            lines.append(f"acquisition: {self.acquisition}{at}")
        lines.append(f"pending: {running}")
        if self.cut:
            made = " and ".join(f"{count} {what}" for what, count in self.cut.items())
            lines.append(f"cut: out of time after {made}; further ones were left out")
        lines += [f"{name}: {value}" for name, value in self.more.items()]
        if self.trial.state == "finished":
            lines.append(f"observed: {self.trial.value:.6g}")
        elif self.trial.state == "failed":
            lines.append(f"failed: {self.trial.reason or 'no reason given'}")
        elif self.trial.state == "discarded":
            lines.append(f"discarded: {self.trial.reason or 'no reason given'}")
        lines += [f"corrected: {each}" for each in self.trial.corrections]
        return "\n".join(lines)


def explained(state: State, trial: Trial | int | None) -> Explanation:
    """Why `trial` was suggested; None means the newest trial that was asked for."""
    record = _newest(state) if trial is None else found(state, trial)
    why = record.trial.why
    unsaid = "added" if record.trial.source == "added" else "strategy"
    return Explanation(
        trial=record.trial,
        source=why.get("source") or unsaid,
        pending=_pending(state, record),
        surrogate=why.get("surrogate"),
        mean=why.get("mean"),
        std=why.get("std"),
        acquisition=why.get("acquisition"),
        score=why.get("value"),
        cut=why.get("cut", {}),
        more=ReadOnly({name: item for name, item in why.items() if name not in FACTS}),
    )


def _newest(state: State) -> Record:
    for record in reversed(list(state.records)):
        if record.trial.source == "asked":
            return record
    raise TrialError("no trial was asked for yet, so there is none to explain")


def _pending(state: State, record: Record) -> tuple[int, ...]:
    """Trials that were running in the state from which `record` was suggested."""
    if record.trial.source == "added":
        return ()
    return tuple(
        other.trial.number
        for other in state.records
        if other.began < record.began and (other.ended is None or other.ended >= record.began)
    )
