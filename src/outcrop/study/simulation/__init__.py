"""Searches on many workers in virtual time: hours of evaluations in seconds.

Read `durations` for how long evaluations take, `clock` for how workers are kept busy, `result` for
what can be read off.
"""

from __future__ import annotations

__all__ = ["Simulation", "durations", "simulate"]

from outcrop.study.simulation import durations
from outcrop.study.simulation.clock import simulate
from outcrop.study.simulation.result import Simulation
