"""The parts of the page about a study, which reports and the dashboard share.

A part is a section with HTML and figures. Its HTML has a place for each figure; a figure has the
same id as long as it is about the same thing, so that a page that is updated keeps its zoom.
"""

from __future__ import annotations

__all__ = [
    "MODEL_PARTS",
    "PARTS",
    "TABLE",
    "Part",
    "note",
    "part_of",
    "sections",
    "short_title",
    "trials_of",
]

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib.metadata import version
from typing import Any

from outcrop.errors import OutcropError
from outcrop.html_tables import Html, facts, short, table
from outcrop.reports import belief_figures, figures
from outcrop.reports.plotly_values import Figure
from outcrop.reports.trial_rows import trial_rows
from outcrop.strategies.method_text import worded
from outcrop.study.failed_branches import failed_branches
from outcrop.study.storage.url_masking import masked_in
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial_counts import failure_reasons, state_counts

REASONS = 20  # kinds of failures that are listed
TITLE = 200  # characters of a study's name
TABLE = (
    '<input type="search" id="filter" placeholder="filter, such as: failed adam" '
    'aria-label="filter trials"> <span id="count" class="note"></span>'
    '<div class="scroll" id="trials" tabindex="0"><table></table></div>'
    '<button type="button" id="more" hidden>show more</button>'
)


@dataclass
class Part:
    """The HTML of a part, and its figures by the ids of their places."""

    name: str
    html: str = ""
    figures: dict[str, Figure] = field(default_factory=dict)

    def plot(self, figure: Figure, title: str = "") -> str:
        """The place of a figure; a part with several of them gives each its title."""
        key = f"{self.name}-{sha256(title.encode()).hexdigest()[:8]}" if title else self.name
        self.figures[key] = figure
        return f'<div class="plot" id="{key}"></div>'

    def plots(self, each: Mapping[str, Figure]) -> str:
        """Figures side by side, each below its title."""
        parts = [
            f"<div><h3>{escape(short(title))}</h3>{self.plot(figure, title)}</div>"
            for title, figure in each.items()
        ]
        return f'<div class="columns">{"".join(parts)}</div>'


def part_of(study: StudyReader, name: str) -> Part:
    """A part of the page, or the reason why there is none."""
    part = Part(name)
    try:
        part.html = PARTS[name][1](study, part)
    except OutcropError as error:
        part.html = note(f"Not shown: {masked_in(str(error))}")
    return part


def section(name: str, body: str, above: str = "") -> str:
    """The section of a part; `above` stands between its title and its body."""
    title = PARTS[name][0]
    head = f"<h2>{escape(title)}</h2>" if title else ""
    return f'<section id="part-{name}">{head}{above}<div class="body">{body}</div></section>'


def sections(bodies: Mapping[str, str], above: Mapping[str, str] | None = None) -> str:
    """All sections of the page, the first two configurations side by side."""
    made = {name: section(name, body, (above or {}).get(name, "")) for name, body in bodies.items()}
    pair = f'<div class="columns">{made.pop("best")}{made.pop("recommended")}</div>'
    return made.pop("summary") + pair + "".join(made.values())


def short_title(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= TITLE else line[: TITLE - 1] + "…"


def trials_of(study: StudyReader) -> dict[str, Any]:
    """The table of trials, and the number of the best one."""
    try:
        best: int | None = study.best_trial.number
    except OutcropError:
        best = None
    return trial_rows(study) | {"best": best}


def note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _summary(study: StudyReader, part: Part) -> str:
    how = f"{study.direction}, method {_method(study)}, trials: {state_counts(study.trials)}"
    return note(how)


def _best(study: StudyReader, part: Part) -> str:
    best = study.best_trial
    spread = "" if best.std is None else f" ± {short(best.std)}"
    title = f"Best value {short(best.value)}{spread}, trial {best.number}"
    return f"<h3>{escape(title)}</h3>{facts(best.params)}"


def _recommended(study: StudyReader, part: Part) -> str:
    held = study.recommend()
    mean = "average over input noise" if held.robust else "mean"
    about = (
        f"{mean} {short(held.mean)} ± {short(held.std)}, best of all evaluated ones with "
        f"probability {held.probability:.2f}"
    )
    title = f"<h3>Recommended: trial {held.trial.number}</h3>"
    return f"{title}{note(about)}{facts(held.params)}"


def _importance(study: StudyReader, part: Part) -> str:
    whole, best = study.importance(), study.importance("best")
    found = {"over the whole space": whole, "what makes a configuration good": best}
    for each in whole.branches:
        held = ", ".join(f"{choice} = {option}" for choice, option in each.branch.items())
        found[held] = each
    return part.plots({title: belief_figures.importance(each) for title, each in found.items()})


def _slices(study: StudyReader, part: Part) -> str:
    return part.plots(belief_figures.slices(study)) + _drawn(study)


def _maps(study: StudyReader, part: Part) -> str:
    return part.plots(belief_figures.maps(study)) + _drawn(study)


def _drawn(study: StudyReader) -> str:
    """How many of the trials are drawn, if not all."""
    known = sum(trial.is_observed for trial in study.trials)
    if known <= figures.POINTS:
        return ""
    half = figures.POINTS // 2
    return note(f"Of {known} trials, the best {half} and {half} of the others are drawn.")


def _landscape(study: StudyReader, part: Part) -> str:
    return note(str(study.landscape())) + part.plot(figures.landscape(study))


def _parallel(study: StudyReader, part: Part) -> str:
    place = part.plot(figures.parallel(study))
    known = sum(trial.is_observed for trial in study.trials)
    best = f"The best {figures.LINES} of {known} trials." if known > figures.LINES else ""
    return (note(best) if best else "") + place


def _failures(study: StudyReader, part: Part) -> str:
    trials = study.trials
    reasons = failure_reasons(trials)
    if not reasons:
        return note("No trial has failed.")
    where = [note(str(branch)) for branch in failed_branches(study.space, trials)[:REASONS]]
    return table(["failures", "reason"], reasons[:REASONS]) + "".join(where)


def _workers(study: StudyReader, part: Part) -> str:
    place = part.plot(figures.timeline(study))
    count = sum(trial.started is not None for trial in study.trials)
    last = f"The last {figures.SPANS} of {count} trials." if count > figures.SPANS else ""
    return (note(last) if last else "") + place


def _origin(study: StudyReader, part: Part) -> str:
    made = facts(
        {
            "method": _method(study),
            "direction": study.direction,
            "seed": study.seed,
            "noise": _noise(study.noise),
            "outcrop": version("outcrop"),
            "Python": platform.python_version(),
            "NumPy": version("numpy"),
        }
    )
    return made + Html(study.space._repr_html_())


def _method(study: StudyReader) -> str:
    return study.method if isinstance(study.method, str) else worded(study.method)


def _noise(noise: bool | float | None) -> str:
    if noise is None:
        return "unknown"
    if isinstance(noise, bool):
        return "yes" if noise else "none"
    return f"standard deviation {short(noise)}"


# In the order of the page: a title, and what makes the HTML and adds the figures.
PARTS: dict[str, tuple[str, Callable[[StudyReader, Part], str]]] = {
    "summary": ("", _summary),
    "best": ("Best", _best),
    "recommended": ("Recommended by the model", _recommended),
    "convergence": ("Convergence", lambda study, part: part.plot(figures.convergence(study))),
    "importance": ("Importance of parameters", _importance),
    "slices": ("The belief along each parameter", _slices),
    "maps": ("The belief and what is next", _maps),
    "parallel": ("Parallel coordinates", _parallel),
    "landscape": ("Kind of landscape", _landscape),
    "failures": ("Failures", _failures),
    "trials": ("Trials", lambda study, part: TABLE),
    "workers": ("Workers", _workers),
    "origin": ("How it was made", _origin),
}
MODEL_PARTS = ("recommended", "importance", "slices", "maps", "landscape")  # need a fit
