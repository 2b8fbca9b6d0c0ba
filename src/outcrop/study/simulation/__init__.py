"""Simulation of searches on many workers in virtual time: hours of evaluations in seconds.

Read `durations` for how long evaluations take, `clock` for the order of events, `result` for what
a simulation returns.
"""

from __future__ import annotations

__all__ = ["Simulation", "durations", "simulate"]

from outcrop.study.simulation import durations
from outcrop.study.simulation.clock import simulate
from outcrop.study.simulation.result import Simulation
