"""No command prints a password, whatever is wrong with the URL of a storage."""

from __future__ import annotations

import re

import pytest

from outcrop.cli.app import main
from outcrop.cli.spec import SpecError, read_spec
from outcrop.errors import StorageError
from outcrop.study.storage.memory import Memory
from tests.cli.specs import NU, write_spec

URLS = [
    "postgresql://me:sesame@host/db",
    "postgresql://me:open@sesame@host/db",
    "postgresql://me:sesame@host:abc/db",
    "postgresql://me:open:sesame@host:5432:1/db",
    "postgresql:me:sesame@host/db",
    "postgresql://host/db?password=sesame",
    "oracle://me:sesame@host/db",
    "host=here password=sesame",
]


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    """Give a command without a database server; its exit code and all that it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTCROP_STORAGE", raising=False)

    def given(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        return code, "".join(capsys.readouterr())

    return given


def check(code: int, printed: str) -> None:
    assert code == 2
    assert "sesame" not in printed
    assert re.fullmatch(r"error: [^\n]+\n", printed)


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("reached", [False, True])
def test_a_store_that_is_out_of_reach_or_empty_is_named_without_its_password(
    call, monkeypatch, url, reached
):
    if reached:  # an empty store in place of a server
        monkeypatch.setattr("outcrop.cli.study_lookup.open_storage", lambda url: Memory())
    check(*call("show", "--storage", url))
    check(*call("delete", "study", "--storage", url))
    monkeypatch.setenv("OUTCROP_STORAGE", url)
    check(*call("best"))


@pytest.mark.parametrize("url", URLS)
def test_a_url_in_the_place_of_a_study_is_named_without_its_password(call, url):
    check(*call("show", url))


@pytest.mark.parametrize("url", [*URLS, 'postgresql://me:open"sesame@host/db'])
@pytest.mark.parametrize("quote", ['"', ""], ids=["quoted", "not quoted"])
def test_a_spec_with_a_url_that_cannot_be_used_is_one_line_without_its_password(
    call, tmp_path, url, quote
):
    spec = f'name = "s"\nstorage = {quote}{url}{quote}\ncommand = ["true", "{{nu}}"]\n{NU}'
    check(*call("run", str(write_spec(tmp_path, spec))))
    check(*call("best", "spec.toml"))


def test_a_port_that_is_no_number_is_a_wrong_url(tmp_path):
    spec = f'name = "s"\nstorage = "postgresql://me@host:abc/db"\ncommand = ["true"]\n{NU}'
    with pytest.raises(
        SpecError, match=r'storage is "postgresql://\*\*\*@host:abc/db", expected a URL'
    ):
        read_spec(write_spec(tmp_path, spec))


def test_a_spec_is_represented_without_the_password_of_its_store(tmp_path):
    top = 'storage = "postgresql://me:sesame@host/db"\ncommand = ["true", "{nu}"]'
    spec = read_spec(write_spec(tmp_path, f'name = "s"\n{top}\n{NU}'))
    assert "sesame" in spec.storage
    assert "sesame" not in repr(spec)


def test_what_a_server_says_is_repeated_without_the_password(monkeypatch):
    from sqlalchemy.exc import OperationalError

    from outcrop.study.storage.database import database_at

    database = database_at("postgresql://me:open%20sesame@host/db")
    said = OperationalError("", {}, Exception('bad "open sesame" in user=me password=sesame'))
    refused = database.explained(said)
    assert isinstance(refused, StorageError)
    assert "sesame" not in str(refused)
