"""A trial, one configuration and its outcome, and the best of several trials."""

from __future__ import annotations

__all__ = [
    "Correction",
    "HasBest",
    "LegalParams",
    "ReadOnly",
    "Source",
    "Trial",
    "TrialState",
    "best_of",
]

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, Self, TypeAlias, cast

from outcrop.errors import NoBelief
from outcrop.space import ActiveParams
from outcrop.strategies.base import Why
from outcrop.typing import JsonObject, Params

TrialState: TypeAlias = Literal["running", "finished", "failed", "discarded"]
Source: TypeAlias = Literal["asked", "added"]


class ReadOnly(dict[str, Any]):
    """A dict that cannot be changed; `dict(it)` is a copy that can.

    >>> ReadOnly(x=1)["x"] = 2
    Traceback (most recent call last):
    ...
    TypeError: a trial cannot be changed; change a copy, dict(…)
    """

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError("a trial cannot be changed; change a copy, dict(…)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Callable[..., Self], tuple[object, ...]]:
        return type(self), (dict(self),)

    @classmethod
    def deep(cls, tree: JsonObject) -> ReadOnly:
        """A read-only copy of a mapping and of the mappings inside it."""
        return cls(
            {
                key: cls.deep(item) if isinstance(item, Mapping) else item
                for key, item in tree.items()
            }
        )


class LegalParams(ReadOnly, ActiveParams):
    """Flat parameters that `Space.validate` returned; the study does not check them again."""

    __reduce__ = ActiveParams.__reduce__  # with the names


@dataclass(frozen=True)
class Correction:
    """The outcome that a trial had before it was amended or discarded, and why that was done.

    trial.corrections[0].value  # what was told at first
    """

    state: TrialState
    value: float | None = None
    std: float | None = None
    failure: str = ""  # why it had failed, or why it had been discarded
    at: Params | None = None
    at_std: Params | None = None
    reason: str = ""  # of the correction
    made: float = 0.0  # when, in UTC seconds

    def __str__(self) -> str:
        was = self.state if self.value is None else f"{self.value!r}"
        if self.std is not None:
            was += f" ± {self.std!r}"
        return f"was {was}: {self.reason}" if self.reason else f"was {was}"


@dataclass(frozen=True, repr=False)
class Trial:
    """One configuration and its outcome; `tell` returns a new object.

        trial = optimizer.ask()
        loss = train(trial.params["lr"], MLP(**trial.params.kwargs("model.mlp")))
        trial = optimizer.tell(trial, loss)

    Times are UTC, in seconds since 1970 as of `time.time`. The `started` of an added trial is None.
    """

    number: int  # its identity; never used twice
    params: ActiveParams  # flat, active ones only, in the form of the study's space
    nested: Params  # the same as {"model": {"mlp": {"layers": 2}}}
    state: TrialState = "running"
    value: float | None = None  # in the user's sign; None unless finished
    std: float | None = None  # standard deviation of the value, if it was given
    reason: str = ""  # why it failed or was discarded
    attempt: int = 1
    worker: str = ""  # who evaluates it, or did so last; empty if nobody was named
    source: Source = "asked"
    started: float | None = None
    finished: float | None = None  # or failed
    info: JsonObject = field(default_factory=ReadOnly)  # given by the user with the value
    why: Why = field(default_factory=lambda: cast(Why, ReadOnly()))  # the suggestion's record
    at: Params | None = None  # numbers that differed from those asked for, by flat name
    at_std: Params | None = None  # standard deviations of numbers, by flat name
    corrections: tuple[Correction, ...] = ()  # earlier outcomes, the first one first
    original: Params | None = None  # as asked for, if these differ since the space has changed
    aside: str = ""  # why it does not fit the space any more; the model does not use it then

    @property
    def has_outcome(self) -> bool:
        """Whether it has finished or failed; a discarded trial has no outcome any more."""
        return self.state in ("finished", "failed")

    @property
    def is_observed(self) -> bool:
        """Whether it has a value and fits the space, so that the model uses it."""
        return self.value is not None and not self.aside

    def __hash__(self) -> int:
        return hash(self.number)  # mappings cannot be hashed

    def __repr__(self) -> str:
        outcome = ""
        if self.state == "finished":
            spread = "" if self.std is None else f" ± {self.std!r}"
            outcome = f", value={self.value!r}{spread}"
        elif self.reason:
            outcome = f", reason={self.reason!r}"
        if self.corrections:
            outcome += f", {self.corrections[-1]}"
        if self.aside:
            outcome += f", set aside: {self.aside}"
        return f"Trial({self.number}, {self.state}{outcome}, params={dict(self.params)!r})"

    def _repr_html_(self) -> str:
        from outcrop.study.study_html import trial_html  # needed by notebooks alone

        return trial_html(self)


def best_of(trials: Iterable[Trial], sign: float) -> Trial:
    """The finished trial with the best value, the first of equals; `NoBelief` if none finished."""
    finished = [
        (trial.value, trial) for trial in trials if trial.value is not None and not trial.aside
    ]
    if not finished:
        raise NoBelief("no trial has finished yet, so there is no best one; tell a value first")
    return min(finished, key=lambda pair: sign * pair[0])[1]


class HasBest(ABC):
    """A base class that derives the best parameters and value from the best trial."""

    @property
    @abstractmethod
    def best_trial(self) -> Trial:
        """The finished trial with the best value observed; `NoBelief` if there is none."""

    @property
    def best_params(self) -> ActiveParams:
        return self.best_trial.params

    @property
    def best_value(self) -> float:
        value = self.best_trial.value
        assert value is not None  # it is finished
        return value
