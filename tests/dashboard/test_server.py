"""The command `outcrop dashboard`, in a process of its own and on a real network."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.parse import quote
from urllib.request import urlopen

import pytest

import outcrop as oc
from outcrop.dashboard.server import application
from outcrop.dashboard.watcher import Watcher
from outcrop.errors import MissingExtra, StorageError
from outcrop.study.storage import Memory, open_storage
from tests.dashboard.serving import asked

SPACE = oc.Space({"x": oc.Float(0, 1)})


def answered(address):
    with urlopen(address, timeout=60) as answer:
        return json.loads(answer.read())


@contextmanager
def running(*arguments):
    """A dashboard on any free port, and its address."""
    command = [sys.executable, "-m", "outcrop.cli.app", "dashboard", "--port", "0", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        yield process, line.split()[0] if line else process.stderr.read()
    finally:
        process.kill()
        process.communicate()


def test_it_serves_until_it_is_interrupted(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    study = oc.Study(SPACE, "a b&c", url, method="random")
    study.tell(study.ask(), 1.5)
    with running("a b&c", "--storage", url) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        assert address.endswith("/study?name=a+b%26c")
        base = address.partition("/study")[0]
        found = answered(f"{base}/changes?name={quote('a b&c')}&since=0")
        assert found["trials"]["rows"][0][:3] == [0, "finished", 1.5]
        answered(f"{base}/studies?since=0")
        with socket.create_connection(("127.0.0.1", int(base.rpartition(":")[2]))) as waiting:
            waiting.sendall(b"GET /changes?name=none&since=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130
        assert process.stderr.read() in ("", "interrupted\n")


def test_a_port_in_use_and_a_wrong_option_are_one_line(call):
    study = oc.Study(SPACE, "s", "sqlite:///s.db", method="random")
    assert study.trials == []
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, error = call("dashboard", "s", "--port", str(port))
    assert (code, out) == (2, "")
    assert error == (
        f"error: cannot listen on port {port} of 127.0.0.1: Address already in use; "
        "choose another with --port\n"
    )
    code, out, error = call("dashboard", "s", "--host", "0.0.0.0", "--port", "0")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert "add --remote and --token" in error
    code, _, error = call("dashboard", "nowhere")
    assert code == 2
    assert "no file nowhere.db" in error


def test_a_store_or_a_study_that_is_not_there_is_one_line(call, tmp_path):
    url = f"sqlite:///{tmp_path / 'nowhere.db'}"
    code, out, error = call("dashboard", "--storage", url, "--port", "0")
    assert (code, out) == (2, "")
    assert error == (
        f"error: there is no file for {url}; create a study with: outcrop run SPEC.toml\n"
    )
    oc.Study(SPACE, "digits", "sqlite:///s.db", method="random")
    code, out, error = call("dashboard", "digit", "--storage", "s.db", "--port", "0")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert "'digit' does not exist" in error


def test_the_page_of_an_unknown_study_is_not_found_until_there_is_one():
    store = Memory()
    app = application(Watcher(store))
    answer = asked(app, "/study?name=s")
    assert answer.status == 404
    assert "/live.js" in answer.text  # which shows the study once it is there
    oc.Study(SPACE, "s", store, method="random")
    assert asked(app, "/study?name=s").status == 200


def test_a_store_that_cannot_be_read_is_no_unknown_study(monkeypatch):
    def find(*_):
        raise StorageError("gone")

    monkeypatch.setattr(Memory, "find", find)
    assert asked(application(Watcher(Memory())), "/study?name=s").status == 200


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'studies.db'}"
    return request.getfixturevalue("postgresql_url")


def changed(shown, since, wanted, seconds=60.0):
    """The first changes that are wanted."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        changes = shown().changes(since)
        if changes is not None and wanted(changes):
            return changes
        time.sleep(0.02)
    raise TimeoutError("no such change")


def test_studies_of_a_database_are_followed(url):
    study = oc.Study(SPACE, "first", url, method="random", seed=0)
    watcher = Watcher(open_storage(url))
    watcher.start()
    try:
        first = changed(lambda: watcher.study("first"), 0, lambda found: found["parts"])
        oc.Study(SPACE, "second", url, method="random", seed=0)
        study.tell(study.ask(), 2.5)
        since = first["version"]
        found = changed(
            lambda: watcher.study("first"),
            since,
            lambda found: any(row[1] == "finished" for row in found["trials"]["rows"]),
        )
        assert found["trials"]["rows"][-1][2] == 2.5
        lines = changed(
            watcher.all_studies,
            0,
            lambda found: (
                [line.get("best", "unread") for line in found["studies"] or []] == [None, 2.5]
            ),
        )
        assert [line["name"] for line in lines["studies"]] == ["second", "first"]
    finally:
        watcher.end()


def test_what_nobody_looks_at_is_not_read(monkeypatch):
    from outcrop.dashboard import watcher as module

    store, now = Memory(), [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    study = oc.Study(SPACE, "s", store, method="random")
    reads = []
    plain = Memory.read
    monkeypatch.setattr(Memory, "read", lambda *args: reads.append(args) or plain(*args))
    watcher = Watcher(store)
    watcher._read()
    assert reads == []
    watcher.study("s")
    watcher._read()
    assert len(reads) == 1
    now[0] = 100.0
    study.ask()
    reads.clear()
    watcher._read()
    assert reads == []


def test_a_mistake_in_an_update_does_not_end_the_others(monkeypatch, caplog):
    from outcrop.dashboard import watcher as module

    monkeypatch.setattr(module, "OVERVIEW", 0.01)
    watcher, calls = Watcher(Memory()), []

    def work():
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError
        watcher.end()

    watcher._repeat(work)
    assert len(calls) == 2
    assert "could not update" in caplog.text


def test_missing_packages_are_named(monkeypatch):
    for name in ("outcrop.dashboard.server", "outcrop.dashboard"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtra, match=r"outcrop\[dashboard\]"):
        __import__("outcrop.dashboard")
