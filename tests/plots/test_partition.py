import numpy as np
import pytest
from scipy.stats import spearmanr

import outcrop as oc
from outcrop import plots
from outcrop.data import Observations
from outcrop.errors import MethodError
from outcrop.kernels import Matern52
from outcrop.surrogates import GP, Blend, LeafwisePosterior, Mixture
from outcrop.surrogates.partition import Partition
from tests.plots.pictures import labelled, lightness, render

RATE = oc.Float(1e-4, 1.0, log=True)


class Tree:
    """A surrogate that cuts the first columns into leaves of so many observations at least."""

    def __init__(self, columns, smallest=5):
        self.columns, self.smallest = range(columns), smallest

    def fit(self, data, rng, previous=None):
        tree = Partition.of(data.X, data.y, self.columns, self.smallest, least=0.01)
        model = GP(Matern52(0.5), noise=1e-6)
        own = [Observations(data.X[rows], data.y[rows]) for rows in tree.leaf_rows]
        return Mixture.single(LeafwisePosterior(tree, tuple(map(model.condition, own))))


def steps(params):
    """Jumps in both numbers."""
    return float(3 * (np.log10(params["rate"]) > -1.3) + (params["n"] > 12) + 0.1 * params["n"])


def told(space, objective, n=40, method=None, **options):
    """A study with values at random places, in leaves of at least five."""
    space = oc.Space(space)
    numbers = sum(not column.is_code and not column.conditions for column in space.columns)
    method = method or oc.Method(surrogate=Tree(numbers))
    study = oc.Optimizer(space, method=method, seed=0, noise=False, **options)
    params = space.sample(np.random.default_rng(2), n)
    study.add(params, [objective(p) for p in params])
    return study


def tree_of(study):
    return study.belief.believed.mixture.components[0].division


def leaf_of(study, rows):
    return tree_of(study).leaf_of(study.space.encode(rows).X)


def boxes_of(axes):
    """Lower and upper corners of what is outlined, `(boxes, 2, 2)`."""
    (line,) = [line for line in axes.lines if "lea" in line.get_label()]
    outlines = np.stack(line.get_data(), axis=-1).reshape(-1, 6, 2)
    assert np.isnan(outlines[:, 5]).all()
    return np.stack([outlines[:, :5].min(1), outlines[:, :5].max(1)], axis=1)


def borders_of(axes):
    (line,) = [line for line in axes.lines if "lea" in line.get_label()]
    return line.get_xdata()[::3]


def box_at(boxes, x, y):
    """In which of the boxes each place lies; NaN for those within a hair of a border."""
    point = np.column_stack([x, y])[:, None, :]
    is_in = ((boxes[:, 0] < point) & (point < boxes[:, 1])).all(-1)
    return np.where(is_in.sum(1) == 1, is_in.argmax(1), np.nan)


@pytest.fixture(scope="module")
def plane():
    return told({"rate": RATE, "n": oc.Int(3, 25)}, steps)


def test_two_places_are_in_one_box_if_they_are_in_one_leaf(plane, rng):
    axes = plots.partition(plane)
    rows = plane.space.sample(rng, 300)
    boxes, leaves = boxes_of(axes), leaf_of(plane, rows)
    found = box_at(boxes, [p["rate"] for p in rows], [p["n"] for p in rows])
    inside = ~np.isnan(found)
    assert inside.mean() > 0.7  # integers often lie on a border
    pairs = {*zip(found[inside], leaves[inside], strict=True)}
    assert len(pairs) == len(boxes) == len(tree_of(plane)) > 3
    assert len({box for box, _ in pairs}) == len({leaf for _, leaf in pairs}) == len(boxes)
    assert labelled(axes, f"{len(boxes)} leaves") is not None
    render(axes)


def test_boxes_lie_over_the_mean_with_the_observations(plane, rng):
    axes = plots.partition(plane)
    assert (axes.get_xscale(), axes.get_xlabel(), axes.get_ylabel()) == ("log", "rate", "n")
    data = np.stack(labelled(axes, "data").get_data(), axis=-1)
    best = np.stack(labelled(axes, "best").get_data(), axis=-1)
    sites = {(t.params["rate"], t.params["n"]) for t in plane.trials}
    assert {*map(tuple, np.vstack([data, best]))} == sites
    rows = [p for p in plane.space.sample(rng, 80) if 3 < p["n"] < 25]  # not on the frame
    mean, _ = plane.belief.predict(rows)
    for line in [*axes.lines]:
        line.remove()
    shade = lightness(axes, [p["rate"] for p in rows], [p["n"] for p in rows])
    assert spearmanr(shade, mean).statistic > 0.95


def test_borders_along_one_parameter_are_where_the_leaf_changes():
    study = told({"rate": RATE}, lambda p: float(np.sin(5 * np.log10(p["rate"]))))
    axes = plots.partition(study)
    borders = borders_of(axes)
    assert len(borders) == len(tree_of(study)) - 1 > 2
    rows = [{"rate": float(rate)} for rate in np.geomspace(1e-4, 1.0, 4001)]
    changes = np.flatnonzero(np.diff(leaf_of(study, rows)))
    np.testing.assert_allclose(borders, [rows[i]["rate"] for i in changes], rtol=0.003)
    mean = labelled(axes, "mean")
    at = [{"rate": float(rate)} for rate in mean.get_xdata()]
    np.testing.assert_allclose(mean.get_ydata(), study.belief.predict(at)[0])
    assert axes.get_ylabel() == "objective"
    render(axes)


def test_a_slice_shows_only_the_leaves_it_passes_through(rng):
    space = {
        "rate": RATE,
        "n": oc.Int(3, 25),
        "x": oc.Float(-2, 2),
        "c": oc.Categorical(["a", "b", "c"]),
    }
    study = told(space, lambda p: steps(p) + 4 * (p["x"] > 0.5), n=60)
    seen = set()
    for x in (-1.5, 0.9, 1.8):
        at = {"x": x, "c": "c"}
        axes = plots.partition(study, ["rate", "n"], at)
        rows = [{**p, **at} for p in study.space.sample(rng, 400)]
        boxes, leaves = boxes_of(axes), leaf_of(study, rows)
        found = box_at(boxes, [p["rate"] for p in rows], [p["n"] for p in rows])
        inside = ~np.isnan(found)
        pairs = {*zip(found[inside], leaves[inside], strict=True)}
        assert len(pairs) == len(boxes) < len(tree_of(study))
        assert labelled(axes, f"{len(boxes)} of {len(tree_of(study))} leaves") is not None
        seen |= {leaf for _, leaf in pairs}
    assert len(seen) > len(boxes)


def test_without_names_a_picture_shows_what_is_cut_most_often():
    space = {name: oc.Float(0, 1) for name in "abcd"}
    study = told(space, lambda p: np.floor(3 * p["d"]) + 2 * np.floor(3 * p["b"]), n=90)
    axes = plots.partition(study)
    assert (axes.get_xlabel().split("\n")[0], axes.get_ylabel()) == ("b", "d")
    cuts = [int((tree_of(study).columns == column).sum()) for column in range(4)]
    assert min(cuts[1], cuts[3]) > max(cuts[0], cuts[2])
    assert {*boxes_of(axes)[:, 0, 0]} > {0.0}


def test_conditional_parameters_do_not_get_in_the_way():
    space = {
        "rate": RATE,
        "n": oc.Int(3, 25),
        "model": oc.Choice({"small": {}, "large": {"depth": oc.Float(2, 8)}}),
    }
    study = told(space, steps, n=50)
    for names in (None, "model.large.depth", ["n", "model.large.depth"]):
        axes = plots.partition(study, names, at={"model": "large"} if names else None)
        assert any("lea" in line.get_label() for line in axes.lines)
    render(axes)


def test_an_undivided_space_is_one_leaf():
    axes = plots.partition(told({"rate": RATE, "n": oc.Int(3, 25)}, steps, n=6))
    np.testing.assert_allclose(boxes_of(axes), [[[1e-4, 3], [1.0, 25]]])
    assert labelled(axes, "1 leaf") is not None
    curve = plots.partition(told({"rate": RATE}, lambda p: p["rate"], n=6))
    assert len(borders_of(curve)) == 0
    render(curve)


def test_every_different_tree_of_a_belief_is_drawn():
    blend = Blend({"fine": Tree(1, 5), "coarse": Tree(1, 9), "again": Tree(1, 9)})
    study = told(
        {"rate": RATE}, lambda p: np.log10(p["rate"]) ** 3, method=oc.Method(surrogate=blend)
    )
    axes = plots.partition(study)
    counts = [len(part.division) for part in study.belief.believed.mixture.components]
    labels = [line.get_label() for line in axes.lines if "leaves" in line.get_label()]
    shares = "33 % of the belief", "67 % of the belief"
    assert labels == [f"{n} leaves ({share})" for n, share in zip(counts, shares, strict=False)]
    assert counts[0] > counts[1]


@pytest.mark.parametrize("method", ["treed", "treed-warped"])
def test_methods_that_have_a_tree_are_drawn(method):
    axes = plots.partition(told({"rate": RATE, "n": oc.Int(3, 25)}, steps, method=method))
    assert any("lea" in line.get_label() for line in axes.lines)


def test_given_axes_are_drawn_on(plane):
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    assert plots.partition(plane, axes=axes) is axes
    assert axes.get_legend() is not None


def test_other_methods_are_told_which_has_a_partition():
    study = told({"rate": RATE}, lambda p: p["rate"], method="gp")
    with pytest.raises(MethodError, match="'gp' has no partition to draw; use method='treed'"):
        plots.partition(study)
