"""No text about a storage holds its password."""

from __future__ import annotations

import pytest

from outcrop.study.storage.url_masking import masked_in, masked_url

WITH_PASSWORD = {
    "postgresql://me:secret@host/db": "postgresql://me:***@host/db",
    "postgresql://me@host/db": "postgresql://***@host/db",  # a password, if the name is missing
    "postgresql://host:5432/db": "postgresql://host:5432/db",
    "postgresql://:secret@host/db": "postgresql://:***@host/db",
    "postgresql://me:sec@ret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:sec/ret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:sec#ret@host:5432/db": "postgresql://me:***@host:5432/db",
    "postgresql://me:sec ret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:sec\nret@host/db": "postgresql://me:***@host/db",
    "postgresql://me:sec?ret@host/db": "postgresql://me:***",
    "postgresql://host:5432/db?password=sec@ret": "postgresql://host:***",
    "postgresql://host/db?user=me&password=secret": "postgresql://host/db",
    "postgresql:me:secret@host/db": "postgresql:***@host/db",
    "postgresql://me:secret.host:5432/db": "postgresql://me:***",
    "postgresql://[::1]:5432/db": "postgresql://[::1]:5432/db",
    "me:secret@host": "me:***@host",
    "host=here password=secret dbname=db": "host=here password=*** dbname=db",
    "sqlite:///a:b@c.db?mode=ro": "sqlite:///a:b@c.db",
    "study.db": "study.db",
    "": "",
}


@pytest.mark.parametrize(("url", "shown"), WITH_PASSWORD.items())
def test_the_password_of_a_url_is_masked_whatever_it_looks_like(url, shown):
    assert masked_url(url) == shown


def test_urls_inside_a_text_are_masked():
    text = "storage = 'postgresql://me:sec@ret@host/db', else pg://x:ret@h?y=sec; see PASSWORD=sec"
    assert masked_in(text) == (
        "storage = 'postgresql://me:***@host/db', else pg://x:***@h; see PASSWORD=***"
    )
    assert masked_in("12:30 mail me@host, see https://host/a") == (
        "12:30 mail me@host, see https://host/a"
    )
