"""Checks of configurations, in flat or nested form.

Flat:   {"lr": 0.1, "model": "mlp", "model.mlp.layers": 2}
Nested: {"lr": 0.1, "model": {"mlp": {"layers": 2}}}

`roots` are the nodes at the root of the space's tree.
"""

from __future__ import annotations

__all__ = ["checked", "flattened"]

from collections.abc import Mapping
from typing import Any

from outcrop.errors import ParamsError
from outcrop.space.active_params import ActiveParams
from outcrop.space.discrete import Choice, Fixed
from outcrop.space.plain import listed, nearest
from outcrop.space.tree import Node, walk
from outcrop.typing import Configuration, Params

FLAT = frozenset({type(None), bool, int, float, str, tuple})  # types that cannot be nested


def checked(roots: tuple[Node, ...], params: Params) -> Configuration:
    """The active parameters of a flat or nested configuration, flat and in declaration order."""
    if not isinstance(params, Mapping):
        raise ParamsError(
            f"expected a dict of parameters, got {params!r}; write {{'name': value, …}}"
        )
    if isinstance(params, ActiveParams):
        params = dict(params)  # no short names
    if not FLAT.issuperset(map(type, params.values())):
        params = flattened(roots, params)
    found: Configuration = {}

    def collect(nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            name = node.name
            if name in params:
                found[name] = node.parameter.check(params[name], name)
                if node.below:
                    collect(node.below[found[name]])
            elif isinstance(node.parameter, Fixed):
                found[name] = node.parameter.value
            else:
                raise _missing(node, roots, params)

    collect(roots)
    if not params.keys() <= found.keys():
        raise _superfluous(roots, found, params)
    return found


def flattened(roots: tuple[Node, ...], params: Params) -> Configuration:
    """A nested or partly nested configuration as a flat one; only its options are checked."""
    choices = {node.name: node for node in walk(roots) if isinstance(node.parameter, Choice)}
    flat: Configuration = {}

    def unfold(params: Params, prefix: str) -> None:
        for short, value in params.items():
            name = f"{prefix}{short}" if prefix else short
            if name in flat:
                raise ParamsError(f"{name!r} is given twice, flat and nested; leave one out")
            if isinstance(value, Mapping) and name in choices:
                flat[name], inner = _opened(choices[name], value)
                unfold(inner, f"{name}.{flat[name]}.")
            else:
                flat[name] = value

    unfold(params, "")
    return flat


def _opened(node: Node, value: Mapping[Any, Any]) -> tuple[str, Params]:
    """The option that a nested value names, and the parameters given for it."""
    if len(value) != 1:
        raise node.parameter.refuse(
            value, node.name, "not one option with its parameters", ", as in {'option': {…}}"
        )
    ((option, inner),) = value.items()
    option = str(node.parameter.check(option, node.name))
    if not isinstance(inner, Mapping):
        names = [below.name for below in node.below[option]]
        raise ParamsError(
            f"{node.name!r} is {value!r}: expected {{{option!r}: {{…}}}} with the parameters "
            f"[{listed(names)}], got {inner!r} below {option!r}"
        )
    return option, inner


def _missing(node: Node, roots: tuple[Node, ...], params: Params) -> ParamsError:
    because = "".join(f", since {choice!r} is {option!r}" for choice, option in node.above[-1:])
    # a misspelt name is both missing and unknown; the message about the unknown one helps more
    known = {each.name for each in walk(roots)}
    strange = [name for name in params if name not in known]
    got = f"; got {listed(strange)}, unknown here" if strange else ""
    return ParamsError(f"{node.name!r} is missing: expected {node.parameter.allowed}{because}{got}")


def _superfluous(roots: tuple[Node, ...], found: Params, params: Params) -> ParamsError:
    """The error for a name that is not among the active parameters."""
    nodes = {node.name: node for node in walk(roots)}
    name = next(each for each in params if each not in found)
    if name not in nodes:
        return ParamsError(
            f"{name!r} (= {params[name]!r}) is unknown: expected {listed([*found])}"
            f"{nearest(name, nodes)}"
        )
    choice, option = next(pair for pair in nodes[name].above if found[pair[0]] != pair[1])
    return ParamsError(
        f"{name!r} (= {params[name]!r}) is inactive: it belongs to {choice!r} = {option!r}, but "
        f"{choice!r} is {found[choice]!r}; leave it out, or choose {option!r}"
    )
