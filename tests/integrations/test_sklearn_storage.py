import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold, ShuffleSplit

import outcrop as oc
from outcrop.errors import StudyError
from tests.integrations.sklearn_estimators import LEVELS, Bowl, Interrupted, X, searched

ROOT = Path(__file__).parents[2]
UNIT = {"x": oc.Float(0, 1)}


@pytest.fixture
def stored(tmp_path):
    """Options of a search that is stored."""
    return {"storage": f"sqlite:///{tmp_path / 'search.db'}", "study_name": "bowl"}


def test_a_stored_search_goes_on(stored):
    first = searched(Bowl(), UNIT, n_iter=5, return_train_score=True, **stored).fit(X, LEVELS)
    second = searched(Bowl(), UNIT, n_iter=8, return_train_score=True, **stored).fit(X, LEVELS)
    for name, column in first.cv_results_.items():
        if not name.startswith("rank"):
            assert np.array_equal(second.cv_results_[name][:5], column), name
    assert len(second.cv_results_["params"]) == len(second.study_.trials) == 8
    assert oc.load_study("bowl", stored["storage"]).best_value == second.best_score_


def test_a_search_that_has_its_candidates_only_refits(stored):
    first = searched(Bowl(), UNIT, **stored).fit(X, LEVELS)
    second = searched(Bowl(), UNIT, **stored).fit(X, LEVELS)
    assert second.cv_results_["params"] == first.cv_results_["params"]
    assert second.best_estimator_.fitted_ == len(X)
    assert len(second.study_.trials) == 4


def test_failed_and_abandoned_candidates_are_stored_too(stored):
    space = {"x": oc.Float(-3, 3)}
    options = {"racing": True, "n_iter": 16, **stored}
    with pytest.warns(FitFailedWarning, match="out of range"):
        first = searched(Bowl(fails_above=2), space, **options).fit(X, LEVELS)
    with pytest.warns(FitFailedWarning, match="out of range"):
        second = searched(Bowl(fails_above=2), space, **options).fit(X, LEVELS)
    assert {"failed", "finished"} == {trial.state for trial in second.study_.trials}
    folds = first.cv_results_["n_folds"]
    assert (folds < 5).any()
    assert (second.cv_results_["n_folds"] == folds).all()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"y": LEVELS + 1}, "data"),
        ({"cv": KFold(4)}, "folds"),
        ({"estimator": Bowl(fails_above=5)}, "estimator"),
        ({"scoring": "r2"}, "scoring"),
    ],
)
def test_scores_of_other_data_are_not_mixed(stored, change, word):
    searched(Bowl(), UNIT, **stored).fit(X, LEVELS)
    y, estimator = change.pop("y", LEVELS), change.pop("estimator", Bowl())
    with pytest.raises(StudyError, match=f"'bowl' holds candidates with other {word}"):
        searched(estimator, UNIT, **stored, **change).fit(X, y)


def test_folds_that_change_with_each_call_are_explained(stored):
    cv = ShuffleSplit(3)
    searched(Bowl(), UNIT, cv=cv, **stored).fit(X, LEVELS)
    with pytest.raises(StudyError, match="random_state=0"):
        searched(Bowl(), UNIT, cv=cv, **stored).fit(X, LEVELS)


def test_another_space_is_refused(stored):
    searched(Bowl(), UNIT, **stored).fit(X, LEVELS)
    with pytest.raises(StudyError, match="exists and differs"):
        searched(Bowl(), {"x": oc.Float(0, 2)}, **stored).fit(X, LEVELS)


def test_the_candidate_of_a_process_that_was_killed_is_evaluated_again(stored):
    program = f"""
import os
import outcrop as oc
from tests.integrations.sklearn_estimators import LEVELS, Bowl, X, searched
usual, fits = Bowl.fit, []
def fit(self, X, y=None):
    fits.append(self.x)
    if len(fits) == 23:  # in the fifth candidate
        os._exit(1)
    return usual(self, X, y)
Bowl.fit = fit
searched(Bowl(), {{"x": oc.Float(0, 1)}}, n_iter=6, **{stored!r}).fit(X, LEVELS)
"""
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 1
    left = oc.load_study("bowl", stored["storage"]).trials[-1]
    assert (left.number, left.state) == (4, "running")
    search = searched(Bowl(), UNIT, n_iter=6, **stored).fit(X, LEVELS)
    assert search.cv_results_["params"][4] == {"x": left.params["x"]}
    assert [trial.state for trial in search.study_.trials] == ["finished"] * 6


def test_results_added_by_hand_are_known_to_the_model_only(stored):
    study = oc.Study(
        oc.Space(UNIT), "bowl", stored["storage"], direction="maximize", method="random", seed=0
    )
    study.add({"x": 0.9}, 1.0)
    search = searched(Bowl(), UNIT, **stored).fit(X, LEVELS)
    assert len(search.study_.trials) == 5
    assert len(search.cv_results_["params"]) == 4


def test_a_pickle_does_not_need_the_store(stored):
    search = searched(Bowl(), UNIT, **stored).fit(X, LEVELS)
    text = pickle.dumps(search)
    oc.delete_study("bowl", stored["storage"])
    again = pickle.loads(text)
    assert again.best_params_ == search.best_params_
    assert not hasattr(again, "study_")


def test_an_interrupted_search_keeps_its_best():
    calls = []
    search = searched(Interrupted(at=28, calls=calls), UNIT, n_iter=20)
    with pytest.warns(UserWarning, match="best of 5 candidates"):
        search.fit(X, LEVELS)
    assert len(search.cv_results_["params"]) == 5
    assert search.best_estimator_.fitted_ == len(X)
    assert [trial.state for trial in search.study_.trials] == ["finished"] * 5


def test_a_search_that_is_interrupted_at_once_raises():
    with pytest.raises(KeyboardInterrupt):
        searched(Interrupted(at=3, calls=[]), UNIT).fit(X, LEVELS)
