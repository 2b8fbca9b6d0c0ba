"""Pictures of beliefs and searches; matplotlib is needed (`pip install 'outcrop[plot]'`).

    plots.belief(study)             what is believed along one parameter or two, and what is next
    plots.spartan_weight(study)     where a Spartan model looks closely
    plots.warping(study)            how a warped model bends its numbers
    plots.partition(study)          how a treed model divides the space
    plots.latents(study)            which observations a latent-input model takes no account of
    plots.penalised(study)          what running trials do to the acquisition
    plots.convergence(study)        how fast a search got better, or many runs of several methods
    plots.timeline(simulation)      when each worker was busy, and when it waited

Each returns the axes it drew on, `axes.figure.savefig("picture.png")` keeps them. Without `axes`
they belong to a figure of their own, which opens no window.
"""

from __future__ import annotations

__all__ = [
    "belief",
    "spartan_weight",
    "warping",
    "partition",
    "latents",
    "penalised",
    "convergence",
    "timeline",
    "surface_2d",
]

from outcrop.plots.belief import belief
from outcrop.plots.convergence import convergence
from outcrop.plots.latents import latents
from outcrop.plots.partition import partition
from outcrop.plots.penalised import penalised
from outcrop.plots.spartan import spartan_weight
from outcrop.plots.surface import surface_2d
from outcrop.plots.timeline import timeline
from outcrop.plots.warping import warping
