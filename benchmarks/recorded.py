"""Suggestions of every method to the last bit, to compare them before and after a change.

    python -m benchmarks recorded --output before.jsonl
    python -m benchmarks recorded --output after.jsonl --against before.jsonl

A case is a method in a situation, see `recorded_methods` and `recorded_situations`: a short search
with running trials. Every suggestion is a line with the parameters and the reason (`why`), in which
floats are hexadecimal; the last lines of a case are predictions and a recommendation. A case that
raises has its error in place of parameters, and the message in place of the reason.

Bits depend on the processor and the versions of NumPy and SciPy, so both files have to come from
one machine. The summary in `benchmarks/results/recorded.json` holds a digest for each case.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import hashlib
import json
import logging
import subprocess
import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from fnmatch import fnmatch
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

from benchmarks.recorded_methods import TRIED
from benchmarks.recorded_parts import made
from benchmarks.recorded_situations import LONG, SITUATIONS, searched
from benchmarks.reporting import provenance, save

SEED = 17
Record = dict[str, Any]


def cases() -> dict[str, tuple[str, str]]:
    """Situation and method of each case, by its name and in the order of names."""
    found = {
        f"{situation}: {method}": (situation, method)
        for situations, methods in TRIED
        for situation in situations.split()
        for method in methods
    }
    return dict(sorted(found.items()))


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, help="write a JSON line for each suggestion")
    parser.add_argument("--against", type=Path, help="compare with such a file")
    parser.add_argument("--only", default="*", help="cases whose name matches the pattern")
    parser.add_argument("--jobs", type=int, default=1, help="processes; results are the same")
    parser.add_argument("--save", action="store_true", help="write the summary of all cases")


def run(options: Namespace) -> None:
    chosen = [name for name in cases() if fnmatch(name, options.only)]
    before = None if options.against is None else read(options.against)
    digests: dict[str, tuple[int, str]] = {}
    suggestions, taken, differences = 0, 0.0, Differences()
    with options.output.open("w") if options.output else nullcontext() as output:
        write(output, {"header": header()})
        for name, records, seconds in evaluated(chosen, options.jobs):
            for record in records:
                write(output, record)
            suggestions += sum(map(is_suggestion, records))
            taken += seconds
            digests[name] = len(records), digest(records)
            if before is None:
                print(f"{len(records):3} {seconds:6.2f} s  {name}", flush=True)
            else:
                print(differences.add(name, records, before.pop(name, [])), flush=True)
    others = sum(count for count, _ in digests.values()) - suggestions
    print(
        f"{suggestions} suggestions, and {others} beliefs and errors, of {len(digests)} cases in "
        f"{taken:.0f} s of processor time"
    )
    if options.save:
        counts = {"suggestions": suggestions, "others": others}
        lines = {name: f"{count} {sha256}" for name, (count, sha256) in digests.items()}
        save("recorded", header() | counts | {"cases": lines})
    if before is not None:
        for name in [name for name in before if fnmatch(name, options.only)]:
            print(differences.add(name, [], before[name]))
        print(differences)
        if differences.params:
            raise SystemExit(1)


def evaluated(names: Sequence[str], jobs: int) -> Iterator[tuple[str, list[Record], float]]:
    """The records of each case, and the processor's seconds, in the order of `names`."""
    if jobs == 1:
        yield from map(recorded, names)
        return
    with get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(recorded, names)


def recorded(name: str) -> tuple[str, list[Record], float]:
    """All records of a case."""
    start = time.process_time()
    situation, method = cases()[name]
    records: list[Record] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable()  # what falls back says so in its record
        try:
            rows = searched(SITUATIONS[situation], made(method), SEED, situation in LONG)
            for number, params, why in rows:
                records.append({"case": name, "number": number, "params": params, "why": why})
        except Exception as error:  # which is what the case records
            failed = {"params": {"error": type(error).__name__}, "why": {"error": str(error)}}
            records.append({"case": name, "number": None, **failed})
    return name, [exact(record) for record in records], time.process_time() - start


def is_suggestion(record: Record) -> bool:
    return not record["why"].keys() & {"belief", "recommended", "error"}


def exact(value: Any) -> Any:
    """`value` with its floats as hexadecimal text."""
    if isinstance(value, float):
        return float(value).hex()
    if isinstance(value, dict):
        return {key: exact(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [exact(inner) for inner in value]
    return value


def text(record: Record) -> str:
    return json.dumps(record, sort_keys=True, ensure_ascii=False)


def write(output: TextIO | None, record: Record) -> None:
    if output is not None:
        print(text(record), file=output, flush=True)


def read(path: Path) -> dict[str, list[Record]]:
    """The records of a file by their cases."""
    found: dict[str, list[Record]] = {}
    for line in path.read_text().splitlines()[1:]:
        record = json.loads(line)
        found.setdefault(record["case"], []).append(record)
    return found


def digest(records: Iterable[Record]) -> str:
    """Of parameters alone: reasons may be worded otherwise."""
    rows = [[record["number"], record["params"]] for record in records]
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def header() -> Record:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=40"],
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return provenance() | {"commit": commit.stdout.strip()}


class Differences:
    """Counts of what is identical and what is not."""

    def __init__(self) -> None:
        self.rows = self.params = self.why = 0
        self.keys: set[str] = set()

    def add(self, name: str, now: list[Record], before: list[Record]) -> str:
        """Compare a case; a line about it."""
        rows = max(len(now), len(before))
        pairs = list(zip(now, before, strict=False))
        where = [
            i for i, (new, old) in enumerate(pairs)
            if (new["number"], new["params"]) != (old["number"], old["params"])
        ] + list(range(len(pairs), rows))  # fmt: skip
        keys = set()
        reasons = rows - len(pairs)
        for new, old in pairs:
            either = new["why"].keys() | old["why"].keys()
            differing = {key for key in either if new["why"].get(key) != old["why"].get(key)}
            reasons += bool(differing)
            keys |= differing
        self.rows += rows
        self.params += len(where)
        self.why += reasons
        self.keys |= keys
        first = f", first at {where[0]}" if where else ""
        in_keys = f" ({', '.join(sorted(keys))})" if keys else ""
        mark = "DIFFERS" if where else "same   " if not reasons else "reasons"
        return (
            f"{mark} {rows - len(where)}/{rows} params{first}, {rows - reasons}/{rows} why{in_keys}"
            f"  {name}"
        )

    def __str__(self) -> str:
        keys = f" ({', '.join(sorted(self.keys))})" if self.keys else ""
        return (
            f"params: {self.rows - self.params} of {self.rows} identical, {self.params} differ; "
            f"why: {self.rows - self.why} identical, {self.why} differ{keys}"
        )
