"""Pictures of beliefs and searches; matplotlib is needed (`pip install 'outcrop[plot]'`).

    plots.belief(study)             belief and acquisition along one parameter or two
    plots.slices(study)             belief along each parameter
    plots.spartan_weight(study)     weight of the local kernels of a Spartan model
    plots.warping(study)            input warping of a warped model
    plots.partition(study)          leaves of a treed model
    plots.latents(study)            latent inputs of a latent-input model
    plots.penalised(study)          acquisition with and without running trials
    plots.convergence(study)        best value so far, of one study or of many runs
    plots.parallel(study)           every trial as a line through its parameters
    plots.weights(study)            how probable each kind of landscape was
    plots.importance(study)         share of the variation that each parameter causes
    plots.timeline(simulation)      when each worker was busy, and when it waited

Each function returns the axes it drew on; `axes.figure.savefig("picture.png")` saves them. Without
the argument `axes`, it creates a figure. A notebook shows it below the cell, as one of pyplot;
elsewhere it opens no window, and pyplot does not know it.
"""

from __future__ import annotations

__all__ = [
    "belief",
    "slices",
    "spartan_weight",
    "warping",
    "partition",
    "latents",
    "penalised",
    "convergence",
    "parallel",
    "weights",
    "importance",
    "timeline",
    "surface_2d",
]

from outcrop.plots.belief import belief
from outcrop.plots.convergence import convergence
from outcrop.plots.importance import importance
from outcrop.plots.latents import latents
from outcrop.plots.parallel import parallel
from outcrop.plots.partition import partition
from outcrop.plots.penalised import penalised
from outcrop.plots.slices import slices
from outcrop.plots.spartan import spartan_weight
from outcrop.plots.surface import surface_2d
from outcrop.plots.timeline import timeline
from outcrop.plots.warping import warping
from outcrop.plots.weights import weights
