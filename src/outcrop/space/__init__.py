"""Search spaces: what may be chosen, when, and how it becomes numbers.

Read `parameters` and `discrete` for what can be declared, `space` for what a space can do, `tree`
for conditions, `encoding` for the unit cube.
"""

from __future__ import annotations

__all__ = [
    "Space",
    "Float",
    "Int",
    "Categorical",
    "Ordinal",
    "Fixed",
    "Choice",
    "Parameter",
    "Encoded",
    "Column",
    "Branch",
]

from outcrop.space.discrete import Categorical, Choice, Fixed, Ordinal
from outcrop.space.parameters import Float, Int, Parameter
from outcrop.space.space import Encoded, Space
from outcrop.space.tree import Branch, Column
