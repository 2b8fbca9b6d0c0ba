"""The dashboard: the page of a report, live, for every study of a store.

`watcher` reads the studies that somebody looks at, in threads of its own; `live_study` keeps what
has changed; `server` answers requests from memory, and `access` decides which it answers. Nothing
is written to the store. Starlette and uvicorn are needed (`pip install 'outcrop[dashboard]'`).
"""

from __future__ import annotations

__all__ = ["serve"]

from outcrop.dashboard.server import serve
