"""The pages of the site: complete, linked, and a reference of everything that is public."""

from __future__ import annotations

import importlib.util
import re
from importlib import import_module
from pathlib import Path

import pytest

import outcrop

ROOT = Path(__file__).parents[1]
if not (ROOT / "docs").is_dir():
    pytest.skip("an sdist has no site", allow_module_level=True)
API = ROOT / "docs" / "api"
PAGES = {
    "acquisition": "outcrop.acquisition",
    "bandits": "outcrop.bandits",
    "baselines": "outcrop.baselines",
    "dashboard": "outcrop.dashboard",
    "errors": "outcrop.errors",
    "inference": "outcrop.inference",
    "initial": "outcrop.strategies.initial",
    "kernels": "outcrop.kernels",
    "maximise": "outcrop.maximise",
    "pending": "outcrop.strategies.pending",
    "plots": "outcrop.plots",
    "priors": "outcrop.priors",
    "problems": "outcrop.problems",
    "reports": "outcrop.reports",
    "simulation": "outcrop.study.simulation",
    "space": "outcrop.space",
    "stop": "outcrop.study.running.stopping",
    "strategies": "outcrop.strategies",
    "study": "outcrop.study",
    "surrogates": "outcrop.surrogates",
    "testing": "outcrop.testing",
}


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "docs" / "site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def described(page):
    """The names that a page of the reference describes, by their full path."""
    return re.findall(r"^::: ([\w.]+)$", (API / f"{page}.md").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_the_reference_describes_every_public_name_once(page):
    module = PAGES[page]
    names = described(page)
    assert len(names) == len(set(names))
    public = {f"{module}.{name}" for name in import_module(module).__all__}
    assert public | {module} <= set(names)


@pytest.mark.parametrize("page", [*PAGES, "integrations"])
def test_every_name_in_the_reference_exists(page):
    for name in described(page):
        try:
            import_module(name)
        except ModuleNotFoundError:
            module, _, last = name.rpartition(".")
            assert hasattr(import_module(module), last), name


def test_the_front_of_the_reference_has_everything_of_the_package():
    text = (API / "index.md").read_text("utf-8")
    assert set(re.findall(r"`oc\.(\w+)`", text)) == set(outcrop.__all__)


def test_the_reference_has_a_page_for_every_public_package():
    private = {"cli", "integrations"}  # a command, and a page that is written by hand
    packages = {path.parent.name for path in (ROOT / "src" / "outcrop").glob("*/__init__.py")}
    assert packages - private <= {name.removeprefix("outcrop.") for name in PAGES.values()}


def test_all_pages_are_in_the_navigation_and_all_links_lead_somewhere(site, tmp_path):
    site.main(tmp_path / "pages")
    assert (tmp_path / "pages" / "docs" / "CHANGELOG.md").is_file()
    assert "experiments/optuna_nested.md" in (tmp_path / "pages" / "mkdocs.yml").read_text()


def test_a_link_that_leads_nowhere_is_refused(site):
    with pytest.raises(site.SiteError, match=r"docs/index.md: the link to gone.md leads nowhere"):
        site.page("see [it](gone.md)", ROOT / "docs" / "index.md")


def test_code_is_left_as_it_is(site):
    text = "`[a](gone.md)` and\n\n```text\n[a](gone.md) $x$\n```\n"
    assert site.page(text, ROOT / "docs" / "index.md") == text


def test_links_out_of_docs_follow_their_files_into_the_site(site):
    moved = site.page("[a](../../CHANGELOG.md#x) [b](../../examples/heat)", API / "index.md")
    assert moved == "[a](../CHANGELOG.md#x) [b](../examples/heat/README.md)"


def test_equations_become_mathml(site):
    made = site.page("for $x$\n\n```math\nx^2\n```\n", ROOT / "docs" / "index.md")
    assert made.count("<math ") == 2
    assert "<msup>" in made
    assert "```" not in made


def test_a_page_that_is_not_in_the_navigation_is_refused(site):
    with pytest.raises(site.SiteError, match=r"new.md is not in the navigation"):
        site._check({"index.md"}, {"index.md", "new.md", "examples/heat/README.md"})
    with pytest.raises(site.SiteError, match=r"gone.md in the navigation"):
        site._check({"index.md", "gone.md"}, {"index.md"})
