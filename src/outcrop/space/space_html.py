"""A space as an HTML table, for notebooks."""

from __future__ import annotations

__all__ = ["space_html"]

from collections.abc import Iterable, Sequence

from outcrop.html_tables import Html, page, short, table
from outcrop.space.constraints import Constraint
from outcrop.space.discrete import Categorical, Choice, Fixed, Ordinal
from outcrop.space.parameters import Float, Int, Parameter
from outcrop.space.tree import Node

LISTED = 12  # values of a list, at most


def space_html(nodes: Iterable[Node], size: int | None, constraints: Sequence[Constraint]) -> Html:
    """A table of all parameters, of which those of an option name it, and the constraints."""
    rows = [
        (
            node.name,
            type(node.parameter).__name__,
            _values(node.parameter),
            _scale(node.parameter),
            ", ".join(f"{choice} = {option}" for choice, option in node.above[-1:]),
        )
        for node in nodes
    ]
    names = "parameter", "type", "values", "scale", "only if"
    kept = [i for i, name in enumerate(names) if any(row[i] for row in rows)]
    count = "" if size is None else f", {size} configurations"
    return page(
        f"Space of {len(rows)} parameters{count}",
        table([names[i] for i in kept], [[row[i] for i in kept] for row in rows]),
        *(f"constraint: {constraint.text}" for constraint in constraints),
    )


def _values(parameter: Parameter) -> str:
    match parameter:
        case Float() | Int():
            return f"{short(parameter.low)} to {short(parameter.high)}"
        case Ordinal():
            return _listed(parameter.values, " < ")
        case Categorical():
            return _listed(parameter.choices, ", ")
        case Choice():
            return _listed(parameter.names, ", ")
        case Fixed():
            return short(parameter.value)
    return repr(parameter)


def _listed(values: Iterable[object], between: str) -> str:
    texts = [short(value) for value in values]
    rest = len(texts) - LISTED
    return between.join(texts[:LISTED]) + (f"{between}… and {rest} more" if rest > 0 else "")


def _scale(parameter: Parameter) -> str:
    if not isinstance(parameter, Float | Int):
        return ""
    usual = None if isinstance(parameter, Float) else 1
    parts = [
        "log" if parameter.log else "",
        "" if parameter.step in (usual, None) else f"step {short(parameter.step)}",
        "" if parameter.input_std is None else f"input noise {short(parameter.input_std)}",
    ]
    return ", ".join(filter(None, parts))
