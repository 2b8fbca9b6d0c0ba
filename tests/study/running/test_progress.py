"""What a run shows of itself."""

from __future__ import annotations

import io
import re
import subprocess
import sys

import pytest

from outcrop.errors import MethodError
from outcrop.study.running import progress
from outcrop.study.running.progress import Display, Lines, RunTally, Silent, progress_view
from outcrop.study.running.stopping import MaxTrials
from outcrop.study.trial import Trial
from tests.html_pages import read_html
from tests.study.running.doubles import Clock, Diary, studied
from tests.study.running.objectives import bowl


class Terminal(io.StringIO):
    def isatty(self):
        return True


def plain(stream):
    """What was written, without colours and cursor movements."""
    return re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", stream.getvalue())


def finished(value):
    return Trial(0, {}, {}, "finished", value=value)


def test_a_tally_says_all_there_is_to_say():
    clock = Clock()
    tally = RunTally(total=40, workers=2, maximise=True, clock=clock)
    for trial in (finished(0.25), finished(3.0), finished(1.0), Trial(3, {}, {}, "failed")):
        tally.count(trial)
    clock.now += 3660 + 20
    tally.busy, tally.thinking = 2, 184.0
    assert list(tally.parts().values()) == [
        "4/40",
        "best 3",
        "0.1/min",
        "optimiser 184.0 s (5%)",
        "1 failed",
        "2/2 busy",
        "1:01:20",
    ]
    assert RunTally().parts()["trials"] == "0"
    assert RunTally().parts()["best"] == "no value yet"


def test_lines_come_for_every_tenth_and_after_every_minute():
    clock, stream = Clock(), io.StringIO()
    tally = RunTally(total=40, clock=clock)
    lines = Lines(tally, stream)
    for _ in range(40):
        clock.now += 1.0
        tally.count(finished(2.5))
        lines.update()
        lines.update()  # as often as it likes
    lines.close()
    written = stream.getvalue().splitlines()
    assert [line.split(",")[0] for line in written] == [f"trial {4 * k}/40" for k in range(1, 11)]
    assert "best 2.5" in written[0]

    clock, stream = Clock(), io.StringIO()
    tally = RunTally(total=1000, clock=clock)
    lines = Lines(tally, stream)
    for _ in range(10):
        clock.now += 30.0
        lines.update()
    assert len(stream.getvalue().splitlines()) == 5


def test_a_run_of_unknown_length_ends_with_a_line():
    stream = io.StringIO()
    tally = RunTally()
    lines = Lines(tally, stream)
    tally.count(finished(1.0))
    lines.update()
    assert stream.getvalue() == ""
    lines.close()
    assert stream.getvalue().startswith("trial 1, best 1, ")


@pytest.mark.parametrize("width", [80, 120])
def test_a_display_on_a_terminal_shows_the_newest_state_when_it_closes(width):
    from rich.console import Console

    stream = io.StringIO()
    tally = RunTally(total=800, workers=16, clock=Clock())
    console = Console(file=stream, force_terminal=True, width=width, color_system="standard")
    display = Display(tally, stream, console)
    tally.count(finished(-0.0123456789))
    tally.count(Trial(3, {}, {}, "failed"))
    tally.busy = 15
    tally.clock.now += 3723
    tally.thinking = 372.3
    display.update()
    display.close()
    above, below = plain(stream).splitlines()[-2:]
    assert above.lstrip("━╸╺") == "  2/800  best -0.0123457"
    assert below == "0.0/min  optimiser 372.3 s (10%)  1 failed  15/16 busy  1:02:03"


@pytest.mark.parametrize("total", [5, None])
def test_a_run_shows_its_display_on_a_terminal(monkeypatch, total):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    studied(bowl, total, progress="auto", stop=lambda study: len(study.trials) == 5 and "five")
    assert ("━  5/5  best " if total else "5  best ") in plain(stream)
    assert re.search(r"  0 failed  0/1 busy  \d:\d\d:\d\d", plain(stream))


def test_what_is_shown_depends_on_the_stream_and_on_what_is_wanted(monkeypatch):
    tally = RunTally(total=2)
    assert isinstance(progress_view(tally, "auto", io.StringIO()), Silent)
    assert isinstance(progress_view(tally, True, io.StringIO()), Lines)
    assert isinstance(progress_view(tally, False, Terminal()), Silent)
    monkeypatch.setattr(sys, "stderr", None)  # as in a program with windows only
    assert isinstance(progress_view(tally, True), Silent)
    for wanted in (True, "auto"):
        display = progress_view(tally, wanted, Terminal())
        display.close()
        assert isinstance(display, Display)
    with pytest.raises(MethodError, match="progress must be True, False or 'auto', got 'bar'"):
        progress_view(tally, "bar")


def test_a_run_writes_ten_lines_where_they_are_wanted_and_none_by_itself(capsys):
    studied(bowl, 40, progress="auto")
    assert capsys.readouterr() == ("", "")
    study = Diary()
    studied(lambda p: float("nan"), 2, study=study, progress=False)
    studied(lambda p: float("nan") if p["x"] < -0.5 else 2.5, 40, study=study, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 10
    failures = sum(trial.state == "failed" for trial in study.trials) - 2
    last = err.splitlines()[-1]
    assert last.startswith("trial 40/40, best 2.5, ")
    assert f", {failures} failed, 0/1 busy, " in last


def test_the_best_value_shown_is_that_of_the_study(capsys):
    study = Diary()
    studied(lambda p: 1.0, 1, study=study)
    studied(lambda p: 2.0, 3, study=study, progress=True)
    assert capsys.readouterr().err.splitlines()[-1].startswith("trial 3/3, best 1, ")


def test_a_run_that_goes_on_to_the_total_of_its_study_counts_from_what_is_done(capsys):
    study = Diary()
    studied(lambda p: 1.0, 7, study=study)
    studied(lambda p: 2.0, 3, study=study, stop=[MaxTrials(10)], progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["trial 8/10", "trial 9/10", "trial 10/10"]
    studied(lambda p: 2.0, 3, study=study, stop=[MaxTrials(90)], progress=True)  # not up to it
    assert capsys.readouterr().err.splitlines()[-1].startswith("trial 3/3, ")


class Notebook:
    """What IPython's `display` was given; the newest output replaces the ones before."""

    def __init__(self, monkeypatch):
        self.shown = []
        monkeypatch.setattr(progress, "in_notebook", lambda: True)
        monkeypatch.setattr("IPython.display.display", self.display)

    def display(self, output, *, raw, display_id):
        assert raw
        assert display_id
        self.shown.append(output)
        return self

    def update(self, output, *, raw):
        self.shown.append(output)


@pytest.mark.parametrize("wanted", ["auto", True])
def test_a_notebook_shows_one_output_that_is_replaced_a_few_times_per_second(monkeypatch, wanted):
    notebook, clock = Notebook(monkeypatch), Clock()
    tally = RunTally(total=40, clock=clock)
    view = progress_view(tally, wanted)
    for _ in range(40):
        clock.now += 0.05
        tally.count(finished(2.5))
        view.update()
    view.close()
    assert 8 <= len(notebook.shown) <= 12
    assert notebook.shown[0]["text/plain"].startswith("trial 0/40, no value yet, ")
    _, text = read_html(notebook.shown[-1]["text/html"])
    assert text.startswith("40/40 trials, best 2.5")
    assert isinstance(progress_view(tally, False), Silent)


def test_a_run_of_unknown_length_has_no_bar_in_a_notebook(monkeypatch):
    notebook = Notebook(monkeypatch)
    studied(bowl, None, progress="auto", stop=lambda study: len(study.trials) == 3 and "three")
    tags, text = read_html(notebook.shown[-1]["text/html"])
    assert "progress" not in tags
    assert text.startswith("3 trials, best ")


def test_importing_the_runner_loads_neither_rich_nor_what_worker_processes_need():
    code = (
        "import sys, outcrop.study.running; "
        "print({'rich', 'cloudpickle', 'multiprocessing.connection'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
