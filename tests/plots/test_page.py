"""The page of pictures shows what there is, as the script draws it."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from outcrop import plots

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "pictures.md").read_text()


def script():
    spec = spec_from_file_location("pictures_of_the_page", DOCS / "pictures.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_every_picture_that_the_script_makes():
    shown = re.findall(r"!\[.+\]\(images/(\w+)\.png\)", PAGE)
    assert sorted(shown) == sorted(script().PICTURES)


def test_the_page_calls_every_function():
    assert {*re.findall(r">>> axes = plots\.(\w+)\(", PAGE)} == {*plots.__all__}


def test_pictures_are_small_and_somebody_looks_at_them():
    images = {path.name: path for path in (DOCS / "images").iterdir()}
    texts = [path.read_text() for path in [DOCS.parent / "README.md", *DOCS.rglob("*.md")]]
    assert {*images} == {name for text in texts for name in re.findall(r"images/([\w.-]+)", text)}
    for name in script().PICTURES:
        assert images[f"{name}.png"].stat().st_size <= 100_000


def test_the_script_draws_what_it_is_asked_for(tmp_path, monkeypatch, capsys):
    module = script()
    monkeypatch.setattr(module, "IMAGES", tmp_path)
    assert module.main(["plot_convergence_study"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["plot_convergence_study.png"]
    assert module.main(["plot_belief_3d"]) == 2
    assert "not known: plot_belief_3d" in capsys.readouterr().out
