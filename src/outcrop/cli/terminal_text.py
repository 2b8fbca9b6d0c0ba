"""Text for a terminal: without escape sequences and other control characters, and passwords.

Names, values and reasons come from anywhere; a terminal would obey what is in them.
"""

from __future__ import annotations

__all__ = ["EscapedLog", "printable_line", "printable"]

import logging

from outcrop.study.storage.url_masking import masked_in


def printable(text: str, keep: str = "\n\t") -> str:
    """The text with characters that are not printable as escapes, except for those of `keep`.

    >>> printable("\\x1b[31m±0.5")
    '\\\\x1b[31m±0.5'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _escape(c) for c in text)


def printable_line(text: str) -> str:
    """The same for a part of a line, in which line breaks are escaped too."""
    return printable(text, keep="")


class EscapedLog(logging.Formatter):
    """Formats messages of the log for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(masked_in(super().format(record)))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()
