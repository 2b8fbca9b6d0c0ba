"""The HTML file of a report: its sections, and everything that a browser needs to show them."""

from __future__ import annotations

__all__ = ["Report", "json_text", "page_script", "page_style", "report"]

import json
import os
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from outcrop.plots.space_slice import Drawable, reader_of
from outcrop.reports.page_parts import PARTS, part_of, sections, short_title, trials_of
from outcrop.reports.plotly_program import plotly_program
from outcrop.study.study_reader import StudyReader
from outcrop.study.study_snapshot import StudySnapshot

SCRIPTS = ("figures.js", "trial_table.js", "page.js")
POLICY = (  # the browser then refuses every request of the page
    "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; "
    "img-src data: blob:"
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
    snapshot = StudySnapshot.of(reader_of(study))
    title = short_title(snapshot.name)
    made = Report(_page(snapshot, title), title)
    if path is not None:
        made.save(path)
    return made


def _page(study: StudyReader, title: str) -> str:
    program = plotly_program()  # first, since it may be missing
    parts = {name: part_of(study, name) for name in PARTS}
    content = {
        "parts": {name: {"figures": part.figures} for name, part in parts.items()},
        "trials": trials_of(study),
    }
    body = sections({name: part.html for name, part in parts.items()})
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{page_style()}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}"
        f'<script type="application/json" id="content">{json_text(content)}</script>'
        f'<script type="text/plain" id="plotly">{program}</script>'
        f"<script>{page_script()}</script></body></html>\n"
    )


def page_style() -> str:
    return files("outcrop.reports").joinpath("page.css").read_text("utf-8")


def page_script() -> str:
    """What draws a page, as one script."""
    here = files("outcrop.reports")
    return "".join(here.joinpath(name).read_text("utf-8") for name in SCRIPTS)


def json_text(content: object) -> str:
    """JSON in which nothing can end the script that holds it."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
