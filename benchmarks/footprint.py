"""What Outcrop costs before it does anything: the time of its import and the size of an install."""

from __future__ import annotations

__all__ = ["add_arguments", "run"]

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from importlib.metadata import distributions
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.environment import ROOT
from benchmarks.reporting import provenance, save, table, verdict

IMPORT_BAR = 2.0  # × import scipy.linalg
INSTALL_BAR = 60.0  # MB on top of numpy and scipy
FIRST_USE = "import outcrop; getattr(outcrop, 'Optimizer', None)"  # what a lazy import puts off
GIVEN = ("numpy", "scipy")
MB = 1e6


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--repetitions", type=int, default=21, help="fresh interpreters for each")


def run(options: Namespace) -> None:
    ours, used, unit = import_seconds(
        ["import outcrop", FIRST_USE, "import scipy.linalg"], options.repetitions
    )
    ratio = ours / unit
    sizes = install_sizes()
    added = sum(size for name, size in sizes.items() if name not in GIVEN)
    print(
        table(
            ["footprint", "measured", "bar", ""],
            [
                ["import scipy.linalg, ms", f"{unit * 1e3:.0f}", "", ""],
                ["import outcrop, ms", f"{ours * 1e3:.0f}", "", ""],
                ["import outcrop.Optimizer, ms", f"{used * 1e3:.0f}", "", ""],
                [
                    "import, ratio",
                    f"{ratio:.2f}",
                    f"≤ {IMPORT_BAR:.0f}",
                    verdict(ratio <= IMPORT_BAR),
                ],
                *(
                    [f"install {name}, MB", f"{sizes[name] / MB:.1f}", "", ""]
                    for name in sorted(sizes)
                ),
                [
                    "install beyond numpy and scipy, MB",
                    f"{added / MB:.1f}",
                    f"≤ {INSTALL_BAR:.0f}",
                    verdict(added / MB <= INSTALL_BAR),
                ],
            ],
        )
    )
    save(
        "footprint",
        provenance()
        | {
            "repetitions": options.repetitions,
            "import": {
                "outcrop_seconds": ours,
                "with_optimizer_seconds": used,
                "scipy_linalg_seconds": unit,
                "ratio": ratio,
                "bar": IMPORT_BAR,
                "met": ratio <= IMPORT_BAR,
            },
            "install": {
                "bytes": sizes,
                "added_megabytes": added / MB,
                "bar": INSTALL_BAR,
                "met": added / MB <= INSTALL_BAR,
            },
        },
    )


def import_seconds(statements: list[str], repetitions: int) -> list[float]:
    """Median seconds of each statement in a fresh interpreter, the statements taking turns."""
    seconds: list[list[float]] = [[] for _ in statements]
    for repetition in range(repetitions + 1):
        for statement, taken in zip(statements, seconds, strict=True):
            code = f"from time import perf_counter as t; s = t(); {statement}; print(t() - s)"
            output = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True)
            if repetition:  # the first round fills the caches
                taken.append(float(output))
    return [median(taken) for taken in seconds]


def install_sizes() -> dict[str, int]:
    """Bytes of every distribution that a plain `pip install .` brings, bytecode included."""
    with TemporaryDirectory() as target:
        pip = [sys.executable, "-m", "pip", "install", "-qq", "--target", target, str(ROOT)]
        subprocess.run(pip, check=True)
        return {
            distribution.metadata["Name"].lower(): sum(
                Path(str(file.locate())).stat().st_size
                for file in distribution.files or ()
                if Path(str(file.locate())).exists()
            )
            for distribution in distributions(path=[target])
        }
