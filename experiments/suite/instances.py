"""Halves of the suite: a choice is made on one and confirmed on the other.

A problem has ten runs in each half: five instances, each with two seeds. An instance is that of
BBOB, a reflection or draw of the library's own problems, or a split of a data set into folds.
"""

from __future__ import annotations

__all__ = ["HALVES", "RUNS", "ReservedInstance", "instance_of", "require_open", "seed_of"]

HALVES = {"choose": range(11, 16), "confirm": range(16, 21)}
FIRST_SEEDS = {"choose": 0, "confirm": 100}
RUNS = 10


class ReservedInstance(ValueError):
    """An instance that is kept for judging from outside the project."""


def instance_of(half: str, run: int) -> int:
    instances = HALVES[half]
    return instances[run % len(instances)]


def seed_of(half: str, run: int) -> int:
    """The seed of the initial points and of the method; that of noise follows from it."""
    return FIRST_SEEDS[half] + run


def require_open(instance: int) -> None:
    """Refuse all instances but those of the two halves; 1 to 10 are for judging from outside."""
    if not any(instance in instances for instances in HALVES.values()):
        raise ReservedInstance(
            f"instance {instance}: the suite has 11 to 20; 1 to 10 are reserved for judging from "
            "outside and are never evaluated"
        )
