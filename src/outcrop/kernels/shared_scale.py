"""Lengthscales of many dimensions that vary around a common one."""

from __future__ import annotations

__all__ = ["SharedScale"]

from dataclasses import dataclass

from outcrop.data import Pairs
from outcrop.errors import ModelError
from outcrop.kernels.base import FeatureMap, Kernel, Pull, lifted
from outcrop.kernels.stationary import RBF, Stationary, positive_number
from outcrop.kernels.wrappers import Wrapper
from outcrop.params import changed, shaped
from outcrop.typing import Matrix, Rng, Vector


@dataclass(frozen=True, eq=False)
class SharedScale(Wrapper):
    """A stationary kernel whose lengthscales are multiplied by a common one.

        ℓᵢ = scale · uᵢ

    uᵢ are the lengthscales that `kernel` has by itself. If they have a narrow prior around 1 and
    `scale` a wide one, every observation informs all lengthscales at once. Few observations say
    little about each of many lengthscales that are learnt apart.

    >>> from outcrop.kernels import Matern52
    >>> SharedScale(2.0, Matern52([0.5, 4.0])).scales(2)
    array([1., 8.])
    """

    scale: float
    kernel: Stationary
    stationary = True

    def __post_init__(self) -> None:
        if not isinstance(self.kernel, Stationary):
            raise ModelError(f"SharedScale(kernel={self.kernel!r}): expected a stationary kernel")
        object.__setattr__(self, "scale", positive_number("SharedScale", "scale", self.scale))

    def on(self, pairs: Pairs) -> tuple[Matrix, Pull]:
        K, pull = self._multiplied.on(pairs)

        def parameters(K_bar: Matrix) -> Kernel:
            bar = pull.parameters(K_bar)
            lengthscales_bar = vars(bar)["lengthscales"]
            return shaped(
                self,
                scale=float(lengthscales_bar @ self.kernel.lengthscales),
                kernel=changed(bar, lengthscales=self.scale * lengthscales_bar),
            )

        return K, Pull(parameters, pull.inputs)

    def scales(self, dimension: int) -> Vector:
        return self._multiplied.scales(dimension)

    def features(self, rng: Rng, count: int, dimension: int) -> FeatureMap:
        return self._multiplied.features(rng, count, dimension)

    def expected(self, leaf: type[RBF]) -> Kernel | None:
        return self._multiplied.expected(leaf)

    @property
    def _multiplied(self) -> Stationary:
        """The stationary kernel with the lengthscales ℓᵢ."""
        return changed(self.kernel, lengthscales=lifted(self.scale, 1) * self.kernel.lengthscales)
