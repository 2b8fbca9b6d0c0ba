"""The scripts in `examples` run, and show what they say."""

from __future__ import annotations

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_guessed_names_find_conditional_parameters_in_every_branch(capsys):
    result = runpy.run_path(str(EXAMPLES / "guessed_names.py"))["main"](12, "random")
    assert {trial.params["model"] for trial in result.trials} == {"linear", "mlp", "cnn"}
    assert {trial.state for trial in result.trials} == {"finished"}
    out = capsys.readouterr().out
    assert "'layres' is unknown: expected 'lr', 'model'" in out


def test_a_history_from_a_spreadsheet_begins_a_search(capsys, caplog):
    study = runpy.run_path(str(EXAMPLES / "history.py"))["main"](n_trials=3)
    history, later = study.trials[:4], study.trials[4:]
    assert [trial.value for trial in history] == [0.41, 0.62, 0.7, None]
    assert [trial.params["temperature"] for trial in history] == [150, 155, 200, 300]
    assert [trial.params["stir"] for trial in history] == [True, True, False, False]
    assert history[3].reason == "boiled over"
    assert history[1].info["snapped"] == {"temperature": 152.6}
    assert [trial.source for trial in later] == ["asked"] * 3
    assert "skipped 1 without a value, 1 running; ignored the columns 'who'" in caplog.text
    assert "row 3: 'temperature' is 152.6, off the grid" in capsys.readouterr().out
