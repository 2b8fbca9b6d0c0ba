"""`python -m experiments [NAME …]`: run what is missing, rewrite pages and pictures.

Results are kept in `experiments/results/` as they come, one line for each run, so that an
interrupted call can simply be repeated. Without a name every experiment that has a page runs. What
is missing and how long it will take is printed first, and how long each experiment took at its end.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from experiments import (
    async_vs_sync,
    auto_named,
    auto_variants,
    cocabo_figures,
    cocabo_short,
    cocabo_table53,
    cover_boxes,
    hierarchical_hpnnet,
    htbo_borders,
    htbo_table1,
    importances,
    inference_methods,
    many_calibration,
    many_parameters,
    many_parameters_choice,
    many_trials,
    modulated_table1,
    noisy_inputs_1d,
    noisy_inputs_bo,
    noisy_inputs_exact,
    noisy_inputs_tables,
    noisy_recommendations,
    optuna_nested,
    pending_policies,
    plain_variants,
    playbook_candidates,
    playbook_clipping,
    playbook_tables,
    real_async,
    rugged_presets,
    sklearn_search,
    spartan_figures,
    tree_figure2,
    tree_figure4,
    tree_searches,
    tree_supplement,
    treed_landscapes,
)
from experiments.document import DOCUMENT, write_document
from experiments.harness import Experiment, Filter, Row, complete, forget
from experiments.plan import plan
from experiments.progress import in_words
from experiments.provenance import (
    DirtyTree,
    MixedVersions,
    is_current,
    require_clean,
    tree_state,
)
from experiments.suite import experiment as suite

MODULES = (
    spartan_figures,
    rugged_presets,
    htbo_table1,
    htbo_borders,
    treed_landscapes,
    modulated_table1,
    cocabo_table53,
    cocabo_figures,
    cocabo_short,
    hierarchical_hpnnet,
    inference_methods,
    tree_figure2,
    tree_supplement,
    tree_figure4,
    tree_searches,
    optuna_nested,
    playbook_tables,
    playbook_candidates,
    playbook_clipping,
    pending_policies,
    async_vs_sync,
    real_async,
    noisy_inputs_1d,
    noisy_inputs_tables,
    noisy_inputs_exact,
    noisy_inputs_bo,
    many_calibration,
    many_parameters,
    many_parameters_choice,
    many_trials,
    sklearn_search,
    auto_named,
    auto_variants,
    plain_variants,
    cover_boxes,
    importances,
    noisy_recommendations,
    suite,
)
EXPERIMENTS = {module.EXPERIMENT.name: module.EXPERIMENT for module in MODULES}
INTERRUPTED = 130  # the usual exit code after Ctrl-C


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(EXPERIMENTS))
    parser.add_argument("--runs", type=int, default=10, help="runs 0 to RUNS − 1 of every cell")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument(
        "--cells",
        default="",
        metavar="KEY=VALUE,…",
        help="only these: method=BO,method=ABO,problem=lda is either method on one problem",
    )
    parser.add_argument(
        "--executor",
        default="",
        metavar="WHERE",
        help="not on processes of this machine but on dask:ADDRESS, ray:ADDRESS, or what the "
        "function MODULE:NAME returns; workers need the same code, and one thread each",
    )
    parser.add_argument(
        "--plan", action="store_true", help="run nothing, only tell what is missing and how long"
    )
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--again", action="store_true", help="forget earlier results of the cells")
    again.add_argument(
        "--renew",
        action="store_true",
        help="forget those of other versions; interrupted, the same command goes on",
    )
    parser.add_argument(
        "--label", default="", help="keep the results apart, as those of a version with this name"
    )
    parser.add_argument(
        "--scratch",
        type=Path,
        metavar="FILE",
        help="keep the results in FILE, also those of sources that are not committed",
    )
    parser.add_argument(
        "--tables", action="store_true", help="run nothing, only rewrite pages and pictures"
    )
    given = parser.parse_args(arguments)
    unknown = [name for name in given.names if name not in EXPERIMENTS]
    if unknown:
        parser.error(f"{', '.join(unknown)} not known; known are {', '.join(EXPERIMENTS)}")
    if given.label and not re.fullmatch(r"[\w.-]+", given.label):
        parser.error(f"--label {given.label}: expected letters, digits, '.', '_' or '-'")
    names = given.names or [name for name, each in EXPERIMENTS.items() if each.documented]
    where = {"label": given.label, "scratch": given.scratch}
    chosen = [replace(EXPERIMENTS[name], **where) for name in names]
    try:
        wanted = parsed(given.cells, chosen)
    except ValueError as error:
        parser.error(str(error))
    kept: Callable[[Row], bool] | None = None
    if given.again:
        kept = _none
    elif given.renew:
        kept = partial(is_current, state=tree_state())
    to_run = [] if given.tables else chosen
    jobs = None if given.executor else given.jobs
    if planned := plan(to_run, given.runs, wanted, jobs, kept):
        print(planned, flush=True)
    if given.plan:
        return 0
    failures, code, refused = 0, 0, []
    try:
        for experiment in to_run:
            if kept is not None:
                if not given.scratch:
                    require_clean(tree_state())  # before anything is forgotten
                forget(experiment, wanted, kept)
            try:
                failures += _timed(experiment, given, wanted)
            except MixedVersions as error:  # of this experiment; others may be fine
                refused.append(str(error))
    except DirtyTree as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        how = " without --again" if given.again else ""
        print(f"interrupted: runs are kept, the same command{how} goes on", file=sys.stderr)
        code = INTERRUPTED
    if any(experiment.documented for experiment in chosen) and not given.scratch:
        try:
            write_document(EXPERIMENTS.values(), DOCUMENT)
        except MixedVersions as error:
            parser.error(f"pages are not rewritten: {error}")
    if failures:
        print(f"{failures} runs failed; the same command tries them again", file=sys.stderr)
    if refused:
        parser.error("; ".join(refused))
    return code or min(failures, 1)


def _none(row: Row) -> bool:
    return False


def _timed(experiment: Experiment, given: argparse.Namespace, wanted: Filter) -> int:
    """Run what is missing and print how long it took; how many runs failed."""
    count, begun = len(experiment.missing(given.runs, wanted)), time.monotonic()
    failures = complete(experiment, given.runs, given.jobs, wanted, given.executor)
    if count:
        took = in_words(time.monotonic() - begun)
        print(f"{experiment.name}: {count} runs took {took}", flush=True)
    return failures


def parsed(text: str, experiments: Sequence[Experiment]) -> dict[str, set[str]]:
    """`method=BO,method=ABO,problem=lda` as the values wanted of each key."""
    wanted: dict[str, set[str]] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"--cells {part}: expected KEY=VALUE")
        cells = [cell for experiment in experiments for cell in experiment.cells]
        known = list(dict.fromkeys(cell[key] for cell in cells if key in cell))
        if value not in known:
            raise ValueError(f"--cells {part}: no such cell; {key} is one of {', '.join(known)}")
        wanted.setdefault(key, set()).add(value)
    return wanted


if __name__ == "__main__":
    sys.exit(main())
