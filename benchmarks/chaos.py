"""Chaos: 8 processes share a study in an SQLite file, 16 one on a PostgreSQL server, and all fails.

They ask and tell without end. Every second one of them, chosen at random, gets SIGKILL, and a new
one takes its place. The server is stopped and started twice, as `pg_ctl restart -m fast` and `-m
immediate` do, while kills go on. Every process notes each result that was acknowledged. Once there
are enough, nobody is killed any more, and what was left behind by the dead is evaluated. Then the
notes are compared with the log, see `chaos_verdict`. All is on loopback, and ends by itself.
"""

from __future__ import annotations

__all__ = ["add_arguments", "chaos", "run"]

import os
import random
import signal
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from benchmarks.attack.crowd import Crowd, Note, read_notes
from benchmarks.chaos_verdict import BARS, compared
from benchmarks.places import place
from benchmarks.postgresql_server import PostgresqlServer
from benchmarks.reporting import provenance, save, table, verdict
from outcrop.space import Int, Space
from outcrop.study import Study, load_study

# Few enough points that a process which overlooks the trials of others would soon repeat one.
SPACE = Space({"x": Int(0, 149), "y": Int(0, 99)})
LEASE = 5.0  # seconds
PROCESSES = {"sqlite": 8, "postgresql": 16}
RESTARTS = (signal.SIGINT, signal.SIGQUIT)  # fast, immediate
DOWN = 0.5  # seconds between a stop and a start


def chaos(
    engine: str, results: int, *, processes: int, every: float, seconds: float, seed: int
) -> dict[str, Any]:
    """Share, kill and restart until `results` are acknowledged or `seconds` are over."""
    chance = random.Random(seed)
    with place(engine) as (url, server), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        study = Study(SPACE, "chaos", url, method="random", seed=seed, noise=False)
        over = folder / "over"
        crowd = Crowd(lambda note: _live(study, note, over), folder, flush=False)
        try:
            for _ in range(processes):
                crowd.add()
            kills, restarts = _disturbed(
                crowd, study, server, results, every=every, seconds=seconds, chance=chance
            )
            over.touch()
            for life in [*crowd.alive]:
                crowd.wait(life)
        finally:
            for life in [*crowd.alive]:
                crowd.kill(life)
        _evaluate_the_rest(study, crowd.notes(crowd.lives))
        found = compared(study, load_study("chaos", url), read_notes(folder), LEASE)
        study._store.close()
    return {
        "engine": engine,
        "processes": processes,
        "kills": kills,
        "restarts": restarts,
        **found,
        "failed_processes": len(crowd.failed),
        "failures": crowd.failed[:3],
    }


def _live(study: Study, note: Note, over: Path) -> None:
    """Ask and tell until it is over; each result has a mark that no other has."""
    while not over.exists():
        _evaluate_one(study, note)


def _evaluate_one(study: Study, note: Note) -> None:
    trial = study.ask(lease=LEASE)
    mark, value = os.urandom(8).hex(), random.random()
    study.tell(trial, value, info={"mark": mark})
    note(mark, trial.number, value)


def _disturbed(
    crowd: Crowd,
    study: Study,
    server: PostgresqlServer | None,
    results: int,
    *,
    every: float,
    seconds: float,
    chance: random.Random,
) -> tuple[int, int]:
    """Kill until there are enough results; how often, and how often the server was restarted."""
    due = [] if server is None else [results / 3, 2 * results / 3]
    ways, restarting = iter(RESTARTS), threading.Thread()
    start, kills, count, told = time.monotonic(), 0, 0, 0
    while told < results and time.monotonic() - start < seconds:
        count += 1
        time.sleep(max(0.0, start + count * every - time.monotonic()))
        crowd.kill(chance.choice(sorted(crowd.alive)))
        crowd.add()
        kills += 1
        if restarting.is_alive():
            continue
        told = sum(trial.state == "finished" for trial in study.trials)  # new lives begin with it
        if server is not None and due and told >= due[0]:
            del due[0]
            restarting = threading.Thread(target=_restart, args=(server, next(ways)))
            restarting.start()
    if restarting.ident is not None:
        restarting.join()
    return kills, 0 if server is None else len(RESTARTS) - len(due)


def _restart(server: PostgresqlServer, how: signal.Signals) -> None:
    server.stop(how)
    time.sleep(DOWN)
    server.start()


def _evaluate_the_rest(study: Study, note: Note) -> None:
    """Evaluate what processes left behind that were killed, as soon as their leases are over."""
    while leases := study.leases():
        if any(left is not None and left <= 0 for left in leases.values()):
            _evaluate_one(study, note)
        else:
            time.sleep(0.05)


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sqlite", type=int, default=3000, help="results of each run")
    parser.add_argument("--postgresql", type=int, default=7000, help="results of each run")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two kills")
    parser.add_argument("--seconds", type=float, default=900.0, help="for one part, at most")


def run(options: Namespace) -> None:
    parts = []
    for seed in range(options.runs):
        for engine, processes in PROCESSES.items():
            parts.append(
                chaos(
                    engine,
                    getattr(options, engine),
                    processes=processes,
                    every=options.every,
                    seconds=options.seconds,
                    seed=seed,
                )
            )
            print(table(*figures(parts[-1:])), flush=True)
            save("chaos", provenance("psycopg", "sqlalchemy") | vars(options) | {"parts": parts})
    print(table(*figures(parts)))


def figures(parts: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a table: sums over all runs of an engine."""
    rows = []
    for engine in PROCESSES:
        mine = [part for part in parts if part["engine"] == engine]
        if not mine:
            continue
        title = f"**{engine}**, {mine[0]['processes']} processes: runs"
        rows.append([title, str(len(mine)), "", ""])
        for what in ("kills", "restarts", "acknowledged", "asked_again"):
            rows.append([what.replace("_", " "), str(sum(part[what] for part in mine)), "", ""])
        for what, bar in BARS.items():
            worst = max(part[what] for part in mine)
            shown = f"{worst:.1f}" if isinstance(worst, float) else str(worst)
            limit = LEASE + bar if what == "longest_wait" else bar
            rows.append([what.replace("_", " "), shown, f"{limit:g}", verdict(worst <= limit)])
    return ["chaos", "measured", "at most", ""], rows
