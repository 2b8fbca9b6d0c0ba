"""The statements of a database; its clock is part of them, so that none has to ask for the time."""

from __future__ import annotations

__all__ = [
    "BEGIN_ANEW",
    "ID",
    "INSERT",
    "LEASES",
    "LEASES_WITHOUT_DURATIONS",
    "LENGTH",
    "LOCK",
    "READ",
    "SET_BACK",
    "SQLITE_CLOCK",
    "among",
    "extended",
    "taking",
]

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import FunctionElement

from outcrop.study.storage.schema import events, leases, studies

SQLITE_CLOCK = "outcrop_now"  # a function that each connection gets


class Now(FunctionElement[float]):
    """The time of the clock for all deadlines, in seconds."""

    type = sa.Double()
    inherit_cache = True


@compiles(Now, "sqlite")
def _of_this_machine(element: Now, compiler: Any, **options: Any) -> str:
    return f"{SQLITE_CLOCK}()"


@compiles(Now, "postgresql")
def _of_the_server(element: Now, compiler: Any, **options: Any) -> str:
    return "date_part('epoch', clock_timestamp())"


_study: sa.BindParameter[int] = sa.bindparam("study")

# A row for each record; one row without a record if none is left; no row if there is no study.
READ = (
    sa.select(events.c.record)
    .select_from(
        studies.outerjoin(
            events,
            sa.and_(events.c.study == studies.c.id, events.c.position >= sa.bindparam("since")),
        )
    )
    .where(studies.c.id == _study)
    .order_by(events.c.position)
)
LOCK = sa.select(studies.c.id).where(studies.c.id == _study).with_for_update()
LENGTH = sa.select(sa.func.max(events.c.position) + 1).where(events.c.study == _study)
ID = sa.select(events.c.id).where(
    events.c.study == _study, events.c.position == sa.bindparam("position")
)
INSERT = sa.insert(events)
LEASES = (
    sa.select(leases.c.key, leases.c.owner, leases.c.deadline, leases.c.seconds, Now().label("now"))
    .select_from(studies.outerjoin(leases, leases.c.study == studies.c.id))
    .where(studies.c.id == _study)
)
LEASES_WITHOUT_DURATIONS = LEASES.with_only_columns(
    leases.c.key, leases.c.owner, leases.c.deadline, sa.null().label("seconds"), Now().label("now")
)
# Leases that end later than agreed, since the clock was set back: they begin anew.
SET_BACK = 1.0  # seconds by which a clock may be set back unnoticed
BEGIN_ANEW = (
    sa.update(leases)
    .where(
        leases.c.study == sa.bindparam("its_study"),
        leases.c.deadline > Now() + leases.c.seconds + SET_BACK,
    )
    .values(deadline=Now() + leases.c.seconds)
)


def taking(insert: Any) -> Any:
    """Takes a lease of an existing study that is free, expired or its owner's; else changes no row.

    `insert` is that of the database, with its ON CONFLICT.
    """
    seconds: sa.BindParameter[float] = sa.bindparam("seconds", type_=sa.Double())
    wanted = sa.select(
        studies.c.id,
        sa.bindparam("key", type_=sa.Text()),
        sa.bindparam("owner", type_=sa.Text()),
        Now() + seconds,
        seconds,
    ).where(studies.c.id == _study)
    made = insert(leases).from_select(["study", "key", "owner", "deadline", "seconds"], wanted)
    new = {name: made.excluded[name] for name in ("owner", "deadline", "seconds")}
    is_free = sa.or_(leases.c.owner == made.excluded.owner, leases.c.deadline <= Now())
    return made.on_conflict_do_update(
        index_elements=["study", "key"], set_=new, where=is_free
    ).execution_options(preserve_rowcount=True)


def extended(mine: sa.ColumnElement[bool], seconds: float) -> sa.Update:
    """Lets leases end `seconds` from now."""
    deadline = Now() + sa.literal(seconds, sa.Double())
    return sa.update(leases).where(mine).values(deadline=deadline, seconds=seconds)


def among(study: int, keys: Collection[str]) -> sa.ColumnElement[bool]:
    """Whether a lease is one of these keys of a study."""
    return sa.and_(leases.c.study == study, leases.c.key.in_(keys))
