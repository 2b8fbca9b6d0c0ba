import pickle

import numpy as np
import pytest

tables = pytest.importorskip("experiments.tables")

from outcrop.errors import ParamsError  # noqa: E402


@pytest.mark.parametrize(
    ("build", "levels", "minimum", "minimiser"),
    [
        (tables.lda, (6, 6, 8), 1266.167382, {"kappa": 0.5, "tau0": 16, "batch_size": 16384}),
        (tables.svm, (25, 14, 4), 0.2411, {"C": 6000.0, "alpha": 0.1, "epsilon": 0.001}),
        (tables.logistic_regression, (11, 11, 8, 10), 0.0685, None),
    ],
    ids=["lda", "svm", "logreg"],
)
def test_a_grid_is_complete_and_its_minimum_known(build, levels, minimum, minimiser):
    grid = build()
    assert tuple(parameter.levels for parameter in grid.space.parameters.values()) == levels
    assert len(grid.function.cells) == np.prod(levels)
    assert grid.minimum == minimum
    assert minimiser is None or grid.minimisers == (minimiser,)
    for best in grid.minimisers:
        assert grid.space.validate(best) == best
        assert grid(best) == minimum


def test_twelve_cells_share_the_minimum_of_logistic_regression():
    assert len(tables.logistic_regression().minimisers) == 12


@pytest.mark.parametrize("build", [tables.lda, tables.svm, tables.logistic_regression])
def test_every_sampled_setting_is_in_the_table(build):
    grid = build()
    values = [grid(params) for params in grid.space.sample(np.random.default_rng(0), 300)]
    assert min(values) >= grid.minimum


def test_the_cell_listed_twice_holds_the_later_value():
    assert tables.lda()({"kappa": 0.5, "tau0": 1024, "batch_size": 64}) == 1520.06445


def test_a_setting_off_the_grid_is_refused():
    with pytest.raises(ParamsError, match="lda-grid expects"):
        tables.lda()({"kappa": 0.55, "tau0": 1, "batch_size": 1})


def test_a_grid_survives_pickling():
    grid = pickle.loads(pickle.dumps(tables.lda()))
    assert grid(grid.minimisers[0]) == grid.minimum


def test_hpnnet_has_seven_floats_and_seven_categories():
    kinds = [type(p).__name__ for p in tables.hpnnet().space.parameters.values()]
    assert kinds == ["Float"] * 7 + ["Categorical"] * 7
    sizes = [p.levels for p in tables.hpnnet().space.parameters.values() if p.levels]
    assert np.prod(sizes) == 384


def test_hpnnet_predicts_its_own_runs():
    problem = tables.hpnnet()
    runs = tables.columns("hpnnet_convex/hpnnet_convex.csv")
    rows = np.random.default_rng(0).choice(8000, 50, replace=False)
    names = list(problem.space.parameters)
    predicted = [problem({name: runs[name][row] for name in names}) for row in rows]
    measured = runs["validation_error"][rows]
    assert np.corrcoef(predicted, measured)[0, 1] > 0.93


def test_hpnnet_ignores_what_a_choice_makes_irrelevant():
    problem = tables.hpnnet()
    params = problem.space.sample(np.random.default_rng(1))
    plain = {**params, "preproc": 0, "pca_energy": 0.55}
    assert problem({**plain, "pca_energy": 0.95}) == problem(plain)
    reduced = [problem({**plain, "preproc": 2, "pca_energy": energy}) for energy in (0.55, 0.95)]
    assert reduced[0] != reduced[1]


@pytest.mark.parametrize(
    ("build", "grid"),
    [
        (tables.lda_surrogate, tables.lda),
        (tables.logistic_regression_surrogate, tables.logistic_regression),
    ],
    ids=["lda", "logreg"],
)
def test_a_regression_follows_its_grid_and_has_no_value_below_its_minimum(build, grid, rng):
    problem, measured = build(), grid()
    levels = [list(parameter.values) for parameter in measured.space.parameters.values()]
    params = measured.space.sample(rng, 200)
    places = [
        {name: own.index(one[name]) / (len(own) - 1) for name, own in zip(one, levels, strict=True)}
        for one in params
    ]
    predicted, true = [problem(at) for at in places], [measured(one) for one in params]
    assert np.corrcoef(predicted, true)[0, 1] > 0.98
    assert problem(problem.minimisers[0]) == problem.minimum
    drawn = problem.space.sample(rng, 300)
    assert min(problem(one) for one in drawn) >= problem.minimum
