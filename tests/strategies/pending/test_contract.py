import numpy as np
import pytest

from outcrop import pending
from outcrop.acquisition import LogEI
from outcrop.errors import MethodError
from outcrop.testing import PENDING_CONTRACT
from outcrop.testing.pending import nothing_running_changes_nothing, suggests_what_is_legal_and_new
from tests.strategies.pending.beliefs import (
    BELIEVING,
    ONE_SPACE_EACH,
    PAIRS,
    PENALISING,
    POLICIES,
    belief,
    name,
    with_running,
)
from tests.strategies.spaces import EVERY_SPACE

DIFFERENT = [
    pending.Believer(),
    pending.ThompsonSampling(),
    pending.PLAyBOOK("L"),
    pending.PLAyBOOK("HL"),
]
every_surrogate = pytest.mark.parametrize(("space", "surrogate"), PAIRS, ids=lambda part: part)


def keep_contract(policy, space, surrogate, running):
    believed = belief(space, surrogate)
    space = EVERY_SPACE[space]
    view = with_running(space, running)
    if surrogate == "forest" and policy in PENALISING and running:
        with pytest.raises(MethodError, match="ForestPosterior has no gradients"):
            suggests_what_is_legal_and_new(policy, space, view, believed)
        return
    alone = nothing_running_changes_nothing, suggests_what_is_legal_and_new
    for check in PENDING_CONTRACT if running else alone:
        check(policy, space, view, believed)


@pytest.mark.parametrize(("space", "surrogate"), ONE_SPACE_EACH)
@pytest.mark.parametrize("policy", DIFFERENT, ids=name)
def test_policy_keeps_the_contract_with_every_surrogate(policy, space, surrogate):
    keep_contract(policy, space, surrogate, 5)


@pytest.mark.parametrize("running", [0, 1, 31])
@pytest.mark.parametrize("space", ["box", "mixed"])
@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_policy_keeps_the_contract_with_few_and_many_running(policy, space, running):
    keep_contract(policy, space, "gp", running)


@pytest.mark.slow
@pytest.mark.parametrize("running", [0, 1, 5, 31])
@every_surrogate
@pytest.mark.parametrize("policy", POLICIES, ids=name)
def test_policy_keeps_the_contract_with_all_of_these(policy, space, surrogate, running):
    keep_contract(policy, space, surrogate, running)


@pytest.mark.parametrize("space", ["box", "mixed", "conditional"])
@pytest.mark.parametrize("policy", [*BELIEVING, *PENALISING], ids=name)
def test_a_promising_trial_is_worth_less_while_it_runs(policy, space):
    """A lie next to a much higher value can make a hopeless trial look less so."""
    believed, space = belief(space, "gp"), EVERY_SPACE[space]
    view, rng = with_running(space, 31), np.random.default_rng(0)
    lowest = np.array([part.incumbent() for part in believed.components])
    posterior, acquisition = policy.account(view, space, believed, LogEI(), rng)
    incumbent = np.array([part.incumbent() for part in posterior.components])
    ready = acquisition.prepare(posterior, incumbent, view.X, rng, 1)
    before = LogEI(best=lowest)(believed, view.pending)
    promising = before > np.log(1e-3)
    assert promising.any()
    assert (ready(posterior, view.pending) < before)[promising].all()
