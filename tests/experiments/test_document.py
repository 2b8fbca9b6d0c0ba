from dataclasses import replace

import pytest

pytest.importorskip("experiments.harness")

from experiments.__main__ import EXPERIMENTS
from experiments.claims import CLAIMS
from experiments.document import DOCUMENT, pages, write_document

DOCUMENTED = [each for each in EXPERIMENTS.values() if each.documented]


@pytest.fixture(scope="module")
def written():
    return pages(DOCUMENTED)


def test_the_pages_are_what_the_stored_results_say(written):
    stored = {path.name: path.read_text("utf-8") for path in DOCUMENT.glob("*.md")}
    assert stored.keys() == written.keys()
    old = [name for name, text in written.items() if stored[name] != text]
    assert not old, "python -m experiments --tables writes them anew"


@pytest.mark.parametrize("experiment", DOCUMENTED, ids=lambda each: each.name)
def test_an_experiment_says_whose_it_is_and_what_was_found_in_a_few_words(experiment):
    assert experiment.source
    assert 0 < len(experiment.summary) < 90
    assert "|" not in experiment.summary


def test_the_tables_in_front_have_a_line_for_every_page_and_every_claim(written):
    lines = written["index.md"].splitlines()
    for name in written.keys() - {"index.md"}:
        assert any(f"]({name}) |" in line and line.count("|") == 6 for line in lines)
    for claim in CLAIMS:
        assert sum(f"| {claim.says} |" in line for line in lines) == 1


def test_pictures_on_the_pages_exist(written):
    shown = {part.split(")")[0] for text in written.values() for part in text.split("](")[1:]}
    pictures = {link for link in shown if link.endswith(".png")}
    assert len(pictures) > 20
    assert all((DOCUMENT / link).is_file() for link in pictures)


def test_the_page_of_an_experiment_that_is_gone_goes_too(tmp_path):
    experiment = replace(EXPERIMENTS["optuna_nested"], report=lambda rows: f"{len(rows)} rows")
    (tmp_path / "former.md").write_text("# Former\n")
    write_document([experiment], tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.md")) == ["index.md", "optuna_nested.md"]
