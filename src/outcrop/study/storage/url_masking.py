"""URLs of storages without their passwords, for messages.

A URL is masked as text, since one that is malformed may hold a password as well. Where it can be
read in two ways, the parts that are secret by either of them are masked.
"""

from __future__ import annotations

__all__ = ["MASK", "masked_in", "masked_url"]

import re

MASK = "***"
NAMED = re.compile(r"\b(password|passwd|pwd|passphrase)(\s*=\s*)[^\s&;,]+", re.IGNORECASE)
IN_TEXT = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]+", re.IGNORECASE)
PLACE = re.compile(r"(\[[^\]]*\]|[^:/?#]*)(:\d*)?([/?#]|$)")  # a host, a port, and the rest
TRAILING = ".,;:!)]}"  # punctuation of a sentence behind a URL


def masked_url(url: str) -> str:
    """A URL without its password and its options; also without a user who has no password.

    >>> masked_url("postgresql://me:p@ss@host/db?sslmode=require")
    'postgresql://me:***@host/db'
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        scheme, rest = "", url
    if scheme.startswith("sqlite") and rest.startswith("/"):  # a path: it has no password
        return NAMED.sub(_hidden, url.partition("?")[0])
    colon, at, options = rest.find(":"), rest.rfind("@"), rest.find("?")
    if 0 <= colon < at:
        tail = rest[at:] if not 0 <= options < at else ""
        rest = f"{rest[: colon + 1]}{MASK}{tail}"
    elif separator and at > 0 and not re.search(r"[/?#]", rest[:at]):  # a name, or a password alone
        rest = f"{MASK}{rest[at:]}"
    elif separator and at < 0 and not PLACE.match(rest):  # the @ behind a password is missing
        rest = f"{rest[: colon + 1]}{MASK}"
    if separator:
        rest = rest.partition("?")[0]
    return f"{scheme}{separator}{NAMED.sub(_hidden, rest)}"


def masked_in(text: str) -> str:
    """A text in which every URL is masked.

    >>> masked_in("cannot reach postgresql://me:secret@host/db: timeout")
    'cannot reach postgresql://me:***@host/db: timeout'
    """
    return NAMED.sub(_hidden, IN_TEXT.sub(_url, text))


def _url(match: re.Match[str]) -> str:
    url = match[0].rstrip(TRAILING)
    return masked_url(url) + match[0][len(url) :]


def _hidden(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}{MASK}"
