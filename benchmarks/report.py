"""Reports and the dashboard: size, seconds of writing, and how a browser copes with many trials.

A page is open once its table and the figures in sight are drawn, in a browser that was just started
and has nothing in its caches. Its longest task is the longest time in which it did not react, while
it opened, drew all figures, was sorted and filtered, and, in the dashboard, got new trials. On a
busy machine that holds waiting for a processor; the processor time of the longest task does not.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import os
import threading
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import outcrop as oc
from benchmarks.chromium import Chromium, missing_browser
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.typing import Params

SPACE = oc.Space(
    {f"x{i}": oc.Float(0, 1) for i in range(5)} | {"kind": oc.Categorical(["a", "b", "c"])}
)
SIZE_BAR, WRITE_BAR, OPEN_BAR, TASK_BAR = 6.0, 5.0, 3.0, 200.0  # MB, s, s, ms
SIZED, WRITTEN = 1000, 500  # trials
ARRIVALS = 8  # trials that are told while the dashboard is open
IS_OPEN = """
const { filled, waiting } = document.documentElement.dataset;
return filled === "yes" && waiting !== undefined && waiting !== "in sight" && performance.now();
"""
IS_DRAWN = "const { filled, waiting } = document.documentElement.dataset; return waiting === ''"
LONGEST = "return Math.max(0, ...window.longTasks)"
COUNT = "document.getElementById('count').textContent"
SORT = "document.querySelectorAll('#trials th button')[arguments[0]].click()"
FILTER = """
const filter = document.getElementById("filter");
filter.value = arguments[0];
filter.dispatchEvent(new Event("input"));
"""


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, default=10_000, help="of the page that is opened")
    parser.add_argument("--repetitions", type=int, default=5, help="browsers that open it")


def run(options: Namespace) -> None:
    if missing := missing_browser():
        raise SystemExit(missing)
    megabytes = len(oc.report(made(SIZED, "auto")).html.encode()) / 1e6
    study, start = made(WRITTEN, "auto"), time.process_time()
    oc.report(study)
    seconds = time.process_time() - start
    opened, shown = report_in_browser(options), dashboard_in_browser(options)
    bars = [
        (f"report of {SIZED} trials, MB", [megabytes], SIZE_BAR),
        (f"writing {WRITTEN} trials with a model, s of processor", [seconds], WRITE_BAR),
        (f"report of {options.trials} trials opens, s", opened["seconds"], OPEN_BAR),
        (f"report of {options.trials} trials, longest task, ms", opened["tasks"], TASK_BAR),
        ("the same, ms of processor", opened["processor"], TASK_BAR),
        (f"dashboard of {options.trials} trials opens, s", shown["seconds"], OPEN_BAR),
        (f"dashboard of {options.trials} trials, longest task, ms", shown["tasks"], TASK_BAR),
        ("the same, ms of processor", shown["processor"], TASK_BAR),
        ("a new trial is seen in the dashboard after, s", shown["arrivals"], None),
    ]
    rows = [
        {"what": what, "median": median(found), "largest": max(found), "bar": bar}
        | {"met": None if bar is None else median(found) <= bar}
        for what, found, bar in bars
    ]
    print(shown_rows(rows))
    save("report", provenance("plotly", "selenium") | {"load": _load(), "rows": rows})


def made(trials: int, method: str) -> oc.Study:
    """A study in memory, of results that were added."""
    study = oc.Study(SPACE, "many", method=method, seed=0)
    params = SPACE.sample(np.random.default_rng(0), trials)
    study.add(params, [value(each) for each in params])
    return study


def value(params: Params) -> float:
    return sum((params[f"x{i}"] - 0.3) ** 2 for i in range(5)) + 0.1 * (params["kind"] == "b")


def report_in_browser(options: Namespace) -> dict[str, list[float]]:
    """Seconds until a report is open and its longest tasks, for each browser."""
    found: dict[str, list[float]] = {"seconds": [], "tasks": [], "processor": []}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        oc.report(made(options.trials, "random"), path)
        for _ in range(options.repetitions):
            with Chromium(trace=True) as browser:
                browser.driver.get(path.as_uri())
                found["seconds"].append(browser.wait_for(IS_OPEN) / 1e3)
                use(browser)
                found["tasks"].append(float(browser.run(LONGEST)))
                found["processor"].append(max(browser.task_milliseconds()))
    return found


def dashboard_in_browser(options: Namespace) -> dict[str, list[float]]:
    """The same of the dashboard, and seconds until each of some new trials is seen."""
    import uvicorn

    from outcrop.dashboard.server import application
    from outcrop.dashboard.watcher import Watcher
    from outcrop.study.storage import open_storage

    found: dict[str, list[float]] = {"seconds": [], "tasks": [], "processor": [], "arrivals": []}
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/many.db"
        study = made(options.trials, "random").copy_to(url)
        watcher = Watcher(open_storage(url))
        config = uvicorn.Config(application(watcher), port=0, lifespan="off", log_level="warning")
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, daemon=True).start()
        watcher.start()
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        for _ in range(options.repetitions):
            with Chromium(trace=True) as browser:
                browser.driver.get(f"http://127.0.0.1:{port}/study?name=many")
                found["seconds"].append(browser.wait_for(IS_OPEN) / 1e3)
                found["arrivals"] += arrivals(browser, study)
                use(browser)
                found["tasks"].append(float(browser.run(LONGEST)))
                found["processor"].append(max(browser.task_milliseconds()))
        watcher.end()
        server.should_exit = True
    return found


def arrivals(browser: Chromium, study: oc.Study) -> list[float]:
    seconds = []
    for _ in range(ARRIVALS):
        trial, start = study.ask(), time.perf_counter()
        study.tell(trial, 1.0)
        text = f"{len(study.trials)} of {len(study.trials)} trials"
        browser.wait_for(
            "return document.getElementById('count').textContent === arguments[0]", text
        )
        seconds.append(time.perf_counter() - start)
    return seconds


def use(browser: Chromium) -> None:
    """Draw everything, sort by numbers and by texts, and filter."""
    browser.wait_for(IS_DRAWN)
    for column in (2, 8, 8, 0):
        browser.run(SORT, column)
    for text in ("a", "ab", "finished 0.5", ""):
        browser.run(FILTER, text)
    browser.run("window.scrollTo(0, document.body.scrollHeight)")
    browser.wait_for(IS_DRAWN)


def shown_rows(rows: list[dict[str, Any]]) -> str:
    return table(
        ["page", "median", "largest", "bar", ""],
        [
            [row["what"], f"{row['median']:.2f}", f"{row['largest']:.2f}"]
            + (["", ""] if row["bar"] is None else [f"≤ {row['bar']:g}", verdict(row["met"])])
            for row in rows
        ],
    )


def _load() -> float:
    """Processes that wanted a processor in the last minute, for each that there is."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)
