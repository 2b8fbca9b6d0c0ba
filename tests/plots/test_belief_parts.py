"""Pictures of what is inside a model: the weight of regions, and warping."""

import numpy as np
import pytest
from scipy.stats import beta

import outcrop as oc
from outcrop import kernels, plots
from outcrop.errors import MethodError, NoBelief, ParamsError
from outcrop.inference import Slice
from outcrop.kernels import BetaCDF, Kumaraswamy, Matern52, Product, Region, Subspace, Warp
from outcrop.surrogates import GP, Grounded, Inferred
from tests.plots.pictures import labelled, lightness, render

FEW = Slice(chains=3, burn_in=4)
RATE = oc.Float(1e-4, 1.0, log=True)
MANY = {
    "rate": RATE,
    "kind": oc.Categorical(["a", "b"]),
    "n": oc.Int(1, 5),
    "model": oc.Choice({"small": {}, "large": {"depth": oc.Float(2, 8)}}),
}


def told(space, method, n=12):
    """A study with some values at random places."""
    space = oc.Space(space)
    study = oc.Optimizer(space, method=method, seed=0, noise=False)
    params = space.sample(np.random.default_rng(4), n)
    study.add(params, [np.log10(p["rate"]) ** 2 for p in params])
    return study


def fixed(kernel):
    """A method whose model has no free slots."""
    return oc.Method(surrogate=GP(kernel, noise=1e-6))


def share(r2, width, dimension):
    """λ² of a region by its definition, ν / (ν + 1)."""
    nu = np.exp(4 - 4 * r2 / (dimension * width**2))
    return nu / (nu + 1)


def test_the_weight_is_the_mean_of_the_regions_shares():
    study = told({"rate": RATE}, "spartan")
    axes = plots.spartan_weight(study)
    line = labelled(axes, "mean of the chains")
    u = 1 + np.log10(line.get_xdata()) / 4
    believed = study.belief.believed.mixture
    regions = [part.model.kernel.kernel.kernel.regions[0] for part in believed.components]
    shares = [share((u - region.centre[0]) ** 2, region.width, 1) for region in regions]
    np.testing.assert_allclose(line.get_ydata(), believed.weights @ shares, atol=1e-9)
    faint = [drawn for drawn in axes.lines if drawn.get_linewidth() < 1]
    assert len(faint) == len(believed)
    assert axes.get_xscale() == "log"
    render(axes)


def test_several_regions_add_up_and_each_centre_is_marked():
    regions = (Region([0.2], 0.1, Matern52(0.1)), Region([0.75], 0.2, Matern52(0.1)))
    study = told({"rate": RATE}, fixed(kernels.LocalGlobal(regions, Matern52(0.5))))
    axes = plots.spartan_weight(study)
    line = labelled(axes, "mean of the chains")
    u = 1 + np.log10(line.get_xdata()) / 4
    nu = [np.exp(4 - 4 * (u - c) ** 2 / w**2) for c, w in ((0.2, 0.1), (0.75, 0.2))]
    np.testing.assert_allclose(line.get_ydata(), sum(nu) / (sum(nu) + 1), atol=1e-9)
    centres = labelled(axes, "centres of the chains").get_xdata()
    np.testing.assert_allclose(centres, 10.0 ** (4 * np.array([0.2, 0.75]) - 4))


def test_a_map_is_darkest_around_the_centre_and_has_it_where_it_is(rng):
    kernel = kernels.LocalGlobal((Region([0.7, 0.3], 0.2, Matern52(0.1)),), Matern52(0.5))
    study = told({"rate": RATE, "x": oc.Float(-2, 6)}, fixed(kernel))
    axes = plots.spartan_weight(study)
    (x,), (y,) = labelled(axes, "centres of the chains").get_data()
    assert (np.log10(x), y) == (pytest.approx(-1.2), pytest.approx(0.4))
    for line in [*axes.lines]:
        line.remove()
    u = rng.uniform(0.02, 0.98, (40, 2))
    shade = lightness(axes, 10 ** (4 * u[:, 0] - 4), 8 * u[:, 1] - 2)
    shares = share(np.square(u - [0.7, 0.3]).sum(1), 0.2, 2)
    assert (shade[shares > 0.9] < 0.2).all()
    assert (shade[shares < 0.05] > 0.9).all()
    assert shares.max() > 0.9


def test_a_region_without_observations_is_not_in_use():
    regions = (Region([0.5], 0.1, Matern52(0.1)), Region([0.5], 1e-9, Matern52(0.1)))
    spartan = kernels.LocalGlobal(regions, Matern52(0.5))
    model = Grounded(Inferred(GP(spartan, noise=1e-6), Slice()))
    study = told({"rate": RATE}, oc.Method(surrogate=model))
    axes = plots.spartan_weight(study)
    (centre,) = labelled(axes, "centres of the chains (1 of 2 in use)").get_xdata()
    assert centre == pytest.approx(1e-2)


def test_a_region_behind_a_warp_is_drawn_where_the_user_would_look_for_it():
    spartan = kernels.LocalGlobal((Region([0.4], 0.1, Matern52(0.1)),), Matern52(0.5))
    study = told({"rate": RATE}, fixed(Warp([3.0], [1.5], spartan)))
    axes = plots.spartan_weight(study)
    line = labelled(axes, "mean of the chains")
    u = 1 + np.log10(line.get_xdata()) / 4
    moved = 1 - (1 - u**3.0) ** 1.5
    np.testing.assert_allclose(line.get_ydata(), share((moved - 0.4) ** 2, 0.1, 1), atol=1e-5)
    peak = line.get_xdata()[np.argmax(line.get_ydata())]
    (centre,) = labelled(axes, "centres of the chains").get_xdata()
    assert np.log10(centre) == pytest.approx(np.log10(peak), abs=0.02)


def test_categories_and_conditions_do_not_get_in_the_way():
    study = told(MANY, oc.Method(oc.surrogates.Spartan(), FEW), 20)
    for name in ("rate", "n", "model.large.depth"):
        axes = plots.spartan_weight(study, name, at={"kind": "b"})
        weight = labelled(axes, "mean of the chains").get_ydata()
        assert ((weight >= 0) & (weight <= 1)).all()
    picture = plots.spartan_weight(study, ["n", "rate"])
    assert picture.get_ylabel() == "rate"
    render(picture)


@pytest.mark.parametrize(
    ("curve", "reference"),
    [
        (BetaCDF(), lambda u, a, b: beta(a, b).cdf(u)),
        (Kumaraswamy(), lambda u, a, b: 1 - (1 - u**a) ** b),
    ],
    ids=["beta", "kumaraswamy"],
)
def test_warping_is_drawn_against_the_parameters_own_scale(curve, reference):
    kernel = Warp([2.0, 0.5], [1.0, 3.0], Matern52(0.5), curve)
    study = told({"rate": RATE, "x": oc.Float(-2, 6)}, fixed(kernel))
    axes = plots.warping(study)
    assert [panel.get_xlabel() for panel in axes] == ["rate", "x"]
    for panel, a, b in zip(axes, (2.0, 0.5), (1.0, 3.0), strict=True):
        identity = labelled(panel, "no warping")
        mean = labelled(panel, "mean of the chains")
        u = identity.get_ydata()
        np.testing.assert_allclose(mean.get_ydata()[1:-1], reference(u, a, b)[1:-1], atol=1e-6)
        x = 10 ** (4 * u - 4) if panel is axes[0] else 8 * u - 2
        np.testing.assert_allclose(mean.get_xdata(), x)
    assert [panel.get_xscale() for panel in axes] == ["log", "linear"]
    render(axes[0])


def test_every_chain_has_its_curve_and_the_mean_lies_among_them():
    study = told(MANY, oc.Method(oc.surrogates.Warped(), FEW), 20)
    axes = plots.warping(study)
    assert [panel.get_xlabel() for panel in axes] == ["rate", "n", "model.large.depth"]
    believed = study.belief.believed.mixture
    for panel in axes:
        chains = np.array([line.get_ydata() for line in panel.lines if line.get_linewidth() < 1])
        assert len(chains) == len(believed)
        assert (np.diff(chains, axis=1) >= 0).all()
        mean = labelled(panel, "mean of the chains").get_ydata()
        np.testing.assert_allclose(mean, believed.weights @ chains)
        assert np.ptp(chains, axis=0).max() > 1e-3


def test_warps_of_parts_of_the_space_are_told_apart():
    kernel = Product(
        (
            Subspace((0,), Warp([2.0], [1.0], Matern52(0.5))),
            Subspace((2, 1), Warp([1.0, 0.5], [1.0, 1.0], Matern52(0.5))),
        )
    )
    space = {"rate": RATE, "y": oc.Float(0, 1), "z": oc.Float(0, 1)}
    axes = plots.warping(told(space, fixed(kernel)), ["z", "y", "rate"])
    for panel, a in zip(axes, (1.0, 0.5, 2.0), strict=True):
        u = labelled(panel, "no warping").get_ydata()
        np.testing.assert_allclose(
            labelled(panel, "mean of the chains").get_ydata(), u**a, atol=2e-3
        )


def test_warping_draws_the_named_parameters_on_given_axes():
    from matplotlib.figure import Figure

    study = told({"rate": RATE, "x": oc.Float(-2, 6)}, fixed(Warp([2.0], [1.0], Matern52(0.5))))
    axes = Figure().add_subplot()
    assert plots.warping(study, "x", axes=axes) == (axes,)
    assert axes.get_xlabel() == "x"
    assert axes.get_ylabel() == "warped position"
    with pytest.raises(ParamsError, match="'y' is not warped; expected some of"):
        plots.warping(study, ["x", "y"])
    with pytest.raises(ParamsError, match="nothing to draw"):
        plots.warping(study, [])


def test_a_method_without_the_part_is_told_which_has_it():
    study = told({"rate": RATE}, "gp")
    with pytest.raises(
        MethodError, match="'gp' has no LocalGlobal kernel to draw; use method='spartan'"
    ):
        plots.spartan_weight(study)
    with pytest.raises(MethodError, match="'gp' has no Warp kernel to draw; use method='warped'"):
        plots.warping(study)
    study = told({"rate": RATE}, oc.Method(acquisition=oc.acquisition.EI()))
    with pytest.raises(MethodError, match=r"Method\(acquisition=EI\(\)\) has no Warp kernel"):
        plots.warping(study)
    with pytest.raises(NoBelief):
        plots.warping(told({"rate": RATE}, "random"))


def test_the_marginal_gp_is_drawn_at_its_centre():
    method = oc.Method(surrogate=oc.surrogates.Warped(), inference=oc.inference.Laplace())
    (axes,) = plots.warping(told({"rate": RATE}, method))
    assert sum(line.get_linewidth() < 1 for line in axes.lines) >= 1
