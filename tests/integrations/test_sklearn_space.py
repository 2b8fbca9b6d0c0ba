import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from outcrop.errors import SpaceError
from outcrop.integrations.sklearn_space import search_space
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space

PIPELINE = Pipeline([("scale", StandardScaler()), ("clf", SVC())])


def parameter(given, name="a"):
    return search_space({name: given}, None, {}).space.parameters[name]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (stats.uniform(2, 3), Float(2, 5)),
        (stats.loguniform(1e-3, 10), Float(1e-3, 10, log=True)),
        (stats.reciprocal(1e-3, 10), Float(1e-3, 10, log=True)),
        (stats.randint(1, 9), Int(1, 8)),
        (stats.randint(3, 4), Fixed(3)),
        (stats.binom(4, 0.5), Int(0, 4)),
        (stats.poisson(3), Int(0, 10)),
        (stats.norm(), Float(0.001, 0.999)),
        (stats.expon(scale=9), Float(0.0, 0.999)),
        (stats.beta(2, 2), Float(0.0, 1.0)),
        ([1, 2, 4], Ordinal([1, 2, 4])),
        ([4, 1, 2], Ordinal([1, 2, 4])),
        (np.logspace(-2, 0, 3), Ordinal([0.01, 0.1, 1.0])),
        (range(3), Ordinal([0, 1, 2])),
        ([1, 2], Categorical([1, 2])),
        ([-1, 5, 10], Categorical([-1, 5, 10])),
        ([None, 2, 3], Categorical([None, 2, 3])),
        ([True, False], Categorical([True, False])),
        ([(3,), (3, 3)], Categorical([(3,), (3, 3)])),
        (["a", "b", "a"], Categorical(["a", "b"])),
        (["a"], Fixed("a")),
        (Int(1, 4), Int(1, 4)),
    ],
)
def test_what_is_given_is_a_parameter(given, expected):
    assert parameter(given) == expected


def test_seeds_are_categories():
    assert parameter([0, 1, 2], "clf__random_state") == Categorical([0, 1, 2])


def test_a_distribution_is_searched_by_its_quantiles():
    given = stats.expon(scale=100)
    made = search_space({"C": given}, None, {})
    assert made.params({"C": 0.5})["C"] == pytest.approx(100 * np.log(2))
    assert "expon" in made.meanings["C"]


def test_a_shifted_loguniform_is_searched_by_its_quantiles():
    made = search_space({"C": stats.loguniform(1, 100, loc=5)}, None, {})
    assert made.params({"C": 0.5})["C"] == pytest.approx(15)


def test_values_of_a_list_come_back_as_they_were_given():
    class Odd:
        pass

    given = [StandardScaler(), None, "passthrough", Odd(), Odd(), np.float32(2.0), [1, 2]]
    made = search_space({"a": given}, None, {})
    labels = made.space.parameters["a"].choices
    assert len(labels) == len(given)
    assert all(made.params({"a": label})["a"] is given[i] for i, label in enumerate(labels))


def test_labels_have_no_addresses():
    given = [lambda: 1, lambda: 2]
    first, second = (parameter([*given]).choices for _ in range(2))
    assert first == second
    assert not any("0x" in label for label in first)


def test_parameters_below_an_estimator_are_its_own():
    clf = Choice({"svc": {"C": Float(1, 9)}, "forest": {"max_depth": Int(1, 5)}})
    objects = {"svc": SVC(), "forest": RandomForestClassifier()}
    made = search_space({"clf": clf}, {"clf": objects}, PIPELINE.get_params())
    params = made.params({"clf": "forest", "clf.forest.max_depth": 3})
    assert params == {"clf": objects["forest"], "clf__max_depth": 3}
    PIPELINE.set_params(**params)


def test_parameters_below_another_option_are_as_beside_it():
    kernel = Choice({"linear": {}, "rbf": {"gamma": Float(1, 9)}})
    made = search_space({"kernel": kernel}, None, SVC().get_params())
    assert made.params({"kernel": "rbf", "kernel.rbf.gamma": 2.0}) == {
        "kernel": "rbf",
        "gamma": 2.0,
    }
    inner = Choice({"svc": {"kernel": kernel}, "none": {}})
    made = search_space({"clf": inner}, {"clf": {"svc": SVC(), "none": "passthrough"}}, {})
    flat = {"clf": "svc", "clf.svc.kernel": "rbf", "clf.svc.kernel.rbf.gamma": 2.0}
    assert {*made.params(flat)} == {"clf", "clf__kernel", "clf__gamma"}


def test_categories_may_stand_for_objects():
    objects = {"range": MinMaxScaler(), "none": "passthrough"}
    made = search_space({"scale": Categorical(["range", "none"])}, {"scale": objects}, {})
    assert made.params({"scale": "range"}) == {"scale": objects["range"]}


def test_a_list_of_dictionaries_is_a_choice():
    made = search_space([{"C": [1, 2]}, {"C": [5], "gamma": Float(1, 2)}], None, {})
    flat = {"alternative": "1", "alternative.1.C": 5, "alternative.1.gamma": 1.5}
    assert made.params(made.space.validate(flat)) == {"C": 5, "gamma": 1.5}


def test_a_space_is_taken_with_its_constraints_and_stays_as_it_is():
    space = Space({"a": Float(0, 1), "b": Float(0, 1)}, constraints=["a + b <= 1"])
    made = search_space(space, None, {})
    assert made.space.constraints
    assert made.space is not space  # spaces cache, and a search must not change its arguments


@pytest.mark.parametrize(
    ("given", "estimators", "words"),
    [
        ({"C": 3}, None, "'C' is 3"),
        ({"C": []}, None, "'C'"),
        ({"C": "abc"}, None, "'C'"),
        ({"C": np.ones((2, 2))}, None, "'C'"),
        ({}, None, "no parameters"),
        ([], None, "expected a dict"),
        ("C", None, "expected a dict"),
        ([3], None, "expected a dict"),
        ({"clf": Choice({"svc": {}, "no": {}})}, None, "estimators="),
        ({"clf": Choice({"svc": {}, "no": {}})}, {"clf": {"svc": SVC()}}, "'no'"),
        ({"clf": Float(0, 1)}, {"clf": {}}, "Choice"),
        ({"C": [1, 2]}, {"clf": {}}, "'clf' is no parameter"),
        (
            {"clf": Choice({"svc": {"C": Float(0, 1)}}), "clf__C": [1, 2]},
            {"clf": {"svc": SVC()}},
            "both are the estimator's 'clf__C'",
        ),
    ],
)
def test_what_cannot_be_searched_is_refused_with_the_remedy(given, estimators, words):
    with pytest.raises(SpaceError, match="(?s)" + words.replace("'", ".")):
        search_space(given, estimators, PIPELINE.get_params())
