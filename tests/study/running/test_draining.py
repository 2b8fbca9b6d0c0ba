"""Runs that end gently: the first SIGTERM lets running trials finish."""

from __future__ import annotations

import signal
from dataclasses import replace

import pytest

from outcrop.study.running import running_trials
from outcrop.study.running.evaluation import Outcome
from tests.study.running.doubles import Diary, studied
from tests.study.running.objectives import bowl
from tests.study.running.processes import eventually
from tests.study.running.test_executors import Submitting


def signalling(number, *signals):
    """An objective that sends signals to its own process in the trial of a number."""

    class Signalling:
        def evaluate(self, trial):
            if trial.number == number:
                for each in signals:
                    signal.raise_signal(each)
            return float(trial.number)

    return Signalling()


def test_the_first_sigterm_lets_the_running_trial_finish():
    study = Diary()
    result = studied(signalling(2, signal.SIGTERM), 9, study=study, drain=True)
    assert [trial.value for trial in result.trials] == [0, 1, 2]
    assert (result.reason, result.interrupted) == ("drained after SIGTERM", False)
    assert study.acts[-1] == ("tell", 2)
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_gives_the_running_trial_back(second):
    study = Diary()
    result = studied(signalling(2, signal.SIGTERM, second), 9, study=study, drain=True)
    assert [trial.value for trial in result.trials] == [0, 1]
    assert (result.interrupted, result.signal) == (True, second)
    assert study.acts[-1] == ("release", 2)


def test_ctrl_c_gives_the_running_trial_back_at_once():
    study = Diary()
    result = studied(signalling(2, signal.SIGINT), 9, study=study, drain=True)
    assert (result.interrupted, study.acts[-1]) == (True, ("release", 2))


def test_all_trials_of_several_workers_are_finished(caplog):
    study = Diary()
    executor = Submitting(study, [3, 30, 30])  # two run when the signal comes
    submit = executor.submit

    def signalled(function, objective, trial, call):
        if trial.number == 2:
            signal.raise_signal(signal.SIGTERM)
        return submit(function, objective, trial, call)

    executor.submit = signalled
    result = studied(bowl, 99, study=study, executor=executor, n_workers=2, drain=True)
    assert {trial.state for trial in result.trials} == {"finished"}
    assert len(result.trials) == 3
    assert "SIGTERM: the run ends when 2 running trials have ended" in caplog.text


def test_a_worker_that_the_signal_has_killed_too_does_not_fail_its_trial():
    study = Diary()

    class Dying(Submitting):
        def submit(self, function, objective, trial, call):
            if trial.number == 1:
                signal.raise_signal(signal.SIGTERM)  # systemd sends it to all processes
                self.failure = None
                function = lambda *arguments: Outcome(reason="it died", died=True)  # noqa: E731
            return super().submit(function, objective, trial, call)

    result = studied(bowl, 9, study=study, executor=Dying(study, []), n_workers=1, drain=True)
    assert [trial.state for trial in result.trials] == ["finished"]
    assert study.acts[-1] == ("release", 1)


@pytest.mark.parametrize("other", ["desk", "laptop"])
def test_a_trial_that_another_worker_has_got_meanwhile_is_a_warning(monkeypatch, caplog, other):
    monkeypatch.setattr(running_trials, "LEASE", 0.03)

    class Taken(Diary):
        def renew(self, trials, lease):
            return set()

        @property
        def trials(self):
            return [replace(trial, attempt=2, worker=other) for trial in super().trials]

    text = f"trial 0 was handed out again meanwhile, to worker '{other}'"
    seen = lambda p: float(eventually(lambda: text in caplog.text))  # noqa: E731
    assert studied(seen, 1, study=Taken(), worker="laptop").trials[0].value == 1.0
    assert caplog.text.count(text) == 1
    assert ("give each worker a name of its own" in caplog.text) == (other == "laptop")
