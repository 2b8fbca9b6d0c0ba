"""Which version of the library, or of a peer, made a result, and whether results may be compared.

The source of a result is the Git tree of `src`, the same for all commits that do not change the
library. Results of peers have the version of the peer's package instead. Results are stored from
committed sources only; those of two sources are compared only if both are asked for by name.

Sources of which `python -m benchmarks recorded` found the same suggestions to the last bit count as
one version, `results/same_sources.json` says which.
"""

from __future__ import annotations

__all__ = [
    "PEER_PACKAGES",
    "DirtyTree",
    "MixedVersions",
    "OtherCode",
    "code_digest",
    "comparable",
    "is_current",
    "is_peer",
    "made_by",
    "require_clean",
    "require_one_source",
    "same_version",
    "sources_note",
    "tree_state",
    "version_of",
]

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TRACKED = (  # what a result depends on
    "src",
    "experiments/*.py",
    "experiments/data",
    "experiments/suite/data/spreads.json",
)
OLD_SOURCES = Path(__file__).parent / "results" / "sources.json"  # by commit
SAME_SOURCES = OLD_SOURCES.with_name("same_sources.json")  # an earlier source by a later one
UNKNOWN = "unknown"

# Methods of other packages, by their name in cells.
PEER_PACKAGES = {
    "TPE": "optuna",
    "TPE multivariate": "optuna",
    "GPSampler": "optuna",
    "SMAC": "smac",
    "SMAC4AC": "smac",
    "BoTorch": "botorch",
    "HEBO": "HEBO",
    "HyperOpt": "hyperopt",
    "RandomizedSearchCV": "scikit-learn",
    "HalvingRandomSearchCV": "scikit-learn",
    "OptunaSearchCV": "optuna-integration",
    "BayesSearchCV": "scikit-optimize",
}


class DirtyTree(RuntimeError):
    """The sources have changes that are in no commit."""


class MixedVersions(ValueError):
    """Results of several versions would be compared as if they were of one."""


class OtherCode(RuntimeError):
    """A worker elsewhere does not have the code of the process that asks for runs."""


def is_peer(cell: Mapping[str, str]) -> bool:
    return cell.get("method") in PEER_PACKAGES


def made_by(cell: Mapping[str, str], state: Mapping[str, str]) -> dict[str, str]:
    """What a row of `cell` states about its origin; `state` is that of the tree."""
    origin = {"outcrop": version("outcrop"), **state}
    if is_peer(cell):
        origin.pop("source", None)
        package = PEER_PACKAGES[cell["method"]]
        try:
            origin["peer"] = f"{package} {version(package)}"
        except PackageNotFoundError:
            origin["peer"] = f"{package} {UNKNOWN}"
    return origin


def tree_state() -> dict[str, str]:
    """The commit and the tree of `src`, each with a + if it has changed since; or nothing."""
    head = _git("rev-parse", "--short", "HEAD")
    source = _git("rev-parse", "--short=12", "HEAD:src")
    if not head or not source:  # no git, or no repository
        return {}
    return {
        "commit": head + ("+" if _git("status", "--porcelain", "--", *TRACKED) else ""),
        "source": source + ("+" if _git("status", "--porcelain", "--", "src") else ""),
    }


def require_clean(state: Mapping[str, str]) -> None:
    if state.get("commit", "").endswith("+"):
        raise DirtyTree(
            f"what results depend on ({', '.join(TRACKED)}) has changed since commit "
            f"{state['commit'][:-1]}: commit it, or keep the results apart with --scratch FILE"
        )


def version_of(row: Mapping[str, Any]) -> str:
    """The version of what was run: that of a peer, or the tree of `src` in the row's commit."""
    if is_peer(row["cell"]):
        return str(row.get("peer", UNKNOWN))
    own = row["source"] if "source" in row else _old_source(row.get("commit", UNKNOWN))
    return same_version(str(own))


def same_version(source: str) -> str:
    """The earliest source that is known to make the same suggestions; most often `source` itself.

    It is not known of a source with changes that are not committed.
    """
    return _read_sources(SAME_SOURCES).get(source, source)


def is_current(row: Mapping[str, Any], state: Mapping[str, str]) -> bool:
    """Whether a run would be made by the same version now; `state` is that of the tree."""
    if is_peer(row["cell"]):
        return version_of(row) == made_by(row["cell"], state)["peer"]
    return version_of(row) == same_version(state.get("source", ""))


@cache
def code_digest() -> str:
    """Of the library and the experiments as they are installed here."""
    import outcrop

    digest = sha256()
    for folder in (Path(outcrop.__file__).parent, Path(__file__).parent):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(folder)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def require_one_source(rows: Iterable[Mapping[str, Any]], what: str) -> None:
    """Refuse rows of several sources of the library, if any was stored with its source.

    Rows of earlier days have none; `sources_note` describes them.
    """
    library = [row for row in rows if not is_peer(row["cell"])]
    sources = _by_source(library)
    if len(sources) > 1 and any("source" in row for row in library):
        described = "; ".join(f"{source}: {len(those)}" for source, those in sources.items())
        raise MixedVersions(
            f"{what} has results of {len(sources)} versions of the library ({described} rows), "
            "which may not be compared as one: make the older ones again with --renew, or give "
            "the newer ones a --label"
        )


def comparable(
    rows: Iterable[Mapping[str, Any]], beside: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Those `rows` that a version made which also made some of the others; peers' always."""
    versions = {version_of(row) for row in beside if not is_peer(row["cell"])}
    return [dict(row) for row in rows if is_peer(row["cell"]) or version_of(row) in versions]


def sources_note(rows: Sequence[Mapping[str, Any]]) -> str:
    """A note for readers that names the versions of rows of several sources; else empty."""
    sources = _by_source(row for row in rows if not is_peer(row["cell"]))
    if len(sources) < 2:
        return ""
    parts = []
    for those in sources.values():
        commits = dict.fromkeys(row.get("commit", UNKNOWN) for row in those)
        methods = dict.fromkeys(row["cell"].get("method", "") for row in those)
        named = f" ({', '.join(filter(None, methods))})" if any(methods) else ""
        parts.append(f"{len(those)} of {', '.join(f'`{c}`' for c in commits)}{named}")
    dirty = any(str(row.get("commit", "")).endswith("+") for row in rows)
    plus = " A + marks sources that had changed since the commit." if dirty else ""
    return (
        f"**Versions.** These results are of {len(sources)} versions of the library, so "
        f"differences may be due to the version: {'; '.join(parts)}.{plus}"
    )


def _by_source(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(version_of(row), []).append(row)
    return found


@cache
def _old_source(commit: str) -> str:
    """The tree of `src` in a commit, from the list of old commits or from git."""
    known = _read_sources(OLD_SOURCES)
    bare = commit.rstrip("+")
    source = known.get(bare) or _git("rev-parse", "--short=12", f"{bare}:src")
    return source + commit[len(bare) :] if source else f"commit {commit}"


@cache
def _read_sources(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_text("utf-8"))
    return found


def _git(*words: str) -> str:
    command = ["git", "--no-optional-locks", *words]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:  # git is not installed
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
