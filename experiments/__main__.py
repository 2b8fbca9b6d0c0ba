"""`python -m experiments [NAME …] --runs N --jobs 2`: run what is missing, rewrite the tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from experiments import inference_methods
from experiments.harness import complete

EXPERIMENTS = {experiment.name: experiment for experiment in (inference_methods.EXPERIMENT,)}
TABLES = Path(__file__).parent.parent / "docs" / "experiments.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS))
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"{', '.join(unknown)} not known; known are {', '.join(EXPERIMENTS)}")
    for name in given.names or EXPERIMENTS:
        complete(EXPERIMENTS[name], given.runs, given.jobs)
    parts = ["# Experiments", "Written by `python -m experiments` from `experiments/results/`."]
    for experiment in EXPERIMENTS.values():
        if rows := experiment.rows():
            parts += [f"## {experiment.title}", experiment.report(rows)]
    TABLES.write_text("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
