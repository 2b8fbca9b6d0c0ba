"""What tests of worker processes share."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def main_is_interactive(monkeypatch):
    """So that workers need not import the test runner, which takes its time."""
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)
