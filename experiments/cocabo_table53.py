"""Table 5.3 of the thesis on CoCaBO: how well its kernel and one-hot codes predict.

Both models are trained on 250 points drawn at random and asked for the log density of the values at
100 others; no search is involved.
"""

from __future__ import annotations

__all__ = ["EXPERIMENT"]

from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.reporting import table
from experiments.comparison import corrected_p_values
from experiments.former import before_and_after, former_rows, not_made_again
from experiments.harness import Cell, Experiment, Row
from experiments.mixed_models import INFERENCE, cocabo_model, one_hot_model
from experiments.searches import problem_of
from outcrop.baselines.one_hot import Cube
from outcrop.data import Observations
from outcrop.surrogates import Inferred, Mixture, Plain, Situation, Surrogate
from outcrop.surrogates.gp import GPPosterior
from outcrop.surrogates.situation import NoiseFacts
from outcrop.typing import Points, Vector

TRAINED, TESTED = 250, 100
METHODS = ("CoCaBO", "One-hot", "overlap")
# Mean and standard error over 10 runs, of CoCaBO and One-hot.
PUBLISHED = {
    "func-2C": ("−531 ± 260", "−254 ± 98.0"),
    "func-3C": ("−435 ± 85.7", "−748 ± 42.4"),
    "ackley-2C": ("−74.7 ± 9.42", "−77.9 ± 14.2"),
    "ackley-3C": ("−47.2 ± 9.20", "−73.4 ± 18.3"),
    "ackley-4C": ("−28.3 ± 13.7", "−59.8 ± 18.0"),
    "ackley-5C": ("23.5 ± 5.50", "7.98 ± 12.5"),
}


def run(cell: Cell, number: int) -> Row:
    problem = problem_of(cell["problem"])
    space, rng = problem.space, np.random.default_rng(number)
    configurations = space.sample(rng, TRAINED + TESTED)
    X = space.encode(configurations).X
    y = np.array([problem(params) for params in configurations])
    level, scale = y[:TRAINED].mean(), y[:TRAINED].std()
    y = (y - level) / scale
    surrogate: Surrogate
    if cell["method"] == "One-hot":
        X = Cube(space).encoded(X)
        surrogate = Inferred(one_hot_model(space), INFERENCE)
    elif cell["method"] == "CoCaBO":
        surrogate = Inferred(cocabo_model(space, None), INFERENCE)
    else:
        surrogate = Plain().surrogate(Situation(space, NoiseFacts(declared=True)))
    belief = surrogate.fit(Observations(X[:TRAINED], y[:TRAINED]), rng)
    return {"log_likelihood": log_density(belief, X[TRAINED:], y[TRAINED:])}


def log_density(belief: Mixture, X: Points, y: Vector) -> float:
    """The sum over points of the log density of each value, noise included."""
    means, variances = belief.predict_each(X)
    parts = [part for part in belief.components if isinstance(part, GPPosterior)]
    noise = np.array([part.model.noise for part in parts])
    variances = variances + noise[:, None]
    logs = -0.5 * (np.log(2 * np.pi * variances) + (y - means) ** 2 / variances)
    return float(np.logaddexp.reduce(logs + np.log(belief.weights)[:, None]).sum())


def report(rows: Sequence[Row]) -> str:
    found: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        key = row["cell"]["problem"], row["cell"]["method"]
        found.setdefault(key, {})[row["run"]] = row["log_likelihood"]
    p_values = corrected_p_values(
        {
            key: (numbers, found[key[0], "One-hot"])
            for key, numbers in found.items()
            if key[1] != "One-hot" and (key[0], "One-hot") in found
        }
    )
    lines = []
    for (problem, method), numbers in found.items():
        values = np.array(list(numbers.values()))
        error = values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else 0.0
        theirs = dict(zip(METHODS, PUBLISHED[problem], strict=False)).get(method, "")
        p = p_values.get((problem, method))
        shown = [f"{values.mean():.1f} ± {error:.1f}", "" if p is None else f"{p:.3f}"]
        lines.append([problem, method, str(len(values)), *shown, theirs])
    header = ["problem", "model", "runs", "log likelihood", "p", "published"]
    parts = [READING, table(header, lines), "## One-hot codes on another scale"]
    parts += [changes(rows, found), CHANGED, not_made_again("cocabo_table53", rows), DISAGREEMENTS]
    return "\n\n".join(filter(None, parts))


def changes(rows: Sequence[Row], found: Mapping[tuple[str, str], Mapping[int, float]]) -> str:
    """`One-hot` before and after its codes were put on the thesis's scale."""
    former: dict[str, dict[int, float]] = {}
    for row in former_rows("cocabo_table53", rows):
        former.setdefault(row["cell"]["problem"], {})[row["run"]] = row["log_likelihood"]
    both = {
        (problem,): (former[problem], numbers)
        for (problem, method), numbers in found.items()
        if method == "One-hot" and problem in former
    }
    return before_and_after(["problem"], both, larger_is_better=True)


READING = f"""\
Models of chapter 5 of "Practical Bayesian optimisation for hyperparameter tuning" (Alvi 2019),
trained on {TRAINED} random points, tested on {TESTED} others; the sum of the log densities of their
values, mean ± standard error over runs. Values are standardised by those trained on; the thesis
does not say in which units its numbers are. `CoCaBO` and `One-hot` maximise the marginal likelihood
over ℓ ∈ [10⁻⁴, 3] (numbers on [−1, 1], one-hot codes on {{0, 1}}), noise variance ∈ [10⁻⁶, 1] and
λ ∈ [0, 1]; s² = 1, the sum of CoCaBO's kernel is halved. `overlap` is the model of `"gp"`,
exp(−Σ 1[hᵢ ≠ hᵢ']/ℓᵢ) times a Matérn kernel, sampled. p: two-sided Wilcoxon test against `One-hot`,
paired by run, Holm over the table."""
CHANGED = """\
Before, codes were as far apart as the two ends of a number, 2 in the thesis's units instead of 1.
Log likelihoods of `One-hot`, mean and in brackets standard error; p: two-sided Wilcoxon tests,
paired by run, Holm over the table. The thesis's scale predicts better on all six functions."""
DISAGREEMENTS = """\
## Where this differs from the thesis

- CoCaBO's kernel is ahead of one-hot codes on all six functions; in the thesis on all but func-2C.
- The thesis's densities on func-2C and func-3C are −2.5 to −7.5 nats per point, ours −1.1 to 0.5.
  Units are not the reason. The standard deviations of the functions are 2.5 and 6.2; in the
  functions' own units ours (less 100 ln sd) are −45 and −142 on func-2C and −184 and −288 on
  func-3C, for CoCaBO and one-hot codes, still far above the thesis's. What the reason is, is open.
- The thesis's densities rise from ackley-2C to ackley-5C by 98 (CoCaBO) and 86 (one-hot codes).
  Ours hardly do: those of standardised values by 7 for both. The standard deviation of the function
  falls from 0.67 to 0.44, which raises densities in its own units by 42. So units would account for
  less than half of the rise, not for the level: CoCaBO's ackley-2C would be 25, the thesis has −75.
  The rest is open.
- The overlap kernel of `"gp"` predicts better than CoCaBO's on func-3C and ackley-2C and worse on
  ackley-4C and ackley-5C (in all ten runs each, p = 0.012, Wilcoxon, Holm over the six functions);
  on the other two they do not differ beyond chance (p > 0.4). Why is not known. The
  [searches](cocabo_short.md) show that this does not decide between them."""

EXPERIMENT = Experiment(
    "cocabo_table53",
    "CoCaBO: Table 5.3",
    [[{"problem": problem, "method": method} for problem in PUBLISHED for method in METHODS]],
    run,
    report,
    source="Alvi 2019, ch. 5",
    summary="CoCaBO's kernel is ahead of one-hot codes; the densities are not the published ones",
)
