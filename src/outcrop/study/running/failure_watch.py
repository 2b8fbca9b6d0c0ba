"""What a run makes of failed evaluations: warnings, counts, and reasons to stop.

A mistake in the program tells nothing about the parameters, so its trial is given back and the run
ends. With `on_error="record"` every failure is recorded, and none ends the run.
"""

from __future__ import annotations

__all__ = ["FailureWatch", "checked_on_error"]

import logging
from collections import Counter
from dataclasses import dataclass, field

from outcrop.errors import AllTrialsFailed, MethodError, ObjectiveError
from outcrop.study.failed_branches import branch_text
from outcrop.study.running.evaluation import Outcome
from outcrop.study.running.protocol import OnError, Runnable
from outcrop.study.trial import Trial

logger = logging.getLogger(__name__)

# An objective is broken if it raises this often in a row and has never succeeded; in a run of a
# study that has values, twice as often, always at the same place.
HOPELESS = 5
LAST_LINES = 8  # of a traceback, in a warning


def checked_on_error(given: object) -> OnError:
    """`"stop"` or `"record"`."""
    if given == "stop" or given == "record":
        return given
    raise MethodError(f"on_error must be 'stop' or 'record', got {given!r}")


@dataclass
class FailureWatch:
    """Sees the outcomes of a run in the order in which they arrive."""

    study: Runnable
    on_error: OnError = "stop"
    mistake: ObjectiveError | None = None  # why the run ends once nothing runs
    raised: Counter[str] = field(default_factory=Counter)  # exceptions, by type and place
    has_succeeded: bool = False  # in this run
    in_a_row: list[Outcome] = field(default_factory=list)  # raised or crashed, without a success
    branches: set[str] = field(default_factory=set)  # of those in a row

    def is_mistake(self, trial: Trial, outcome: Outcome) -> bool:
        """Whether to give a trial back, since the program is to blame, not the parameters."""
        if self.on_error == "record" or not outcome.mistake:
            return False
        branch = branch_text(self.study.space, trial.params)
        if outcome.mistake == "likely" and self._has_succeeded(branch):
            return False
        if self.mistake is None:
            self.mistake = ObjectiveError(_mistake_text(trial, outcome, branch))
        return True

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Count what was told; the first exception of each type and place is a warning."""
        if outcome.place:
            self.raised[outcome.place] += 1
        if trial.state == "failed":
            level = logging.WARNING if self.raised[outcome.place] == 1 else logging.INFO
            shown = f"{outcome.place}\n{_last_lines(outcome.traceback)}"
            reason = shown if outcome.traceback else outcome.reason or trial.reason
            logger.log(level, "trial %d failed: %s", trial.number, reason)
        self.has_succeeded |= trial.state == "finished"
        if outcome.place or outcome.died:
            self.in_a_row.append(outcome)
            self.branches.add(branch_text(self.study.space, trial.params))
        else:
            self.in_a_row.clear()
            self.branches.clear()

    def check_hope(self) -> None:
        """Raise `AllTrialsFailed` if the objective is evidently broken, not one branch only."""
        count, places = len(self.in_a_row), {outcome.place for outcome in self.in_a_row}
        if self.on_error == "record" or self.has_succeeded or count < HOPELESS:
            return
        if len(self.branches) < min(2, self.study.space.n_branches):
            return
        ever = "none of the study has ever succeeded"
        if self._has_succeeded():
            if count < 2 * HOPELESS or len(places) > 1:
                return
            ever = "none of this run has succeeded"
        first = self.in_a_row[0]
        raise AllTrialsFailed(
            f"{count} trials in a row raised or crashed, and {ever}; the first: "
            f"{first.traceback or first.reason}"
        )

    def log_counts(self) -> None:
        """Log how often each exception was raised, if one was raised again after its warning."""
        if any(count > 1 for count in self.raised.values()):
            counts = (f"{count} x {place}" for place, count in self.raised.most_common())
            logger.warning("exceptions of this run: %s", "; ".join(counts))

    def _has_succeeded(self, branch: str | None = None) -> bool:
        """Whether the objective ever returned a value, in a branch or anywhere.

        Results that were added elsewhere say nothing about it.
        """
        return any(
            trial.state == "finished"
            and trial.source == "asked"
            and (branch is None or branch_text(self.study.space, trial.params) == branch)
            for trial in self.study.trials
        )


def _mistake_text(trial: Trial, outcome: Outcome, branch: str) -> str:
    end = "" if outcome.reason.endswith((".", "?")) else "."
    given_back = (
        f"Trial {trial.number} is given back, so that nothing is learnt from it. Correct the "
        'objective, or set on_error to "record" to record such trials as failed.'
    )
    if outcome.mistake == "certain":
        return f"{outcome.reason}{end} {given_back}"
    where = f"the branch {branch}" if branch else "the study"
    return (
        f"{outcome.reason}{end} This looks like a mistake in the program, not like bad parameters: "
        f"nothing has succeeded in {where} yet. {given_back}\n{outcome.traceback}".rstrip()
    )


def _last_lines(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-LAST_LINES:])
