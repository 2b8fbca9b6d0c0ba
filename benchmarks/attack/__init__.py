"""Attacks on the library: killed processes, random calls, damaged files, hostile objectives.

Each part is bounded in count or time and can be run alone: `python -m benchmarks attack kills`. All
parts but that one store their progress and go on where they were interrupted, as long as neither
the library nor the attack has changed; `--minutes` limits the time of one call. Nothing but local
files and processes of its own is touched. Linux only, since it looks for processes in /proc. The
figures go to `benchmarks/results/attack.json` and to the table of `docs/reliability.md`.
"""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import json
import subprocess
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from benchmarks.attack.figures import figures, write_figures
from benchmarks.environment import ROOT
from benchmarks.reporting import RESULTS, provenance, save

PARTS = ("kills", "hostile", "mutations", "fuzz")
CASES = {"mutations": 10_000, "fuzz": 3_000}  # of hostile objectives, as many as there are
CHUNK = {"hostile": 1, "mutations": 100, "fuzz": 20}  # cases between two writes of the progress
KEPT = 50  # problems that are described
NAMED = ("case", "kind", "method", "objective", "way")  # parts of a report beside its problems


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=120.0, help="of the kills")
    parser.add_argument("--cases", type=int, help="of fuzz or mutations, if not all")
    parser.add_argument("--minutes", type=float, default=1e9, help="after which a part pauses")
    parser.add_argument("--again", action="store_true", help="forget the progress")


def run(options: Namespace) -> None:
    for part in options.parts or PARTS:
        if part not in PARTS:
            raise SystemExit(f"{part} is not a part; parts are {', '.join(PARTS)}")
        module = import_module(f"benchmarks.attack.{part}")  # not for programs that are hostile
        if part == "kills":
            _store(part, module.attack(seconds=options.seconds, seed=options.seed))
        else:
            total = len(module.cases()) if part == "hostile" else options.cases or CASES[part]
            _go_on(part, module.attack, total, options)
    print(figures(_stored()))
    write_figures(_stored())


def _go_on(part: str, attack: Any, total: int, options: Namespace) -> None:
    """Run the cases of a part that are left."""
    start = time.monotonic()
    result = _stored().get(part, {})
    wanted = {"seed": options.seed, **_sources()}
    if options.again or any(result.get(key) != value for key, value in wanted.items()):
        result = {**wanted, "cases": 0}
    tally = Tally(result)
    for report in attack(result["cases"], total - result["cases"], options.seed):
        tally.add(report)
        over = time.monotonic() - start > 60 * options.minutes
        if over or result["cases"] % CHUNK[part] == 0 or result["cases"] == total:
            _store(part, tally.finished(total))
        if over or result["cases"] % 100 == 0 or result["cases"] == total:
            print(f"{part}: {result['cases']} of {total} cases, {tally.problems()}", flush=True)
        if over:
            break


class Tally:
    """Sums over the reports of cases, kept in `result`."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result

    def add(self, report: dict[str, Any]) -> None:
        result = self.result
        result["cases"] += 1
        for name in ("calls", "suggestions"):
            if name in report:
                result[name] = result.get(name, 0) + report[name]
        if "accepted" in report:
            result["accepted"] = result.get("accepted", 0) + report["accepted"]
        refused = report.get("refused", {})
        self._count("refused", [refused] if isinstance(refused, str) else _elements(refused))
        self._count("problem_kinds", [problem["kind"] for problem in report["problems"]])
        described = result.setdefault("problems", [])
        described += [
            {key: report[key] for key in NAMED if key in report} | problem
            for problem in report["problems"]
        ]
        del described[KEPT:]
        if "seconds" in report:
            result["longest_seconds"] = max(result.get("longest_seconds", 0.0), report["seconds"])
            result["objectives"] = sorted({*result.get("objectives", []), report["objective"]})
        if "longest" in report:
            longest = result.get("longest_call_seconds", 0.0)
            result["longest_call_seconds"] = max(longest, report["longest"])
            slow = [each | {"case": report["case"]} for each in report["slow"]]
            result["slow_calls"] = result.get("slow_calls", []) + slow

    def _count(self, name: str, given: Iterable[str]) -> None:
        self.result[name] = dict(Counter(self.result.get(name, {})) + Counter(given))

    def problems(self) -> str:
        kinds = self.result["problem_kinds"]
        return ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "no problem"

    def finished(self, total: int) -> dict[str, Any]:
        complete = self.result["cases"] >= total
        return self.result | {
            "planned": total,
            "met": complete and not self.result["problem_kinds"],
        }


def _elements(counts: dict[str, int]) -> list[str]:
    return list(Counter(counts).elements())


def _sources() -> dict[str, str]:
    """The Git trees of the library and of the attack, with a + if they have changed since."""
    return {"source": _tree("src"), "attack": _tree("benchmarks/attack")}


def _tree(folder: str) -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", folder)
    return git("rev-parse", "--short=12", f"HEAD:{folder}") + ("+" if changed else "")


def _stored() -> dict[str, Any]:
    file = RESULTS / "attack.json"
    parts: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    return parts


def _store(part: str, result: dict[str, Any]) -> None:
    parts = _stored()
    parts[part] = {**provenance("sqlalchemy"), **_sources(), **result}
    save("attack", {name: parts[name] for name in PARTS if name in parts})
