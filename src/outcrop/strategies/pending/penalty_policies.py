"""Policies that lower the acquisition around running trials."""

from __future__ import annotations

__all__ = ["HardPenalisation", "LocalPenalisation", "PLAyBOOK"]

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from outcrop.acquisition import Acquisition
from outcrop.errors import MethodError
from outcrop.former_names import accept_former_value
from outcrop.inference import Laplace
from outcrop.space import Space
from outcrop.strategies.base import View
from outcrop.strategies.pending.base import Accounted, in_order
from outcrop.strategies.pending.lipschitz import estimated
from outcrop.strategies.pending.penalised_acquisition import Penalised
from outcrop.strategies.pending.penalty_factors import Gaussian, Hard, Penalty, Shape
from outcrop.surrogates import Forest, Mixture
from outcrop.typing import Matrix, Rng

if TYPE_CHECKING:
    from outcrop.strategies.method import Method

KINDS = ("L", "LL", "H", "HL")  # of PLAyBOOK
CLIPS = ("each", "product")


@dataclass(frozen=True, kw_only=True)
class Penalisation(ABC):
    """What penalising policies have in common.

    `local`: a Lipschitz constant for every running trial, from the box of a lengthscale around it,
    instead of one for all; the penalty then does not reach farther than that box, which is all that
    the constant describes. `constants`: of the posterior "mean", or the largest of several "draws"
    from it, which may be steeper and cost more time. `positivity`: how acquisitions that may be
    negative, such as UCB, are made positive, by "softplus" or by an "offset" of their lowest value.
    `optimum`: the best value that the objective can have, in its own units, such as 0.0 for an
    error or, in a study that maximises, 1.0 for an accuracy; None is the best mean at observations.
    """

    local: bool = False
    constants: Literal["mean", "draws"] = "mean"
    positivity: Literal["softplus", "offset"] = "softplus"
    optimum: float | None = None

    def __post_init__(self) -> None:
        accept_former_value(self, "pending", "constants")
        name = type(self).__name__
        if self.constants not in ("mean", "draws"):
            raise MethodError(f'{name}(constants={self.constants!r}): expected "mean" or "draws"')
        if self.positivity not in ("softplus", "offset"):
            raise MethodError(
                f'{name}(positivity={self.positivity!r}): expected "softplus" or "offset"'
            )
        if self.optimum is not None and not isfinite(self.optimum):
            raise MethodError(
                f"{name}(optimum={self.optimum!r}): expected a finite number, the best value that "
                "the objective can have, or None if it is not known"
            )

    @abstractmethod
    def shape(self, gap: Matrix, std: Matrix, slope: Matrix, reach: Matrix) -> Shape:
        """The penaliser of every component and busy point.

        |μ − M|, σ, L, and how far from the busy point L holds, are all `(k, p)`.
        """

    def check(self, method: Method) -> None:
        """Refuse a `Method` whose belief has no gradients, or no draws if those are needed."""
        if isinstance(method.surrogate, Forest):
            raise MethodError(
                f"Method(pending={self!r}, surrogate={method.surrogate!r}): the mean of a forest "
                "has no gradients to penalise by; use pending=Believer() or Liar(), or a Gaussian "
                "process"
            )
        if self.constants == "draws" and isinstance(method.inference, Laplace):
            raise MethodError(
                f"Method(pending={self!r}, inference=Laplace()): functions cannot be "
                'drawn from the marginal GP; use constants="mean", or Slice() or MAP()'
            )

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        if not len(view.pending):
            return posterior, acquisition
        busy = in_order(view.pending)
        mean, var = posterior.predict_each(busy)
        lowest = np.array([[part.incumbent()] for part in posterior.components])
        if self.optimum is not None:
            lowest = np.minimum(lowest, view.outcome.apply(np.array([view.sign * self.optimum])))
        found = estimated(posterior, space, busy, rng, self.constants, self.local, repr(self))
        shape = self.shape(np.abs(mean - lowest), np.sqrt(var), found.around, found.reach)
        penalty = Penalty.on(space, busy, shape)
        return posterior, Penalised(acquisition, penalty, self.positivity)


@dataclass(frozen=True)
class LocalPenalisation(Penalisation):
    """Local penalisation: a factor that is small where the minimum is unlikely.

        oc.Method(pending=oc.pending.LocalPenalisation())
        oc.Method(pending=oc.pending.LocalPenalisation(local=True, constants="draws"))

    At a running trial the factor is at most a half, but not 0 [González et al. 2016].
    """

    def shape(self, gap: Matrix, std: Matrix, slope: Matrix, reach: Matrix) -> Shape:
        return Gaussian.within(gap, std, slope, reach)


@dataclass(frozen=True)
class HardPenalisation(Penalisation):
    """The hard local penaliser: a factor of 0 at a running trial [Alvi 2019, section 4.4.1].

        oc.Method(pending=oc.pending.HardPenalisation(gamma=2.0))
        oc.Method(pending=oc.pending.HardPenalisation(p=-math.inf))  # with an edge

    The radius includes `gamma` standard deviations; the lower `p`, the sharper its edge. `clip`
    says what is cut off at 1: the ratio of distance to radius of "each" running trial, before these
    are multiplied, as in the text of the thesis; or their "product", as in its program, where a
    trial that is far away cancels the penalty of one that is near.
    """

    gamma: float = 1.0
    p: float = -5.0
    clip: Literal["each", "product"] = "each"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.gamma < inf:
            raise MethodError(
                f"HardPenalisation(gamma={self.gamma!r}): expected a number of at least 0, such "
                "as 1.0: the standard deviations that the radius includes"
            )
        if not self.p < 0:
            raise MethodError(
                f"HardPenalisation(p={self.p!r}): expected a number below 0, such as -5.0, or "
                "-inf for a sharp edge"
            )
        if self.clip not in CLIPS:
            raise MethodError(f'HardPenalisation(clip={self.clip!r}): expected "each" or "product"')

    def shape(self, gap: Matrix, std: Matrix, slope: Matrix, reach: Matrix) -> Shape:
        return Hard.within(gap, std, slope, reach, self.gamma, self.p, self.clip)


@dataclass(frozen=True)
class PLAyBOOK:
    """Penalisation by the names of its paper [Alvi 2019, chapter 4].

        oc.Method(acquisition=oc.acquisition.UCB(2.0), pending=oc.pending.PLAyBOOK("HL"))

    "L" and "LL" are `LocalPenalisation`, "H" and "HL" `HardPenalisation`, with one Lipschitz
    constant for all running trials or, the second L, one for each. `gamma`, `p` and `clip` belong
    to the hard ones.
    """

    kind: Literal["L", "LL", "H", "HL"] = "HL"
    gamma: float = 1.0
    p: float = -5.0
    constants: Literal["mean", "draws"] = "mean"
    positivity: Literal["softplus", "offset"] = "softplus"
    clip: Literal["each", "product"] = "each"
    optimum: float | None = None

    def __post_init__(self) -> None:
        accept_former_value(self, "pending", "constants")
        if self.kind not in KINDS:
            raise MethodError(f'PLAyBOOK({self.kind!r}): expected "L", "LL", "H" or "HL"')
        self._hard()  # checks the arguments

    @property
    def policy(self) -> Penalisation:
        """The penalisation that the kind stands for."""
        if self.kind.startswith("H"):
            return self._hard()
        return LocalPenalisation(
            local=self._is_local,
            constants=self.constants,
            positivity=self.positivity,
            optimum=self.optimum,
        )

    @property
    def _is_local(self) -> bool:
        return self.kind in ("LL", "HL")

    def _hard(self) -> HardPenalisation:
        return HardPenalisation(
            self.gamma,
            self.p,
            self.clip,
            local=self._is_local,
            constants=self.constants,
            positivity=self.positivity,
            optimum=self.optimum,
        )

    def check(self, method: Method) -> None:
        self.policy.check(method)

    def account(
        self, view: View, space: Space, posterior: Mixture, acquisition: Acquisition, rng: Rng
    ) -> Accounted:
        return self.policy.account(view, space, posterior, acquisition, rng)
