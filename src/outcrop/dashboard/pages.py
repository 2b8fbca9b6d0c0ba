"""The pages of the dashboard before anything is read: scripts fill them."""

from __future__ import annotations

__all__ = ["overview_page", "study_page"]

from html import escape

from outcrop.reports.page_parts import MODEL_PARTS, PARTS, TABLE, note, sections, short_title

STATUS = '<p id="status" class="note" role="status">reading …</p>'
COMPUTED = '<p class="note computed"></p>'  # when a model was fitted
STUDIES = '<div class="scroll" id="studies"><table></table></div>'


def study_page(name: str) -> str:
    bodies = {each: note("is being computed …" if each in MODEL_PARTS else "…") for each in PARTS}
    bodies["trials"] = TABLE
    above = dict.fromkeys(MODEL_PARTS, COMPUTED)
    links = '<nav><a href="/">all studies</a></nav>'
    title = short_title(name)
    body = f"{links}<h1>{escape(title)}</h1>{STATUS}{sections(bodies, above)}"
    return _page(title, body, "/page.js", "/live.js")


def overview_page() -> str:
    return _page("Studies", f"<h1>Studies</h1>{STATUS}{STUDIES}", "/poll.js", "/overview.js")


def _page(title: str, body: str, *scripts: str) -> str:
    sources = "".join(f'<script defer src="{address}"></script>' for address in scripts)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,"><link rel="stylesheet" href="/page.css">'
        f"<title>{escape(title)}</title>{sources}</head><body>{body}</body></html>\n"
    )
