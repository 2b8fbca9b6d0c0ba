"""Which requests the dashboard answers, and what its answers permit."""

from __future__ import annotations

import pytest

import outcrop as oc
from outcrop.dashboard.access import checked_access
from outcrop.dashboard.server import application
from outcrop.dashboard.watcher import Watcher
from outcrop.errors import MethodError
from outcrop.study.storage import Memory
from tests.dashboard.serving import asked

TOKEN = "0123456789abcdef"


@pytest.fixture
def open_app():
    store = Memory()
    oc.Study(oc.Space({"x": oc.Float(0, 1)}), "s", store, method="random")
    return application(Watcher(store))


@pytest.fixture
def locked_app():
    return application(Watcher(Memory()), TOKEN, any_name=True)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
@pytest.mark.parametrize("target", ["/", "/study?name=s", "/changes", "/no/such/path"])
def test_what_may_change_something_is_refused(open_app, method, target):
    answer = asked(open_app, target, method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize("target", ["/", "/study?name=s", "/page.js", "/plotly.js", "/page.css"])
def test_head_is_answered_like_get(open_app, target):
    full, head = asked(open_app, target), asked(open_app, target, "HEAD")
    assert (head.status, head.headers) == (full.status, full.headers)
    assert full.status == 200


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8642", "[::1]:8642"])
def test_names_of_this_machine_are_served(open_app, host):
    assert asked(open_app, host=host).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "", "localhost.", "[::1"],
)
def test_a_name_that_was_made_to_resolve_to_this_machine_is_refused(open_app, host):
    assert asked(open_app, host=host).status == 421


def test_answers_forbid_what_a_page_does_not_need(open_app):
    for target in ("/", "/study?name=s", "/changes?since=x", "/none"):
        headers = asked(open_app, target).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers


def test_a_file_is_sent_once(open_app):
    first = asked(open_app, "/plotly.js")
    again = asked(open_app, "/plotly.js", if_none_match=first.headers["etag"])
    assert (again.status, again.text) == (304, "")


@pytest.mark.parametrize("target", ["/", "/study?name=s", "/changes?name=s", "/plotly.js", "/none"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"cookie": f"outcrop-8642={TOKEN}"},
        {"cookie": "outcrop-8642=; ;;=,"},
    ],
)
def test_without_the_token_nothing_is_answered(locked_app, target, headers):
    answer = asked(locked_app, target, **headers)
    assert answer.status == 401
    assert TOKEN not in answer.text


def test_the_token_is_taken_from_a_header(locked_app):
    assert asked(locked_app, authorization=f"Bearer {TOKEN}", host="a.lan").status == 200


def test_the_token_in_an_address_becomes_a_cookie(locked_app):
    answer = asked(locked_app, f"/study?name=a%26b%0A&token={TOKEN}")
    assert answer.status == 303
    assert answer.headers["location"] == "/study?name=a%26b%0A"
    cookie, *attributes = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= {*attributes}
    assert TOKEN not in cookie
    assert asked(locked_app, cookie=cookie).status == 200
    assert asked(locked_app, cookie=cookie[:-1] + "x").status == 401
    assert asked(locked_app, f"/?token={TOKEN}x").status == 401
    assert asked(locked_app, f"//evil.example/?token={TOKEN}").headers["location"][:2] != "//"


def test_the_token_is_compared_in_constant_time(locked_app, monkeypatch):
    from outcrop.dashboard import access

    compared = []
    monkeypatch.setattr(access.hmac, "compare_digest", lambda *pair: compared.append(pair))
    assert asked(locked_app, authorization=f"Bearer {TOKEN}").status == 401
    assert len(compared) == 2  # the header, then the cookie, which is missing
    assert all(len({*map(len, pair)}) == 1 or pair[0] == b"" for pair in compared)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_loopback_needs_no_token(host):
    checked_access(host, None, remote=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.0.2", "example.org"])
def test_another_host_needs_a_flag_and_a_token(host):
    with pytest.raises(MethodError, match="--remote"):
        checked_access(host, TOKEN, remote=False)
    with pytest.raises(MethodError, match="needs --token"):
        checked_access(host, None, remote=True)
    with pytest.raises(MethodError, match="has 5 characters, expected at least 16"):
        checked_access(host, "short", remote=True)
    checked_access(host, TOKEN, remote=True)


@pytest.mark.parametrize("since", ["x", "-1", "1.5", "²", "9" * 30])
def test_a_version_that_is_none_is_refused(open_app, since):
    answer = asked(open_app, f"/changes?since={since}")
    assert answer.status == 400
    assert "expected a version" in answer.text
