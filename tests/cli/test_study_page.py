"""The page of a study on terminals of any width."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

import outcrop as oc
from outcrop.cli.study_page import best_line, study_page
from outcrop.cli.trial_table import packed

LONG = "stochastic gradient descent with momentum and warm restarts"
SPACES = {
    "small": oc.Space({"lr": oc.Float(1e-5, 0.1, log=True), "act": oc.Categorical(["a", "b"])}),
    "many": oc.Space({f"parameter_{i}": oc.Float(0, 1) for i in range(14)}),
    "conditional": oc.Space(
        {
            "rate": oc.Float(1e-5, 0.1, log=True),
            "model": oc.Choice(
                {"linear": {}, "mlp": {"layers": oc.Int(1, 4)}, "forest": {"depth": oc.Int(1, 9)}}
            ),
        }
    ),
    "long": oc.Space({"optimiser": oc.Categorical([LONG, "adam"]), "x": oc.Float(0, 1)}),
}
REASONS = ["exit code 3: the preconditioner is singular to working precision", "timeout", "NaN"]


def searched(space, method="random", n_trials=12, fails=True):
    study = oc.Study(space, "s", method=method, seed=0)
    for number in range(n_trials):
        trial = study.ask()
        if fails and number % 2:
            study.fail(trial, REASONS[number // 2 % 3] + f"; output in runs/{number}")
        else:
            study.tell(trial, number / 7)
    study.ask()
    return study


def page(study, width=80, last=20):
    stream = io.StringIO()
    Console(file=stream, width=width, highlight=False, markup=False).print(
        study_page(study, last, width)
    )
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("space", SPACES)
def test_no_line_is_wider_than_the_terminal_and_every_reason_is_there(space, width):
    study = searched(SPACES[space])
    out = page(study, width)
    assert max(map(cell_len, out.splitlines())) <= width
    assert "failures: 6 of 13 trials" in out
    words = " ".join(out.split())
    for reason in REASONS:
        assert f"2 x {reason}" in words
    for trial in study.trials:
        assert any(
            line.split()[:2] == [str(trial.number), trial.state] for line in out.splitlines()
        )
    for name, value in study.best_params.items():
        assert (
            f"{name} = {value:.6g}" in words if isinstance(value, float) else f"{name} = " in words
        )


def test_a_trial_in_a_narrow_terminal_has_a_few_lines():
    out = page(searched(SPACES["many"], fails=False))
    head = next(i for i, line in enumerate(out.splitlines()) if line.startswith("trial "))
    best = next(i for i, line in enumerate(out.splitlines()) if line.startswith("best value"))
    assert best - head - 1 <= 3 * 13
    assert "more" in out
    assert "more" not in page(searched(SPACES["conditional"], fails=False))


def test_parameters_have_columns_where_they_fit():
    study = searched(SPACES["conditional"], fails=False)
    columns = ["trial", "state", "value", "seconds", "rate", "model", "layers", "depth"]
    assert page(study).splitlines()[2].split() == columns
    assert "parameters" in page(searched(SPACES["many"], fails=False))
    assert "parameter_13" in page(searched(SPACES["many"], fails=False), 300).splitlines()[2]


def test_a_branch_in_which_all_trials_failed_is_named():
    study = oc.Study(SPACES["conditional"], "s", seed=0)
    study.add({"rate": 0.01, "model": "linear"}, 1.0)
    for _ in range(3):
        study.enqueue({"rate": 0.02, "model": "mlp", "model.mlp.layers": 2})
        study.fail(study.ask(), "KeyError: 'layers'")
    assert "all 3 trials of model=mlp failed, most often: KeyError: 'layers'" in page(study)


@pytest.mark.parametrize("method", ["random", "sobol"])
def test_a_method_without_a_model_promises_none(method):
    assert "model: none, the method does not have one" in page(searched(SPACES["small"], method))
    assert not searched(SPACES["small"], method).has_model
    assert "model: none yet" in page(searched(SPACES["small"], "gp", n_trials=2))


@given(st.lists(st.text("ab =1", min_size=1, max_size=12), max_size=9), st.integers(14, 40))
@settings(max_examples=50)
def test_items_are_packed_in_order_without_breaking_any(items, width):
    lines = packed(items, width)
    assert " ".join(lines) == ", ".join(items)
    assert all(len(line) <= width for line in lines)


def test_the_best_trial_is_a_line():
    study = searched(SPACES["many"])
    assert best_line(study).startswith("best value 0, trial 0: parameter_0 = ")
    assert best_line(study).count(" = ") == 14


@pytest.mark.parametrize("width", [40, 200])
def test_the_parameters_that_matter_most_have_a_line(width):
    study = oc.Study(SPACES["small"], "s", method="gp", seed=0)
    assert "importance" not in page(study, width)
    for _ in range(12):
        trial = study.ask()
        study.tell(trial, (trial.params["lr"] > 0.01) + 0.1 * (trial.params["act"] == "a"))
    found = study.importance()
    shares = ", ".join(f"{name} {found.total[name]}" for name in found.ranked)
    assert f"importance: {shares}; {found.unknown:.0%} unknown" in " ".join(
        page(study, width).split()
    )
