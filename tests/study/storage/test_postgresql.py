"""Studies on a real PostgreSQL server: what is refused and how, its clock, its earlier versions."""

from __future__ import annotations

import re
import socket
import time
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

import outcrop as oc
from outcrop.cli.app import main
from outcrop.errors import StorageError, StudyError
from outcrop.study.storage import Lease, open_storage
from outcrop.study.storage.schema import VERSION
from outcrop.study.storage.sql import SqlStorage
from tests.study.handles import opened

NUMBERS = count()
DUMP = Path(__file__).parent / "fixtures" / "studies_0_1.sql"
SECRET = "open+sesame/%@"


@pytest.fixture
def url(postgresql_url):
    return postgresql_url


@pytest.fixture
def user(postgresql, url):
    """A user without any right, with a password that a URL has to quote; URLs as that user."""
    name = f"user_{next(NUMBERS)}"
    postgresql.execute(f"CREATE USER {name} PASSWORD '{SECRET}'")

    def url_of(schema):
        return postgresql.url(schema, user=name, password=SECRET)

    url_of.name = name
    return url_of


def schema_of(url):
    return url.rpartition("%3D")[2]


def refusal(call, *secrets):
    """The one line of an error that holds no secret, and neither do the errors behind it."""
    with pytest.raises((StorageError, StudyError)) as refused:
        call()
    message = str(refused.value)
    assert "\n" not in message
    error: BaseException | None = refused.value
    while error is not None:
        assert not any(secret in f"{error} {error!r}" for secret in secrets)
        error = error.__cause__ or error.__context__
    return message


def test_a_wrong_password_is_one_line_without_it(postgresql):
    url = postgresql.url(password=SECRET)
    message = refusal(lambda: open_storage(url), SECRET, "sesame")
    assert "password authentication failed" in message
    assert "correct the user or the password" in message


def test_a_missing_server_is_one_line_at_once(postgresql):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = postgresql.url(port=unused.getsockname()[1])
        message = refusal(lambda: open_storage(url), postgresql.password)
    assert "Connection refused" in message
    assert "start the server, or correct the host and the port" in message


def test_a_missing_database_and_an_unknown_option_are_one_line(postgresql):
    url = postgresql.url(database="nowhere")
    message = refusal(lambda: open_storage(url), postgresql.password)
    assert '"nowhere" does not exist' in message
    url = f"{postgresql.url()}&colour=red"
    assert "colour" in refusal(lambda: open_storage(url), postgresql.password)


def test_a_user_who_may_not_create_tables_is_told_which_right_is_missing(user, url):
    with closing(open_storage(user("public"))) as storage:
        assert storage.names() == [], "there is nothing to read"
        message = refusal(lambda: storage.create("study", "first"), SECRET, "sesame")
    assert "permission denied for schema public" in message
    assert "CREATE and USAGE on the schema" in message


def test_a_user_who_may_only_read_reads_and_is_told_which_right_is_missing(postgresql, user, url):
    schema = schema_of(url)
    study = opened(url)
    study.tell(study.ask(), 0.5)
    postgresql.execute(f"GRANT USAGE ON SCHEMA {schema} TO {user.name}")
    message = refusal(lambda: oc.load_study("s", user(schema)), SECRET, "sesame")
    assert "permission denied for table outcrop_schema" in message
    postgresql.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user.name}")
    reader = oc.load_study("s", user(schema))
    assert reader.best_value == 0.5
    message = refusal(reader.ask, SECRET, "sesame")
    assert "INSERT, UPDATE, DELETE" in message
    assert len(study.trials) == 1


def test_a_database_of_a_newer_version_is_refused(postgresql, url):
    opened(url)
    postgresql.execute(f"UPDATE {schema_of(url)}.outcrop_schema SET version = {VERSION + 1}")
    message = refusal(lambda: open_storage(url), postgresql.password)
    assert f"schema version {VERSION + 1}" in message
    assert "pip install --upgrade" in message


def test_a_second_study_of_one_name_is_refused_or_the_same(url, postgresql, tmp_path):
    study = opened(url)
    assert opened(url).seed == study.seed
    with pytest.raises(StudyError, match="'s' exists and differs from this one") as refused:
        opened(url, direction="maximize")
    assert postgresql.password not in str(refused.value)
    other = opened(f"sqlite:///{tmp_path}/other.db")
    message = refusal(lambda: other.copy_to(url), postgresql.password)
    assert "already has a study 's'; choose another name or store" in message


@pytest.mark.parametrize("wrong", ["password", "port", "database", "study"])
def test_the_command_line_refuses_in_one_line_without_the_password(
    wrong, postgresql, url, capsys, monkeypatch
):
    opened(url)
    named = {
        "password": postgresql.url(password=SECRET),
        "port": postgresql.url(port=1),
        "database": postgresql.url(database="nowhere"),
        "study": url,
    }[wrong]
    assert main(["show", "missing", "--storage", named]) == 2
    printed = "".join(capsys.readouterr())
    assert re.fullmatch(r"error: [^\n]+\n", printed)
    assert "sesame" not in printed
    assert postgresql.password not in printed


def test_the_password_is_neither_in_a_repr_nor_on_a_page(postgresql, url, capsys):
    study = opened(url)
    study.tell(study.ask(), 0.5)
    assert main(["show", "s", "--storage", url]) == 0
    shown = [*capsys.readouterr(), repr(study), repr(study._store), study._repr_html_()]
    assert not any(postgresql.password in text for text in shown)


def test_leases_last_by_the_clock_of_the_server(url, monkeypatch):
    with closing(SqlStorage(url)) as storage:
        study = storage.create("study", "first")
        storage.acquire(study, Lease("trial 0", "me", 60.0))
        today = time.time()
        for day in (-1, 1):
            monkeypatch.setattr("time.time", lambda day=day: today + 86_400.0 * day)
            assert 0 < storage.leases(study)["trial 0"].left <= 60
            assert storage.acquire(study, Lease("trial 0", "you", 60.0)) is False


def test_what_is_acknowledged_is_durable_whatever_the_default_of_the_server(url):
    with closing(SqlStorage(f"{url}%20-csynchronous_commit%3Doff")) as storage:
        found = []

        def work(connection):
            found.append(connection.exec_driver_sql("SHOW synchronous_commit").scalar())

        storage._transactions.write(work)
        storage._transactions.write(work, durable=False)
        assert found == ["on", "off"]


def test_tells_do_not_wait_for_an_ask(url):
    asking, telling = opened(url), opened(url)
    trial = telling.ask()
    with asking._ask_lock:
        assert telling.tell(trial, 0.5).value == 0.5


# Version 1: `write_every_event` and `go_on` of `fixtures/write_0_1.py` made its studies, in version
# 0.1.0, and pg_dump --inserts the file.


@pytest.fixture
def earlier(postgresql):
    """The place of tables of version 1."""
    postgresql.execute(DUMP.read_text())
    yield postgresql.url("studies_0_1")
    postgresql.execute("DROP SCHEMA studies_0_1 CASCADE")


def version(postgresql):
    storage = SqlStorage(postgresql.url("studies_0_1"))
    with closing(storage), storage._transactions._engine.connect() as connection:
        return connection.exec_driver_sql("SELECT version FROM outcrop_schema").scalar()


def test_studies_of_the_first_version_are_read_as_they_are(postgresql, earlier):
    assert oc.list_studies(earlier) == ["name random", "every event"]
    studies = {name: oc.load_study(name, earlier) for name in oc.list_studies(earlier)}
    assert len(studies["name random"].trials) == 9
    assert studies["name random"].best_trial.number == 4
    assert studies["every event"].best_value == 1.5
    assert studies["every event"].stopped == "interrupted"
    assert len(studies["every event"].leases()) == 3
    assert version(postgresql) == 1, "reading changes nothing"


def test_a_study_of_the_first_version_replays_to_the_last_bit(postgresql, earlier):
    studies = [oc.load_study(name, earlier) for name in oc.list_studies(earlier)]
    assert len(studies) == 2
    assert all(study.replay().identical for study in studies)
    assert version(postgresql) == 1, "reading changes nothing"


def test_the_first_write_migrates_tables_of_the_first_version(postgresql, earlier):
    study = oc.load_study("every event", earlier)
    before = study._store.read(study._id)
    again = study.ask(lease=60)
    assert (again.number, again.attempt) == (13, 2), "its lease ran out"
    study.tell(again, 2.5)
    assert study.best_value == 2.5
    assert study._store.read(study._id)[: len(before)] == before
    assert version(postgresql) == VERSION
    assert oc.load_study("name random", earlier).ask().number == 9


def test_a_migration_that_another_began_is_made_once(earlier):
    with closing(SqlStorage(earlier)) as one, closing(SqlStorage(earlier)) as two:
        assert one.names() == two.names()
        study = one.find("every event")
        length = len(one.read(study))
        assert one.append(study, length, ["by one"])
        assert two.append(study, length, ["by two"]) is False
        assert two.append(study, length + 1, ["by two"])
