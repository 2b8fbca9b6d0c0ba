from outcrop.study.trial import Trial
from outcrop.study.trial_counts import failure_reasons, state_counts


def failed(reason):
    return Trial(0, {}, {}, "failed", reason=reason)


def test_states_are_counted_in_their_order():
    trials = [failed(""), Trial(1, {}, {}), Trial(2, {}, {}, "finished", value=1.0), failed("")]
    assert state_counts(trials) == "4 (1 finished, 1 running, 2 failed)"
    assert state_counts([]) == "0"


def test_reasons_that_differ_in_numbers_and_folders_are_one():
    reasons = [
        "exit code 1",
        "diverged at step 17: loss 1e30\nlong traceback",
        "diverged at step 4: loss 2e9",
        "timeout; output in /tmp/a",
        "timeout; output in /tmp/b",
        "diverged at step 99: loss 3e9",
        "",
    ]
    trials = [*map(failed, reasons), Trial(9, {}, {}, "finished", value=1.0)]
    assert failure_reasons(trials) == [
        (3, "diverged at step 17: loss 1e30 (numbers vary)"),
        (2, "timeout"),
        (1, "exit code 1"),
        (1, "no reason given"),
    ]
