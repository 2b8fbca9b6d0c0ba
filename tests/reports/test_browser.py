"""The report in a real browser: Chromium without a window.

A script at the end of the page uses it as a reader does and writes what it finds as JSON.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

import outcrop as oc
from tests.reports.studies import EVIL, KINDS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="CHROMIUM IS MISSING: apt-get install chromium; nothing was tested"
)
WATCH = """<script>
window.problems = [];
window.addEventListener("error", (event) => window.problems.push(event.message));
window.addEventListener("securitypolicyviolation",
  (event) => window.problems.push(event.violatedDirective + " " + event.blockedURI));
const written = console.error;
console.error = (...words) => { window.problems.push(words.join(" ")); written(...words); };
</script>"""
SEEN = """<script>
const cells = (index) => [...document.querySelectorAll("#trials tbody tr")].map(
  (row) => row.cells[index].textContent);
const heads = [...document.querySelectorAll("#trials th button")];
const filter = document.getElementById("filter");
const search = (text) => { filter.value = text; filter.dispatchEvent(new Event("input")); };
const found = { columns: heads.map((head) => head.textContent), numbers: cells(0) };
const value = heads.findIndex((head) => head.textContent === "value");
heads[value].click();
found.rising = cells(value);
heads[value].click();
found.falling = cells(value);
search("finished");
found.finished = cells(1);
search("no such text");
found.none = cells(1);
search("");
found.plots = [...document.querySelectorAll(".plot")].map(
  (plot) => plot.querySelectorAll(".main-svg").length);
found.wide = document.documentElement.scrollWidth;
found.hurt = window.hurt ?? 0;
found.labels = [...document.querySelectorAll(".plot text")].map((text) => text.textContent);
found.problems = window.problems;
const out = document.createElement("pre");
out.id = "found";
out.textContent = JSON.stringify(found);
document.body.append(out);
</script>"""


def seen(study, folder, width=1400):
    """What a reader finds in the report of a study."""
    html = oc.report(study).html
    html = html.replace("<body>", f"<body>{WATCH}", 1).replace("</body>", f"{SEEN}</body>", 1)
    path = folder / "report.html"
    path.write_text(html, encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={folder / 'profile'}", f"--window-size={width},900"]
    done = subprocess.run(
        [*command, path.as_uri()], capture_output=True, text=True, timeout=240, check=True
    )
    (text,) = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    return json.loads(unescape(text))


@pytest.mark.parametrize("kind", KINDS)
def test_it_opens_sorts_and_filters_without_an_error(kind, tmp_path):
    study = KINDS[kind]()
    found = seen(study, tmp_path)
    assert found["problems"] == []
    assert found["hurt"] == 0
    assert found["numbers"] == [str(trial.number) for trial in study.trials]
    known = sorted(trial.value for trial in study.trials if trial.value is not None)
    empty = [""] * (len(study.trials) - len(known))
    assert [*map(float, found["rising"][: len(known)])] == pytest.approx(known, rel=1e-5)
    assert [*map(float, found["falling"][: len(known)])] == pytest.approx(known[::-1], rel=1e-5)
    assert found["rising"][len(known) :] == found["falling"][len(known) :] == empty
    assert found["finished"] == ["finished"] * len(known)
    assert found["none"] == []
    assert all(found["plots"])
    assert found["wide"] <= 1400


def test_hostile_text_is_seen_as_text(tmp_path):
    found = seen(KINDS["hostile"](), tmp_path, width=500)
    assert found["hurt"] == 0
    assert EVIL in found["columns"]
    assert any("</script><img" in text for text in found["labels"])
    assert not any("&lt;" in text for text in found["labels"])
    assert found["wide"] <= 500
