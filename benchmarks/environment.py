"""The environment of the peers: Optuna and BoTorch beside this source tree, in `.bench-venv`.

It is made when a benchmark first needs it, so that nobody who only works on the library installs
PyTorch. A benchmark that needs it calls `run_inside` and does its work when it finds itself there.
"""

from __future__ import annotations

__all__ = ["PEERS", "ROOT", "is_inside", "run_inside"]

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".bench-venv"
PYTHON = HOME / "bin" / "python"
COMPLETE = HOME / ".complete"  # touched last, so that a broken start is repaired

# PyTorch on its own first: chosen by another package's resolver it brings gigabytes.
# Optuna climbs slower without greenlet, which it does not require.
STEPS = (["torch==2.13.0"], ["botorch", "optuna>=5", "greenlet"], ["-e", str(ROOT)])
PEERS = ("optuna", "botorch", "gpytorch", "torch")


def is_inside() -> bool:
    return Path(sys.prefix).resolve() == HOME.resolve()


def run_inside(arguments: list[str]) -> int:
    """`python -m benchmarks` with these arguments in the peers' environment; its exit code."""
    prepare()
    return subprocess.call([str(PYTHON), "-m", "benchmarks", *arguments], cwd=ROOT)


def prepare() -> None:
    """Make the environment, or bring it up to date with `pyproject.toml`."""
    if COMPLETE.exists() and COMPLETE.stat().st_mtime > (ROOT / "pyproject.toml").stat().st_mtime:
        return
    if not PYTHON.exists():
        print("making .bench-venv for the peers (PyTorch, BoTorch, Optuna)", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True)
    for packages in STEPS:
        subprocess.run([str(PYTHON), "-m", "pip", "install", "-qq", *packages], check=True)
    COMPLETE.touch()
