"""The methods that `recorded` searches with: every name, and every part that a method may have.

A method is a name or an expression, which is evaluated when a case runs. In it, `quick` and
`fitted` are those of `recorded_parts`, and packages are those of Outcrop.
"""

from __future__ import annotations

__all__ = ["NAMES", "TRIED"]

import outcrop as oc

NAMES = tuple(oc.METHODS)
MODELS = tuple(name for name in NAMES if name not in ("auto", "random", "sobol"))
PENDING = (
    "Believer()",
    "Liar()",
    "Liar('mean')",
    "Liar('max')",
    "Thompson(features=64)",
    "LocalPenalisation()",
    "LocalPenalisation(local=True, constants=DRAWN)",
    "HardPenalisation(gamma=2.0)",
    "HardPenalisation(p=-inf, local=True)",
    "PLAyBOOK('L')",
    "PLAyBOOK('LL')",
    "PLAyBOOK('H', constants=DRAWN)",
    "PLAyBOOK('HL')",
)
ACQUISITIONS = (
    "BALD()",
    "EI()",
    "EIIG()",
    "LCB()",
    "PI()",
    "HandOver(acquisition.BALD(), acquisition.EI(), steps=4)",
    "InformationGain()",
    "LogEI()",
    "MaxValueEntropy(samples=4)",
    "ScaledEI()",
    "SrinivasUCB()",
    "Thompson(features=64)",
    "UCB()",
)
KINDS = {  # of Gaussian process, and where each is at home
    "surrogates.Warped()": "plane",
    "surrogates.Spartan()": "plane",
    "surrogates.Latent()": "plane",
    "surrogates.Heteroscedastic()": "plane",
    "surrogates.CoCaBO()": "mixed",
    "surrogates.OneHot()": "mixed",
    "surrogates.Forest(trees=8)": "mixed",
    "surrogates.Treed(smallest=5, chance=1.0)": "many",
    "surrogates.TreeStructured()": "conditional",
    "surrogates.TreeStructured(chance=1.0)": "conditional",
    "surrogates.Independent()": "conditional",
    "surrogates.Marginal()": "conditional",
    "surrogates.Arc()": "conditional",
    "surrogates.CommonNodes()": "conditional",
    "surrogates.Analytic()": "noisy-inputs",
    "surrogates.NIGP()": "noisy-inputs",
    "surrogates.RandFunc()": "noisy-inputs",
    "surrogates.UTGP()": "noisy-inputs",
    "surrogates.UTGP(kind='full')": "noisy-inputs",
}

# Situations, and what is tried in each of them.
TRIED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("box mixed conditional noisy failing-mixed noisy-inputs-mixed", NAMES),
    ("replicates robust", MODELS),
    ("known-noise exhausted", ("gp", "cocabo", "hierarchical", "tree", "latent")),
    ("maximize failing noisy-inputs", ("gp", "spartan", "treed")),
    ("failing-conditional noisy-conditional", ("gp", "cocabo", "hierarchical", "tree")),
    ("noisy-inputs-together robust-mixed", ("gp", "cocabo", "hierarchical", "tree")),
    ("many-conditional", ("tree",)),
    ("many", ("gp", "latent", "treed")),
    ("from-nothing-mixed", ("auto", "gp", "cocabo", "hierarchical", "random", "sobol")),
    ("from-nothing-conditional", ("auto", "spartan", "random", "sobol")),
    # Surrogates
    (
        "plane failing",
        (
            "quick(surrogates.Warped())",
            "quick(surrogates.Warped(kernels.BetaCDF()))",
            "quick(surrogates.Spartan())",
            "quick(surrogates.Spartan(widths=(0.2, 3.0)))",
            "quick(surrogates.Spartan(regions=2))",
            "quick(surrogates.Latent((0.1,)))",
            "quick(surrogates.Latent(together=True))",
            "quick(surrogates.Latent(coordinates=2))",
            "quick(surrogates.Heteroscedastic())",
        ),
    ),
    ("robust robust-mixed", ("quick(surrogates.Warped())", "quick(surrogates.Spartan())")),
    (
        "mixed conditional failing-mixed",
        (
            "quick(surrogates.CoCaBO())",
            "quick(surrogates.CoCaBO(mix=0.5))",
            "quick(surrogates.OneHot())",
            "quick(surrogates.Forest())",
            "quick(surrogates.Forest(trees=8, smallest=2, bootstrap=False))",
        ),
    ),
    ("plane robust-mixed", ("quick(surrogates.OneHot())", "quick(surrogates.Forest(trees=8))")),
    (
        "failing-mixed",
        ("quick(acquisition=acquisition.EI())", "quick(acquisition=acquisition.UCB())"),
    ),
    ("mixed", ("quick(pending=pending.Thompson(64))", "quick(pending=pending.PLAyBOOK('L'))")),
    ("conditional", ("quick(inference=inference.Laplace())", "quick(inference=inference.MAP())")),
    ("noisy-conditional", ("quick(surrogates.Arc())", "quick(surrogates.TreeStructured())")),
    (
        "many noisy",
        (
            "quick(surrogates.Treed(chance=1.0))",
            "quick(surrogates.Treed(smallest=5, least=0.0, chance=1.0))",
            "quick(surrogates.Treed(surrogates.Warped(), smallest=6, chance=1.0))",
            "quick(surrogates.Treed(surrogates.Spartan(), smallest=6))",
        ),
    ),
    (
        "conditional failing-conditional plane",
        (
            "fitted(surrogates.TreeStructured())",
            "fitted(surrogates.TreeStructured(chance=1.0))",
            "fitted(surrogates.TreeStructured(sees_shared=False, chance=0.9))",
            "fitted(surrogates.Independent())",
            "fitted(surrogates.Marginal())",
            "fitted(surrogates.CommonNodes())",
            "fitted(surrogates.Arc())",
        ),
    ),
    (
        "conditional",
        (
            "fitted(surrogates.TreeStructured(kernels.Fourier(5), chance=1.0))",
            "fitted(surrogates.TreeStructured(kernels.Level()))",
            "fitted(surrogates.Marginal(kernels.Fourier(), sees_shared=False))",
            "fitted(surrogates.Marginal(kernels.Level()))",
            "fitted(surrogates.CommonNodes(tied=False))",
        ),
    ),
    ("robust-mixed", ("fitted(surrogates.TreeStructured())", "fitted(surrogates.Arc())")),
    (
        "noisy-inputs noisy-inputs-mixed noisy-inputs-together robust",
        (
            "quick(surrogates.Analytic())",
            "quick(surrogates.Analytic(expected=True))",
            "quick(surrogates.NIGP())",
            "quick(surrogates.RandFunc())",
            "quick(surrogates.UTGP())",
            "quick(surrogates.UTGP(kind='full'))",
        ),
    ),
    (
        "plane",
        (
            "quick(surrogates.Analytic(input_std=0.05))",
            "quick(surrogates.NIGP(input_std=0.05))",
            "quick(surrogates.NIGP(input_cov=((0.01, 0.002), (0.002, 0.01))))",
            "quick(surrogates.RandFunc(input_std=(0.05, 0.0)))",
            "quick(surrogates.UTGP(input_std=0.05, variance='thesis'))",
            "quick(surrogates.UTGP(input_std=0.05, kind='full', alpha=0.01))",
        ),
    ),
    # A policy and an acquisition that draw functions, and one that asks for gradients
    *((where, (f"quick({kind}, pending=pending.Thompson(64))",)) for kind, where in KINDS.items()),
    *((where, (f"quick({kind}, pending=pending.PLAyBOOK())",)) for kind, where in KINDS.items()),
    *(
        (where, (f"quick({kind}, acquisition=acquisition.Thompson(64))",))
        for kind, where in KINDS.items()
    ),
    # Inference
    (
        "plane noisy",
        (
            "quick(inference=inference.MAP())",
            "quick(inference=inference.MAP(starts=2, jacobian=True))",
            "quick(inference=inference.Laplace())",
            "quick(inference=inference.Slice(chains=2, burn_in=2, sweeps=2, moved=1))",
            "quick(inference=inference.Slice(chains=5, burn_in=1, patience=1.0))",
        ),
    ),
    *(
        (where, (f"quick({kind}, inference={how})",))
        for kind, where in KINDS.items()
        for how in ("inference.MAP(starts=2)", "inference.Laplace(starts=1, iterations=15)")
        if where != "conditional" or "MAP" in how
    ),
    # Acquisitions
    (
        "plane robust",
        tuple(f"quick(acquisition=acquisition.{each})" for each in ACQUISITIONS),
    ),
    (
        "conditional",
        (
            "fitted(surrogates.TreeStructured(chance=1.0), acquisition=strategies.TopPaths(count=1,"
            " extras=False, exact_up_to=0))",
            "fitted(surrogates.CommonNodes(), acquisition=strategies.TopPaths(exact_up_to=0))",
            "fitted(surrogates.TreeStructured(), acquisition=acquisition.EI())",
        ),
    ),
    # Policies for running trials
    ("plane", tuple(f"quick(pending=pending.{each})" for each in PENDING)),
    (
        "plane",
        (
            "quick(pending=pending.PLAyBOOK(), acquisition=acquisition.UCB())",
            "quick(pending=pending.PLAyBOOK('L', positivity='offset'),"
            " acquisition=acquisition.UCB())",
            "quick(pending=pending.PLAyBOOK(), acquisition=acquisition.EI())",
            "quick(pending=pending.Thompson(64), acquisition=acquisition.Thompson(64))",
            "quick(pending=pending.PLAyBOOK(constants=DRAWN), inference=inference.Laplace())",
        ),
    ),
    # Designs
    (
        "from-nothing from-nothing-mixed",
        (
            "quick(initial=initial.LatinHypercube(5))",
            "quick(initial=initial.Sobol(6))",
            "quick(initial=initial.Uniform(5))",
            "quick()",
        ),
    ),
    (
        "from-nothing-conditional",
        (
            "quick(initial=initial.OnePerPath())",
            "quick(initial=initial.OnePerPath(7))",
            "fitted(surrogates.TreeStructured(), initial=initial.Sobol(5))",
        ),
    ),
    # Maximisers
    (
        "plane mixed",
        (
            "quick(maximiser=maximise.DeltaCover(spread=200, boxes=3, boxed=20, halvings=2))",
            "quick(maximiser=maximise.Maximiser(spread=64, starts=3, rounds=2, steps=10))",
        ),
    ),
    (
        "conditional many-conditional",
        (
            "quick(maximiser=strategies.EachPath(maximise.Maximiser(spread=64, steps=10)))",
            "quick(surrogates.TreeStructured(chance=1.0), maximiser=strategies.EachPath())",
        ),
    ),
    # Methods around methods
    (
        "plane conditional failing",
        (
            "strategies.Perturbed(quick())",
            "strategies.Perturbed('gp', c=0.2, gamma=0.5, until=2)",
        ),
    ),
    (
        "mixed conditional failing-mixed",
        (
            "strategies.CoCaBO(quick(surrogates.CoCaBO()), horizon=20)",
            "strategies.CoCaBO(quick(), batch=2)",
            "strategies.CoCaBO('gp', batch=3, gamma=0.5)",
            "strategies.Hierarchical(quick(initial=initial.Sobol(2)), quick(), trials=3)",
            "strategies.Hierarchical(quick(), quick(surrogates.Forest(trees=8)), trials=2,"
            " carried=0, pooled=True)",
            "strategies.Perturbed(strategies.CoCaBO(quick(), horizon=20))",
        ),
    ),
    ("mixed", ("strategies.CoCaBO('random')", "strategies.Hierarchical('gp', 'tree')")),
    # Models and surrogates of a user's own
    (
        "plane",
        (
            "quick(gp(matern()))",
            "quick(gp(kernels.RBF(each()), free(-6.0)))",
            "quick(gp(kernels.Matern12(each())))",
            "quick(gp(kernels.Matern32(each())))",
            "quick(gp(kernels.RationalQuadratic(each(), free(0.0))))",
            "quick(gp(kernels.Additive(free(0.0), matern())))",
            "quick(gp(kernels.Warp(free(0.0, 2), free(0.0, 2), matern(2), kernels.BetaCDF())))",
            "quick(gp(kernels.Sum((matern(), kernels.Offset(1.0, kernels.RBF(each()))))))",
            "quick(gp(spartan_kernel()))",
            "quick(gp(kernels.RBF((0.3, 0.2))))",
            "quick(gp(kernels.TaylorRBF(each())))",
            "quick(gp(kernels.ExpectedRBF(each(), (0.05,))))",
            "quick(surrogates.LatentGP(matern(), 0.1, noise=1e-4))",
            "quick(surrogates.HeteroscedasticGP(matern(), free(-4.0)))",
            "quick(surrogates.Inferred(gp(matern()), inference.Laplace(), 'moment'))",
            "quick(surrogates.Grounded(surrogates.Inferred(gp(spartan_kernel()), few_chains())))",
            "quick(surrogates.TreedGP(gp(matern()), few_chains(), (0, 1), 5))",
            "quick(surrogates.Blend(two()))",
            "quick(surrogates.Lottery(two()))",
            "quick(Own())",
            "quick(Own(), pending=pending.Thompson(64))",
            "quick(Broken())",
            "OwnStrategy()",
        ),
    ),
    (
        "mixed",
        (
            "quick(gp(kernels.Product((numbers(), categories()))))",
            "quick(gp(kernels.Sum((numbers(), categories()))))",
            "quick(gp(kernels.SumProduct(share(), (numbers(), matches()))))",
        ),
    ),
    (
        "conditional",
        (
            "quick(gp(arc_kernel()))",
            "quick(gp(common_nodes_kernel()))",
            "quick(gp(conditional_kernel()))",
            "quick(gp(kernels.Sum(leaf_kernels())))",
            "quick(gp(kernels.Sum((shared_kernel(kernels.Linear()), *leaf_kernels()))))",
            "quick(surrogates.PathChains(surrogates.PathGP(None, leaf_kernels(), 1e-4),"
            " few_chains()))",
            "quick(surrogates.PathChains(surrogates.PathGP(shared_kernel(kernels.Fourier(4)),"
            " leaf_kernels(), free(-6.0)), few_chains()))",
        ),
    ),
    (
        "plane",
        ("quick(Wrong())", "surrogates.Warped", "Method(acquisition=acquisition.EI)", "'unknown'"),
    ),
)
