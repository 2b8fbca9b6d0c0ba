"""The file of a report, read without a browser."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

import outcrop as oc
from outcrop.cli.app import app
from outcrop.errors import MethodError, MissingExtra
from outcrop.reports.figures import some_of
from outcrop.reports.plotly_program import plotly_program
from tests.reports.studies import EVIL, KINDS

VOID = {"meta", "input"}
LOADS = {"src", "href", "srcset", "action", "data", "poster"}


class Read(HTMLParser):
    """The tags, the attributes, the visible text and the JSON of a page."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self.open, self.scripts = [], set(), "", [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.text += data


def figures_in(content):
    return {key: f for part in content["parts"].values() for key, f in part["figures"].items()}


@pytest.fixture(scope="module", params=KINDS)
def made(request):
    study = KINDS[request.param]()
    return request.param, study, oc.report(study).html


def test_the_file_is_whole_and_loads_nothing(made):
    _, _, html = made
    page = Read(html)
    assert not page.open
    assert not page.attributes & LOADS
    assert not {"img", "link", "iframe", "object", "i"} & {*page.tags}
    assert page.tags.count("script") == 3  # the data, Plotly as text, and what draws them
    assert "default-src 'none'" in html
    assert len(html.encode()) < 6_000_000


def test_every_trial_and_every_number_is_in_the_data(made):
    _, study, html = made
    content = json.loads(Read(html).scripts[0])
    columns, rows = content["trials"]["columns"], content["trials"]["rows"]
    assert [row[0] for row in rows] == [trial.number for trial in study.trials]
    assert all(len(row) == len(columns) for row in rows)
    for row, trial in zip(rows, study.trials, strict=True):
        assert row[1] == trial.state
        assert row[2] == (None if trial.value is None else pytest.approx(trial.value, rel=1e-5))


def test_every_section_is_there_or_says_why_not(made):
    kind, _, html = made
    text = Read(html).text
    for title in ("Best", "Convergence", "Importance", "Parallel", "Failures", "Workers", "seed"):
        assert title in text
    content = json.loads(Read(html).scripts[0])
    count = {"empty": 0, "failing": 2, "categories": 3}.get(kind)
    if count is not None:  # convergence and workers; also parallel coordinates
        assert len(figures_in(content)) == count
    else:
        assert len(figures_in(content)) >= 9
        assert "Recommended: trial" in text


def test_hostile_text_is_text_everywhere():
    html = oc.report(KINDS["hostile"]()).html
    page = Read(html)
    assert "onerror=" in page.text
    assert "\n<b>bold</b>" not in html
    content = json.loads(page.scripts[0])
    assert EVIL in content["trials"]["columns"]
    figures = json.dumps(figures_in(content)).replace("<br>", "").replace("<extra></extra>", "")
    assert "&lt;/script&gt;" in figures
    assert "<" not in figures  # whatever Plotly draws is escaped, besides our own line breaks
    assert "<" not in page.scripts[0]
    assert len(html) < 6_000_000


def test_the_figures_have_what_the_study_has():
    study = KINDS["box"]()
    content = json.loads(Read(oc.report(study).html).scripts[0])
    found = content["parts"]
    convergence = found["convergence"]["figures"]["convergence"]["data"]
    values = [trial.value for trial in study.trials if trial.value is not None]
    np.testing.assert_allclose(convergence[0]["y"], values, rtol=1e-5)
    step = np.searchsorted(convergence[1]["x"], convergence[0]["x"], side="right") - 1
    best = np.array(convergence[1]["y"])[step]
    np.testing.assert_allclose(best, np.maximum.accumulate(values), rtol=1e-5)
    expected = study.importance()
    bars = next(iter(found["importance"]["figures"].values()))["data"][0]
    shares = [expected.total[name].mean for name in expected.ranked[::-1]]
    np.testing.assert_allclose(bars["x"], shares, rtol=1e-5, atol=1e-6)


def test_of_many_trials_the_best_and_some_others_are_drawn():
    space = oc.Space({"x": oc.Float(0, 1)})
    study = oc.Optimizer(space, method="random", seed=0, direction="maximize")
    values = np.random.default_rng(0).permutation(3000).astype(float)
    study.add(space.sample(np.random.default_rng(1), 3000), list(values))
    drawn = [trial.value for trial in some_of(study.trials, "maximize")]
    assert len({*drawn}) == 1000
    assert {*values[values >= 2500]} <= {*drawn}
    assert min(drawn) == 0
    others = np.sort([value for value in drawn if value < 2500])
    assert np.diff(others).max() <= 6  # evenly: 2,500 in 500


def test_charts_of_plotly_are_registered_one_at_a_time():
    program = plotly_program()
    assert program.startswith("//# allFunctionsCalledOnLoad\n")
    assert program.count(".unregistered=[") == 1  # or a later Plotly has another form
    assert "</script" not in program


def test_a_thousand_trials_fit():
    space = oc.Space({f"x{i}": oc.Float(0, 1) for i in range(6)})
    study = oc.Optimizer(space, method="gp", seed=0)
    params = space.sample(np.random.default_rng(0), 1000)
    study.add(params, [sum(each.values()) for each in params])
    assert len(oc.report(study).html.encode()) <= 6_000_000


def test_it_is_written_to_a_file_and_shown_in_a_frame(tmp_path):
    made = oc.report(KINDS["failing"](), tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text("utf-8") == made.html
    frame = Read(made._repr_html_())
    assert frame.tags == ["iframe"]
    assert frame.attributes == {"srcdoc", "sandbox", "style"}
    assert repr(made).startswith("Report('failing', 4.")


def test_the_command_writes_the_same_and_replaces_nothing(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = oc.Study(oc.Space({"x": oc.Float(0, 1)}), name="s", storage=url, method="random")
    study.tell(study.ask(), 1.0)
    out = tmp_path / "report.html"
    arguments = ["report", "s", "--storage", url, "-o", str(out)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "<title>s</title>" in out.read_text("utf-8")
    assert CliRunner().invoke(app, arguments).exit_code != 0
    assert CliRunner().invoke(app, [*arguments, "--force"]).exit_code == 0


def test_what_is_no_study_and_a_missing_plotly_are_refused(monkeypatch):
    with pytest.raises(MethodError, match="expected a Study"):
        oc.report(3)
    plotly_program.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "plotly", None)
    with pytest.raises(MissingExtra, match=r"outcrop\[report\]"):
        oc.report(KINDS["empty"]())
