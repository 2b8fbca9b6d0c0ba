"""`outcrop release`: running trials that nobody works on any more are given back."""

from __future__ import annotations

import io

import pytest

from outcrop.cli.app import main
from outcrop.study import load_study
from tests.study.handles import forget, opened


@pytest.fixture
def call(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OUTCROP_STORAGE", raising=False)

    def given(*arguments: str, typed: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main(list(arguments))
        return code, *capsys.readouterr()

    return given


@pytest.fixture
def study(call):
    """Trials 0 and 3 have no lease, 1 is leased, the lease of 2 has expired, 4 is finished."""
    study = opened("sqlite:///s.db")
    study.ask()
    study.ask(2, lease=600)
    study.ask()
    study.tell(study.ask(), 1.0)
    forget(study, 2)
    return study


def running():
    return [t.number for t in load_study("s", "sqlite:///s.db").trials if t.state == "running"]


def test_leases_are_told_by_trial(study):
    leases = study.leases()
    assert [*leases] == [0, 1, 2, 3]
    assert leases[0] is None
    assert leases[3] is None
    assert 0 < leases[1] <= 600
    assert leases[2] <= 0


def test_trials_that_nobody_holds_are_listed_and_released_after_asking(call, study):
    code, out, _ = call("release", "s", typed="n\n")
    assert code == 0
    assert "trial 0: no lease" in out
    assert "trial 1: leased for another" in out
    assert "trial 2: its lease has expired" in out
    assert "nothing was released" in out
    assert running() == [0, 1, 2, 3]
    code, out, _ = call("release", "s", typed="y\n")
    assert code == 0
    assert "released: 0, 2, 3" in out
    assert running() == [1]
    code, out, _ = call("release", "s", "--yes")
    assert code == 0
    assert "no trial to release" in out


def test_trials_are_released_by_their_numbers(call, study):
    assert "released: 3" in call("release", "s", "3")[1]
    assert running() == [0, 1, 2]


def test_a_trial_that_is_leased_is_released_by_force_only(call, study):
    code, _, err = call("release", "s", "0", "1")
    assert code == 2
    assert "trial 1 is leased for another" in err
    assert running() == [0, 1, 2, 3], "all or none"
    assert call("release", "s", "0", "1", "--force")[0] == 0
    assert running() == [2, 3]


@pytest.mark.parametrize(("number", "words"), [("4", "finished already"), ("9", "is unknown")])
def test_what_does_not_run_is_not_released(call, study, number, words):
    code, _, err = call("release", "s", "0", number)
    assert code == 2
    assert words in err
    assert running() == [0, 1, 2, 3]


def test_released_configurations_are_offered_again_on_request(call, study):
    params = study.trials[3].params
    assert "offered again" in call("release", "s", "3", "--again")[1]
    study.release(2)  # else it would be handed out first
    again = load_study("s", "sqlite:///s.db").ask()
    assert (again.number, again.params) == (5, params)
