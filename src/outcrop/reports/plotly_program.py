"""The program of Plotly, prepared so that no browser is blocked while it starts.

Evaluated at once, the program occupies a browser for half a second and more. Most of that time is
spent compiling functions, and on charts that are not used here. Therefore the text begins with a
comment that asks Chromium to compile it in the background, and charts other than `scatter` are
not registered when it is evaluated: `Plotly.unregistered` has a function for each, and
`figures.js` calls those that it needs.
"""

from __future__ import annotations

__all__ = ["plotly_program"]

import re
from functools import cache
from importlib.resources import files

from outcrop.errors import MissingExtra

COMPILE_EARLY = "//# allFunctionsCalledOnLoad\n"  # known to Chromium, a comment to others
ALL_CHARTS = re.compile(r"([\w$]+)\.register\(\[((?:[\w$]+\(\),?)+)\]\)")


@cache
def plotly_program() -> str:
    """The text of the program, from the package of Plotly; it may be put into a script element.

    If a later Plotly registers its charts in another way, the program is left as it is.
    """
    try:
        text = files("plotly").joinpath("package_data", "plotly.min.js").read_text("utf-8")
    except ImportError:
        raise MissingExtra("reports need Plotly: pip install 'outcrop[report]'") from None
    if len(ALL_CHARTS.findall(text)) == 1:
        text = ALL_CHARTS.sub(_unregistered, text)
    return COMPILE_EARLY + text.replace("</script", "<\\/script")


def _unregistered(match: re.Match[str]) -> str:
    return f"{match[1]}.unregistered=[{match[2].replace('()', '')}]"
