"""A search as an estimator: metrics and refit, data, metadata, copies."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

import scipy.sparse
from scipy import stats
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine, make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import outcrop as oc
from tests.integrations.sklearn_estimators import LEVELS, Bowl, X, searched

UNIT = {"x": oc.Float(0, 1)}
WINE = load_wine(return_X_y=True)
TWO = make_classification(60, 4, random_state=0)
FEW = {"C": oc.Float(1e-2, 1e2, log=True)}


# Metrics and refit


def test_several_metrics_need_one_that_decides():
    metrics = ["accuracy", "f1_macro"]
    for refit in (True, "recall"):
        with pytest.raises(ValueError, match="does not say which"):
            searched(SVC(), FEW, scoring=metrics, refit=refit).fit(*WINE)
    search = searched(SVC(), FEW, scoring=metrics, refit="f1_macro").fit(*WINE)
    assert search.best_score_ == search.cv_results_["mean_test_f1_macro"].max()
    assert search.study_.best_value == search.best_score_
    assert {*search.scorer_} == {*metrics}
    assert search.score(*WINE) == get_scorer("f1_macro")(search.best_estimator_, *WINE)


def test_a_callable_may_return_several_metrics():
    def both(estimator, X, y):
        found = accuracy_score(y, estimator.predict(X))
        return {"right": found, "wrong": -found}

    search = searched(SVC(), FEW, scoring=both, refit="wrong").fit(*WINE)
    assert search.best_score_ == search.cv_results_["mean_test_wrong"].max()
    with pytest.raises(ValueError, match="right, wrong"):
        searched(SVC(), FEW, scoring=both).fit(*WINE)


def test_a_callable_may_decide():
    search = searched(SVC(), FEW, refit=lambda results: int(results["mean_test_score"].argmin()))
    search.fit(*WINE)
    assert search.best_index_ == search.cv_results_["mean_test_score"].argmin()
    assert not hasattr(search, "best_score_")
    with pytest.raises(TypeError, match=r"0\.5"):
        searched(SVC(), FEW, refit=lambda results: 0.5).fit(*WINE)
    with pytest.raises(IndexError, match="4 candidates"):
        searched(SVC(), FEW, refit=lambda results: 4).fit(*WINE)


def test_without_refit_there_is_a_best_score_and_no_prediction():
    search = searched(SVC(), FEW, refit=False).fit(*WINE)
    assert search.best_params_ == search.cv_results_["params"][search.best_index_]
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(AttributeError):
        search.predict(WINE[0])


# As an estimator


def test_the_fitted_search_acts_as_the_best_estimator():
    search = searched(
        make_pipeline(StandardScaler(), SGDClassifier(random_state=0)),
        {
            "sgdclassifier__alpha": stats.loguniform(1e-5, 1e-1),
            "sgdclassifier__loss": ["hinge", "log_loss"],
        },
    ).fit(*WINE)
    assert (search.predict(WINE[0]) == search.best_estimator_.predict(WINE[0])).all()
    assert search.score(*WINE) > 0.9
    assert search.n_features_in_ == 13
    assert [*search.classes_] == [0, 1, 2]
    assert is_classifier(search)
    assert is_regressor(searched(Ridge(), {"alpha": [1, 2]}))
    assert hasattr(search, "decision_function")
    pca = searched(PCA(), {"n_components": [1, 2, 3]}, n_iter=3).fit(WINE[0])
    assert pca.inverse_transform(pca.transform(WINE[0])).shape == WINE[0].shape


def test_a_search_can_be_cloned_pickled_and_shown():
    search = searched(SVC(), {**FEW, "kernel": ["rbf", "linear"]}, racing=True, timeout=9.0)
    copy = clone(search)
    assert copy.get_params()["timeout"] == 9.0
    search.fit(*WINE)
    again = pickle.loads(pickle.dumps(search))
    assert (again.predict(WINE[0]) == search.predict(WINE[0])).all()
    assert again.study_.best_value == search.best_score_
    assert "OutcropSearchCV" in search._repr_html_()
    with pytest.raises(NotFittedError):
        copy.predict(WINE[0])


def test_data_of_many_kinds_are_searched():
    pd = pytest.importorskip("pandas")
    X, y = TWO
    frame = pd.DataFrame(X, columns=[*"abcd"])
    found = searched(LogisticRegression(), FEW).fit(frame, pd.Series(y))
    assert [*found.feature_names_in_] == [*"abcd"]
    expected = found.cv_results_["mean_test_score"]
    for given in (X.tolist(), scipy.sparse.csr_array(X)):
        other = searched(LogisticRegression(), FEW).fit(given, list(y))
        assert other.cv_results_["mean_test_score"] == pytest.approx(expected)
    assert searched(KMeans(n_init=1), {"n_clusters": [2, 3, 4]}, n_iter=3).fit(X).best_score_ < 0
    two = np.column_stack([y, y])
    assert searched(Ridge(), {"alpha": [1, 2, 3]}, n_iter=3).fit(X, two).predict(X).shape == (60, 2)


def test_kernel_matrices_are_cut_on_both_sides():
    X, y = TWO
    plain = searched(SVC(kernel="linear"), FEW).fit(X, y).cv_results_["mean_test_score"]
    matrix = searched(SVC(kernel="precomputed"), FEW).fit(X @ X.T, y).cv_results_
    assert matrix["mean_test_score"] == pytest.approx(plain)
    with pytest.raises(ValueError, match="square"):
        searched(SVC(kernel="precomputed"), FEW).fit(X, y)


def test_weights_are_cut_to_folds():
    def weight(estimator, X, y, sample_weight=None):
        return estimator.weight_

    weights = np.arange(20.0)
    search = searched(Bowl(), UNIT, scoring=weight, cv=KFold(5))
    search.fit(X, LEVELS, sample_weight=weights)
    for k, (train, _) in enumerate(KFold(5).split(X)):
        assert (search.cv_results_[f"split{k}_test_score"] == weights[train].sum()).all()
    assert search.best_estimator_.weight_ == weights.sum()


def test_groups_reach_the_folds():
    groups = np.arange(20) % 2
    search = searched(Bowl(), UNIT, cv=GroupKFold(2)).fit(X, LEVELS, groups=groups)
    assert search.n_splits_ == 2
    with pytest.raises(ValueError, match="groups"):
        searched(Bowl(), UNIT, cv=GroupKFold(2)).fit(X, LEVELS)


def test_metadata_are_routed():
    X, y = TWO
    weights, groups = np.where(y, 3.0, 1.0), np.arange(60) % 3
    with config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        search = searched(estimator, FEW, cv=GroupKFold(3), scoring=scorer)
        search.fit(X, y, sample_weight=weights, groups=groups)
        expected = cross_validate(
            clone(estimator).set_params(**search.best_params_),
            X,
            y,
            cv=GroupKFold(3),
            scoring=scorer,
            params={"sample_weight": weights, "groups": groups},
        )
        assert search.best_score_ == pytest.approx(expected["test_score"].mean())
        assert search.score(X, y, sample_weight=weights) == pytest.approx(
            accuracy_score(y, search.predict(X), sample_weight=weights)
        )


def test_all_candidates_have_the_same_folds():
    search = searched(Bowl(), UNIT, cv=ShuffleSplit(3, test_size=4)).fit(X, LEVELS)
    found = search.cv_results_
    shift = found["split0_test_score"] - found["split1_test_score"]
    assert shift == pytest.approx(shift[0])
    folds = KFold(4).split(X)  # a generator can be read once only
    assert searched(Bowl(), UNIT, cv=folds).fit(X, LEVELS).n_splits_ == 4
