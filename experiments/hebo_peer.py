"""HEBO as a peer: a Gaussian process of warped inputs and values, three acquisitions at once.

HEBO [Cowen-Rivers et al. 2022] searches the Pareto front of its acquisitions by an evolutionary
algorithm over numbers, integers and categories. Steps and ordinals are the numbers of their levels.
"""

from __future__ import annotations

__all__ = ["HEBO"]

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from experiments.levels import coded, decoded, is_coded
from outcrop.space import Categorical, Choice, Fixed, Float, Space
from outcrop.typing import Params


class HEBO:
    """`HEBO` with its defaults; the initial points take the place of its own random ones.

    It learns a noise whether there is any or not. Conditional spaces are refused.
    """

    def __init__(self, space: Space, seed: int, trials: int, noisy: bool = False) -> None:
        from hebo.design_space.design_space import DesignSpace
        from hebo.optimizers.hebo import HEBO as Own
        from pymoo.config import Config

        if any(isinstance(column.parameter, Choice) for column in space.columns):
            raise ValueError("HEBO has no conditional spaces; leave it out where there are")
        Config.warnings["not_compiled"] = False
        self.space, self.seed, self.asked = space, seed, 0
        declared = [_parameter(column.name, column.parameter) for column in space.columns]
        fewest = 2  # own random points, which are in the place of ours if there are that many
        self.own = Own(DesignSpace().parse(declared), rand_sample=fewest, scramble_seed=seed)

    def add(self, params: Params, value: float) -> None:
        self.tell(params, value)

    def tell(self, params: Params, value: float) -> None:
        import pandas as pd

        row = {c.name: [coded(c.parameter, params[c.name])] for c in self.space.columns}
        self.own.observe(pd.DataFrame(row), np.array([[value]], dtype=float))

    def ask(self) -> Params:
        self.asked += 1  # so that two which are asked for before any is told differ
        with _seeded(self.seed * 1000 + self.asked), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = self.own.suggest(n_suggestions=1).iloc[0]
        chosen = {c.name: _legal(c.parameter, row[c.name]) for c in self.space.columns}
        fixed = {n: p.value for n, p in self.space.parameters.items() if isinstance(p, Fixed)}
        return self.space.validate({**chosen, **fixed})


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """HEBO draws from the global generators of Python, NumPy and PyTorch; these are put back."""
    import torch

    torch.set_num_threads(1)
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(devices=[]):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        torch.manual_seed(seed)
        try:
            yield
        finally:
            random.setstate(before[0])
            np.random.set_state(before[1])  # noqa: NPY002


def _parameter(name: str, parameter: Any) -> dict[str, Any]:
    """A parameter as HEBO declares it; `pow` is a logarithmic scale."""
    if isinstance(parameter, Categorical):
        return {"name": name, "type": "cat", "categories": list(range(parameter.levels))}
    if is_coded(parameter):
        return {"name": name, "type": "int", "lb": 0, "ub": parameter.levels - 1}
    linear, log = ("num", "pow") if isinstance(parameter, Float) else ("int", "pow_int")
    kind = log if parameter.log else linear
    return {"name": name, "type": kind, "lb": parameter.low, "ub": parameter.high}


def _legal(parameter: Any, suggested: Any) -> Any:
    if is_coded(parameter):
        return decoded(parameter, suggested)
    number = float(suggested) if isinstance(parameter, Float) else int(suggested)
    return min(max(number, parameter.low), parameter.high)  # powers may be rounded beyond bounds
