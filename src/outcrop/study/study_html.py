"""Studies, results, trials and recommendations as HTML tables, for notebooks."""

from __future__ import annotations

__all__ = ["recommendation_html", "result_html", "study_html", "trial_html"]

from collections.abc import Sequence
from typing import TYPE_CHECKING

from outcrop.errors import NoBelief
from outcrop.html_tables import Html, facts, folded, page, short, table
from outcrop.space import Space
from outcrop.study.failed_branches import failed_branches
from outcrop.study.trial import Trial, best_of
from outcrop.study.trial_counts import failure_reasons, state_counts

if TYPE_CHECKING:
    from outcrop.study.objective_belief import Recommendation
    from outcrop.study.running import Result
    from outcrop.study.state import State

LAST = 10  # trials in the table of a study
REASONS = 3  # kinds of failures that are listed


def study_html(title: str, state: State, method: str) -> Html:
    """The best trial of a study, its failures and its last trials."""
    how = f"{state.created.direction}, method {method}, seed {state.created.seed}"
    trials = state.trials
    return page(title, how, *_outcomes(state.space, trials, state.sign), *_last(trials))


def result_html(result: Result) -> Html:
    """The best trial of a run, its failures, and why it ended."""
    sign = -1.0 if result.study.direction == "maximize" else 1.0
    ended = f"Result: {result.reason}" if result.reason else "Result"
    trials = result.trials
    return page(ended, *_outcomes(result.study.space, trials, sign), *_last(trials))


def trial_html(trial: Trial) -> Html:
    """A trial's outcome and its parameters."""
    outcome = f", value {_value(trial)}" if trial.value is not None else ""
    remarks = [f"reason: {trial.reason}"] if trial.reason else []
    remarks += [str(correction) for correction in trial.corrections]
    remarks += [f"set aside: {trial.aside}"] if trial.aside else []
    at = {f"{name} (evaluated at)": value for name, value in (trial.at or {}).items()}
    return page(
        f"Trial {trial.number}: {trial.state}{outcome}", *remarks, facts({**trial.params, **at})
    )


def recommendation_html(held: Recommendation) -> Html:
    """What is believed of the recommended configuration, and the configuration."""
    mean = "average over input noise" if held.robust else "mean"
    return page(
        f"Recommendation: trial {held.trial.number}",
        f"{mean} {short(held.mean)} ± {short(held.std)}, best of all evaluated ones with "
        f"probability {held.probability:.2f}",
        facts(held.params),
    )


def _outcomes(space: Space, trials: Sequence[Trial], sign: float) -> list[str]:
    """Counts, the best trial, frequent reasons of failures, and where all trials failed."""
    parts = [f"trials: {state_counts(trials)}"]
    try:
        best = best_of(trials, sign)
        parts += [f"best value {_value(best)}, trial {best.number}", facts(best.params)]
    except NoBelief:
        parts.append("no trial has finished yet")
    reasons = failure_reasons(trials)
    if reasons:
        parts.append(table(["failures", "reason"], reasons[:REASONS]))
    return parts + [str(branch) for branch in failed_branches(space, trials)[:REASONS]]


def _last(trials: Sequence[Trial]) -> list[Html]:
    last = trials[-LAST:]
    if not last:
        return []
    names = list(dict.fromkeys(name for trial in last for name in trial.params))
    rows = [
        [trial.number, trial.state, _value(trial), *(trial.params.get(n, "") for n in names)]
        for trial in last
    ]
    title = "the last trial" if len(last) == 1 else f"the last {len(last)} trials"
    return [folded(title, table(["trial", "state", "value", *names], rows))]


def _value(trial: Trial) -> str:
    if trial.value is None:
        return ""
    spread = "" if trial.std is None else f" ± {short(trial.std)}"
    return f"{short(trial.value)}{spread}"
