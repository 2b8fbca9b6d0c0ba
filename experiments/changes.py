"""Changes of the library and of experiments that stored results may be older than.

A row names the commit it was made by. Which changes that commit contains is stored beside the
results, so that pages can be written without the history; what is not stored there is asked of git.
"""

from __future__ import annotations

__all__ = ["CHANGES", "Change", "made_before", "record"]

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments import harness
from experiments.harness import Row
from experiments.provenance import ROOT, UNKNOWN, is_peer


@dataclass(frozen=True)
class Change:
    """A commit after which some experiments would give other results."""

    commit: str
    date: str
    says: str
    concerns: Mapping[str, tuple[str, ...]]  # methods of experiments; none means all of them

    def is_about(self, name: str, row: Row) -> bool:
        methods = self.concerns.get(name)
        if methods is None or is_peer(row["cell"]) or row["cell"].get("method") == "random":
            return False
        return not methods or row["cell"].get("method") in methods


# Experiments whose methods have the default's inference, acquisition and search.
DEFAULTS: Mapping[str, tuple[str, ...]] = {
    "inference_methods": (),
    "noisy_inputs_bo": (),
    "optuna_nested": (),
    "pending_policies": (),
    "real_async": (),
    "rugged_presets": (),
    "tree_figure2": (),
    "tree_figure4": (),
}
TREES: Mapping[str, tuple[str, ...]] = {
    "optuna_nested": (),
    "tree_figure2": ("auto", "auto all leaves", "tree", "tree two steps", "two steps shared seen"),
    "tree_figure4": ("tree", "tree two steps"),
    "tree_searches": (),
    "tree_supplement": (),
}
PENALISERS = ("PLAyBOOK-LL", "PLAyBOOK-HL")
COCABO = ("CoCaBO-auto", "CoCaBO-0.5", "cocabo")
TWO_STEPS, FOURIER = "tree two steps", "Fourier two steps"
OF_TREES = TWO_STEPS, "independent", "arc", "marginal", "blind GP"
CHANGES = (
    Change(
        "0e0ab6b",
        "2026-11-16",
        "chains that a surprising value left behind begin anew in the default method",
        DEFAULTS,
    ),
    Change("088466c", "2026-11-17", "chains of leaves that are out of patience start cold", TREES),
    Change(
        "07b32ab",
        "2026-11-17",
        "CoCaBO's rewards are scaled by the best values of the levels",
        {"cocabo_short": COCABO, "hierarchical_hpnnet": ("cocabo",)},
    ),
    Change(
        "3082adc",
        "2026-11-17",
        "latent inputs are sampled one by one",
        {"modulated_table1": ("LGP",), "rugged_presets": ("latent",)},
    ),
    Change(
        "4f80c6f",
        "2026-11-17",
        "a bound near the best observation is searched like the middle (log acquisitions)",
        DEFAULTS,
    ),
    Change(
        "8adfca8",
        "2026-11-17",
        "penalties of LL and HL end where their constant was searched",
        {"playbook_tables": PENALISERS, "async_vs_sync": PENALISERS[1:], "playbook_clipping": ()},
    ),
    Change(
        "8adfca8",
        "2026-11-17",
        "one-hot codes on the thesis's scale",
        {"cocabo_short": ("One-hot",), "cocabo_table53": ("One-hot",)},
    ),
    Change(
        "f794c12",
        "2026-11-17",
        "every leaf of a regression tree is sampled for every suggestion",
        {
            "htbo_table1": ("HTBO", "HTBO-WARP"),
            "rugged_presets": ("treed", "treed-warped"),
        },
    ),
    Change(
        "befb77f",
        "2026-11-17",
        "two chains of five sweeps and five draws instead of ten of one, in the experiment itself",
        {"spartan_figures": ()},
    ),
    Change(
        "4476217",
        "2026-11-18",
        "trees: what no observation depends on is drawn from its prior; beyond 50 trials chains "
        "start at a mode and the model that is behind rests",
        TREES,
    ),
    Change(
        "3b232ad",
        "2026-11-18",
        '`"auto"` weighs several surrogates by their predictions',
        {"real_async": ()},
    ),
    Change(
        "1376a9f",
        "2026-11-18",
        "recommendations weigh exact and noisy models",
        {"noisy_inputs_bo": ()},
    ),
    Change(
        "6559bee",
        "2026-11-18",
        '`"auto"` balances the improvements that its members expect; effects are shorter',
        {"real_async": (), "sklearn_search": ("OutcropSearchCV", "OutcropSearchCV racing")},
    ),
    Change(
        "5b4bacc",
        "2026-11-18",
        "methods of documents get standardised values; HTBO makes five sweeps a trial, a blind GP "
        "sees inactive parameters too, SVM-Boston has inputs from 0 to 1",
        {
            "cocabo_short": (*COCABO[:-1], "CoCaBO-raw", "One-hot"),
            "htbo_table1": (),
            "modulated_table1": (),
            "playbook_tables": (),
            "playbook_clipping": (),
            "async_vs_sync": (),
            "spartan_figures": (),
            "tree_figure2": OF_TREES,
            "tree_figure4": (TWO_STEPS, "independent", "arc", "blind GP"),
            "tree_supplement": (TWO_STEPS, FOURIER),
            "tree_searches": (TWO_STEPS,),
        },
    ),
)


def made_before(name: str, rows: Iterable[Row]) -> list[Change]:
    """The changes that concern rows of an experiment and that some of these do not contain.

    A row whose commit is not known counts as older.
    """
    found = []
    for change in CHANGES:
        commits = {row.get("commit", UNKNOWN) for row in rows if change.is_about(name, row)}
        if any(not contains(commit, change) for commit in commits):
            found.append(change)
    return found


def contains(commit: str, change: Change) -> bool:
    """Whether a commit has a change; one with a + is taken for the commit before the plus."""
    bare = commit.rstrip("+")
    known = _stored().get(bare, {})
    if change.commit in known:
        return known[change.commit]
    return bool(_is_ancestor(change.commit, bare))


def record(rows: Mapping[str, Sequence[Row]]) -> None:
    """Store what `made_before` asks of git about these rows, so that it need not ask again."""
    known = _stored()
    for name, those in rows.items():
        for change in CHANGES:
            for row in filter(lambda row: change.is_about(name, row), those):
                bare = row.get("commit", UNKNOWN).rstrip("+")
                if change.commit not in known.get(bare, {}):
                    answer = _is_ancestor(change.commit, bare)
                    if answer is not None:
                        known.setdefault(bare, {})[change.commit] = answer
    if known != _stored():
        lines = [f"  {json.dumps(c)}: {json.dumps(own)}" for c, own in sorted(known.items())]
        _path().write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _path() -> Path:
    return harness.RESULTS / "contained_changes.json"


def _stored() -> dict[str, dict[str, bool]]:
    path = _path()
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _is_ancestor(change: str, commit: str) -> bool | None:
    """None if git is not there or does not know both."""
    command = ["git", "merge-base", "--is-ancestor", change, commit]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    except OSError:
        return None
    return {0: True, 1: False}.get(done.returncode)
