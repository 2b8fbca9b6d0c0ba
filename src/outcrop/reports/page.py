"""The HTML file of a report: its sections, and everything that a browser needs to show them."""

from __future__ import annotations

__all__ = ["Report", "report"]

import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from outcrop.errors import MissingExtra, OutcropError
from outcrop.html_tables import Html, facts, short, table
from outcrop.plots.space_slice import Drawable, reader_of
from outcrop.reports import belief_figures, figures
from outcrop.reports.plotly_values import Figure
from outcrop.reports.trial_rows import trial_rows
from outcrop.strategies.method_text import worded
from outcrop.study.failed_branches import failed_branches
from outcrop.study.study_reader import StudyReader
from outcrop.study.trial_counts import failure_reasons, state_counts

REASONS = 20  # kinds of failures that are listed
HEIGHT = 360  # of a figure, in pixels
TITLE = 200  # characters of a study's name
POLICY = (  # the browser then refuses every request of the page
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
)


@dataclass(frozen=True, repr=False)
class Report:
    """A study as an HTML file that needs nothing else; a notebook shows it in a frame."""

    html: str
    title: str

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html) / 1e6:.1f} MB)"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file; one that exists is replaced."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" '
            'style="width: 100%; height: 900px; border: none"></iframe>'
        )


def report(study: Drawable, path: str | os.PathLike[str] | None = None) -> Report:
    """The report of a study, optimizer or result, written to `path` if it is given.

        oc.report(study, "report.html")

    It has the best and the recommended configuration, all trials in a table, convergence, parallel
    coordinates, the belief, the importance of parameters, failures, and how the study was made.
    Pictures are interactive; the file opens without a network. Plotly is needed
    (`pip install 'outcrop[report]'`).
    """
    reader = reader_of(study)
    title = short_title(getattr(reader, "name", None) or type(reader).__name__)
    made = Report(_page(reader, title), title)
    if path is not None:
        made.save(path)
    return made


def short_title(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= TITLE else line[: TITLE - 1] + "…"


@dataclass
class _Sections:
    """Sections as they are added, with the figures in them by their ids."""

    parts: list[str] = field(default_factory=list)
    figures: dict[str, Figure] = field(default_factory=dict)

    def add(self, title: str, make: Callable[[], str]) -> None:
        """A section, or the reason why there is none."""
        try:
            inner = make()
        except OutcropError as error:
            inner = _note(f"Not shown: {error}")
        self.parts.append(f"<section><h2>{escape(title)}</h2>{inner}</section>")

    def plot(self, figure: Figure) -> str:
        """The place of a figure."""
        name = f"plot{len(self.figures)}"
        self.figures[name] = figure
        height = figure["layout"].get("height", HEIGHT)
        return f'<div class="plot" id="{name}" style="height: {height}px"></div>'

    def plots(self, each: Mapping[str, Figure]) -> str:
        """Figures side by side, each below its title."""
        parts = [
            f"<div><h3>{escape(title)}</h3>{self.plot(figure)}</div>"
            for title, figure in each.items()
        ]
        return f'<div class="columns">{"".join(parts)}</div>'


def _page(study: StudyReader, title: str) -> str:
    sections = _Sections()
    sections.add("Best", lambda: _best(study))
    sections.add("Convergence", lambda: sections.plot(figures.convergence(study)))
    sections.add("Importance of parameters", lambda: _importance(study, sections))
    sections.add(
        "The belief along each parameter", lambda: sections.plots(belief_figures.slices(study))
    )
    sections.add("The belief and what is next", lambda: sections.plots(belief_figures.maps(study)))
    sections.add("Parallel coordinates", lambda: sections.plot(figures.parallel(study)))
    sections.add("Kind of landscape", lambda: _landscape(study, sections))
    sections.add("Failures", lambda: _failures(study))
    sections.add("Trials", lambda: TABLE)
    sections.add("Workers", lambda: sections.plot(figures.timeline(study)))
    sections.add("How it was made", lambda: _origin(study))
    content = {"figures": sections.figures, "trials": _trials(study)}
    method = study.method if isinstance(study.method, str) else worded(study.method)
    how = f"{study.direction}, method {method}, trials: {state_counts(study.trials)}"
    body = f"<h1>{escape(title)}</h1>{_note(how)}{''.join(sections.parts)}"
    here = files("outcrop.reports")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{here.joinpath('page.css').read_text('utf-8')}</style>"
        f'</head><body>{body}<script type="application/json" id="content">{_json(content)}</script>'
        f"<script>{_plotly()}</script>"
        f"<script>{here.joinpath('page.js').read_text('utf-8')}</script></body></html>\n"
    )


TABLE = (
    '<input type="search" id="filter" placeholder="filter, such as: failed adam" '
    'aria-label="filter trials"> <span id="count" class="note"></span>'
    '<div class="scroll" id="trials"><table></table></div>'
    '<button type="button" id="more" hidden>show more</button>'
)


def _best(study: StudyReader) -> str:
    best = study.best_trial
    spread = "" if best.std is None else f" ± {short(best.std)}"
    title = f"Best value {short(best.value)}{spread}, trial {best.number}"
    parts = [f"<div><h3>{escape(title)}</h3>{facts(best.params)}</div>"]
    try:
        held = study.recommend()
    except OutcropError as error:
        parts.append(f"<div><h3>Recommended</h3>{_note(f'Not shown: {error}')}</div>")
    else:
        mean = "average over input noise" if held.robust else "mean"
        title = f"Recommended: trial {held.trial.number}"
        note = (
            f"{mean} {short(held.mean)} ± {short(held.std)}, best of all evaluated ones with "
            f"probability {held.probability:.2f}"
        )
        parts.append(f"<div><h3>{title}</h3>{_note(note)}{facts(held.params)}</div>")
    return f'<div class="columns">{"".join(parts)}</div>'


def _importance(study: StudyReader, sections: _Sections) -> str:
    whole, best = study.importance(), study.importance("best")
    found = {"over the whole space": whole, "what makes a configuration good": best}
    for each in whole.branches:
        held = ", ".join(f"{choice} = {option}" for choice, option in each.branch.items())
        found[held] = each
    return sections.plots({title: belief_figures.importance(each) for title, each in found.items()})


def _landscape(study: StudyReader, sections: _Sections) -> str:
    return _note(str(study.landscape())) + sections.plot(figures.landscape(study))


def _failures(study: StudyReader) -> str:
    trials = study.trials
    reasons = failure_reasons(trials)
    if not reasons:
        return _note("No trial has failed.")
    where = [_note(str(branch)) for branch in failed_branches(study.space, trials)[:REASONS]]
    return table(["failures", "reason"], reasons[:REASONS]) + "".join(where)


def _origin(study: StudyReader) -> str:
    made = facts(
        {
            "method": study.method if isinstance(study.method, str) else worded(study.method),
            "direction": study.direction,
            "seed": study.seed,
            "noise": _noise(study.noise),
            "outcrop": version("outcrop"),
            "Python": platform.python_version(),
            "NumPy": version("numpy"),
        }
    )
    return made + Html(study.space._repr_html_())


def _noise(noise: bool | float | None) -> str:
    if noise is None:
        return "unknown"
    if isinstance(noise, bool):
        return "yes" if noise else "none"
    return f"standard deviation {short(noise)}"


def _trials(study: StudyReader) -> dict[str, Any]:
    try:
        best: int | None = study.best_trial.number
    except OutcropError:
        best = None
    return trial_rows(study) | {"best": best}


def _note(text: str) -> str:
    return f'<p class="note">{escape(text)}</p>'


def _json(content: object) -> str:
    """JSON in which nothing can end the script that holds it."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _plotly() -> str:
    """The program of Plotly, from its package."""
    try:
        text = files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8")
    except ImportError:
        raise MissingExtra("reports need Plotly: pip install 'outcrop[report]'") from None
    return text.replace("</script", "<\\/script")
