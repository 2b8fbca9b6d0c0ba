"""`python -m experiments.suite compare METHOD REFERENCE`: stored results of two methods.

`rank METHOD…` has the mean ranks and gaps of any number of methods, by group; `page` writes the
page of the confirming half;
`best` takes over the lowest values of the tuning tasks, `spreads` measures those of noisy tasks.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.provenance import MixedVersions
from experiments.suite import known_best, noisy
from experiments.suite.comparing import compare, side
from experiments.suite.experiment import EXPERIMENT
from experiments.suite.groups import GROUPS
from experiments.suite.instances import HALVES
from experiments.suite.page import PAGE, page
from experiments.suite.ranking import rank
from experiments.suite.tuning import TUNING, tuning_problem


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.suite",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    comparing = commands.add_parser("compare", help="is METHOD better than REFERENCE?")
    comparing.add_argument("method", metavar="METHOD", help="gp, TPE, …, or gp@LABEL")
    comparing.add_argument("reference", metavar="REFERENCE")
    comparing.add_argument(
        "--scratch", type=Path, metavar="FILE", help="the results of METHOD are in FILE"
    )
    ranking = commands.add_parser("rank", help="mean ranks and gaps of methods")
    ranking.add_argument("methods", nargs="+", metavar="METHOD", help="gp, TPE, …, or gp@LABEL")
    for command in (comparing, ranking):
        command.add_argument("--half", choices=HALVES, default="choose")
        command.add_argument("--group", choices=GROUPS, action="append", default=[])
    commands.add_parser("page", help="write the page of the confirming half")
    commands.add_parser("best", help="take over the lowest values of the tuning tasks")
    commands.add_parser("spreads", help="measure the spreads of the noisy tuning tasks")
    given = parser.parse_args(arguments)
    if given.command == "best":
        print(f"{known_best.update(tuning_rows())} values are lower than those known")
    elif given.command == "spreads":
        write_spreads()
    elif given.command == "page":
        PAGE.write_text(page(known_best.load()), "utf-8")
    else:
        try:
            print(report(given))
        except (MixedVersions, ValueError) as error:
            parser.error(str(error))
    return 0


def report(given: argparse.Namespace) -> str:
    if given.command == "rank":
        sides = [side(name, given.half, given.group) for name in given.methods]
        return rank(sides, known_best.load())
    method = side(given.method, given.half, given.group, given.scratch)
    reference = side(given.reference, given.half, given.group)
    return compare(method, reference, known_best.load())


def tuning_rows() -> list[dict[str, object]]:
    """All stored rows of tuning tasks, of every label."""
    files = [*EXPERIMENT.path.glob("tuning.*.jsonl"), *EXPERIMENT.path.glob("noisy.*.jsonl")]
    labels = {file.stem.partition("@")[2] for file in files}
    wanted = {"group": ["tuning", "noisy"]}
    return [
        row for label in sorted(labels) for row in replace(EXPERIMENT, label=label).rows(wanted)
    ]


def write_spreads() -> None:
    """`data/spreads.json`, from the first instance of the choosing half."""
    tasks = [noisy.base_of(name) for name in noisy.NOISY if noisy.base_of(name) in TUNING]
    instance = HALVES["choose"][0]
    spreads = {
        task: float(f"{noisy.spread(tuning_problem(task, instance), noisy.POINTS):.6g}")
        for task in tasks
    }
    low, high = noisy.QUANTILES
    about = (
        f"Distance between the {low:.0%} and {high:.0%} quantiles of values at "
        f"{noisy.POINTS} random configurations, "
        f"instance {instance}; written by `python -m experiments.suite spreads`."
    )
    text = json.dumps({"about": about, "spreads": spreads}, indent=1)
    noisy.SPREADS.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
