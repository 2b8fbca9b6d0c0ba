"""The dashboard in a real browser, while studies go on."""

from __future__ import annotations

from urllib.parse import quote

import pytest

import outcrop as oc
from outcrop.study.storage import Memory
from tests.browsing import Page
from tests.dashboard.serving import served
from tests.reports.studies import EVIL, KINDS, LONG

LINES = (
    "return [...document.querySelectorAll('#studies tbody tr')]"
    ".map((line) => [...line.cells].map((cell) => cell.textContent))"
)
LABELS = "return [...document.querySelectorAll('.plot text')].map((each) => each.textContent)"
COMPUTED = "return document.querySelector('.computed').textContent"


@pytest.fixture(scope="module")
def studies():
    """A study of each kind."""
    return {kind: make() for kind, make in KINDS.items()}


@pytest.fixture(scope="module")
def address(studies, chromium):
    store = Memory()
    for study in studies.values():
        study.copy_to(store)
    with served(store) as address:
        yield address
        chromium.open("about:blank")  # it would ask a server that has ended


def opened(browser, address, name, width=1400):
    page = Page(browser, f"{address}/study?name={quote(name, safe='')}", width)
    browser.wait_for(COMPUTED)
    page.wait_until_drawn()
    return page


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_study_is_shown(kind, studies, address, chromium):
    study = studies[kind]
    page = opened(chromium, address, study.name, 500 if kind == "hostile" else 1400)
    assert page.cells(0) == [str(trial.number) for trial in reversed(study.trials)]
    assert chromium.run("return document.documentElement.scrollWidth") <= 1400
    text = chromium.run("return document.body.innerText")
    assert "undefined" not in text
    if kind == "hostile":
        assert EVIL in page.columns
        assert any(each.startswith(LONG[:200]) for each in page.columns)
        assert EVIL in page.cells(page.columns.index("worker"))
        assert "onerror='hurt=1'" in chromium.run("return document.title")
        labels = chromium.run(
            "return [...document.querySelectorAll('.plot text')].map(t => t.textContent)"
        )
        assert any("</script><img" in label for label in labels)
        assert not any("&lt;" in label for label in labels)
        assert chromium.run("return document.querySelectorAll('img, u, b.bold').length") == 0
        assert chromium.run("return document.documentElement.scrollWidth") <= 500
    page.checked()


def test_all_studies_are_listed_and_one_is_opened_by_a_click(studies, address, chromium):
    chromium.resize(1400)
    chromium.open(address)
    chromium.wait_for(f"{LINES}.length === arguments[0]", len(studies))
    lines = {line[0]: line[1:] for line in chromium.run(LINES)}
    assert lines.keys() == {study.name for study in studies.values()}
    for study in studies.values():
        known = [trial.value for trial in study.trials if trial.value is not None]
        best = (max if study.direction == "maximize" else min)(known) if known else None
        trials, running, value, active = lines[study.name]
        assert int(trials) == len(study.trials)
        assert int(running) == sum(trial.state == "running" for trial in study.trials)
        assert value == "" if best is None else float(value) == pytest.approx(best, rel=1e-5)
        assert active
    chromium.run(
        "document.querySelectorAll('#studies a')[arguments[0]].click()", [*lines].index(EVIL)
    )
    chromium.wait_for("return document.querySelectorAll('#trials tbody tr').length > 0")
    assert chromium.run("return document.querySelector('h1').textContent") == " ".join(EVIL.split())
    assert chromium.problems() == []
    assert chromium.requests_to_others() == []


def test_a_new_trial_arrives_and_nothing_that_was_set_is_lost(chromium):
    store = Memory()
    study = oc.Study(
        oc.Space({"x": oc.Float(0, 1), "y": oc.Float(0, 1)}), "live", store, method="gp", seed=0
    )
    study.add([{"x": i / 40, "y": i / 50} for i in range(40)], [abs(i - 30.5) for i in range(40)])
    with served(store) as address:
        page = opened(chromium, address, "live")
        chromium.run("window.stays = 1")
        low, high = page.zoom("convergence", 10, 30, 10.0)
        value = page.columns.index("value")
        page.sort(value)
        page.filter("finished 2")
        before = page.cells(0)
        page.browser.run("document.getElementById('trials').scrollTop = 70")
        top = chromium.run("return window.scrollY")
        study.add([{"x": 0.32, "y": 0.22}, {"x": 0.1, "y": 0.9}], [2.25, 7.25])
        chromium.wait_for("return document.getElementById('count').textContent.includes('of 42')")
        page.wait_until_drawn()
        after = page.cells(0)
        assert {*after} - {*before} == {"40", "41"}
        values = [float(cell) for cell in page.cells(value)]
        assert values == sorted(values)
        assert page.browser.run("return document.getElementById('filter').value") == "finished 2"
        assert page.browser.run("return document.getElementById('trials').scrollTop") == 70
        assert chromium.run("return window.scrollY") == top
        chromium.wait_for(
            "const { x } = document.getElementById('convergence').data[0];"
            "document.getElementById('convergence').scrollIntoView(); return x.includes(41)"
        )
        assert page.shown_range("convergence") == [low, high]
        assert "trial 20" in page.hover("convergence", 20, 10.5)
        assert chromium.run("return window.stays") == 1  # the page was never loaded again
        chromium.wait_for(f"{COMPUTED}.includes('from 42 trials')")
        page.checked()
        chromium.open("about:blank")


def test_a_page_says_that_the_server_has_ended(chromium):
    store = Memory()
    oc.Study(oc.Space({"x": oc.Float(0, 1)}), "s", store)
    with served(store) as address:
        chromium.open(f"{address}/study?name=s")
        status = "return document.getElementById('status').textContent"
        chromium.wait_for(f"{status}.startsWith('live, last change at ')")
    chromium.wait_for(f"{status}.startsWith('No answer')")
    chromium.open("about:blank")
