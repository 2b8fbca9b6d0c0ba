"""PLAyBOOK: penalising locally for asynchronous Bayesian optimisation [Alvi 2019, chapter 4]."""

from __future__ import annotations

__all__ = ["PLAyBOOK"]

from dataclasses import dataclass
from typing import Literal

from outcrop.acquisition import Acquisition
from outcrop.errors import MethodError
from outcrop.former_names import accept_former_value
from outcrop.space import Space
from outcrop.strategies.base import View
from outcrop.strategies.pending.base import Accounted, MethodParts
from outcrop.strategies.pending.penalty_policies import (
    HardPenalisation,
    LocalPenalisation,
    Penalisation,
)
from outcrop.surrogates import Mixture
from outcrop.typing import Rng

KINDS = ("L", "LL", "H", "HL")


@dataclass(frozen=True)
class PLAyBOOK:
    """Penalisation by the names of the paper.

        oc.Method(acquisition=oc.acquisition.UCB(2.0), pending=oc.pending.PLAyBOOK("HL"))

    "L" and "LL" are `LocalPenalisation`, "H" and "HL" `HardPenalisation`, with one Lipschitz
    constant for all running trials or, the second L, one for each. `gamma` and `p` belong to the
    hard ones.
    """

    kind: Literal["L", "LL", "H", "HL"] = "HL"
    gamma: float = 1.0
    p: float = -5.0
    constants: Literal["mean", "draws"] = "mean"
    positivity: Literal["softplus", "offset"] = "softplus"

    def __post_init__(self) -> None:
        accept_former_value(self, "pending", "constants")
        if self.kind not in KINDS:
            raise MethodError(f'PLAyBOOK({self.kind!r}): expected "L", "LL", "H" or "HL"')
        HardPenalisation(  # checks the arguments
            self.gamma, self.p, constants=self.constants, positivity=self.positivity
        )

    @property
    def policy(self) -> Penalisation:
        """The penalisation that the kind stands for."""
        local = self.kind in ("LL", "HL")
        if self.kind.startswith("H"):
            return HardPenalisation(
                self.gamma,
                self.p,
                local=local,
                constants=self.constants,
                positivity=self.positivity,
            )
        return LocalPenalisation(local=local, constants=self.constants, positivity=self.positivity)

    def check(self, method: MethodParts) -> None:
        self.policy.check(method)

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        return self.policy.account(view, space, posterior, acquisition, rng)
