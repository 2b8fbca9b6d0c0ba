"""The pages of `docs/experiments/`: one for each experiment, and a summary in front.

Everything on them comes from stored results and from the experiments' own words.
"""

from __future__ import annotations

__all__ = ["DOCUMENT", "pages", "write_document"]

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from experiments.changes import record
from experiments.claims import CLAIMS
from experiments.comparison import COLUMNS
from experiments.figures import save
from experiments.harness import Experiment
from experiments.provenance import require_one_source, sources_note
from experiments.summary import summary

DOCUMENT = Path(__file__).parent.parent / "docs" / "experiments"
INDEX = "index.md"
ORIGIN = "Written by `python -m experiments{name}` from `experiments/results/`."
READING = "[What holds for all experiments](index.md#what-holds-for-all-experiments)"
SHARED = """\
**Heavy tails are bent in searches by the library's own methods.** Values are standardised, and
where the bad half of them is more than four times as long as the good half, values above the median
are bent before a model sees them ([decision 6](../decisions/0006-heavy-tails-are-bent.md)). No
document does so, and its methods get values that are standardised only, since `5b4bacc` in the list
above; rows that are older are of bent values."""
INTRODUCTION = """\
Experiments of five documents made again, and our own that settled a default or compare with
others. The documents are those of [the science](../science/index.md)."""


def write_document(experiments: Iterable[Experiment], folder: Path) -> None:
    """Rewrite the pages and pictures of all experiments with results; other pages go."""
    known = list(experiments)
    record({each.name: each.rows() for each in _documented(known)})
    written = pages(known)  # before any page is touched, since it may refuse
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.md"):
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (folder / name).write_text(text, "utf-8")
    for experiment in _documented(known):
        for name, figure in experiment.draw(experiment.rows()).items():
            save(figure, folder.parent / "images" / f"{name}.png")


def pages(experiments: Iterable[Experiment]) -> Mapping[str, str]:
    """Texts by the name of their file, the page in front first."""
    documented = _documented(experiments)
    index = [
        "# Experiments",
        ORIGIN.format(name=""),
        INTRODUCTION,
        *summary(CLAIMS, documented),
        "## What holds for all experiments",
        SHARED,
        COLUMNS,
    ]
    texts = {INDEX: index} | {_file(each): _page(each) for each in documented}
    return {name: "\n\n".join(parts) + "\n" for name, parts in texts.items()}


def _documented(experiments: Iterable[Experiment]) -> list[Experiment]:
    return [each for each in experiments if each.documented and each.rows()]


def _page(experiment: Experiment) -> list[str]:
    rows = experiment.rows()
    require_one_source(rows, experiment.name)
    note = [text] if (text := sources_note(rows)) else []
    origin = f"{ORIGIN.format(name=f' {experiment.name}')} {READING} is said once."
    return [f"# {experiment.title}", origin, *note, experiment.report(rows)]


def _file(experiment: Experiment) -> str:
    assert re.fullmatch(r"\w+", experiment.name)  # it is part of an address
    return f"{experiment.name}.md"
