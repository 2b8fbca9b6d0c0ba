"""The containers of `examples`, as far as that can be checked without Docker.

The file is read as YAML, what it names must exist, and its commands run here against a PostgreSQL
server of the tests.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import outcrop as oc
from tests.study.running.processes import ENVIRONMENT

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "containers"
PASSWORD = "open sesame"
GIVEN = {"OUTCROP_PASSWORD": PASSWORD}


def interpolated(value, given):
    """A value with variables put in as Compose does: `${NAME}`, `:-default`, `:?error`, `$$`."""
    if isinstance(value, dict):
        return {key: interpolated(each, given) for key, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, given) for each in value]
    if not isinstance(value, str):
        return value

    def put_in(found):
        if found[0] == "$$":
            return "$"
        if found["how"] == ":?" and not given.get(found["name"]):
            raise KeyError(found["rest"])
        return given.get(found["name"]) or (found["rest"] or "")

    pattern = r"\$\$|\$\{(?P<name>\w+)((?P<how>:[-?])(?P<rest>[^}]*))?\}"
    assert "$" not in re.sub(pattern, "", value), "a variable that Compose would read differently"
    return re.sub(pattern, put_in, value)


@pytest.fixture
def services():
    content = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    assert content.keys() == {"services", "volumes"}
    return interpolated(content["services"], GIVEN)


def test_a_password_must_be_given_and_is_in_no_file():
    content = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    with pytest.raises(KeyError, match="set OUTCROP_PASSWORD"):
        interpolated(content, {})
    assert "@" in (FOLDER / "study" / "spec.toml").read_text()
    assert not re.search(r"//\w+:", (FOLDER / "study" / "spec.toml").read_text())


def test_what_the_containers_are_made_of_exists(services):
    assert services.keys() == {"db", "worker", "show"}
    build = services["worker"]["build"]
    context = (FOLDER / build["context"]).resolve()
    assert context == ROOT
    instructions = (context / build["dockerfile"]).read_text()
    sources = re.findall(r"^COPY (.+) \S+$", instructions, re.MULTILINE)
    assert all((context / name).exists() for line in sources for name in line.split())
    assert services["show"]["image"] == services["worker"]["image"]
    for name in ("worker", "show"):
        (mount,) = services[name]["volumes"]
        assert (FOLDER / mount.split(":")[0] / "spec.toml").is_file()
        assert mount.split(":")[1] == re.findall(r"^WORKDIR (\S+)$", instructions, re.MULTILINE)[-1]
        assert services[name]["depends_on"]["db"]["condition"] == "service_healthy"
    environment = services["db"]["environment"]
    url = f"postgresql://{environment['POSTGRES_USER']}@db/{environment['POSTGRES_DB']}"
    assert f'storage = "{url}"' in (FOLDER / "study" / "spec.toml").read_text()
    assert environment["POSTGRES_PASSWORD"] == services["worker"]["environment"]["PGPASSWORD"]


@pytest.mark.skipif(sys.platform != "linux", reason="it needs a shell and a pseudo terminal")
def test_the_commands_of_the_containers_work_without_them(services, postgresql, tmp_path):
    study = shutil.copytree(FOLDER / "study", tmp_path / "study")
    postgresql.execute(f"CREATE USER container PASSWORD '{PASSWORD}'")
    postgresql.execute("CREATE DATABASE container OWNER container")
    url = f"postgresql://container@127.0.0.1:{postgresql.port}/container"
    spec = study / "spec.toml"
    spec.write_text(spec.read_text().replace("postgresql://outcrop@db/outcrop", url))

    def started(name, host, **options):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = services[name]["environment"] | {"HOSTNAME": host, "PATH": path}
        command = [part.replace("--trials 40", "--trials 6") for part in services[name]["command"]]
        return subprocess.Popen(command, cwd=study, env=ENVIRONMENT | own, **options)

    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    workers = [started("worker", host, **piped) for host in ("a1b2", "c3d4")]
    for worker in workers:
        out, err = worker.communicate(timeout=600)
        assert worker.returncode == 0, err
        assert "stopped: the study has 6 trials" in out
        assert PASSWORD not in out + err
    password_file = tmp_path / "pgpass"
    password_file.write_text(f"*:*:*:*:{PASSWORD}\n")
    password_file.chmod(0o600)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSFILE", str(password_file))
        trials = oc.load_study("bowl", url).trials
    assert [trial.state for trial in trials] == ["finished"] * 6
    assert {trial.worker for trial in trials} <= {"a1b2", "c3d4"}

    ours, theirs = pty.openpty()
    show = started("show", "e5f6", stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        shown = b""
        while b"best value" not in shown:
            shown += os.read(ours, 4096)
    finally:
        show.send_signal(signal.SIGINT)
        show.wait(timeout=600)
        os.close(ours)
    assert b"study bowl" in shown
    assert PASSWORD.encode() not in shown
    assert show.returncode == 130
