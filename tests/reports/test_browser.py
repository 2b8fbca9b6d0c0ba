"""The report in a real browser, as a reader uses it."""

from __future__ import annotations

import numpy as np
import pytest

import outcrop as oc
from tests.browsing import Page
from tests.reports.studies import EVIL, KINDS, LONG

LABELS = "return [...document.querySelectorAll('.plot text')].map((each) => each.textContent)"
WIDTH = "return document.documentElement.scrollWidth"


def opened(browser, study, folder, width=1400):
    path = folder / "report.html"
    oc.report(study, path)
    return Page(browser, path.as_uri(), width)


@pytest.mark.parametrize("kind", KINDS)
def test_it_opens_sorts_and_filters_without_an_error(kind, chromium, tmp_path):
    study = KINDS[kind]()
    page = opened(chromium, study, tmp_path)
    assert page.cells(0) == [str(trial.number) for trial in study.trials]
    known = sorted(trial.value for trial in study.trials if trial.value is not None)
    empty = [""] * (len(study.trials) - len(known))
    value = page.columns.index("value")
    for expected in (known, known[::-1]):
        page.sort(value)
        cells = page.cells(value)
        assert [*map(float, cells[: len(known)])] == pytest.approx(expected, rel=1e-5)
        assert cells[len(known) :] == empty
    page.filter("finished")
    assert page.cells(1) == ["finished"] * len(known)
    page.filter("no such text")
    assert page.cells(1) == []
    places = chromium.run("return document.querySelectorAll('.plot').length")
    assert chromium.run("return document.querySelectorAll('.plot .main-svg').length") >= places
    assert chromium.run(WIDTH) <= 1400
    page.checked()


def test_the_pointer_on_a_point_shows_its_trial(chromium, tmp_path):
    study = KINDS["box"]()
    page = opened(chromium, study, tmp_path)
    trial = study.trials[3]
    assert "trial 3" in page.hover("convergence", trial.number, trial.value)
    page.checked()


def test_hostile_text_is_seen_as_text(chromium, tmp_path):
    page = opened(chromium, KINDS["hostile"](), tmp_path, width=500)
    assert EVIL in page.columns
    assert any(each.startswith(LONG[:200]) for each in page.columns)
    assert EVIL in page.cells(page.columns.index("worker"))
    assert EVIL in page.cells(page.columns.index("reason"))
    assert "".join(EVIL.split()) in "".join(chromium.run("return document.title").split())
    labels = chromium.run(LABELS)
    assert any("</script><img" in text for text in labels)
    assert not any("&lt;" in text for text in labels)
    assert chromium.run("return document.querySelectorAll('img, b.bold, u').length") == 0
    assert chromium.run(WIDTH) <= 500
    page.checked()


def test_many_points_are_thinned_and_all_are_seen_by_zooming(chromium, tmp_path):
    space = oc.Space({"x": oc.Float(0, 1)})
    study = oc.Optimizer(space, method="random", seed=0)
    params = space.sample(np.random.default_rng(0), 4000)
    study.add(params, [each["x"] for each in params])
    page = opened(chromium, study, tmp_path)
    drawn = "return document.getElementById('convergence').data[0].x.length"
    assert chromium.run(drawn) == 1500
    text = chromium.run("return document.querySelector('.drawn').textContent")
    assert text == "1500 of 4000 points are drawn; zoom in for the others."
    low, high = page.zoom("convergence", 1000, 2000, 0.5)
    inside = sum(low <= trial.number <= high for trial in study.trials)
    chromium.wait_for(f"{drawn} === arguments[0]", inside)
    page.checked()
