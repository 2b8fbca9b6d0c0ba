"""What the documents claim about their methods, one module for each source."""

from __future__ import annotations

__all__ = ["CLAIMS"]

from experiments.claims import cocabo, modulated, noisy_inputs, playbook, spartan, treed, trees

CLAIMS = (
    *treed.CLAIMS,
    *modulated.CLAIMS,
    *spartan.CLAIMS,
    *cocabo.CLAIMS,
    *playbook.CLAIMS,
    *noisy_inputs.CLAIMS,
    *trees.CLAIMS,
)
