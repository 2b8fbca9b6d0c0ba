"""What an optimizer says, and that it says the same again."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from outcrop.errors import (
    NoBelief,
    ParamsError,
    TrialError,
)
from outcrop.space import Float, Space
from outcrop.study import Optimizer
from tests.study.doubles import Roaming
from tests.study.optimizers import SPACE, made, refused


@pytest.fixture
def optimizer():
    return made()


# Determinism


def play(optimizer: Optimizer, sign: float = 1.0) -> list[dict[str, object]]:
    """A run with several trials at once, failures, a release and late tells."""
    asked = optimizer.ask(3)
    seen = list(asked)
    for step in range(8):
        trial = asked.pop(step % len(asked))
        if step == 2:
            optimizer.fail(trial)
        elif step == 5:
            optimizer.release(trial)
        else:
            optimizer.tell(trial, sign * math.sin(3 * trial.params["x"]))
        asked.append(optimizer.ask())
        seen.append(asked[-1])
    return [dict(trial.params) for trial in seen]


def test_the_same_seed_and_order_of_tells_give_the_same_asks():
    assert play(made()) == play(made()) != play(made(seed=6))


def test_a_drawn_seed_repeats_the_run():
    first = made(seed=None)
    assert play(first) == play(made(seed=first.seed))
    assert made(seed=None).seed != first.seed


def test_asking_for_several_is_asking_several_times():
    together, apart = made().ask(4), made()
    assert [t.params for t in together] == [apart.ask().params for _ in range(4)]


def test_questions_do_not_change_what_is_asked_next():
    curious = made()
    trial = curious.ask()
    curious.tell(trial, 1.0)
    curious.recommend()
    curious.belief.predict(trial.params)
    curious.explain()
    plain = made()
    plain.tell(plain.ask(), 1.0)
    assert curious.ask().params == plain.ask().params


def test_maximising_the_negative_is_minimising():
    low, high = made(), made(direction="maximize")
    assert play(low) == play(high, sign=-1.0)
    assert low.best_value == -high.best_value
    assert low.best_trial.number == high.best_trial.number
    params = low.best_params
    assert low.belief.predict(params)[0] == -high.belief.predict(params)[0]
    assert low.belief.predict(params)[1] == high.belief.predict(params)[1]
    one, other = low.recommend(), high.recommend()
    assert (one.mean, one.std, one.probability) == (-other.mean, other.std, other.probability)
    assert (low.explain(0).mean, high.explain(0).mean) == (1.5, -1.5)


def test_warmth_travels_from_ask_to_ask(optimizer):
    optimizer.ask(3)
    assert optimizer._state.view.warm["step"] == 3


def test_asking_and_releasing_keeps_little_memory():
    optimizer = made(method=Roaming(SPACE, weight=4000))
    optimizer.ask()
    tracemalloc.start()
    for _ in range(200):
        optimizer.release(optimizer.ask())
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown / 200 < 1000


# Answers


def test_nothing_is_best_or_believed_before_the_first_value(optimizer):
    optimizer.fail(optimizer.ask())
    for question in (
        lambda: optimizer.best_trial,
        lambda: optimizer.best_params,
        lambda: optimizer.best_value,
        lambda: optimizer.belief,
        optimizer.recommend,
    ):
        refused(optimizer, NoBelief, "value", question)


def test_the_best_trial_is_the_first_of_the_best_values(optimizer):
    for value in (3.0, 1.0, 1.0, 2.0):
        optimizer.tell(optimizer.ask(), value)
    optimizer.fail(optimizer.ask())
    assert optimizer.best_trial.number == 1
    assert optimizer.best_value == 1.0
    assert optimizer.best_params == optimizer.trials[1].params


def test_a_belief_predicts_floats_for_one_and_arrays_for_a_list(optimizer):
    optimizer.add({"x": 1.0, "m": "a"}, 1.0)
    mean, std = optimizer.belief.predict({"x": 3.0, "m": {"b": {"k": 1}}})
    assert (mean, std) == (0.75, 0.1)
    assert type(mean) is type(std) is float
    means, stds = optimizer.belief.predict([{"x": 3.0, "m": "a"}, {"x": 1.0, "m": "a"}])
    np.testing.assert_allclose(means, [0.75, 0.25])
    np.testing.assert_allclose(stds, [0.1, 0.1])
    with pytest.raises(ParamsError, match="'x'"):
        optimizer.belief.predict({"m": "a"})


def test_a_recommendation_is_the_lowest_mean_among_what_was_evaluated():
    optimizer = made(noise=True)
    # the belief is normal around x / 4 with standard deviation 0.1, whatever the values
    xs, values = [2.0, 1.6, 2.0, 1.6, 4.0], [0.1, 9.0, 0.2, 8.0, 0.3]
    optimizer.add([{"x": x, "m": "a"} for x in xs], values)
    optimizer.enqueue({"x": 0.0, "m": "a"})
    optimizer.ask()  # running, so not a candidate
    found = optimizer.recommend()
    assert found.params == {"x": 1.6, "m": "a"}
    assert (found.trial.number, found.trial.value) == (3, 8.0)
    assert (found.mean, found.std) == (0.4, 0.1)
    gap = (0.5 - 0.4) / (0.1 * math.sqrt(2))
    chance = 0.5 * (1 + math.erf(gap / math.sqrt(2)))
    assert found.probability == pytest.approx(chance, abs=0.04)
    assert optimizer.recommend() == found


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_of_values_without_noise_the_best_is_recommended(direction):
    """Also by members of an ensemble whose means do not pass through the values."""
    rng = np.random.default_rng(1)
    optimizer = Optimizer(SPACE, method="latent", seed=0, noise=False, direction=direction)
    for value in rng.standard_normal(8).tolist():
        optimizer.tell(optimizer.ask(), value)
    assert optimizer.recommend().trial == optimizer.best_trial


def test_the_only_evaluated_configuration_is_surely_the_best(optimizer):
    optimizer.add({"x": 1.0, "m": "a"}, 1.0)
    assert optimizer.recommend().probability == 1.0


def test_an_explanation_tells_what_was_believed_and_what_was_running(optimizer):
    first, second, third = optimizer.ask(3)
    optimizer.tell(first, 1.0)
    optimizer.release(third)
    last = optimizer.ask()
    optimizer.tell(second, 2.0)
    assert optimizer.explain() == optimizer.explain(last) == optimizer.explain(last.number)
    why = optimizer.explain(last)
    assert (why.source, why.surrogate, why.mean, why.std) == ("model", "none", 1.5, 0.25)
    assert (why.acquisition, why.score) == ("whim", -math.inf)
    assert why.pending == (second.number,)
    assert optimizer.explain(second).pending == (first.number,)
    text = str(optimizer.explain(second))
    for part in ("trial 1", "model", "1.5 ± 0.25", "whim = -inf", "pending: 0", "observed: 2"):
        assert part in text


def test_an_added_result_explains_itself_as_such(optimizer):
    with pytest.raises(TrialError, match="no trial was asked for yet"):
        optimizer.explain()
    trial = optimizer.add({"x": 1.0, "m": "a"}, math.nan)
    assert optimizer.explain(trial).source == "added"
    assert "failed: the value is nan" in str(optimizer.explain(trial))


def test_an_optimizer_shows_what_it_is(optimizer):
    optimizer.ask(2)
    shown = repr(optimizer)
    assert "2 trials" in shown
    assert "seed=5" in shown


@pytest.mark.parametrize("noise", [None, True])
def test_values_near_the_largest_float_are_compared_without_a_warning(noise):
    optimizer = Optimizer(Space({"x": Float(0, 1)}), method="gp", seed=0, noise=noise)
    values = [1.7e308, -1.7e308, 1.0, 2.0, 3.0, 1.7e308]
    optimizer.add([{"x": i / 5} for i in range(6)], values)
    found = optimizer.recommend()
    assert found.params == {"x": 0.2}
    assert 0 < found.probability <= 1
