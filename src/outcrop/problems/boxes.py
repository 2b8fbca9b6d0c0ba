"""Problems on boxes of floats, with the minima of the literature, refined where it rounds them.

The tags are those of the benchmark suite used by modulated surrogates [McCourt 2016]: `boring`,
`oscillatory`, `complicated`.
"""

from __future__ import annotations

__all__ = [
    "ackley",
    "beale",
    "branin",
    "branin02",
    "cross_in_tray",
    "decaying_sin",
    "deflected_corrugated_spring",
    "egg_holder",
    "exponential",
    "gramacy",
    "griewank",
    "hartmann6",
    "holder_table",
    "levy",
    "levy13",
    "michalewicz",
    "rkhs",
    "rosenbrock",
    "shubert",
    "shubert03",
    "six_hump_camel",
    "weierstrass",
]

from itertools import product

import numpy as np

from outcrop.problems import formulas
from outcrop.problems.base import Problem, box_problem
from outcrop.typing import Vector

HOLDER_MINIMISER = (8.055023475736563, 9.664590019241273)  # in the positive quadrant
CROSS_MINIMISER = 1.3494066171539108
CAMEL_MINIMISER, CAMEL_MINIMUM = (0.08984201310031806, -0.7126564030207396), -1.0316284534898774
SHUBERT_TROUGH, SHUBERT_PEAK = 4.858056878859826, 5.482864206707613  # of one factor, modulo 2π
SHUBERT03_TROUGH = 5.791794470920272  # of one term, modulo 2π


def branin() -> Problem:
    """Branin, also called Branin01."""
    return box_problem(
        "branin",
        formulas.branin,
        [(-5, 10), (0, 15)],
        minimum=5 / (4 * np.pi),
        minimisers=[(-np.pi, 12.275), (np.pi, 2.275), (3 * np.pi, 2.475)],
        source="Branin 1972; modulated surrogates, Table 1",
    )


def branin02() -> Problem:
    """Branin02: one minimum, and a strong local one of 6.8106 far from it."""
    return box_problem(
        "branin02",
        formulas.branin02,
        [(-5, 15)] * 2,
        minimum=5.55891440389382,
        minimisers=[(-3.1969884247443832, 12.526257885290117)],
        source="modulated surrogates, Table 1",
    )


def beale() -> Problem:
    """Beale: values from 0 to 181,853.6 and a floor that is nearly flat."""
    return box_problem(
        "beale",
        formulas.beale,
        [(-4.5, 4.5)] * 2,
        minimum=0.0,
        minimisers=[(3, 0.5)],
        tags=("boring",),
        source="Beale 1958; modulated surrogates, Table 1",
    )


def hartmann6() -> Problem:
    """Hartmann's six-dimensional function; a second basin reaches −3.203162."""
    minimiser = (
        0.2016895110067054, 0.150010691823458, 0.476873974221897,
        0.2753324304940561, 0.3116516166001132, 0.6573005340656203,
    )  # fmt: skip
    return box_problem(
        "hartmann-6",
        formulas.hartmann6,
        [(0, 1)] * 6,
        minimum=-3.3223680114155148,
        minimisers=[minimiser],
        tags=("boring",),
        source="Hartmann 1973; modulated surrogates, Table 1; Spartan BO",
    )


def rosenbrock(d: int = 2, low: float = -2.0, high: float = 2.0) -> Problem:
    """Rosenbrock; the papers state no box, CoCaBO evaluates it on [−2, 2]²."""
    return box_problem(
        f"rosenbrock-{d}",
        formulas.rosenbrock,
        [(low, high)] * d,
        minimum=0.0,
        minimisers=[(1,) * d],
        source="Rosenbrock 1960",
    )


def six_hump_camel(x2_limit: float = 1.5) -> Problem:
    """Six-hump camel back on [−2, 2] × [−x2_limit, x2_limit]."""
    x1, x2 = CAMEL_MINIMISER
    return box_problem(
        "six-hump-camel",
        formulas.six_hump_camel,
        [(-2, 2), (-x2_limit, x2_limit)],
        minimum=CAMEL_MINIMUM,
        minimisers=[(x1, x2), (-x1, -x2)],
        source="Dixon & Szegö 1978",
    )


def exponential(d: int = 8) -> Problem:
    """Exponential: a bump that is not in the centre of the box."""
    return box_problem(
        f"exponential-{d}",
        formulas.exponential,
        [(-0.7, 0.2)] * d,
        minimum=-1.0,
        minimisers=[(0,) * d],
        source="modulated surrogates, Table 1",
    )


def gramacy(high: float = 6.0) -> Problem:
    """The two-dimensional Exp function on [−2, high]²; Spartan BO takes `high=18`."""
    return box_problem(
        "exp-2d" if high == 6 else "exp-2d-wide" if high == 18 else f"exp-2d-to-{high:g}",
        formulas.gramacy,
        [(-2, high)] * 2,
        minimum=-np.sqrt(0.5) * np.exp(-0.5),
        minimisers=[(-np.sqrt(0.5), 0)],
        source="Gramacy & Lee 2008; HTBO, Table 1; Spartan BO, section 5.1",
    )


def ackley(d: int = 2, low: float = -10.0, high: float = 30.0) -> Problem:
    """Ackley on [low, high]^d."""
    return box_problem(
        f"ackley-{d}",
        formulas.ackley,
        [(low, high)] * d,
        minimum=0.0,
        minimisers=[(0,) * d],
        tags=("complicated", "oscillatory"),
        source="Ackley 1987; modulated surrogates, Table 1",
    )


def griewank(d: int = 2) -> Problem:
    """Griewank."""
    return box_problem(
        f"griewank-{d}",
        formulas.griewank,
        [(-50, 20)] * d,
        minimum=0.0,
        minimisers=[(0,) * d],
        tags=("oscillatory",),
        source="Griewank 1981; modulated surrogates, Table 1",
    )


def levy(d: int = 4) -> Problem:
    """Levy in any dimension; in two it is not "levy-2", which is `levy13`."""
    return box_problem(
        f"levy-n-{d}",
        formulas.levy,
        [(-10, 10)] * d,
        minimum=0.0,
        minimisers=[(1,) * d],
        tags=("oscillatory",),
        source="Laguna & Martí 2005",
    )


def levy13() -> Problem:
    """Levy's function number 13, the two-dimensional "Levy" of modulated surrogates."""
    return box_problem(
        "levy-2",
        formulas.levy13,
        [(-10, 10)] * 2,
        minimum=0.0,
        minimisers=[(1, 1)],
        tags=("oscillatory",),
        source="Levy & Montalvo 1985; modulated surrogates, Table 1",
    )


def michalewicz(d: int = 2) -> Problem:
    """Michalewicz with m = 10; its minimum is found coordinate by coordinate."""
    minimiser = _michalewicz_minimiser(d)
    return box_problem(
        f"michalewicz-{d}",
        formulas.michalewicz,
        [(0, np.pi)] * d,
        minimum=float(formulas.michalewicz(minimiser[None])[0]),
        minimisers=minimiser[None],
        source="Michalewicz 1992; Spartan BO, section 5.1; Alvi's thesis, Table 3.1",
    )


def deflected_corrugated_spring(d: int = 10) -> Problem:
    """Deflected corrugated spring."""
    return box_problem(
        f"deflected-corrugated-spring-{d}",
        formulas.deflected_corrugated_spring,
        [(0, 7.5)] * d,
        minimum=-1.0,
        minimisers=[(5,) * d],
        tags=("oscillatory",),
        source="modulated surrogates, Table 1",
    )


def shubert() -> Problem:
    """Shubert01, the product form, with 18 equal minima among hundreds of local ones."""
    troughs, peaks = _copies(SHUBERT_TROUGH), _copies(SHUBERT_PEAK)
    return box_problem(
        "shubert",
        formulas.shubert,
        [(-10, 10)] * 2,
        minimum=-186.73090883102392,
        minimisers=[*product(troughs, peaks), *product(peaks, troughs)],
        tags=("oscillatory",),
        source="Shubert 1972; modulated surrogates, Table 1",
    )


def shubert03() -> Problem:
    """Shubert03, the additive form, with nine equal minima."""
    return box_problem(
        "shubert03",
        formulas.shubert03,
        [(-10, 10)] * 2,
        minimum=-24.06249888433428,
        minimisers=list(product(_copies(SHUBERT03_TROUGH), repeat=2)),
        tags=("oscillatory",),
        source="Shubert 1972",
    )


def holder_table() -> Problem:
    """Hölder table."""
    x1, x2 = HOLDER_MINIMISER
    return box_problem(
        "holder-table",
        formulas.holder_table,
        [(-10, 10)] * 2,
        minimum=-19.208502567886732,
        minimisers=list(product((x1, -x1), (x2, -x2))),
        tags=("complicated", "oscillatory"),
        source="modulated surrogates, Table 1",
    )


def cross_in_tray() -> Problem:
    """Cross in tray."""
    return box_problem(
        "cross-in-tray",
        formulas.cross_in_tray,
        [(-10, 10)] * 2,
        minimum=-2.062611870822737,
        minimisers=list(product((CROSS_MINIMISER, -CROSS_MINIMISER), repeat=2)),
        tags=("complicated", "oscillatory"),
        source="modulated surrogates, Table 1",
    )


def egg_holder() -> Problem:
    """Egg holder, its minimum on the border."""
    return box_problem(
        "egg-holder",
        formulas.egg_holder,
        [(-512, 512)] * 2,
        minimum=-959.6406627208508,
        minimisers=[(512, 404.2318051137578)],
        source="Alvi's thesis, Table 3.1",
    )


def weierstrass(d: int = 8) -> Problem:
    """Weierstrass as the benchmark suite has it: the minimum is not zero."""
    return box_problem(
        f"weierstrass-{d}",
        formulas.weierstrass,
        [(-0.5, 0.2)] * d,
        minimum=2 * d * (d - 1) * (1 - 2.0**-21),
        minimisers=[(0,) * d],
        tags=("complicated",),
        source="Weierstrass 1872; modulated surrogates, Table 1",
    )


def rkhs() -> Problem:
    """The one-dimensional RKHS function of HTBO, negated."""
    return box_problem(
        "rkhs-1d",
        formulas.rkhs,
        [(0, 1)],
        minimum=-5.738393747098737,
        minimisers=[(0.89235975,)],
        source="Assael et al. 2014 (HTBO), Table 1",
    )


def decaying_sin() -> Problem:
    """A decaying sine in one dimension."""
    return box_problem(
        "decaying-sin",
        formulas.decaying_sin,
        [(-1, 1)],
        minimum=-0.32883017910099095,
        minimisers=[(-0.3870536338851497,)],
        source="Alvi's thesis, eq. 3.63",
    )


def _copies(x: float) -> list[float]:
    """`x` and its two copies on [−10, 10], one and two periods to the left."""
    return [x - 2 * np.pi * turns for turns in range(3)]


def _michalewicz_minimiser(d: int) -> Vector:
    """The minimiser of each coordinate's term, by a grid that zooms in on its best point."""
    centre, reach = np.full(d, np.pi / 2), np.pi / 2
    order = np.arange(1, d + 1)
    while reach > 1e-9:
        ladder = centre + reach * np.linspace(-1, 1, 20_001)[:, None]
        ladder = np.clip(ladder, 0, np.pi)
        terms = np.sin(ladder) * np.sin(order * ladder**2 / np.pi) ** 20
        centre = ladder[terms.argmax(0), np.arange(d)]
        reach /= 1000
    return centre
