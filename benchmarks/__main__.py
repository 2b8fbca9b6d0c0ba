"""`python -m benchmarks [NAME ...] [options]`: measure, print a table, keep it as JSON.

Without a name every benchmark runs; options belong to a single one, and `NAME --help` lists them.
Results go to `benchmarks/results/NAME.json`. Ratios are taken within one run and on one thread, so
that they mean much the same on any machine.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from importlib import import_module
from itertools import takewhile

from benchmarks import environment

# Name, and whether it runs in the peers' environment.
BENCHMARKS = {
    "likelihood": False,
    "footprint": False,
    "memory": False,
    "long_study": False,
    "utilisation": False,
    "worker_processes": False,
    "simulation": False,
    "pending": False,
    "sharing": False,
    "chaos": False,
    "attack": False,
    "files_in_use": False,
    "surrogates": False,
    "tree": False,
    "noisy_inputs": False,
    "constraints": False,
    "recorded": False,
    "growing": False,
    "ensemble": False,
    "report": False,
    "suggestion": True,
    "regret": True,
    "conditional": True,
}


def main(arguments: list[str]) -> int:
    names = list(takewhile(BENCHMARKS.__contains__, arguments))
    options = arguments[len(names) :]
    if options and len(names) != 1:
        print(__doc__, f"NAME is one of: {', '.join(BENCHMARKS)}", sep="\n")
        return 0 if options[0] in ("-h", "--help") else 2
    return max(run(name, options) for name in names or BENCHMARKS)


def run(name: str, options: list[str]) -> int:
    """Run one benchmark where it belongs; the exit code."""
    if BENCHMARKS[name] and not environment.is_inside():
        return environment.run_inside([name, *options])
    benchmark = import_module(f"benchmarks.{name}")
    parser = ArgumentParser(prog=f"python -m benchmarks {name}", description=benchmark.__doc__)
    benchmark.add_arguments(parser)
    print(f"## {name}", flush=True)
    benchmark.run(parser.parse_args(options))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
