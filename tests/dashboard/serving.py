"""A dashboard in the process of the tests, and requests to it."""

from __future__ import annotations

__all__ = ["asked", "served"]

import asyncio
import threading
import time
from contextlib import contextmanager
from typing import NamedTuple

import uvicorn

from outcrop.dashboard.server import application
from outcrop.dashboard.watcher import Watcher


@contextmanager
def served(store):
    """The address of a dashboard of a store."""
    watcher = Watcher(store)
    app = application(watcher, has_ended=lambda: server.should_exit)
    config = uvicorn.Config(app, port=0, lifespan="off", log_level="warning", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    watcher.start()
    try:
        end = time.monotonic() + 60
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        watcher.end()
        server.should_exit = True
        thread.join()


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str


def asked(app, target="/", method="GET", **headers):
    """The answer of an application to one request, without a network."""
    path, _, query = target.partition("?")
    headers = {"host": "127.0.0.1:8642"} | headers
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()],
    }
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(sent[0]["status"], named, body.decode())
