"""A real browser without a window: Debian's Chromium, driven by Selenium.

Nothing is downloaded: `make chromium` installs the browser and its driver.
"""

from __future__ import annotations

__all__ = ["Chromium", "missing_browser"]

import json
import shutil
import time
from base64 import b64decode
from collections.abc import Callable
from importlib.util import find_spec
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

BROWSERS, DRIVER = ("chromium", "chromium-browser"), "chromedriver"
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
LONG_TASKS = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) window.longTasks.push(each.duration);
}).observe({ type: "longtask", buffered: true });
"""


def missing_browser() -> str | None:
    """What is missing for a browser, or None."""
    if not any(map(shutil.which, BROWSERS)) or not shutil.which(DRIVER):
        return "CHROMIUM IS MISSING: apt-get install chromium chromium-driver; nothing was tested"
    if find_spec("selenium") is None:
        return "SELENIUM IS MISSING: pip install selenium; nothing was tested"
    return None


class Chromium:
    """A browser; leaving its context ends it.

    with Chromium() as browser:
        browser.open(address)
        browser.wait_for("return document.title === 'ready'")
    """

    def __init__(self, width: int = 1400, height: int = 900, *, trace: bool = False) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = next(filter(None, map(shutil.which, BROWSERS)))
        for option in OPTIONS:
            options.add_argument(option)
        if trace:
            options.add_experimental_option("perfLoggingPrefs", {"traceCategories": "toplevel"})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which(DRIVER)))
        self._command("Page.addScriptToEvaluateOnNewDocument", source=LONG_TASKS)
        self.resize(width, height)

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.driver.quit()

    def open(self, address: str) -> None:
        """Open a page, and forget what earlier ones did."""
        self.driver.get("about:blank")
        self.problems(), self.requests()
        self.driver.get(address)

    def run(self, script: str, *arguments: object) -> Any:
        """What a script returns."""
        return self.driver.execute_script(script, *arguments)

    def wait_for(self, script: str, *arguments: object, seconds: float = 60.0) -> Any:
        """What a script returns once that is true."""
        end = time.monotonic() + seconds
        while not (found := self.run(script, *arguments)):
            if time.monotonic() > end:
                seen = self.run("return document.body.innerText.slice(0, 500)")
                raise TimeoutError(f"not true after {seconds} s: {script}\n{seen}")
            time.sleep(0.05)
        return found

    def resize(self, width: int, height: int = 900) -> None:
        self._command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def set_dark(self, dark: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._command("Emulation.setEmulatedMedia", features=[scheme])

    def problems(self) -> list[str]:
        """Messages of the console since the last call."""
        return [each["message"] for each in self.driver.get_log("browser")]

    def requests(self, *, outside: Callable[[str], bool] = lambda address: True) -> list[str]:
        """Addresses that were requested since the last call."""
        sent = [m["params"] for m in self._messages() if m["method"] == "Network.requestWillBeSent"]
        return [each["request"]["url"] for each in sent if outside(each["request"]["url"])]

    def requests_to_others(self) -> list[str]:
        """Addresses that were requested from elsewhere than this machine."""
        return self.requests(outside=_is_elsewhere)

    def task_milliseconds(self) -> list[float]:
        """Processor time of each task of the page; the browser must have been made with `trace`."""
        events = [m["params"] for m in self._messages() if m["method"] == "Tracing.dataCollected"]
        pages = {
            (event["pid"], event["tid"])
            for event in events
            if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
        }
        return [
            event["tdur"] / 1e3
            for event in events
            if event["name"].endswith("RunTask")
            and "tdur" in event
            and (event["pid"], event["tid"]) in pages
        ]

    def picture(self) -> bytes:
        """The window as a PNG."""
        return b64decode(self._command("Page.captureScreenshot", format="png")["data"])

    def _messages(self) -> list[dict[str, Any]]:
        """What the browser has reported since the last call."""
        return [
            json.loads(each["message"])["message"] for each in self.driver.get_log("performance")
        ]

    def _command(self, name: str, **arguments: object) -> dict[str, Any]:
        answer: dict[str, Any] = self.driver.execute_cdp_cmd(name, arguments)
        return answer


def _is_elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    local = parts.scheme in ("file", "data", "blob", "about", "chrome")
    return not local and parts.hostname not in ("127.0.0.1", "localhost")
