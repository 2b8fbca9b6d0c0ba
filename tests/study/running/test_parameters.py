"""Objectives look parameters up by short names wherever they run, and may change what they get."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

import outcrop as oc
from tests.study.running.objectives import branching

SPACE = oc.Space(
    {"x": oc.Float(0, 1), "model": oc.Choice({"linear": {}, "mlp": {"layers": oc.Int(1, 4)}})}
)


class Pickling(ThreadPoolExecutor):
    """An executor that sends copies, as those of other machines do."""

    def submit(self, function, /, *arguments):
        return super().submit(function, *pickle.loads(pickle.dumps(arguments)))


@pytest.fixture(params=["here", "processes", "executor"])
def options(request):
    match request.param:
        case "here":
            yield {}
        case "processes":
            yield {"n_workers": 2}
        case "executor":
            with Pickling(1) as executor:
                yield {"executor": executor}


def test_an_objective_gets_its_parameters_by_short_names_wherever_it_runs(options):
    study = oc.Study(SPACE, method="random", seed=0)
    result = study.optimize(branching, n_trials=8, progress=False, **options)
    assert [trial.reason for trial in result.trials] == [""] * 8
    assert {trial.params["model"] for trial in result.trials} == {"linear", "mlp"}
    for trial in result.trials:
        assert trial.value == trial.params["x"] + trial.params.get("layers", 0)


def test_a_simulated_objective_and_its_durations_get_the_same(rng):
    simulation = oc.simulate(
        branching,
        "random",
        space=SPACE,
        n_workers=2,
        n_trials=8,
        duration=lambda p, rng: 1.0 + p.get("layers", 0),
    )
    for trial in simulation.trials:
        assert trial.value == trial.params["x"] + trial.params.get("layers", 0)
        assert trial.finished - trial.started == pytest.approx(1 + trial.params.get("layers", 0))


def test_what_is_kept_of_a_trial_is_looked_up_alike():
    study = oc.Study(SPACE, method="random", seed=0)
    study.add({"x": 0.5, "model": {"mlp": {"layers": 3}}}, 1.0)
    found = [study.best_params, study.best_trial.params, study.trials[0].params]
    assert [params["layers"] for params in found] == [3, 3, 3]
    again = pickle.loads(pickle.dumps(study.best_trial))
    assert again.params.kwargs("model.mlp") == {"layers": 3}
    assert again.nested == study.best_trial.nested == again.params.nested
    with pytest.raises(TypeError, match="change a copy"):
        again.params.pop("layers")
    study.enqueue(again.params)
    assert study.ask().params == again.params


def test_a_wrong_key_of_an_objective_is_the_reason_of_the_failure():
    study = oc.Study(SPACE, method="random", seed=0)
    study.enqueue({"x": 0.5, "model": "linear"})
    study.optimize(lambda p: p["layers"], n_trials=1, progress=False, on_error="record")
    assert study.trials[0].reason == (
        "'layers' is inactive: 'model.mlp.layers' needs 'model' = 'mlp', but it is 'linear'; "
        "active are 'x', 'model'"
    )


def test_places_are_told_by_flat_names():
    study = oc.Study(SPACE, method="random", seed=0)
    study.enqueue({"x": 0.5, "model": {"mlp": {"layers": 3}}})
    with pytest.raises(ValueError, match=r"did you mean 'model\.mlp\.layers'"):
        study.tell(study.ask(), 1.0, at={"layers": 2.9})


def test_a_wrong_key_is_a_mistake_of_the_program_and_ends_the_run():
    study = oc.Study(SPACE, method="random", seed=0)
    with pytest.raises(oc.errors.ObjectiveError, match="'lr' is unknown: expected 'x'"):
        study.optimize(lambda p: p["lr"], n_trials=5, progress=False)
