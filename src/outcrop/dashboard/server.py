"""The server of the dashboard: pages, scripts, and what has changed since a version."""

from __future__ import annotations

__all__ = ["application", "serve"]

import asyncio
import hashlib
import json
import socket
import time
from collections.abc import Callable
from importlib.resources import files
from urllib.parse import urlencode

from outcrop.dashboard.live_study import LiveStudy
from outcrop.dashboard.pages import overview_page, study_page
from outcrop.dashboard.watcher import Overview, Watcher
from outcrop.errors import MethodError, MissingExtra, StudyError
from outcrop.reports.page import page_script, page_style
from outcrop.reports.plotly_program import plotly_program
from outcrop.study.storage import missing_file, open_storage
from outcrop.study.stored_studies import found

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp
except ImportError as error:
    raise MissingExtra(
        f"the dashboard needs Starlette and uvicorn: pip install 'outcrop[dashboard]' ({error})"
    ) from None

from outcrop.dashboard.access import Guard, checked_access, is_loopback

WAIT = 20.0  # seconds after which a request for changes is answered without any
LOOK = 0.1  # seconds between two looks at whether there are any
JAVASCRIPT = "text/javascript; charset=utf-8"


def serve(
    storage: str,
    study: str | None,
    *,
    host: str,
    port: int,
    token: str | None,
    remote: bool,
    say: Callable[[str], None],
) -> None:
    """Serve the studies of a store until Ctrl-C; `say` gets the address, of `study` if given.

    `StudyError` if there is no such study, or no file of the store.
    """
    checked_access(host, token, remote)
    plotly_program()  # it may be missing
    store = open_storage(storage)
    if study is not None:
        found(store, study)
    elif url := missing_file(store):
        raise StudyError(f"there is no file for {url}; create a study with: outcrop run SPEC.toml")
    watcher = Watcher(store)
    listening = _listening(host, port)
    server: uvicorn.Server | None = None
    app = application(
        watcher,
        token,
        any_name=not is_loopback(host),
        has_ended=lambda: bool(server and server.should_exit),
    )
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            access_log=False,  # addresses may have a token
            lifespan="off",
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=2,
            ws="none",
        )
    )
    say(f"{_address(listening, host, study)} (Ctrl-C ends it)")
    if token is not None:
        say("once in each browser: add ?token=… or &token=… to the address")
    watcher.start()
    try:
        with listening:
            server.run(sockets=[listening])
    finally:
        watcher.end()


def application(
    watcher: Watcher,
    token: str | None = None,
    *,
    any_name: bool = False,
    has_ended: Callable[[], bool] = lambda: False,
) -> ASGIApp:
    """The dashboard as an ASGI application; every request only reads."""

    async def overview(request: Request) -> Response:
        watcher.all_studies()
        return HTMLResponse(overview_page())

    async def study(request: Request) -> Response:
        name = request.query_params.get("name", "")
        exists = await run_in_threadpool(watcher.has_study, name)  # a store may be slow
        watcher.study(name)
        return HTMLResponse(study_page(name), 200 if exists else 404)

    async def studies(request: Request) -> Response:
        return await _changes(request, watcher.all_studies, has_ended)

    async def changes(request: Request) -> Response:
        name = request.query_params.get("name", "")
        return await _changes(request, lambda: watcher.study(name), has_ended)

    routes = [
        Route("/", overview),
        Route("/study", study),
        Route("/studies", studies),
        Route("/changes", changes),
        *(
            _file(path, text, kind)
            for path, text, kind in (
                ("/page.js", page_script() + _script("poll.js"), JAVASCRIPT),
                ("/poll.js", _script("poll.js"), JAVASCRIPT),
                ("/live.js", _script("live.js"), JAVASCRIPT),
                ("/overview.js", _script("overview.js"), JAVASCRIPT),
                ("/plotly.js", plotly_program(), JAVASCRIPT),
                ("/page.css", page_style(), "text/css; charset=utf-8"),
            )
        ),
    ]
    return Guard(Starlette(routes=routes), token, any_name=any_name)


async def _changes(
    request: Request, changing: Callable[[], LiveStudy | Overview], has_ended: Callable[[], bool]
) -> Response:
    """What is newer than the version `since`; if nothing is, the answer waits for it."""
    text = request.query_params.get("since", "0")
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        return _json({"problem": f"since={text[:20]!r}: expected a version, a number"}, 400)
    end = time.monotonic() + WAIT
    while (changes := changing().changes(int(text))) is None:
        if time.monotonic() > end or has_ended() or await request.is_disconnected():
            return _json({"version": int(text)})
        await asyncio.sleep(LOOK)
    return _json(changes)


def _json(content: object, status: int = 200) -> Response:
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def _file(path: str, text: str, kind: str) -> Route:
    """A file, which is sent again only if the browser has another one."""
    data = text.encode()
    tag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'

    async def answer(request: Request) -> Response:
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers, media_type=kind)

    return Route(path, answer)


def _script(name: str) -> str:
    return files("outcrop.dashboard").joinpath(name).read_text("utf-8")


def _listening(host: str, port: int) -> socket.socket:
    """A socket on which the server listens; `MethodError` if there is none."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(place)
            listening.listen()
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise MethodError(
            f"cannot listen on port {port} of {host}: {error.strerror}; choose another with --port"
        ) from None
    return listening


def _address(listening: socket.socket, host: str, study: str | None) -> str:
    port = listening.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    path = "" if study is None else f"study?{urlencode({'name': study})}"
    return f"http://{name}:{port}/{path}"
