"""The pages of the site in one folder, ready to be built: `python docs/site.py build/pages`.

Documents are written so that their links also work where the repository itself is browsed. Here
those outside `docs` that belong to the site move beside the others, links follow, equations become
MathML, and a folder in the navigation becomes its pages. What is left is plain Markdown and a
`mkdocs.yml`.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path
from typing import Any

import yaml
from latex2mathml.converter import convert

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
OUTSIDE = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md")
TREES = ("benchmarks/results", "docs", "examples")
SUFFIXES = (".css", ".ipynb", ".json", ".md", ".png", ".py", ".toml", ".yaml")
UNLISTED = ("CODE_OF_CONDUCT.md", "benchmarks/", "examples/")  # reached by links only
LINK = re.compile(r"(\]\()([^)#\s:]+)([)#])")
CODE = re.compile(r"(^ *```.*?^ *```|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
MATH = re.compile(r"^```math\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE_MATH = re.compile(r"\$([^$\n]+)\$")


class SiteError(ValueError):
    """A document or the navigation refers to what is not there, or leaves a page out."""


def main(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    sources = list(_sources())
    for path in sources:
        copy = folder / "docs" / _place(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            copy.write_text(page(path.read_text("utf-8"), path), "utf-8")
        else:
            shutil.copyfile(path, copy)
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    settings["nav"] = [_expanded(entry) for entry in settings["nav"]]
    _check(set(_pages(settings["nav"])), {str(_place(p)) for p in sources if p.suffix == ".md"})
    written = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False)
    (folder / "mkdocs.yml").write_text(written, "utf-8")


def page(markdown: str, path: Path) -> str:
    """The text of a document at `path` as it is in the site."""
    markdown = MATH.sub(lambda found: convert(found[1].strip(), display="block"), markdown)
    markdown = markdown.replace("```python\n>>>", "```pycon\n>>>")  # prompts are told from code
    parts = CODE.split(markdown)  # every second part is code
    parts[::2] = [_prose(part, path) for part in parts[::2]]
    return "".join(parts)


def _prose(text: str, path: Path) -> str:
    """Text without code: equations in a line, and links."""
    text = INLINE_MATH.sub(lambda found: f"<span>{convert(found[1])}</span>", text)
    return LINK.sub(lambda found: _moved(found, path), text)


def _sources() -> Iterator[Path]:
    yield from (ROOT / name for name in OUTSIDE)
    for tree in TREES:
        for path in sorted((ROOT / tree).rglob("*")):
            if path.suffix in SUFFIXES or path.name == "Dockerfile":
                yield path


def _moved(found: re.Match[str], path: Path) -> str:
    """A link in a document to a file of the repository as one to its place in the site."""
    start, link, end = found.groups()
    target = (path.parent / link).resolve()
    if target.is_dir():
        target = target / "README.md"
    if not target.is_file() or not target.is_relative_to(ROOT):
        raise SiteError(f"{path.relative_to(ROOT)}: the link to {link} leads nowhere")
    return f"{start}{relpath(_place(target), _place(path).parent)}{end}"


def _place(path: Path) -> Path:
    return path.relative_to(DOCS if path.is_relative_to(DOCS) else ROOT)


def _expanded(entry: Any) -> Any:
    """An entry of the navigation, with the pages of a folder in the order of its index."""
    if isinstance(entry, str):
        return entry
    [(title, below)] = entry.items()
    if isinstance(below, list):
        return {title: [_expanded(each) for each in below]}
    if not below.endswith("/"):
        return entry
    pages = {path.name: str(path.relative_to(DOCS)) for path in (DOCS / below).glob("*.md")}
    index = (DOCS / below / "index.md").read_text("utf-8") if "index.md" in pages else ""
    linked = re.findall(r"\]\((\w[\w-]*\.md)", index)
    order = [name for name in dict.fromkeys(["index.md", *linked, *sorted(pages)]) if name in pages]
    return {title: [pages[name] for name in order]}


def _pages(entry: Any) -> Iterator[str]:
    """The pages of an entry of the navigation, or of a list of them."""
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from _pages(below)


def _check(named: set[str], there: set[str]) -> None:
    """The navigation of `mkdocs.yml` names the pages that are there, and all of them."""
    if gone := sorted(named - there):
        raise SiteError(
            f"mkdocs.yml: {', '.join(gone)} in the navigation, but there is no such page"
        )
    unlisted = {name for name in there - named if not name.startswith(UNLISTED)}
    if unlisted:
        raise SiteError(f"mkdocs.yml: {', '.join(sorted(unlisted))} is not in the navigation")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except SiteError as error:
        sys.exit(str(error))
