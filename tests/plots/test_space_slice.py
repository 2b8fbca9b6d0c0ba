import numpy as np
import pytest

import outcrop as oc
from outcrop import plots
from outcrop.errors import MethodError, NoBelief, ParamsError
from outcrop.inference import MAP
from outcrop.plots.parameter_axis import Axis
from outcrop.plots.space_slice import SpaceSlice
from tests.plots.pictures import labelled, render

LABELS = ("data", "data elsewhere", "best")
EVERY_NUMBER = [
    oc.Float(-2, 5),
    oc.Float(1e-4, 10, log=True),
    oc.Float(0, 1, step=0.25),
    oc.Int(-3, 40),
    oc.Int(3, 300, log=True),
    oc.Int(0, 100, step=20),
    oc.Ordinal(["small", "medium", "large"]),
]


@pytest.mark.parametrize("parameter", EVERY_NUMBER, ids=repr)
def test_values_are_legal_rise_from_bound_to_bound_and_stand_where_the_encoding_puts_them(
    parameter,
):
    (column,) = oc.Space({"x": parameter}).columns
    axis = Axis(column)
    values = axis.values(50)
    assert [parameter.check(value, "x") for value in values] == values
    places = axis.places(values)
    assert (np.diff(places) > 0).all()
    assert len(values) == min(parameter.levels or 50, 50) or axis.is_log
    np.testing.assert_allclose(axis.from_unit(column.codec.encode(values)), places, atol=1e-9)
    np.testing.assert_allclose(axis.from_unit(np.array([0.0, 1.0])), places[[0, -1]])


@pytest.fixture(scope="module")
def tree():
    """Values by option; momentum exists under one of them only."""
    space = oc.Space(
        {
            "x": oc.Float(0, 1),
            "batch": oc.Int(8, 64, log=True),
            "act": oc.Categorical(["relu", "tanh"]),
            "opt": oc.Choice(
                {"sgd": {"momentum": oc.Float(0, 1)}, "adam": {}, "none": {"k": oc.Int(1, 3)}}
            ),
            "seed": oc.Fixed(7),
        }
    )
    study = oc.Optimizer(space, method=oc.Method(inference=MAP(starts=1)), seed=0)
    rng = np.random.default_rng(5)
    for params in space.sample(rng, 40):
        if params["opt"] != "none":
            study.add(params, (params["x"] - 0.3) ** 2 + (params["act"] == "relu"))
    return study


def ranked(study):
    return sorted(study.trials, key=lambda trial: trial.value)


def test_a_slice_goes_through_the_best_trial(tree):
    cut = SpaceSlice.of(tree, "batch", None)
    assert cut.through == {**tree.best_params}
    assert cut.rest == {k: v for k, v in tree.best_params.items() if k not in ("batch", "seed")}


def test_what_at_says_replaces_the_best_value(tree):
    cut = SpaceSlice.of(tree, "batch", {"act": "relu", "x": 0.9})
    assert cut.through == {**tree.best_params, "act": "relu", "x": 0.9}


def test_an_option_of_at_is_seen_through_the_best_trial_that_took_it(tree):
    other = "adam" if tree.best_params["opt"] == "sgd" else "sgd"
    best = next(trial for trial in ranked(tree) if trial.params["opt"] == other)
    assert SpaceSlice.of(tree, "x", {"opt": other}).through == {**best.params}


def test_a_conditional_axis_is_seen_through_a_trial_that_has_it(tree):
    cut = SpaceSlice.of(tree, "opt.sgd.momentum", None)
    assert cut.through == next(t for t in ranked(tree) if t.params["opt"] == "sgd").params
    axes = plots.belief(tree, "opt.sgd.momentum")
    marks = [line for line in axes[0].lines if line.get_label() in LABELS]
    drawn = np.sort(np.concatenate([line.get_xdata() for line in marks]))
    having = [t.params["opt.sgd.momentum"] for t in tree.trials if t.params["opt"] == "sgd"]
    np.testing.assert_array_equal(drawn, np.sort(having))


def test_a_whole_configuration_may_take_an_option_that_no_trial_took(tree):
    at = {"x": 0.5, "batch": 16, "act": "tanh", "opt": "none", "opt.none.k": 2}
    assert SpaceSlice.of(tree, ["x", "batch"], at).through == {**at, "seed": 7}
    with pytest.raises(ParamsError, match="whole configuration"):
        SpaceSlice.of(tree, "x", {"opt": "none"})


def test_what_is_held_still_is_said_in_the_picture(tree):
    axes = plots.belief(tree, "x", at={"act": "relu", "batch": 32})
    text = axes[-1].get_xlabel().replace("\u00a0", " ")
    assert text.startswith("x\nbatch = 32, act = relu, opt = ")
    assert "seed" not in text
    render(axes[0])


def test_trials_beside_the_slice_are_drawn_apart_from_those_in_it():
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1), "c": oc.Categorical(["a", "b"])}), seed=0)
    study.add([{"x": x, "c": "a"} for x in (0.1, 0.5, 0.7)], [3.0, 1.0, 2.0])
    study.add([{"x": x, "c": "b"} for x in (0.2, 0.6)], [5.0, 4.0])
    axes, *_ = plots.belief(study)
    assert sorted(labelled(axes, "data").get_xdata()) == [0.1, 0.7]
    assert sorted(labelled(axes, "data elsewhere").get_xdata()) == [0.2, 0.6]
    assert [*labelled(axes, "best").get_xdata()] == [0.5]
    assert axes.get_xlabel().replace("\u00a0", " ") in ("", "x\nc = a")


def test_without_names_a_picture_shows_what_the_belief_changes_fastest_along():
    space = oc.Space({name: oc.Float(0, 1) for name in "abcd"})
    study = oc.Optimizer(space, seed=0, noise=False)
    params = space.sample(np.random.default_rng(1), 40)
    study.add(params, [np.sin(9 * p["b"]) + np.cos(8 * p["d"]) for p in params])
    assert SpaceSlice.of(study, None, None).names == ("b", "d")


def categories():
    """Values by category and by option; nobody tried one of the options."""
    space = oc.Space(
        {
            "x": oc.Float(0, 1),
            "act": oc.Categorical(["relu", "tanh", "gelu"]),
            "model": oc.Choice({"a": {}, "b": {"k": oc.Int(1, 3)}, "c": {"k": oc.Int(1, 5)}}),
        }
    )
    study = oc.Optimizer(space, method=oc.Method(inference=MAP(starts=1)), seed=0, noise=False)
    rows = [
        {"x": x, "act": act, "model": "b", "model.b.k": 2}
        if x > 0.4
        else {"x": x, "act": act, "model": "a"}
        for x in (0.1, 0.3, 0.5, 0.7)
        for act in ("relu", "tanh", "gelu")
    ]
    level = {"relu": 0.0, "tanh": 1.0, "gelu": 3.0}
    study.add(rows, [level[row["act"]] + row["x"] for row in rows])
    return study


def test_a_category_is_an_axis_with_a_bar_for_each_value():
    study = categories()
    main, below = plots.belief(study, "act")
    rows = [{**study.best_params, "act": act} for act in ("relu", "tanh", "gelu")]
    mean, _ = study.belief.predict(rows)
    line = labelled(main, "mean")
    np.testing.assert_allclose(line.get_ydata()[::3], mean)
    np.testing.assert_allclose(line.get_xdata()[::3], [-0.25, 0.75, 1.75])
    assert [label.get_text() for label in below.get_xticklabels()] == ["relu", "tanh", "gelu"]
    assert len(main.patches) == len(below.patches) == 3
    for bar, value in zip(main.patches, mean, strict=True):
        assert bar.get_y() <= value <= bar.get_y() + bar.get_height()
    render(main)


def test_a_map_of_a_category_has_a_row_of_cells_for_each_value():
    study = categories()
    axes, *_ = plots.belief(study, ["x", "act"])
    (mesh,) = axes.collections
    places, rows = SpaceSlice.of(study, ["x", "act"], None).configurations()
    mean, _ = study.belief.predict(rows)
    assert mesh.get_array().shape == (3, len(places[0]))
    low, high = mesh.norm.boundaries[[0, -1]]
    np.testing.assert_allclose(mesh.get_array().ravel(), np.clip(mean, low, high))
    assert [row["act"] for row in rows[:: len(places[0])]] == ["relu", "tanh", "gelu"]
    assert axes.get_ylim() == (-0.5, 2.5)
    render(axes)


def test_options_of_a_choice_are_seen_at_their_best_trials():
    study = categories()
    cut = SpaceSlice.of(study, "model", {"x": 0.25})
    _, rows = cut.configurations()
    best = {name: min(t.value for t in study.trials if t.params["model"] == name) for name in "ab"}
    for row in rows[:2]:
        trial = next(t for t in study.trials if t.value == best[row["model"]])
        assert row == {**trial.params, "x": 0.25}
    assert rows[2]["model"] == "c"  # nobody tried it
    assert rows[2]["model.c.k"] == 3
    assert cut.rest == {"x": 0.25, "act": "relu"}
    axes = plots.belief(study, ["model", "x"])
    assert axes[1].get_xlabel().endswith("each option at its best trial")
    render(axes[0])


def test_what_one_option_alone_has_is_no_axis_beside_the_choice():
    with pytest.raises(ParamsError, match=r"'model.b.k' cannot be an axis beside 'model'"):
        plots.belief(categories(), ["model", "model.b.k"])


def test_a_study_without_numbers_is_drawn_along_a_category():
    study = oc.Optimizer(oc.Space({"c": oc.Categorical(["a", "b"])}), seed=0)
    study.add({"c": "a"}, 1.0)
    axes = plots.belief(study)
    assert axes[-1].get_xlabel() == "c"
    render(axes[0])
    with pytest.raises(MethodError, match="no number or ordinal for an axis, only c"):
        SpaceSlice.of(study, None, None, only_numbers=True)


@pytest.mark.parametrize(
    "parameter",
    [
        oc.Int(3, 30, log=True),
        oc.Int(8, 512, log=True),
        oc.Int(50, 90, log=True),
        oc.Int(1, 900, log=True),
        oc.Float(0.02, 0.3, log=True),
    ],
    ids=repr,
)
def test_a_log_axis_of_few_decades_has_round_numbers_as_they_are_written(parameter):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    Axis(*oc.Space({"n": parameter}).columns).dress(axes, "x")
    axes.figure.draw_without_rendering()
    ticks = axes.get_xticks()
    assert 3 <= len(ticks) <= 10
    assert [float(label.get_text()) for label in axes.get_xticklabels()] == pytest.approx(ticks)
    assert parameter.low <= ticks.min() < ticks.max() <= parameter.high
    assert not any(label.get_text() for label in axes.get_xticklabels(minor=True))


@pytest.mark.parametrize(
    ("names", "at", "message"),
    [
        ("y", None, "'y' is not in the space; expected one or two of"),
        ("seed", None, "'seed' cannot be an axis"),
        (["x", "x"], None, "different"),
        (["x", "batch", "opt.sgd.momentum"], None, "one or two"),
        ([], None, "one or two"),
        ("x", {"y": 1}, "at: 'y' is not in the space"),
        ("x", {"batch": 7}, "'batch' is 7, below its lower bound"),
    ],
)
def test_names_and_values_that_do_not_fit_the_space_are_refused(tree, names, at, message):
    with pytest.raises(ParamsError, match=message):
        plots.belief(tree, names, at)


def test_only_studies_are_drawn():
    with pytest.raises(MethodError, match="expected a Study, an Optimizer or a Result"):
        plots.belief(42)


def test_nothing_is_drawn_before_the_first_value():
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1)}), seed=0)
    study.ask()
    drawn = plots.warping, plots.spartan_weight, plots.partition, plots.latents, plots.convergence
    for picture in (plots.belief, *drawn):
        with pytest.raises(NoBelief):
            picture(study)


def test_a_result_is_drawn_as_its_study():
    result = oc.minimize(
        lambda p: p["x"] ** 2, oc.Space({"x": oc.Float(-1, 1)}), n_trials=6, seed=0
    )
    (line, other) = (labelled(plots.belief(thing)[0], "mean") for thing in (result, result.study))
    np.testing.assert_array_equal(line.get_ydata(), other.get_ydata())
