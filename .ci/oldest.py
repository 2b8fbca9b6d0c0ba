"""The oldest versions that `pyproject.toml` allows, as requirements for pip."""

import tomllib
from pathlib import Path

EXTRAS = ("plot", "optuna", "report", "dashboard", "postgres")  # those whose tests need no cluster
TOOLS = (
    "cloudpickle",
    "hypothesis",
    "latex2mathml",
    "mpmath",
    "pebble",
    "pytest",
    "pyyaml",
    "scikit-learn",
    "selenium",
)

project = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]
optional = project["optional-dependencies"]
needed = [*project["dependencies"], *(each for extra in EXTRAS for each in optional[extra])]
tools = [each for each in optional["dev"] if each.startswith(TOOLS)]
needed = [each for each in needed if not each.startswith("outcrop[")]
print(*(each.replace(">=", "==") for each in needed), *tools)
