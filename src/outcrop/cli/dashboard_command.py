"""The command `outcrop dashboard`."""

from __future__ import annotations

__all__ = ["dashboard"]

from typing import Annotated

import typer

from outcrop.cli.arguments import StorageUrl, StudyName, say

PORT = 8642


def dashboard(
    study: StudyName = None,
    storage: StorageUrl = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="0 is any free one.")
    ] = PORT,
    token: Annotated[
        str | None,
        typer.Option(
            "--token", envvar="OUTCROP_TOKEN", show_envvar=True, help="Which requests must have."
        ),
    ] = None,
    remote: Annotated[
        bool, typer.Option("--remote", help="Allow a host that other machines reach.")
    ] = False,
) -> None:
    """Show the studies of a store in the browser, live; nothing can be changed there.

    \b
    Example:
      outcrop dashboard spec.toml
      outcrop dashboard --storage sqlite:///sim.db --port 8700
    """
    from outcrop.cli.study_lookup import url_of
    from outcrop.dashboard import serve

    name, url = url_of(study, storage)
    serve(url, name, host=host, port=port, token=token, remote=remote, say=say)
