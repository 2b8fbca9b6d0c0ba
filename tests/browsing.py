"""A real browser for the tests, one for all of them, and what a reader does with a page."""

from __future__ import annotations

__all__ = ["SKIPPED_BROWSER", "Page", "chromium"]

import pytest

from benchmarks.chromium import Chromium, missing_browser

SKIPPED_BROWSER: list[str] = []  # why, if there is no browser; shown at the end of the session
IS_DRAWN = (
    "const { filled, waiting } = document.documentElement.dataset;"
    "return filled === 'yes' && waiting === '';"
)
CELLS = (
    "return [...document.querySelectorAll('#trials tbody tr')]"
    ".map((row) => row.cells[arguments[0]].textContent)"
)
PIXEL = """
const plot = document.getElementById(arguments[0]), { _fullLayout: all } = plot;
plot.scrollIntoView({ block: "center" });
const box = plot.getBoundingClientRect();
const x = box.left + all._size.l + all.xaxis.d2p(arguments[1]);
return [x, box.top + all._size.t + all.yaxis.d2p(arguments[2])];
"""


@pytest.fixture(scope="session")
def chromium():
    """A browser for the whole session."""
    if missing := missing_browser():
        SKIPPED_BROWSER[:] = [missing]
        pytest.skip(missing)
    with Chromium() as browser:
        yield browser


class Page:
    """A page about a study, as somebody uses it."""

    def __init__(self, browser: Chromium, address: str, width: int = 1400) -> None:
        self.browser = browser
        browser.resize(width)
        browser.open(address)
        self.wait_until_drawn()

    def wait_until_drawn(self) -> None:
        self.browser.wait_for(IS_DRAWN)

    def cells(self, column: int) -> list[str]:
        """The texts in a column of the table of trials."""
        return self.browser.run(CELLS, column)

    @property
    def columns(self) -> list[str]:
        script = "return [...document.querySelectorAll('#trials th')].map((th) => th.textContent)"
        return self.browser.run(script)

    def sort(self, column: int) -> None:
        """Click the name of a column."""
        self._find("#trials th button", column).click()

    def filter(self, text: str) -> None:
        """Type a text into the filter, instead of the one that is there."""
        field = self._find("#filter")
        field.clear()
        field.send_keys(text)

    def hover(self, plot: str, x: float, y: float) -> str:
        """Move the pointer to a place of a figure; the label that appears."""
        self._moved(plot, x, y).perform()
        return self.browser.wait_for(
            "return [...document.querySelectorAll('.hoverlayer .hovertext')]"
            ".map((each) => each.textContent).join(' ')"
        )

    def zoom(self, plot: str, low: float, high: float, y: float) -> list[float]:
        """Drag over a range of a figure; the range that it shows then."""
        self._moved(plot, low, y).click_and_hold().perform()
        self._moved(plot, high, y).release().perform()
        self.browser.wait_for(
            "return document.getElementById(arguments[0]).layout.xaxis.autorange === false", plot
        )
        return self.shown_range(plot)

    def shown_range(self, plot: str) -> list[float]:
        script = "return document.getElementById(arguments[0])._fullLayout.xaxis.range"
        return self.browser.run(script, plot)

    def checked(self) -> None:
        """No error, no script of a study was run, and no request left the machine."""
        assert self.browser.problems() == []
        assert self.browser.requests_to_others() == []
        assert self.browser.run("return window.hurt ?? 0") == 0

    def _find(self, selector: str, index: int = 0):
        from selenium.webdriver.common.by import By

        return self.browser.driver.find_elements(By.CSS_SELECTOR, selector)[index]

    def _moved(self, plot: str, x: float, y: float):
        """The pointer on its way to a place of a figure."""
        from selenium.webdriver.common.action_chains import ActionChains

        left, top = self.browser.run(PIXEL, plot, x, y)
        pointer = ActionChains(self.browser.driver, duration=20)
        pointer.w3c_actions.pointer_action.move_to_location(round(left), round(top))
        return pointer
