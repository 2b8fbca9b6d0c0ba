"""Which requests are answered: those that only read, to a name of this machine, with the token.

Any page in a browser may send requests to a server on the same machine. It cannot read answers of
another origin, unless a name of its own resolves to this machine (DNS rebinding). Therefore a
request must name the server by a loopback name, or else have the token.
"""

from __future__ import annotations

__all__ = ["Guard", "LOOPBACK_NAMES", "checked_access", "is_loopback"]

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from secrets import token_urlsafe
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from outcrop.errors import MethodError

SHORTEST = 16  # characters of a token
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server on that host.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def checked_access(host: str, token: str | None, remote: bool) -> None:
    """Refuse a server that others could reach without being meant to."""
    if token is not None and len(token) < SHORTEST:
        raise MethodError(
            f"--token has {len(token)} characters, expected at least {SHORTEST}; "
            f"for example: {token_urlsafe(24)}"
        )
    if is_loopback(host):
        return
    if not remote:
        raise MethodError(
            f"--host {host} can be reached from other machines: add --remote and --token if that "
            "is meant, or use an SSH tunnel to 127.0.0.1"
        )
    if token is None:
        raise MethodError(
            f"--host {host} needs --token, or the variable OUTCROP_TOKEN; "
            f"for example: {token_urlsafe(24)}"
        )


class Guard:
    """Refuses what is not a permitted reading request, and adds headers to all answers."""

    def __init__(self, app: ASGIApp, token: str | None = None, *, any_name: bool = False) -> None:
        self._app = app
        self._token = token
        self._any_name = any_name  # whether the server has names that are not known
        self._pass = "" if token is None else _digest(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"expected an HTTP request, got {scope['type']}")

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Cache-Control", "no-store")
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        answer = self._refusal(scope) or self._app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> Response | None:
        """The answer to a request that is not passed on."""
        if scope["method"] not in ("GET", "HEAD"):
            text = "the dashboard only reads: use GET or HEAD\n"
            return PlainTextResponse(text, 405, {"Allow": "GET, HEAD"})
        headers = Headers(scope=scope)
        if not self._any_name and _name_of(headers.get("host", "")) not in LOOPBACK_NAMES:
            return PlainTextResponse("use http://127.0.0.1 or http://localhost\n", 421)
        if self._token is None or self._is_permitted(headers):
            return None
        return self._admitted(scope)

    def _is_permitted(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and _equal(_digest(given.strip()), self._pass):
            return True
        return _equal(_cookie(headers, self._cookie_name(headers)), self._pass)

    def _admitted(self, scope: Scope) -> Response:
        """The answer to a request with the token in its address, which is then kept in a cookie."""
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not any([_equal(_digest(each), self._pass) for each in given]):
            text = "the token is missing or wrong: open the address with ?token=… once\n"
            return PlainTextResponse(text, 401, {"WWW-Authenticate": "Bearer"})
        rest = urlencode([pair for pair in query if pair[0] != "token"])
        path = "/" + scope["path"].lstrip("/")  # two slashes would begin the name of a host
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        name = self._cookie_name(Headers(scope=scope))
        answer.set_cookie(name, self._pass, httponly=True, samesite="lax")
        return answer

    def _cookie_name(self, headers: Headers) -> str:
        """One for each port, since a browser sends cookies to all ports of a host."""
        port = headers.get("host", "").rpartition(":")[2]
        return f"outcrop-{port if port.isdigit() else 80}"


def _name_of(host: str) -> str:
    """The name in a Host header, without the port.

    >>> _name_of("LOCALHOST:80"), _name_of("[::1]:80"), _name_of("evil.example")
    ('localhost', '[::1]', 'evil.example')
    """
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _digest(token: str) -> str:
    """What the cookie holds: the token cannot be read from it."""
    return hashlib.sha256(b"outcrop dashboard\0" + token.encode("utf-8", "replace")).hexdigest()


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
