"""A file that a command writes: never over a database, over another file only on request.

The text goes to a temporary file in the same folder, which then gets the name, so that a file is
whole or not there.
"""

from __future__ import annotations

__all__ = ["OutputError", "check_output", "write_output"]

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from outcrop.errors import OutcropError

SQLITE = b"SQLite format 3\0"  # the first bytes of a database
BESIDE = ("-wal", "-shm", "-journal")  # ends of the names of the files beside a database


class OutputError(OutcropError, OSError):
    """A file that cannot be written, or that would be lost."""


def check_output(output: Path, *, force: bool) -> None:
    """Refuse a database and, without `force`, any file that exists.

    To be called before a study is opened: reading a database here would release its locks.
    """
    if _is_database(output):
        raise OutputError(
            f"--output {output} is a database or belongs to one, which is never written over; "
            "choose another file"
        )
    if output.is_dir():
        raise OutputError(f"--output {output} is a folder; name a file in it")
    if output.is_file() and not force:
        raise OutputError(f"--output {output} exists; choose another file, or add --force")


def write_output(output: Path, text: str) -> None:
    """Write `text` to a file as a whole, or not at all."""
    try:
        if output.exists() and not output.is_file():  # a device or a pipe
            output.write_text(text, encoding="utf-8")
        else:
            _replace(output.resolve(), text)
    except OSError as error:
        raise OutputError(f"--output {output}: {error.strerror}") from None


def _replace(file: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent, text=True)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, _mode(file))
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _mode(file: Path) -> int:
    """The permissions of a file that is replaced, or else the usual ones."""
    with suppress(OSError):
        return file.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _is_database(file: Path) -> bool:
    names = [str(file), os.path.realpath(file)]
    bases = [name.removesuffix(end) for name in names for end in BESIDE if name.endswith(end)]
    return any(_begins_as_database(Path(name)) for name in [names[1], *bases])


def _begins_as_database(file: Path) -> bool:
    if not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            return stream.read(len(SQLITE)) == SQLITE
    except OSError as error:
        raise OutputError(f"--output {file}: {error.strerror}") from None
