"""Examples in docstrings as code: Markdown would take `>>>` for three quotations."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$|>>> ).+\n?)*)+", re.MULTILINE)


class DoctestFences(Extension):
    def on_instance(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring and ">>> " in obj.docstring.value:
            obj.docstring.value = EXAMPLE.sub(_fenced, obj.docstring.value)


def _fenced(found: re.Match[str]) -> str:
    return f"```pycon\n{found[0].rstrip()}\n```\n"
