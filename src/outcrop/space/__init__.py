"""Search spaces: parameters, conditions, and the encoding as numbers.

Read `parameters` and `discrete` for the kinds of parameters, `space` for the methods of a space,
`tree` for conditions, `encoding` for the map to the unit cube, `expressions` and `constraints` for
what parameters must satisfy together, `admissible_points` for points that do, `active_params` for
the parameters that an objective gets.
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
    "ActiveParams",
    "Encoded",
    "Column",
    "Branch",
]

from outcrop.former_names import offer_former_names
from outcrop.space.active_params import ActiveParams
from outcrop.space.discrete import Categorical, Choice, Fixed, Ordinal
from outcrop.space.parameters import Float, Int, Parameter
from outcrop.space.space import Encoded, Space
from outcrop.space.tree import Branch, Column

offer_former_names(__name__)
