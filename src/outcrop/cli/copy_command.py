"""`outcrop copy`: a study with its whole log in another store."""

from __future__ import annotations

__all__ = ["copy"]

from typing import Annotated

import typer

from outcrop.cli.arguments import NeededStudy, StorageUrl, say
from outcrop.cli.terminal_text import printable_line


def copy(
    study: NeededStudy,
    to: Annotated[
        str,
        typer.Option("--to", metavar="URL", help="The other store: a URL, or an SQLite file."),
    ],
    storage: StorageUrl = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the copy; by default the same.")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Bring an earlier copy up to date.")
    ] = False,
) -> None:
    """Copy a study to another store, from a file to a server or back; it may be in use.

    \b
    Example:
      outcrop copy sim --storage sim.db --to postgresql://me@host/studies
      outcrop copy sim --storage postgresql://me@host/studies --to backup.db --update

    The copy has all events up to a moment. Leases are not copied: trials that run then stay so in
    the copy until they are told, or given back with outcrop release.
    """
    from outcrop.cli.study_lookup import place_of, storage_url
    from outcrop.study.copies import write_copy
    from outcrop.study.storage import open_storage
    from outcrop.study.storage.url_masking import masked_url
    from outcrop.study.stored_studies import log_of
    from outcrop.study.study import state_of

    found, store = place_of(study, storage)
    log = log_of(found, store)
    state = state_of(found, log)  # refuses a damaged one
    copied = found if name is None else name
    write_copy(log, copied, open_storage(storage_url(to)), update=update)
    place = printable_line(masked_url(to))
    say(
        f"study {printable_line(copied)} is in {place}: {len(log)} events, "
        f"{len(state.trials)} trials"
    )
    if running := len(state.running):
        say(f"trials that run without a lease there: {running}; see outcrop release")
