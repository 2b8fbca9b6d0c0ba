from dataclasses import replace

import numpy as np
import pytest

import outcrop as oc
from outcrop.acquisition import LogEI
from outcrop.errors import MethodError
from outcrop.strategies.pending import Believer, Liar
from outcrop.testing import view_of
from tests.strategies.pending.beliefs import waves
from tests.strategies.spaces import EVERY_SPACE

BOX = EVERY_SPACE["box"]


@pytest.fixture
def belief():
    return waves()


def view(belief, pending):
    data = belief.components[0].data
    return view_of(BOX, data.X, data.y, pending)


def test_each_component_believes_its_own_mean(belief, rng):
    pending = np.sort(rng.random((3, 2)), axis=0)
    posterior, _ = Believer().account(view(belief, pending), BOX, belief, LogEI(), rng)
    for before, after in zip(belief.components, posterior.components, strict=True):
        np.testing.assert_allclose(after.data.y[-3:], before.predict(pending)[0])
        np.testing.assert_allclose(after.predict(pending)[0], before.predict(pending)[0], atol=1e-4)


def test_the_incumbent_includes_what_is_believed(belief, rng):
    """On a multimodal function a component may expect a running trial to beat the best so far."""
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), -1).reshape(-1, 2)
    part = belief.components[2]
    promising = grid[[part.predict(grid)[0].argmin()]]
    posterior, _ = Believer().account(view(belief, promising), BOX, belief, LogEI(), rng)
    assert posterior.components[2].incumbent() < part.incumbent()


def test_components_that_disagree_about_a_running_trial_go_on_disagreeing(belief, rng):
    """Sharing one believed value would make them agree where nobody looked."""
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, 41)] * 2), -1).reshape(-1, 2)
    means, _ = belief.predict_each(grid)
    disputed = grid[[np.ptp(means, axis=0).argmax()]]
    posterior, _ = Believer().account(view(belief, disputed), BOX, belief, LogEI(), rng)
    after, _ = posterior.predict_each(disputed)
    np.testing.assert_allclose(np.ptp(after), np.ptp(means, axis=0).max(), rtol=1e-3)


@pytest.mark.parametrize("value", ["min", "mean", "max"])
def test_a_liar_tells_every_component_a_value_of_its_own_data(belief, value, rng):
    pending = rng.random((4, 2))
    seen = view(belief, pending)
    posterior, _ = Liar(value).account(seen, BOX, belief, LogEI(), rng)
    for part in posterior.components:
        told = part.data.y[-4:]
        np.testing.assert_allclose(told, getattr(seen.y, value)(), atol=1e-4)


def test_a_noisy_component_lies_by_what_it_believes_and_not_by_what_it_saw(belief, rng):
    noisy = replace(belief.components[0].model, noise=0.5).condition(belief.components[0].data)
    mixture = replace(belief, components=(noisy,), weights=np.ones(1))
    pending = rng.random((1, 2))
    posterior, _ = Liar("min").account(view(belief, pending), BOX, mixture, LogEI(), rng)
    lie = posterior.components[0].data.y[-1]
    assert lie == noisy.predict(noisy.data.X)[0].min()
    assert lie > noisy.data.y.min() + 0.1


def test_higher_lies_keep_farther_away(belief, rng):
    near = np.array([[0.42, 0.42]])
    scores = []
    for value in ("min", "mean", "max"):
        seen = view(belief, np.array([[0.4, 0.4]]))
        posterior, acquisition = Liar(value).account(seen, BOX, belief, LogEI(best=-1.0), rng)
        scores.append(acquisition(posterior, near)[0])
    assert scores[0] > scores[1] > scores[2]


@pytest.mark.parametrize("wrong", ["median", 0.0, None])
def test_a_lie_of_another_kind_is_refused(wrong):
    with pytest.raises(MethodError, match=r"Liar\(.*expected \"min\", \"mean\" or \"max\""):
        Liar(wrong)


def test_running_trials_of_a_single_configuration_are_accounted_for():
    optimizer = oc.Optimizer(oc.Space({"only": oc.Fixed(3)}), noise=True, seed=0)
    for value in (1.0, 2.0, 1.5):
        optimizer.tell(optimizer.ask(), value)
    assert [trial.params for trial in optimizer.ask(3)] == [{"only": 3}] * 3
    assert optimizer.recommend().probability == 1.0
