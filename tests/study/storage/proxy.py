"""A TCP proxy on loopback that fails as networks do: it cuts connections, or goes silent."""

from __future__ import annotations

__all__ = ["Proxy"]

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

HOST = "127.0.0.1"
COMMIT = b"COMMIT\0"  # in a request of a client, and in the answer of the server


class Proxy:
    """Passes what clients of its `port` send on to the server at another one, and the answers."""

    def __init__(self, server: int) -> None:
        self._server = server
        self._listening = socket.create_server((HOST, 0))
        self.port = self._listening.getsockname()[1]
        self.swallowed = threading.Event()  # once something was sent into the silence
        self._links: list[_Link] = []
        self._cut: Callable[[_Link, bytes], None] | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at_commit(
        self, *, delivered: bool, meanwhile: Callable[[], object] = lambda: None
    ) -> None:
        """Cut the connection at the next commit, before or after the server has committed.

        `meanwhile` is called before the client notices.
        """

        def cut(link: _Link, data: bytes) -> None:
            if delivered:
                link.answer = threading.Event()
                link.server.sendall(data)
                assert link.answer.wait(60)
            else:
                _end(link.server)
            meanwhile()
            link.close()

        self._cut = cut

    def silence(self) -> None:
        """Swallow what comes on the connections that are open, without closing them."""
        for link in self._links:
            link.silent = True

    def cut(self) -> None:
        """Cut the connections that are open."""
        for link in self._links:
            link.close()

    def close(self) -> None:
        """Cut all connections and accept no others."""
        _end(self._listening)
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                client, _ = self._listening.accept()
                link = _Link(client, socket.create_connection((HOST, self._server)))
                self._links.append(link)
                threading.Thread(target=self._to_server, args=(link,), daemon=True).start()
                threading.Thread(target=link.to_client, daemon=True).start()

    def _to_server(self, link: _Link) -> None:
        with suppress(OSError):
            while data := link.client.recv(65536):
                if link.silent:
                    self.swallowed.set()
                elif self._cut is not None and COMMIT in data:
                    cut, self._cut = self._cut, None
                    cut(link, data)
                else:
                    link.server.sendall(data)
        link.close()


class _Link:
    """A connection of a client, and the one to the server for it."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.silent = False
        self.answer: threading.Event | None = None  # to a commit, which is withheld

    def to_client(self) -> None:
        with suppress(OSError):
            while data := self.server.recv(65536):
                if self.answer is not None:
                    if COMMIT in data:
                        self.answer.set()
                elif not self.silent:
                    self.client.sendall(data)
        if self.answer is None:
            self.close()

    def close(self) -> None:
        for each in (self.client, self.server):
            _end(each)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)  # which also wakes a thread that reads from it
    connection.close()
