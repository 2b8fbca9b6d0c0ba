import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from joblib.externals.loky import get_reusable_executor
from scipy import stats
from sklearn.datasets import load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    KFold,
    RandomizedSearchCV,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import outcrop as oc
from outcrop.errors import MethodError
from outcrop.integrations.sklearn import OutcropSearchCV
from outcrop.integrations.sklearn_search import batch_size
from tests.integrations.sklearn_estimators import LEVELS, Bowl, X, searched

UNIT = {"x": oc.Float(0, 1)}
WINE = load_wine(return_X_y=True)
TWO = make_classification(60, 4, random_state=0)
FEW = {"C": oc.Float(1e-2, 1e2, log=True)}


@pytest.mark.parametrize(
    ("estimator", "space", "method"),
    [
        (Ridge(), {"alpha": [0.1, 1.0]}, "auto"),
        (
            make_pipeline(PCA(), LogisticRegression()),
            {"logisticregression__C": oc.Float(0.1, 1)},
            "random",
        ),
    ],
    ids=["regression", "pipeline"],
)
def test_every_check_of_scikit_learn_passes(estimator, space, method):
    search = searched(estimator, space, n_iter=2, cv=2, method=method, error_score="raise")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(search, on_fail=None)
    assert not [each for each in found if each["status"] == "failed"]
    assert sum(each["status"] == "passed" for each in found) > 40


# The search


def test_the_best_candidate_is_near_the_optimum():
    search = OutcropSearchCV(Bowl(), UNIT, n_iter=15, random_state=0).fit(X, LEVELS)
    assert search.best_params_["x"] == pytest.approx(0.3, abs=0.02)
    assert search.best_score_ == pytest.approx(search.study_.best_value)
    assert search.best_estimator_.fitted_ == len(X)
    assert search.n_splits_ == 5
    assert search.refit_time_ >= 0


def test_the_same_seed_gives_the_same_candidates():
    first, second, third = (
        OutcropSearchCV(Bowl(), UNIT, n_iter=8, random_state=seed).fit(X, LEVELS).cv_results_
        for seed in (3, 3, 4)
    )
    assert first["params"] == second["params"] != third["params"]
    drawn = searched(Bowl(), UNIT, random_state=np.random.RandomState(0)).fit(X, LEVELS)
    assert len(drawn.cv_results_["params"]) == 4


def test_scores_are_those_of_cross_validation():
    search = searched(SVC(), FEW, cv=KFold(3), return_train_score=True).fit(*WINE)
    for i, params in enumerate(search.cv_results_["params"]):
        expected = cross_validate(SVC(**params), *WINE, cv=KFold(3), return_train_score=True)
        for k in range(3):
            assert search.cv_results_[f"split{k}_test_score"][i] == expected["test_score"][k]
            assert search.cv_results_[f"split{k}_train_score"][i] == expected["train_score"][k]


def test_the_results_have_the_columns_of_other_searches():
    options = {"cv": 3, "return_train_score": True, "scoring": ["accuracy", "f1_macro"]}
    other = RandomizedSearchCV(
        SVC(), {"C": stats.loguniform(1, 2)}, n_iter=3, refit=False, **options
    )
    ours = searched(SVC(), FEW, refit=False, **options)
    expected, found = other.fit(*WINE).cv_results_, ours.fit(*WINE).cv_results_
    assert {*found} == {*expected}
    for name, column in found.items():
        assert type(column) is type(expected[name])
        assert len(column) == 4
        if name != "params":
            assert column.dtype == expected[name].dtype
    assert not hasattr(ours, "best_index_")
    assert ours.multimetric_
    assert found["mean_test_accuracy"] == pytest.approx(
        np.mean([found[f"split{k}_test_accuracy"] for k in range(3)], axis=0)
    )
    assert (found["std_test_accuracy"] >= 0).all()
    ranks = stats.rankdata(-found["mean_test_f1_macro"], method="min")
    assert (found["rank_test_f1_macro"] == ranks).all()


def test_inactive_parameters_are_masked():
    kernel = oc.Choice({"linear": {}, "rbf": {"gamma": oc.Float(1e-3, 1)}})
    found = searched(SVC(), {"kernel": kernel, **FEW}, n_iter=8, cv=2).fit(*WINE).cv_results_
    masked = np.ma.getmaskarray(found["param_gamma"])
    assert (masked == (found["param_kernel"] == "linear")).all()
    assert 0 < masked.sum() < 8
    assert found["param_gamma"].dtype == float
    assert found["param_kernel"].dtype == object


def test_whole_estimators_are_chosen_with_their_parameters():
    pipeline = Pipeline([("scale", StandardScaler()), ("clf", SVC())])
    models = {"svc": SVC(), "logistic": LogisticRegression(max_iter=500)}
    space = {
        "scale": [StandardScaler(), MinMaxScaler(), "passthrough"],
        "clf": oc.Choice({"svc": {"kernel": oc.Categorical(["rbf", "poly"])}, "logistic": FEW}),
    }
    search = searched(pipeline, space, n_iter=8, cv=2, estimators={"clf": models})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # data that are not scaled
        search.fit(*WINE)
    kinds = {type(each["clf"]) for each in search.cv_results_["params"]}
    assert kinds == {SVC, LogisticRegression}
    assert type(search.best_estimator_["clf"]) is type(search.best_params_["clf"])
    for model in [*models.values(), *space["scale"][:2]]:
        with pytest.raises(NotFittedError):
            model.transform(WINE[0]) if hasattr(model, "transform") else model.predict(WINE[0])


def test_lists_are_searched_to_the_end():
    search = OutcropSearchCV(Bowl(), {"x": [0.1, 0.3, 0.5], "fails_above": [2, 3]}, n_iter=9)
    with pytest.warns(UserWarning, match="6 configurations"):
        search.fit(X, LEVELS)
    assert len({tuple(each.values()) for each in search.cv_results_["params"]}) == 6
    assert search.best_params_["x"] == 0.3


def test_no_candidate_is_evaluated_twice_although_scores_are_noisy():
    noisy = make_scorer(lambda y, p: -((p[0] - 0.3) ** 2) + 0.1 * np.sin(1e4 * y.sum() * p[0]))
    search = OutcropSearchCV(
        Bowl(), {"x": oc.Int(0, 20)}, n_iter=20, scoring=noisy, random_state=0, method="gp"
    )
    params = search.fit(X, LEVELS).cv_results_["param_x"]
    assert len({*params}) == 20


def test_the_study_is_told_the_noise_of_the_mean_and_not_the_spread_over_folds():
    search = OutcropSearchCV(Bowl(), UNIT, n_iter=6, random_state=0, method="gp").fit(X, LEVELS)
    assert search.cv_results_["std_test_score"].min() > 1  # folds differ
    assert max(trial.std for trial in search.study_.trials) < 1e-6  # by the same for everyone


def test_of_equal_candidates_the_one_in_the_middle_of_the_plateau_is_chosen():
    plateau = make_scorer(lambda y, p: -max(abs(p[0] - 0.5), 0.2))
    search = OutcropSearchCV(Bowl(), UNIT, n_iter=15, scoring=plateau, random_state=0, method="gp")
    found = search.fit(X, LEVELS).cv_results_
    equals = found["param_x"][found["rank_test_score"] == 1]
    assert len(equals) > 3
    assert abs(search.best_params_["x"] - 0.5) < 0.1 < np.ptp(equals)
    assert search.best_score_ == found["mean_test_score"].max()


def test_a_timeout_ends_the_search_after_the_first_batch():
    search = searched(Bowl(), UNIT, n_iter=100, timeout=1e-9).fit(X, LEVELS)
    assert len(search.cv_results_["params"]) == 4


def test_verbose_searches_say_how_far_they_are(capsys):
    searched(Bowl(), UNIT, n_iter=5, verbose=1).fit(X, LEVELS)
    assert "5 of 5 candidates" in capsys.readouterr().out


@pytest.mark.parametrize(("workers", "folds", "size"), [(1, 5, 1), (2, 5, 1), (4, 5, 2), (8, 5, 3)])
def test_batches_keep_workers_busy(workers, folds, size):
    assert batch_size(workers, folds) == size


def test_candidates_are_evaluated_in_other_processes():
    search = searched(Ridge(), {"alpha": oc.Float(0, 1)}, n_iter=6, n_jobs=2)
    try:
        search.fit(*TWO)
    finally:
        get_reusable_executor().shutdown(wait=True)  # joblib would keep its processes
    assert len(search.cv_results_["params"]) == 6


# Racing


def test_hopeless_candidates_are_abandoned():
    calls = []
    space = {"x": oc.Float(-3, 3)}
    jitter = make_scorer(lambda y, p: -abs(p[0] - 0.3) + y.mean() + 0.01 * np.cos(99 * p[0] * y[0]))
    search = OutcropSearchCV(
        Bowl(calls=calls),
        space,
        n_iter=20,
        racing=True,
        scoring=jitter,
        random_state=0,
        method="gp",
    )
    search.fit(X, LEVELS)
    found = search.cv_results_
    short = found["n_folds"] < 5
    assert 3 <= short.sum() < 16
    assert len(calls) == found["n_folds"].sum() + 1  # the refit
    assert np.isnan(found["mean_test_score"][short]).all()
    assert np.isfinite(found["mean_test_score"][~short]).all()
    table = np.array([found[f"split{k}_test_score"] for k in range(5)])
    assert (np.isfinite(table).sum(0) == found["n_folds"]).all()
    assert (found["n_folds"][:4] == 5).all()
    assert found["n_folds"][search.best_index_] == 5
    worst_of_others = found["rank_test_score"][~short].max()
    assert (found["rank_test_score"][short] > worst_of_others).all()


def test_what_is_told_of_an_abandoned_candidate_is_what_all_folds_would_give():
    space = {"x": oc.Float(-3, 3)}
    search = OutcropSearchCV(Bowl(), space, n_iter=12, racing=True, random_state=0, method="gp")
    search.fit(X, LEVELS)
    short = search.cv_results_["n_folds"] < 5
    assert short.any()
    for trial in search.study_.trials:
        assert trial.value == pytest.approx(-((trial.params["x"] - 0.3) ** 2) + LEVELS.mean())


# Failures


def test_failing_candidates_are_failed_trials():
    search = searched(Bowl(fails_above=0.5), UNIT, n_iter=10)
    with pytest.warns(FitFailedWarning, match="RuntimeError: out of range"):
        search.fit(X, LEVELS)
    failed = [trial for trial in search.study_.trials if trial.state == "failed"]
    assert failed
    assert all(trial.params["x"] > 0.5 for trial in failed)
    assert failed[0].reason == "RuntimeError: out of range"
    means = search.cv_results_["mean_test_score"]
    assert np.isnan(means).sum() == len(failed)
    ranks = search.cv_results_["rank_test_score"]
    assert (ranks[np.isnan(means)] == 10 - len(failed) + 1).all()
    assert search.best_params_["x"] <= 0.5


def test_failures_may_have_a_score():
    search = searched(Bowl(fails_above=0.5), UNIT, n_iter=6, error_score=-7)
    with pytest.warns(FitFailedWarning, match="score -7"):
        search.fit(X, LEVELS)
    assert search.cv_results_["mean_test_score"].min() == -7


def test_failures_may_be_raised_and_leave_no_trial_behind():
    search = searched(Bowl(fails_above=-1), UNIT, error_score="raise")
    with pytest.raises(RuntimeError, match="out of range"):
        search.fit(X, LEVELS)
    assert search.study_.trials == []


def test_a_search_whose_fits_all_fail_raises():
    with pytest.raises(ValueError, match=r"all 20 fits failed(?s:.*)out of range"):
        searched(Bowl(fails_above=-1), UNIT).fit(X, LEVELS)


def test_scorers_that_fail_give_the_error_score():
    def broken(estimator, X, y):
        raise OSError("no such score")

    search = searched(Bowl(), UNIT, scoring={"good": get_scorer("r2"), "bad": broken}, refit="good")
    with pytest.warns(UserWarning, match="'bad' failed"), pytest.warns(UserWarning, match="finite"):
        search.fit(X, LEVELS)
    assert np.isnan(search.cv_results_["mean_test_bad"]).all()
    assert np.isfinite(search.cv_results_["mean_test_good"]).all()
    with pytest.raises(OSError, match="no such score"):
        searched(Bowl(), UNIT, scoring=broken, error_score="raise").fit(X, LEVELS)


def test_scores_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="must be a number, got 'high'"):
        searched(Bowl(), UNIT, scoring=lambda e, X, y: {"a": np.array("high")}, refit="a").fit(
            X, LEVELS
        )


# Mistakes


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_iter": 0}, MethodError, "n_iter"),
        ({"timeout": -1}, MethodError, "timeout"),
        ({"racing": "yes"}, MethodError, "racing"),
        ({"error_score": "ignore"}, MethodError, "error_score"),
        ({"storage": "sqlite:///a.db"}, ValueError, "study_name"),
        ({"method": "magic"}, MethodError, "magic"),
        ({"cv": []}, ValueError, "no folds"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options, error, words):
    with pytest.raises(error, match=words):
        searched(Bowl(), UNIT, **options).fit(X, LEVELS)


def test_parameters_that_the_estimator_lacks_are_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'z'"):
        searched(Bowl(), {"z": [1, 2]}).fit(X, LEVELS)
    with pytest.raises(TypeError, match="fit"):
        searched(3, UNIT).fit(X, LEVELS)


def test_callbacks_are_refused():
    with pytest.raises(NotImplementedError, match="study"):
        searched(Bowl(), UNIT).set_callbacks(print)
