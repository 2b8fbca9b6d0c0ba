"""The command line, called in the process of the tests."""

from __future__ import annotations

import pytest

from outcrop.cli.app import main


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """A call of `outcrop` in an empty folder: its exit code, what it prints, and its errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTCROP_STORAGE", raising=False)

    def given(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return given
