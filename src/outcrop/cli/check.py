"""`outcrop check`: whether a store and its studies are whole, and what can be saved."""

from __future__ import annotations

__all__ = ["DAMAGED", "DIFFERENT", "SOUND", "check"]

from collections.abc import Callable

from outcrop.cli.study_lookup import storage_url, url_of
from outcrop.cli.terminal_text import printable_line
from outcrop.errors import StudyError
from outcrop.space.plain import listed
from outcrop.study.check_up import CheckUp, checked_up
from outcrop.study.copies import write_copy
from outcrop.study.storage import open_storage
from outcrop.study.storage.inspection import Inspection, inspected
from outcrop.study.storage.url_masking import masked_url

SOUND, DAMAGED, DIFFERENT = 0, 1, 3  # exit codes; 2 is an error of the command
SHOWN = 10  # numbers of trials in a line

Say = Callable[[str], object]


def check(
    study: str | None, storage: str | None, *, replay: bool, save: str | None, say: Say
) -> int:
    """Print what is found about a study, or about all of a store; the exit code."""
    name, url = url_of(study, storage)
    found = inspected(url)
    if name is not None and name not in found.logs and not found.problems:
        there = f"it has {listed([*found.logs])}" if found.logs else "it is empty"
        raise StudyError(f"study {name!r} does not exist in {found.shown}: {there}")
    code = _check_store(found, say)
    names = [each for each in found.logs if name is None or each == name]
    if not names:
        say("no study can be read")
        return DAMAGED if found.problems else SOUND
    for each in names:
        records = found.logs[each]
        result = checked_up(records, replay=replay)
        code = _worse(code, _check_study(each, result, say))
        if save is not None and result.sound:
            log = [records[position] for position in range(result.sound)]
            write_copy(log, each, open_storage(storage_url(save)))
            say(f"  saved in {masked_url(save)}")
    if code == DAMAGED and save is None:
        say("save what is sound with the option --save FILE.db")
    return code


def _check_store(found: Inspection, say: Say) -> int:
    if not found.checks_pages:
        say(f"{found.shown}: the server checks its own files; only logs are checked")
        return SOUND
    if not found.problems:
        say(f"{found.shown}: SQLite finds no damage")
        return SOUND
    say(f"{found.shown}: SQLite finds damage")
    for problem in found.problems:
        say(f"  {printable_line(problem)}")
    return DAMAGED


def _check_study(name: str, found: CheckUp, say: Say) -> int:
    title = f"study {printable_line(name)}"
    if found.damage:
        say(f"{title}: {printable_line(found.damage)}")
        say(
            f"  {found.records} events can be read; the first {found.sound}, with {found.results} "
            "results, are sound and can be saved"
        )
    else:
        say(f"{title}: all {found.sound} events are sound, with {found.results} results")
    if found.not_replayed:
        say(f"  not replayed: {printable_line(found.not_replayed)}")
    if found.replay is not None:
        say(f"  {_replayed(found)}")
    if found.damage:
        return DAMAGED
    return SOUND if found.replay is None or found.replay.identical else DIFFERENT


def _replayed(found: CheckUp) -> str:
    assert found.replay is not None
    asks, different = found.replay.asks, found.replay.different
    if not different:
        return f"replay: all {asks} suggestions are identical"
    some = ", ".join(map(str, different[:SHOWN])) + (", …" if len(different) > SHOWN else "")
    return (
        f"replay: {len(different)} of {asks} suggestions differ (trials {some}); results are not "
        "affected, and other versions of Outcrop or NumPy may be the reason"
    )


def _worse(one: int, other: int) -> int:
    return min(one, other) if 0 not in (one, other) else max(one, other)
