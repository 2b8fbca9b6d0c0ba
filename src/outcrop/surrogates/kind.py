"""Kinds of surrogate, and the one way in which a surrogate is made.

A kind is not a surrogate yet: which columns are numbers depends on the space, and whether noise is
learnt on the objective. `Kind.surrogate` gets a `Situation` and returns a surrogate or None.
"""

from __future__ import annotations

__all__ = ["GivenModel", "GivenSurrogate", "Kind", "KernelKind", "Plain", "SearchDomain", "kind_of"]

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from outcrop.errors import ModelError
from outcrop.kernels import Kernel
from outcrop.surrogates.base import Model, Surrogate
from outcrop.surrogates.gp import GP
from outcrop.surrogates.inferred import Inferred
from outcrop.surrogates.situation import INFERENCE, Situation


class SearchDomain(Enum):
    """What the acquisition of a kind is maximised over."""

    SPACE = "the space"
    BRANCHES = "each branch of a conditional space, before branches are compared"
    ONE_HOT_CUBE = "the cube of one-hot codes, rounded to configurations"


class Kind(ABC):
    """A kind of surrogate.

    A new kind is a frozen dataclass in a file of its own with `label` and `surrogate`:

        @dataclass(frozen=True)
        class Rough(Kind):
            label = "rough GP"

            def surrogate(self, situation: Situation) -> Surrogate:
                kernel = situation.kernel(numbers=Matern12)
                return situation.over_noise(
                    lambda noise, inference: Inferred(GP(kernel, noise), inference)
                )
    """

    search_domain: ClassVar[SearchDomain] = SearchDomain.SPACE

    @property
    @abstractmethod
    def label(self) -> str:
        """The name of the surrogate in the record of a suggestion."""

    @abstractmethod
    def surrogate(self, situation: Situation) -> Surrogate | None:
        """The surrogate for a situation; None leaves it to the plain process."""


@dataclass(frozen=True)
class Plain(Kind):
    """A Gaussian process with the standard kernel of the space.

    From 20 numbers on, their lengthscales vary around one that they share.

    oc.Method(surrogate=oc.surrogates.Plain())    # the same as oc.Method()
    """

    label = "GP"

    def surrogate(self, situation: Situation) -> Surrogate:
        return fitted_process(situation, situation.kernel(situation.numbers_kernel))


class KernelKind(Kind):
    """A kind that differs from the plain process in the kernel of its numbers only."""

    @abstractmethod
    def kernel(self, situation: Situation) -> Kernel:
        """The kernel of all columns; its free slots are inferred."""

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not situation.numbers:
            return None
        return fitted_process(situation, self.kernel(situation))


@dataclass(frozen=True)
class GivenModel(Kind):
    """A model of the user's own, whose free slots are inferred."""

    model: Model
    label = "Inferred"

    def surrogate(self, situation: Situation) -> Surrogate:
        inference = situation.inference or INFERENCE
        return Inferred(self.model, inference.within(situation.effort))


@dataclass(frozen=True)
class GivenSurrogate(Kind):
    """A surrogate of the user's own, which is the same in every situation."""

    given: Surrogate

    @property
    def label(self) -> str:
        return type(self.given).__name__

    def surrogate(self, situation: Situation) -> Surrogate:
        return self.given


def kind_of(part: Kind | Surrogate | Model | None) -> Kind:
    """The kind for an argument of `Method(surrogate=...)`; None is the plain process."""
    if part is None:
        return Plain()
    if isinstance(part, Kind):
        return part
    if not isinstance(part, type):
        if isinstance(part, Surrogate):
            return GivenSurrogate(part)
        if hasattr(part, "condition"):
            return GivenModel(part)
    raise ModelError(
        f"expected a kind of surrogate such as Spartan(), a model or a surrogate, written with (), "
        f"got {part!r}"
    )


def fitted_process(situation: Situation, kernel: Kernel) -> Surrogate:
    """A Gaussian process with `kernel`, its hyperparameters inferred."""
    cuts = situation.unconditional_numbers
    return situation.over_noise(
        lambda noise, inference: Inferred(GP(kernel, noise), inference, cuts=cuts)
    )
