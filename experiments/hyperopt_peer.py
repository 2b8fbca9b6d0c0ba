"""HyperOpt's TPE as a peer, the program that the thesis on CoCaBO compares with.

HyperOpt [Bergstra et al. 2013] has no interface to ask and tell: a study is its list of trials,
which is written here, and `tpe.suggest` reads it. Steps, ordinals and categories are choices among
the numbers of their levels.
"""

from __future__ import annotations

__all__ = ["HyperOpt"]

from math import log
from typing import Any

from experiments.asked import taken
from experiments.levels import coded, decoded, is_coded
from outcrop.space import Choice, Fixed, Float, Space
from outcrop.typing import Params


class HyperOpt:
    """`tpe.suggest` with its defaults.

    The initial points that it is told take the place of its own random ones: it begins to use its
    model after 20 trials. Conditional spaces are refused.
    """

    def __init__(self, space: Space, seed: int, trials: int, noisy: bool = False) -> None:
        from hyperopt.base import Domain, Trials

        if any(isinstance(column.parameter, Choice) for column in space.columns):
            raise ValueError(
                "HyperOpt is not told of conditions here; leave it out where there are"
            )
        self.space, self.seed, self.asked = space, seed, 0
        declared = {c.name: _parameter(c.name, c.parameter) for c in space.columns}
        self.domain = Domain(lambda params: 0.0, declared)
        self.trials = Trials()
        self.running: list[tuple[Params, Any]] = []

    def add(self, params: Params, value: float) -> None:
        from hyperopt.base import spec_from_misc

        (number,) = self.trials.new_trial_ids(1)
        codes = {c.name: coded(c.parameter, params[c.name]) for c in self.space.columns}
        misc = {
            "tid": number,
            "cmd": self.domain.cmd,
            "workdir": None,
            "idxs": {name: [number] for name in codes},
            "vals": {name: [code] for name, code in codes.items()},
        }
        self._insert(self.trials.new_trial_docs([number], [spec_from_misc(misc)], [{}], [misc]))
        self._finish(number, value)

    def ask(self) -> Params:
        from hyperopt import tpe

        ids = self.trials.new_trial_ids(1)
        self.trials.refresh()
        seed = self.seed * 10_000 + self.asked
        (made,) = tpe.suggest(ids, self.domain, self.trials, seed, verbose=False)
        self.asked += 1
        self._insert([made])
        values = made["misc"]["vals"]
        chosen = {c.name: _legal(c.parameter, values[c.name][0]) for c in self.space.columns}
        fixed = {n: p.value for n, p in self.space.parameters.items() if isinstance(p, Fixed)}
        params = self.space.validate({**chosen, **fixed})
        self.running.append((params, ids[0]))
        return params

    def tell(self, params: Params, value: float) -> None:
        self._finish(taken(self.running, params), value)

    def _insert(self, made: list[Any]) -> None:
        self.trials.insert_trial_docs(made)
        self.trials.refresh()

    def _finish(self, number: int, value: float) -> None:
        from hyperopt.base import JOB_STATE_DONE, STATUS_OK

        (trial,) = (each for each in self.trials.trials if each["tid"] == number)
        trial["state"] = JOB_STATE_DONE
        trial["result"] = {"status": STATUS_OK, "loss": float(value)}
        self.trials.refresh()


def _parameter(name: str, parameter: Any) -> Any:
    from hyperopt import hp

    if is_coded(parameter):
        return hp.choice(name, list(range(parameter.levels)))
    low, high = parameter.low, parameter.high
    is_float = isinstance(parameter, Float)
    if not parameter.log:
        return hp.uniform(name, low, high) if is_float else hp.uniformint(name, low, high)
    bounds = log(low), log(high)
    return hp.loguniform(name, *bounds) if is_float else hp.qloguniform(name, *bounds, 1)


def _legal(parameter: Any, suggested: Any) -> Any:
    if is_coded(parameter):
        return decoded(parameter, int(suggested))
    number = float(suggested) if isinstance(parameter, Float) else round(float(suggested))
    # Logarithms may be rounded beyond bounds.
    return min(max(number, parameter.low), parameter.high)
