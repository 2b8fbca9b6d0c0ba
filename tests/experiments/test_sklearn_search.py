import numpy as np
import pytest

pytest.importorskip("experiments.harness")

from sklearn.base import clone

from experiments import sklearn_search
from experiments.sklearn_search import OURS, RACING, SEARCHES, ahead, random_variable, rank, report
from experiments.sklearn_tasks import MODELS, TASKS, FlatPipeline, data_of, flat_params
from outcrop.space import Categorical, Float, Int, Space

CONDITIONAL = [name for name, task in TASKS.items() if task.is_conditional]


@pytest.mark.parametrize("method", [OURS, RACING, "RandomizedSearchCV", "HalvingRandomSearchCV"])
@pytest.mark.parametrize("name", ["svr-diabetes", *CONDITIONAL])
def test_every_search_is_made_for_every_kind_of_task(name, method):
    search = SEARCHES[method](TASKS[name], 0)
    assert search.cv.random_state == 0
    assert search.refit is False


def test_the_flat_pipeline_is_the_pipeline():
    (name,) = CONDITIONAL
    task, rng = TASKS[name], np.random.default_rng(0)
    X, y = data_of(task.data)
    for params in Space(task.parameters).sample(rng, 3):
        flat = FlatPipeline(**params).fit(X, y)
        usual = clone(task.estimator).set_params(**clone(flat_params(params), safe=False))
        assert (flat.predict(X) == usual.fit(X, y).predict(X)).all()


def test_alternatives_have_the_same_parameters_as_the_tree():
    (name,) = CONDITIONAL
    task = TASKS[name]
    assert {*task.tree["model"].options} == {*task.models["model"]} == {*MODELS}
    assert len(task.alternatives) == len(MODELS)


@pytest.mark.parametrize(
    ("parameter", "low", "high"),
    [(Float(1, 3), 1, 3), (Float(1e-3, 10, log=True), 1e-3, 10), (Int(2, 5), 2, 5)],
)
def test_random_variables_have_the_bounds_of_parameters(parameter, low, high):
    assert random_variable(parameter).support() == pytest.approx((low, high))
    assert random_variable(Categorical(["a", "b"])) == ["a", "b"]


def test_ranks_are_among_searches_without_racing():
    scores = {OURS: 0.9, RACING: 0.95, "RandomizedSearchCV": 0.92, "BayesSearchCV": 0.9}
    assert rank(scores, OURS) == 2.5
    assert rank(scores, RACING) == 1
    assert rank(scores, "RandomizedSearchCV") == 1
    assert ahead({("a", 0): scores}, "RandomizedSearchCV").startswith("0 : 1")


def test_the_report_has_a_line_for_every_search():
    rows = [
        {
            "cell": {"problem": problem, "method": method},
            "run": 0,
            "score": float(i),
            "seconds": 1.0,
            "fits": 150,
        }
        for problem in TASKS
        for i, method in enumerate(SEARCHES)
    ]
    text = report(rows)
    assert all(text.count(f"| {method} ") >= 1 for method in SEARCHES)
    assert sklearn_search.EXPERIMENT.cells[0] == rows[0]["cell"]
