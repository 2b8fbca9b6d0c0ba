"""Descriptions of spaces: the code that declares one, and the differences of two."""

from __future__ import annotations

__all__ = ["constraint_differences", "declaration", "differences", "noise_differences"]

from collections.abc import Mapping, Sequence

from outcrop.space.constraints import Constraint
from outcrop.space.discrete import Choice, Group
from outcrop.space.noise import InputCovariances
from outcrop.space.parameters import Parameter
from outcrop.space.plain import listed

WIDTH = 80


def declaration(group: Group, blocks: InputCovariances, constraints: Sequence[Constraint]) -> str:
    """Code that evaluates to the space, on several lines if it is long."""
    noise = f", input_covariance={dict(blocks)!r}" if blocks else ""
    limits = f", constraints={[*constraints]!r}" if constraints else ""
    return f"Space({_group(group, 0)}{noise}{limits})"


def differences(ours: Mapping[str, Parameter], theirs: Mapping[str, Parameter]) -> list[str]:
    """One line for each flat name whose parameters differ; nothing if the spaces are equal."""
    lines = []
    for name in {**ours, **theirs}:
        if name not in theirs:
            lines.append(f"{name}: only in this space, {_short(ours[name])}")
        elif name not in ours:
            lines.append(f"{name}: only in the other space, {_short(theirs[name])}")
        elif _differ(ours[name], theirs[name]):
            lines.append(
                f"{name}: {_short(ours[name])} in this space, {_short(theirs[name])} in the other"
            )
    if not lines and list(ours) != list(theirs):
        lines.append(f"order: {listed([*ours])} in this space, {listed([*theirs])} in the other")
    return lines


def noise_differences(ours: InputCovariances, theirs: InputCovariances) -> list[str]:
    """One line for each group of numbers whose input noise differs."""
    return [
        f"input_covariance of {names!r}: {ours.get(names)} in this space, {theirs.get(names)} in "
        "the other"
        for names in {**ours, **theirs}
        if ours.get(names) != theirs.get(names)
    ]


def constraint_differences(ours: Sequence[Constraint], theirs: Sequence[Constraint]) -> list[str]:
    """One line for each constraint of one space alone."""
    return [
        f"constraint {each.text}: only in {whose} space"
        for whose, own, others in (("this", ours, theirs), ("the other", theirs, ours))
        for each in own
        if each not in others
    ]


def _differ(ours: Parameter, theirs: Parameter) -> bool:
    if isinstance(ours, Choice) and isinstance(theirs, Choice):
        return ours.names != theirs.names  # parameters of options have names of their own
    return ours != theirs


def _short(parameter: Parameter) -> str:
    if isinstance(parameter, Choice):
        return f"Choice of {listed(parameter.names)}"
    return repr(parameter)


def _group(group: Group, indent: int) -> str:
    return _braces(
        {name: _parameter(parameter, indent) for name, parameter in group.items()}, indent
    )


def _parameter(parameter: Parameter, indent: int) -> str:
    if not isinstance(parameter, Choice):
        return repr(parameter)
    options = {name: _group(group, indent + 8) for name, group in parameter.options.items()}
    return f"Choice({_braces(options, indent + 4)})"


def _braces(items: Mapping[str, str], indent: int) -> str:
    """A dict display of ready-made values; items are `indent` + 4 from the left if it is broken."""
    line = "{" + ", ".join(f"{name!r}: {text}" for name, text in items.items()) + "}"
    if len(line) + indent <= WIDTH and "\n" not in line:
        return line
    margin = " " * (indent + 4)
    lines = "".join(f"{margin}{name!r}: {text},\n" for name, text in items.items())
    return "{\n" + lines + " " * indent + "}"
