"""Control characters in values, names and reasons do not reach the terminal."""

from __future__ import annotations

import io
import logging

import pytest

from outcrop.cli.app import main
from outcrop.cli.terminal_text import printable
from outcrop.space import Categorical, Float, Space
from outcrop.study import Study

RED = "\x1b[31mred\x9b0m\x07\u202e"  # escape sequences, a bell and a change of direction


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A study with control characters wherever text can be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTCROP_STORAGE", raising=False)
    space = Space({RED: Categorical([RED, f"{RED}\n\rline"]), "x": Float(0, 1)})
    study = Study(space, RED, "sqlite:///s.db", method="random", seed=0)
    study.add({RED: f"{RED}\n\rline", "x": 0.5}, 1.0)
    study.fail(study.ask(), f"{RED} failed\nbelow")
    study.stop(f"{RED} stopped")
    return study


def is_harmless(text):
    return all(c.isprintable() or c == "\n" for c in text)


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "--storage", "s.db"],
        ["best", "--storage", "s.db"],
        ["best", "--storage", "s.db", "--json"],
        ["delete", RED, "--storage", "s.db"],
        ["show", f"{RED}!", "--storage", "s.db"],
        ["show", RED],
        ["run", f"{RED}.toml"],
        ["export", "--storage", "s.db", "--output", RED],
    ],
    ids=lambda each: " ".join(each).encode("unicode_escape").decode()[:40],
)
def test_no_command_prints_control_characters(hostile, capsys, monkeypatch, arguments):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    main(arguments)
    out, err = capsys.readouterr()
    assert out or err
    assert is_harmless(out + err)
    assert "red" in out + err


def test_a_table_is_exact_in_a_file_and_harmless_on_a_terminal(hostile, capsys, monkeypatch):
    assert main(["export", "--storage", "s.db"]) == 0
    assert RED in capsys.readouterr().out
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    for form in ("csv", "json"):
        assert main(["export", "--storage", "s.db", "--format", form]) == 0
    assert is_harmless(terminal.getvalue())


def test_what_is_logged_is_escaped(hostile, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(logging.root, "handlers", [])
    monkeypatch.setattr("outcrop.cli.study_lookup.load_study", logged)
    main(["best", "--storage", "s.db"])
    assert "\\x1b[31mred" in stream.getvalue()
    assert "postgresql://me:***@host" in stream.getvalue()
    assert is_harmless(stream.getvalue())


def logged(name, store):
    logging.getLogger("outcrop").warning("trial of %s at postgresql://me:secret@host", name)
    raise KeyboardInterrupt


def test_an_escaped_text_shows_what_was_in_it():
    assert printable("é ± 0.5\n\x1b[0m\ud800") == "é ± 0.5\n\\x1b[0m\\ud800"
