import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.integrations.conditions import Chooser, Condition, Sighting, conditions_of
from outcrop.integrations.parameter_tree import ChoiceItem
from outcrop.integrations.tree_building import chooser_of, declared_tree, grown, labelled
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Space

KIND = Chooser([0, 1, 2])


def learn(trials, choosers, *, partial=()):
    sightings = [Sighting(trial) for trial in trials]
    sightings += [Sighting(trial, whole=False) for trial in partial]
    names = dict.fromkeys(name for each in sightings for name in each.values)
    return conditions_of(names, choosers, sightings)


def tree_of(trials, **parameters):
    sightings = [Sighting(trial) for trial in trials]
    return grown(parameters, conditions_of(parameters, choosers_of(parameters), sightings))


def choosers_of(parameters):
    found = {name: chooser_of(parameter) for name, parameter in parameters.items()}
    return {name: chooser for name, chooser in found.items() if chooser}


@st.composite
def groups(draw, depth, counter):
    """Random trees whose names are all different, as an objective would have them."""
    group = {}
    for _ in range(draw(st.integers(1, 3 if depth else 2))):
        name = f"p{next(counter)}"
        if depth and draw(st.booleans()):
            options = draw(st.integers(2, 3))
            inner = [
                draw(groups(depth - 1, counter)) if draw(st.booleans()) else {}
                for _ in range(options)
            ]
            group[name] = Choice({f"o{i}": each for i, each in enumerate(inner)})
        else:
            group[name] = Float(0, 1)
    return group


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_active_is_learnt_from_enough_trials_of_any_tree(data):
    counter = iter(range(1000))
    space = Space(data.draw(groups(3, counter)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    last = {flat: flat.rsplit(".", 1)[-1] for flat in space.parameters}

    def trials(n):
        for params in space.sample(rng, n):
            yield {
                last[flat]: space.parameters[flat].index(value) if isinstance(value, str) else value
                for flat, value in params.items()
            }

    parameters = {
        last[flat]: Categorical(each.names) if isinstance(each, Choice) else each
        for flat, each in space.parameters.items()
    }
    sightings = [Sighting(trial) for trial in trials(400)]
    tree = grown(parameters, conditions_of(parameters, choosers_of(parameters), sightings))
    for trial in trials(50):
        params = tree.configuration([trial], lambda item: pytest.fail(f"{item.names} is missing"))
        assert tree.assignment(params) == trial


def test_a_parameter_depends_on_the_option_it_appears_with():
    trials = [{"kind": 0, "a": 0.1}, {"kind": 1, "b": 0.2}, {"kind": 1, "b": 0.4}]
    assert learn(trials, {"kind": KIND}) == {
        "a": Condition("kind", frozenset({0})),
        "b": Condition("kind", frozenset({1})),
    }


def test_what_a_trial_lacks_counts_only_if_it_ran_to_its_end():
    whole, cut = [{"kind": 0, "a": 0.1}], [{"kind": 1}]
    assert learn(whole, {"kind": KIND}, partial=cut) == {}
    assert learn(whole + cut, {"kind": KIND}) == {"a": Condition("kind", frozenset({0}))}


def test_what_a_trial_has_counts_however_it_ended():
    whole = [{"kind": 0, "a": 0.1}, {"kind": 2}]
    learnt = learn(whole, {"kind": KIND}, partial=[{"kind": 1, "a": 0.3}])
    assert learnt == {"a": Condition("kind", frozenset({0, 1}))}


def test_a_chance_agreement_is_given_up_when_a_trial_contradicts_it():
    choosers = {"kind": Chooser([0, 1]), "other": Chooser([0, 1])}
    trials = [{"kind": 0, "other": 0, "a": 0.1}, {"kind": 1, "other": 1}]
    assert learn(trials, choosers)["a"].parent == "other"  # asked for last before a
    trials.append({"kind": 0, "other": 1, "a": 0.7})
    assert learn(trials, choosers)["a"] == Condition("kind", frozenset({0}))


def test_an_option_never_seen_opens_nothing():
    trials = [{"kind": 0, "a": 0.1}, {"kind": 1}]
    assert learn(trials, {"kind": KIND})["a"].values == {0}


def test_a_whole_number_never_seen_does_as_its_nearest_neighbour():
    layers = Chooser([1, 2, 3, 4, 5, 6], ordered=True)
    trials = [{"layers": 2}, {"layers": 5, "a": 0.1}]
    assert learn(trials, {"layers": layers})["a"].values == {4, 5, 6}


def test_a_whole_number_opens_without_gaps():
    layers = Chooser([1, 2, 3, 4], ordered=True)
    trials = [{"layers": 2, "a": 0.1}, {"layers": 3}, {"layers": 4, "a": 0.1}, {"layers": 1}]
    assert learn(trials, {"layers": layers})["a"].values == {2, 3, 4}


def test_what_no_choice_explains_belongs_to_every_trial():
    trials = [
        {"kind": 0, "x": 0.9, "a": 0.1},
        {"kind": 0, "x": 0.2},
        {"kind": 1, "x": 0.3, "a": 1.0},
    ]
    assert learn(trials, {"kind": Chooser([0, 1])}) == {}


def test_what_two_choices_explain_together_depends_on_one_of_them():
    choosers = {"kind": Chooser([0, 1]), "other": Chooser([0, 1])}
    trials = [
        {"kind": k, "other": o} | ({"a": 0.1} if k and o else {}) for k in (0, 1) for o in (0, 1)
    ]
    assert learn(trials, choosers)["a"].values == {1}


def test_options_that_open_parameters_together_share_one_declaration():
    trials = [{"opt": 0, "momentum": 0.1}, {"opt": 1, "momentum": 0.2}, {"opt": 2}]
    tree = tree_of(trials, opt=Categorical(["sgd", "rms", "adam"]), momentum=Float(0, 1))
    assert tree.space == Space(
        {
            "opt": Choice(
                {
                    "sgd|rms": {"opt": Categorical(["sgd", "rms"]), "momentum": Float(0, 1)},
                    "adam": {},
                }
            )
        }
    )


def test_layers_that_add_up_are_nested():
    trials = [{"n": n, **{f"u{i}": 5 for i in range(n)}} for n in (1, 2, 3)]
    tree = tree_of(trials, n=Int(1, 3), u0=Int(1, 9), u1=Int(1, 9), u2=Int(1, 9))
    inner = Choice({"2": {}, "3": {"u2": Int(1, 9)}})
    outer = Choice({"1": {}, "2|3": {"n": inner, "u1": Int(1, 9)}})
    assert tree.space == Space({"n": outer, "u0": Int(1, 9)})


def test_options_whose_parameters_overlap_stand_by_themselves():
    trials = [{"k": 0, "a": 0.1}, {"k": 1, "a": 0.1, "b": 0.1}, {"k": 2, "b": 0.1}]
    tree = tree_of(trials, k=Categorical(["x", "y", "z"]), a=Float(0, 1), b=Float(0, 1))
    a, b = {"a": Float(0, 1)}, {"b": Float(0, 1)}
    assert tree.space == Space({"k": Choice({"x": a, "y": {**a, **b}, "z": b})})


def test_names_that_a_space_cannot_have_are_changed_and_stay_apart():
    trials = [{"a.b": 0, "a_b": 0.5, "c": 0.5}, {"a.b": 1, "a_b": 0.5}]
    kinds = labelled([0.1, "0_1"])
    tree = tree_of(trials, **{"a.b": kinds, "a_b": Float(0, 1), "c": Float(0, 1)})
    assert list(tree.space.parameters) == ["a_b", "a_b.0_1.c", "a_b_2"]
    for trial in trials:
        assert tree.assignment(tree.configuration([trial], lambda item: item.middle)) == trial


def test_missing_values_are_taken_from_the_first_layer_that_has_them():
    trials = [{"kind": 0, "a": 0.1}, {"kind": 1}]
    tree = tree_of(trials, kind=Categorical(["x", "y"]), a=Float(0, 1), n=Int(0, 8))
    middle = tree.configuration([{"kind": 0}], lambda item: item.middle)
    assert middle == {"kind": {"x": {"a": 0.5}}, "n": 4}
    both = tree.configuration(
        [{"kind": 1}, {"kind": 0, "a": 0.3, "n": 2}], lambda item: item.middle
    )
    assert both == {"kind": {"y": {}}, "n": 2}


def test_last_names_are_known_where_they_are_clear():
    space = Space(
        {
            "rate": Float(0, 1),
            "one": Choice({"a": {"size": Int(1, 4), "rate": Int(1, 2)}, "b": {"size": Int(1, 4)}}),
            "two": Choice({"a": {"depth": Int(1, 4)}, "b": {"depth": Int(1, 5)}}),
            "six": Choice({"a": {"width": Fixed(3)}, "b": {}}),
            "ten": Choice({"a": {"width": Fixed(3)}, "b": {}}),
        }
    )
    tree = declared_tree(space)
    names = {name for item, _ in tree.walk() for name in item.names}
    assert names - space.parameters.keys() == {"size"}
    assert isinstance(tree.items[1], ChoiceItem)
    raw = {"rate": 0.5, "one": 1, "size": 3, "two": 0, "two.a.depth": 2, "six": 1, "ten": 0}
    params = tree.configuration([raw], lambda item: item.middle)
    assert space.validate(params)["one.b.size"] == 3
    assert tree.assignment(params).items() >= raw.items()
