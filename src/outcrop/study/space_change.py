"""Changes of the space of a study: the event, and what it did to the trials."""

from __future__ import annotations

__all__ = ["SpaceChange", "change_report", "space_changed"]

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from outcrop.errors import ParamsError, SpaceError, StudyError
from outcrop.space import Space
from outcrop.space.plain import Plain, listed, nearest, plain
from outcrop.study.argument_checks import checked_robust
from outcrop.study.events import SpaceChanged
from outcrop.study.state import State
from outcrop.study.translation import lacking, refitted
from outcrop.study.trial import Trial
from outcrop.typing import Params


@dataclass(frozen=True)
class SpaceChange:
    """What a change of the space did to the trials of a study, and to its queue.

        report = study.change_space(space, defaults={"dropout": 0.0})
        print(report)

    Numbers are those of trials.
    """

    fitting: int  # trials that fit the new space
    added: Mapping[str, int] = field(default_factory=dict)  # of these got a default, by parameter
    left_out: Mapping[str, int] = field(default_factory=dict)  # of these lost it, by parameter
    back: tuple[int, ...] = ()  # that had been set aside and fit again
    aside: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # by why they do not fit
    dropped: tuple[Params, ...] = ()  # configurations of the queue that do not fit

    @property
    def n_aside(self) -> int:
        return sum(map(len, self.aside.values()))

    def __str__(self) -> str:
        lines = [f"{self.fitting} trials fit the new space, {self.n_aside} are set aside"]
        for name, count in self.added.items():
            lines.append(f"  {count} got {name!r} by default")
        for name, count in self.left_out.items():
            lines.append(
                f"  {count} lost {name!r}; if values depend on it, state what it is from now on "
                f"with defaults={{{name!r}: …}}"
            )
        if self.back:
            lines.append(f"  {len(self.back)} had been set aside and fit again")
        for reason, numbers in self.aside.items():
            lines.append(f"  {len(numbers)} set aside: {reason}")
        if self.dropped:
            lines.append(f"  {len(self.dropped)} queued configurations do not fit and are dropped")
        return "\n".join(lines)


def space_changed(state: State, space: Space, defaults: Params, at: float) -> SpaceChanged:
    """The event of a change, or an error that says what is missing."""
    if not isinstance(space, Space):
        raise SpaceError(f"expected a Space, got {space!r}; write Space({{'name': Float(…)}})")
    checked_robust(state.created.robust, space)
    stated = _checked_defaults(state, space, defaults)
    if space == state.space and not stated.items() - state.defaults.items():
        raise StudyError("the study has this space already, so that nothing changes")
    missing = Counter(
        name
        for record in state.records
        if record.trial.state != "discarded"
        for name in lacking(record.asked.params, space, {**state.defaults, **stated})
    )
    for name, count in missing.items():
        raise ParamsError(
            f"{name!r} is new, and trials that would fit do not have it ({count}): state the value "
            f"that it had in them with defaults={{{name!r}: …}}, or --default {name}=…"
        )
    return SpaceChanged(space, stated, at)


def change_report(before: State, after: State) -> SpaceChange:
    """What the newest change of the space did."""
    added, left_out = Counter[str](), Counter[str]()
    aside: dict[str, list[int]] = {}
    back, fitting = [], 0
    earlier = {trial.number: trial for trial in before.trials}
    for trial in after.trials:
        was = earlier[trial.number]
        if trial.aside:
            aside.setdefault(_kind(trial, after.space), []).append(trial.number)
            continue
        fitting += 1
        asked = trial.params if trial.original is None else trial.original
        added.update(trial.params.keys() - was.params.keys() - asked.keys())
        left_out.update(was.params.keys() - trial.params.keys() - after.defaults.keys())
        if was.aside:
            back.append(trial.number)
    return SpaceChange(
        fitting,
        dict(added),
        dict(left_out),
        tuple(back),
        {reason: tuple(numbers) for reason, numbers in aside.items()},
        tuple(each for each in before.queue if not refitted(each, after.space, after.defaults)),
    )


def _kind(trial: Trial, space: Space) -> str:
    """Why a trial is set aside, in words that are the same for trials with other values."""
    for name, value in trial.params.items():
        parameter = space.parameters.get(name)
        try:
            if parameter is not None:
                parameter.check(value, name)
        except ParamsError:
            return f"{name!r} is not in {parameter!r}"
    return trial.aside.partition(": ")[0]


def _checked_defaults(state: State, space: Space, defaults: Params) -> dict[str, Plain]:
    """Defaults by flat names, as plain values that are legal where they are used."""
    if not isinstance(defaults, Mapping):
        raise ParamsError(f"defaults must be a dict such as {{'x': 1.5}}, got {defaults!r}")
    known = {name: each for former in state.spaces for name, each in former.parameters.items()}
    found: dict[str, Plain] = {}
    for name, value in space.flatten(defaults).items():
        parameter = space.parameters.get(name) or known.get(name)
        if parameter is None:
            raise ParamsError(
                f"defaults: {name!r} is unknown, neither the new space nor an earlier one has it: "
                f"expected {listed([*{**known, **space.parameters}])}"
                f"{nearest(name, {**known, **space.parameters})}"
            )
        try:
            found[name] = plain(parameter.check(value, name))
        except ParamsError as error:
            raise ParamsError(
                f"defaults: {error}; trials with that value do not fit: change to a space that "
                "holds it first, and narrow that one by a second change"
            ) from None
    return found
