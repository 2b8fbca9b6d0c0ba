"""Values as JSON and back, without loss.

None, booleans, whole numbers, finite floats, text, lists and objects with text keys are written as
themselves. Anything else is an object with one key that tells its kind: `{"float": "nan"}`,
`{"tuple": […]}`, `{"array": {…}}`, and `{"object": {…}}` around an object that looks like these.

Callers with values of other kinds pass `part`: for `write` a function from such a value to an
object with one of `MARKS` among its keys, for `read` the inverse.
"""

from __future__ import annotations

__all__ = ["read", "write"]

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

KINDS = frozenset({"float", "tuple", "array", "object"})
ARRAYS = "biuf"  # kinds of NumPy types: booleans, whole numbers, floats
MARKS = frozenset({"class", "custom"})  # keys of an object that `part` wrote

Writes: TypeAlias = Callable[[object], Mapping[str, Any] | None]  # None for a value of another kind
Reads: TypeAlias = Callable[[Mapping[str, Any]], Any]


def write(value: object, where: str = "value", part: Writes | None = None) -> Any:
    """`value` as JSON; a `TypeError` names the place (`where`) of a value that JSON cannot hold.

    >>> write({"loss": float("inf"), "shape": (2, 3)})
    {'loss': {'float': 'inf'}, 'shape': {'tuple': [2, 3]}}
    """
    if part is not None and (written := part(value)) is not None:
        return written
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # the text of an enumeration's member
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, list | tuple):
        items = [write(item, f"{where}[{index}]", part) for index, item in enumerate(value)]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        return _write_mapping(value, where, part)
    if isinstance(value, np.ndarray) and value.dtype.kind in ARRAYS:
        return {
            "array": {
                "dtype": value.dtype.name,
                "shape": list(value.shape),
                "values": write(value.reshape(-1).tolist(), where),
            }
        }
    kind = f"{value.dtype} array" if isinstance(value, np.ndarray) else type(value).__name__
    raise TypeError(f"{where} is of type {kind}, which JSON cannot hold")


def read(data: Any, part: Reads | None = None) -> Any:
    """The value that `write` was given.

    >>> read({"float": "nan"}), read({"tuple": [1, [2]]})
    (nan, (1, [2]))
    """
    if isinstance(data, list):
        return [read(item, part) for item in data]
    if not isinstance(data, Mapping):
        return data
    if part is not None and not MARKS.isdisjoint(data):
        return part(data)
    if len(data) == 1:
        ((kind, inner),) = data.items()
        match kind:
            case "float":
                return float(inner)
            case "tuple":
                return tuple(read(item, part) for item in inner)
            case "array":
                return _read_array(inner)
            case "object":
                return {key: read(item, part) for key, item in inner.items()}
    return {key: read(item, part) for key, item in data.items()}


def _read_array(inner: Mapping[str, Any]) -> Any:
    dtype = np.dtype(inner["dtype"])
    if dtype.kind not in ARRAYS:
        raise ValueError(f"an array of {dtype}: expected numbers or booleans")
    return np.array(read(inner["values"]), dtype=dtype).reshape(inner["shape"])


def _write_mapping(value: Mapping[Any, object], where: str, part: Writes | None) -> dict[str, Any]:
    written = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"{where} has the key {key!r}, and JSON allows text keys only")
        written[str.__str__(key)] = write(item, f"{where}[{key!r}]", part)
    is_like_a_kind = len(written) == 1 and written.keys() <= KINDS
    is_like_a_part = part is not None and not MARKS.isdisjoint(written)
    return {"object": written} if is_like_a_kind or is_like_a_part else written
