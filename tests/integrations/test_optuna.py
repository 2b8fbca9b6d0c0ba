import subprocess
import sys

import pytest

pytest.importorskip("optuna")

import optuna
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.trial import TrialState, create_trial

from outcrop.errors import MethodError, SpaceError
from outcrop.inference import Slice
from outcrop.integrations.optuna import OutcropSampler
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from outcrop.strategies import Method, Sequence
from outcrop.strategies.initial import LatinHypercube
from tests.integrations.objectives import Spy, nested

optuna.logging.set_verbosity(optuna.logging.WARNING)
FAST = Method(inference=Slice(chains=2, burn_in=2), initial=LatinHypercube(10))
MODEL = CategoricalDistribution(["linear", "mlp"])
UNIT = FloatDistribution(0, 1)
TREE = Space(
    {
        "scale": Float(0, 1),
        "model": Choice(
            {
                "linear": {"shrinkage": Float(0, 1)},
                "mlp": {
                    "optimiser": Choice(
                        {
                            "sgd": {"momentum": Float(0, 1)},
                            "adam": {
                                "schedule": Choice({"None": {}, "decay": {"rate": Float(0, 1)}})
                            },
                        }
                    )
                },
            }
        ),
    }
)


def create(space=None, method="random", seed=0, **options):
    sampler = OutcropSampler(space, method=method, seed=seed)
    return optuna.create_study(sampler=sampler, **options)


def done(value, **params):
    """A completed trial of conditional models."""
    known = {"model": MODEL, "scale": UNIT, "shrinkage": UNIT, "rate": UNIT}
    distributions = {name: known[name] for name in params}
    return create_trial(params=params, distributions=distributions, value=value)


def test_three_levels_of_choices_are_learnt_as_they_are():
    study = create()
    study.optimize(nested, n_trials=60)
    assert study.sampler.space_of(study) == TREE


@pytest.mark.slow
def test_the_best_leaf_of_three_levels_is_found():
    study = create(method="auto")
    study.optimize(nested, n_trials=45)
    assert study.best_trial.params["schedule"] == "decay"
    assert study.best_value < 0.02


def test_every_parameter_of_a_known_tree_is_proposed_together(monkeypatch):
    study = create()
    study.optimize(nested, n_trials=60)
    monkeypatch.setattr(OutcropSampler, "sample_independent", lambda *_: pytest.fail("alone"))
    study.optimize(nested, n_trials=40)
    assert len({frozenset(trial.params) for trial in study.trials[60:]}) == 4


def test_the_space_is_unknown_before_the_first_trial():
    assert create().sampler.space_of(create()) is None


def test_the_same_seed_gives_the_same_trials():
    studies = [create(method=FAST, seed=seed) for seed in (3, 3, 4)]
    for study in studies:
        study.optimize(nested, n_trials=14)
    first, again, other = ([trial.params for trial in study.trials] for study in studies)
    assert first == again != other


def test_maximising_the_negative_asks_for_the_same_trials():
    least, most = create(method=FAST), create(method=FAST, direction="maximize")
    least.optimize(nested, n_trials=14)
    most.optimize(lambda trial: -nested(trial), n_trials=14)
    assert [t.params for t in least.trials] == [t.params for t in most.trials]


def test_running_trials_are_pending_with_all_that_was_proposed_for_them():
    spy = Spy()
    study = create(method=spy)
    study.add_trials([done(1.0, model="linear", shrinkage=0.5), done(0.0, model="mlp", rate=0.5)])
    first, second = study.ask(), study.ask()
    model = first.suggest_categorical("model", ["linear", "mlp"])  # the other is not asked for yet
    second.suggest_categorical("model", ["linear", "mlp"])
    (pending,) = spy.shown["pending"]
    name = "shrinkage" if model == "linear" else "rate"
    assert pending == {"model": model, f"model.{model}.{name}": first.suggest_float(name, 0, 1)}
    assert [value for _, value in spy.shown["told"]] == [1.0, 0.0]


def test_a_long_proposal_reaches_other_workers_whole():
    spy = Spy()
    study = create(method=spy)
    names = [f"parameter-{i}-{'é' * 30}" for i in range(80)]

    def objective(trial):
        return sum(trial.suggest_float(name, 0, 1) for name in names)

    study.optimize(objective, n_trials=1)
    one, other = study.ask(), study.ask()
    wanted = [one.suggest_float(name, 0, 1) for name in names[:1]]
    other.suggest_float(names[0], 0, 1)
    (pending,) = spy.shown["pending"]
    wanted += [one.suggest_float(name, 0, 1) for name in names[1:]]
    assert list(pending.values()) == pytest.approx(wanted)
    attributes = study.trials[1].system_attrs
    assert len(attributes) > 1
    assert all(len(ascii(text)) <= 2045 for text in attributes.values())


def test_failed_and_infinite_trials_are_failures():
    spy = Spy()
    study = create(method=spy)
    study.add_trial(done(1.0, scale=0.1))
    study.add_trial(done(float("inf"), scale=0.2))
    study.add_trial(
        create_trial(state=TrialState.FAIL, params={"scale": 0.3}, distributions={"scale": UNIT})
    )
    study.ask().suggest_float("scale", 0, 1)
    assert spy.shown["told"] == [({"scale": 0.1}, 1.0)]
    assert [params["scale"] for params in spy.shown["failed"]] == pytest.approx([0.2, 0.3])


@pytest.mark.parametrize(("last", "counted"), [(-5.0, 2.0), (3.0, 3.0), (99.0, 4.0), (None, 2.0)])
def test_a_pruned_trial_counts_between_the_median_and_the_worst(last, counted):
    spy = Spy()
    study = create(method=spy)
    study.add_trials([done(value, scale=value / 10) for value in (0.0, 2.0, 4.0)])
    trial = study.ask()
    trial.suggest_float("scale", 0, 1)
    if last is not None:
        trial.report(last, step=1)
    study.tell(trial, state=TrialState.PRUNED)
    study.ask().suggest_float("scale", 0, 1)
    assert [value for _, value in spy.shown["told"]] == [0.0, 2.0, 4.0, counted]


def test_what_was_learnt_is_handed_on_while_the_space_stays_the_same():
    spy = Spy()
    study = create(method=spy)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=3)
    study.optimize(lambda t: t.suggest_float("x", 0, 1) + t.suggest_int("n", 1, 3), n_trials=3)
    assert [view.warm.get("count") for view in spy.views] == [None, 1, 2, None, 1]


def test_enqueued_values_are_kept_and_completed_below_their_choice():
    study = create(TREE)
    study.enqueue_trial({"model": "linear", "scale": 0.25})
    study.enqueue_trial({"model": "mlp", "optimiser": "sgd"})
    for fixed in ({"model": "linear", "scale": 0.25}, {"model": "mlp", "optimiser": "sgd"}):
        trial = study.ask()
        study.tell(trial, nested_declared(trial))
        assert trial.params.items() >= fixed.items()
    assert set(study.trials[1].params) == {"scale", "model", "optimiser", "momentum"}


def test_an_enqueued_value_out_of_range_does_not_stop_the_study():
    study = create()
    study.add_trial(done(1.0, scale=0.1))
    study.enqueue_trial({"scale": 7.0})
    with pytest.warns(UserWarning, match="out of range"):
        study.ask().suggest_float("scale", 0, 1)


def test_a_space_that_is_used_up_is_repeated():
    study = create(method="auto")
    study.optimize(lambda trial: trial.suggest_int("n", 1, 3), n_trials=6)
    assert {trial.params["n"] for trial in study.trials} == {1, 2, 3}


def test_the_newest_range_counts_and_trials_outside_are_left_out():
    spy = Spy()
    study = create(method=spy)
    study.add_trials([done(1.0, scale=0.1), done(2.0, scale=0.9)])
    study.ask({"scale": FloatDistribution(0.5, 2)})
    for _ in range(5):
        study.ask({"scale": FloatDistribution(0.5, 2)})
    assert spy.spaces[-1] == Space({"scale": Float(0.5, 2)})
    assert spy.shown["told"] == [({"scale": pytest.approx(0.9)}, 2.0)]
    assert all(0.5 <= trial.params["scale"] <= 2 for trial in study.trials[2:])


def test_numbers_of_too_many_values_and_constants_are_not_modelled():
    spy = Spy()
    study = create(method=spy)

    def objective(trial):
        trial.suggest_int("seed", 0, 2**60)
        trial.suggest_categorical("constant", ["only"])
        return trial.suggest_float("x", 0, 1)

    study.optimize(objective, n_trials=4)
    assert spy.spaces[-1] == Space({"x": Float(0, 1)})
    assert len({trial.params["seed"] for trial in study.trials}) == 4


def test_categories_of_any_kind_come_back_as_they_are():
    choices = [None, True, 2, 0.5, "a.b", float("inf")]
    study = create()
    study.optimize(
        lambda trial: float(choices.index(trial.suggest_categorical("c", choices))), n_trials=40
    )
    assert {repr(trial.params["c"]) for trial in study.trials} == set(map(repr, choices))


def nested_declared(trial):
    """`nested` by last names, for the declared tree."""
    scale = trial.suggest_float("scale", 0, 1)
    if trial.suggest_categorical("model", ["linear", "mlp"]) == "linear":
        return 1 + scale + trial.suggest_float("model.linear.shrinkage", 0, 1)
    if trial.suggest_categorical("optimiser", ["sgd", "adam"]) == "sgd":
        return 0.5 + scale + trial.suggest_float("momentum", 0, 1)
    if trial.suggest_categorical("schedule", ["None", "decay"]) == "None":
        return 0.2 + scale
    return scale + (trial.suggest_float("rate", 0, 1) - 0.3) ** 2


def test_a_declared_space_is_proposed_whole_from_the_first_trial(monkeypatch):
    monkeypatch.setattr(OutcropSampler, "sample_independent", lambda *_: pytest.fail("alone"))
    study = create(TREE)
    study.optimize(nested_declared, n_trials=30)
    assert study.sampler.space_of(study) == TREE
    assert len({frozenset(trial.params) for trial in study.trials}) == 4


def test_every_kind_of_parameter_can_be_declared():
    space = Space(
        {
            "log": Float(1e-3, 1, log=True),
            "step": Float(0, 1, step=0.1),
            "n": Int(2, 10, step=2),
            "size": Ordinal(["s", "m", "l"]),
            "kind": Categorical([1, "1", None]),
            "fixed": Fixed(3),
        }
    )
    study = create(space)

    def objective(trial):
        x = trial.suggest_float("log", 1e-3, 1, log=True) + trial.suggest_float(
            "step", 0, 1, step=0.1
        )
        assert trial.suggest_categorical("size", ["s", "m", "l"]) in "sml"
        assert trial.suggest_categorical("kind", [1, "1", None]) in (1, "1", None)
        assert trial.suggest_categorical("fixed", [3]) == 3
        return x + trial.suggest_int("n", 2, 10, step=2)

    study.optimize(objective, n_trials=12)
    for trial in study.trials:
        assert space.validate(trial.params) == trial.params


def test_an_objective_against_the_declared_space_is_refused():
    space = Space({"model": Choice({"linear": {}, "mlp": {"rate": Float(0, 1)}})})

    def refused(objective, match):
        study = create(space)
        with pytest.raises(SpaceError, match=match):
            study.optimize(objective, n_trials=20)

    def unknown(trial):
        return trial.suggest_float("other", 0, 1)

    def inactive(trial):
        trial.suggest_categorical("model", ["linear", "mlp"])
        return trial.suggest_float("rate", 0, 1)

    def lacking(trial):
        trial.suggest_categorical("model", ["linear", "mlp"])
        return 0.0

    def wider(trial):
        if trial.suggest_categorical("model", ["linear", "mlp"]) == "mlp":
            return trial.suggest_float("rate", 0, 2)
        return 0.0

    refused(unknown, "'other' is not in the space")
    refused(inactive, "'rate' was requested, but in the space it is not active")
    refused(lacking, r"trial \d+ contradicts .* 'model\.mlp\.rate' is missing")
    refused(wider, r"trial \d+ contradicts .* 'rate' was requested as .*high=2\.0")


def test_stored_trials_against_the_declared_space_are_refused():
    study = create(Space({"model": Choice({"linear": {}, "mlp": {"rate": Float(0, 1)}})}))
    study.add_trial(done(0.0, model="linear", rate=0.5))
    with pytest.raises(SpaceError, match=r"trial 0 contradicts .* 'rate' \(= 0\.5\) is not active"):
        study.ask().suggest_categorical("model", ["linear", "mlp"])


def test_failed_trials_against_the_declared_space_are_left_out():
    spy = Spy()
    study = create(Space({"scale": Float(0, 1)}), method=spy)
    study.add_trial(
        create_trial(state=TrialState.FAIL, params={"rate": 0.3}, distributions={"rate": UNIT})
    )
    study.ask().suggest_float("scale", 0, 1)
    assert spy.shown["failed"] == []


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=OutcropSampler())
    with pytest.raises(MethodError, match="2 objectives"):
        study.ask().suggest_float("x", 0, 1)


def test_constraints_are_refused():
    study = create()

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        trial.set_constraint("small", x - 0.5)
        return x

    with pytest.raises(MethodError, match="trial 0 has constraints"):
        study.optimize(objective, n_trials=2)


def test_what_a_sampler_is_made_of_is_checked():
    with pytest.raises(MethodError, match="not known"):
        OutcropSampler(method="simplex")
    with pytest.raises(SpaceError, match="expected a Space"):
        OutcropSampler({"x": Float(0, 1)})
    with pytest.raises(MethodError, match="made for one space"):
        OutcropSampler(method=Sequence(Space({"x": Float(0, 1)})))


def test_a_missing_optuna_is_named():
    code = "import sys; sys.modules['optuna'] = None; import outcrop.integrations.optuna"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'outcrop[optuna]'" in run.stderr.splitlines()[-1]


class Racing:
    """Sobol points; before the first one is proposed, another worker asks for its own."""

    def __init__(self, rival):
        self.rival, self.found = rival, []

    def strategy(self, space):
        self.sequence = Sequence(space)
        return self

    def propose(self, view, rng):
        if not self.found:
            self.found.append(self.rival.suggest_float("scale", 0, 1))
        suggestion = self.sequence.propose(view, rng)
        self.found.append(suggestion.params["scale"])
        return suggestion


def test_of_two_workers_that_propose_the_same_at_once_one_gives_way():
    study = create(method="sobol")
    study.add_trial(done(1.0, scale=0.1))
    racing = Racing(study.ask())
    sampler = OutcropSampler(method=racing, seed=0)
    other = optuna.load_study(study_name=study.study_name, storage=study._storage, sampler=sampler)
    taken = other.ask().suggest_float("scale", 0, 1)
    theirs, first, second = racing.found
    assert theirs == first != second == taken
