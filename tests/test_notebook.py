"""The notebook of the examples runs without a browser and shows what a user expects to see."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from outcrop.notebook import in_notebook
from tests.html_pages import read_html

TOUR = Path(__file__).parents[1] / "examples" / "notebook" / "tour.ipynb"


@pytest.fixture(scope="module")
def cells():
    """The code cells of the tour, executed: the source of each and its outputs."""
    import nbformat
    from nbclient import NotebookClient

    tour = nbformat.read(TOUR, as_version=4)
    assert not any(cell.get("outputs") for cell in tour.cells), "the tour is stored without outputs"
    NotebookClient(tour, timeout=120, kernel_name="python3").execute()
    return [(cell.source, cell.outputs) for cell in tour.cells if cell.cell_type == "code"]


def data_of(outputs, kind):
    return [output["data"][kind] for output in outputs if kind in output.get("data", {})]


def test_each_cell_that_draws_shows_one_picture_and_no_other_cell_does(cells):
    drawing = [source for source, _ in cells if "plots." in source]
    assert len(drawing) >= 2
    for source, outputs in cells:
        assert len(data_of(outputs, "image/png")) == (source in drawing)


def test_objects_are_tables(cells):
    titles = [
        read_html(html)[1].split(" ")[0].rstrip(":")
        for source, outputs in cells
        for html in data_of([o for o in outputs if o.output_type == "execute_result"], "text/html")
    ]
    assert titles == ["Space", "Result", "Recommendation", "Trial", "Study"]


def test_progress_is_one_output_that_is_replaced(cells):
    ((_, outputs),) = [(source, outputs) for source, outputs in cells if "optimize(" in source]
    progress, result = outputs
    assert progress.output_type == "display_data"
    tags, text = read_html(progress["data"]["text/html"])
    assert "progress" in tags
    assert text.startswith("12/12 trials, best ")
    assert progress["data"]["text/plain"].startswith("trial 12/12, best ")
    assert result.output_type == "execute_result"


def test_nothing_is_written_to_the_streams(cells):
    assert not [output for _, outputs in cells for output in outputs if "text" in output]


def test_a_belief_is_a_line(cells):
    ((_, (output,)),) = [(source, outputs) for source, outputs in cells if source == "study.belief"]
    assert output["data"]["text/plain"].startswith("ObjectiveBelief(")
    assert "\n" not in output["data"]["text/plain"]


def shell(pid):
    return SimpleNamespace(kernel=SimpleNamespace(session=SimpleNamespace(pid=pid)))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (None, False),  # IPython is imported by a script
        (SimpleNamespace(), False),  # its shell runs in a terminal
        (shell(os.getpid()), True),
        (shell(os.getpid() + 1), False),  # this process was forked by a kernel
    ],
)
def test_a_notebook_is_a_kernel_in_this_process(monkeypatch, found, expected):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: found))
    assert in_notebook() is expected


def test_without_ipython_there_is_no_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
