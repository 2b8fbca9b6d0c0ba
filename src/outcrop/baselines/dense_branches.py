"""The base of Gaussian processes with a dense kernel for conditional spaces."""

from __future__ import annotations

__all__ = ["DenseBranches"]

from abc import abstractmethod

from outcrop.kernels import Kernel
from outcrop.surrogates.base import Surrogate
from outcrop.surrogates.kind import Kind, SearchDomain, fitted_process
from outcrop.surrogates.situation import Situation
from outcrop.surrogates.space_nodes import has_leaves


class DenseBranches(Kind):
    """A kind for spaces with choices; it differs from the plain process in its kernel only."""

    search_domain = SearchDomain.BRANCHES

    @abstractmethod
    def kernel(self, situation: Situation) -> Kernel:
        """The kernel of all columns; its free slots are inferred."""

    def surrogate(self, situation: Situation) -> Surrogate | None:
        if not has_leaves(situation.space):
            return None
        return fitted_process(situation, self.kernel(situation))
