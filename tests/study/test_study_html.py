import pytest

import outcrop as oc
from outcrop.study.trial import Trial
from tests.html_pages import read_html

EVIL = "<img src=x onerror=alert(1)>"
SPACE = oc.Space({"x": oc.Float(0, 1), EVIL: oc.Categorical([EVIL, "b"])})


def searched(**options):
    study = oc.Study(SPACE, name=EVIL, method="sobol", seed=0, **options)
    for number in range(12):
        trial = study.ask()
        if number % 4 == 3:
            study.fail(trial, f"{EVIL} at step {number}\nsecond line")
        else:
            study.tell(trial, 1 / 3 + number, std=0.5)
    return study


def test_a_study_shows_its_best_trial_its_failures_and_its_last_trials():
    _, text = read_html(searched()._repr_html_())
    assert text.startswith(f"Study {EVIL}minimize, method sobol, seed 0")
    assert "trials: 12 (9 finished, 3 failed)" in text
    assert "best value 0.333333 ± 0.5, trial 0x" in text
    assert f"failuresreason3{EVIL} at step 3 (numbers vary)the last 10 trials" in text
    assert "second line" not in text
    maximised = searched(direction="maximize")
    assert "best value 10.3333 ± 0.5, trial 10" in read_html(maximised._repr_html_())[1]


def test_an_optimizer_and_a_result_show_the_same():
    optimizer = oc.Optimizer(SPACE, seed=0)
    assert "no trial has finished yet" in read_html(optimizer._repr_html_())[1]
    result = oc.minimize(lambda p: p["x"], SPACE, n_trials=3, method="random", seed=0)
    _, text = read_html(result._repr_html_())
    assert text.startswith("Result: n_trials donetrials: 3 (3 finished)best value ")
    assert "the last 3 trials" in text


def test_a_trial_shows_its_outcome_and_its_parameters():
    trial = Trial(4, {"x": 0.25, EVIL: "b"}, {}, "failed", reason=EVIL, at={"x": 0.5})
    _, text = read_html(trial._repr_html_())
    assert text == f"Trial 4: failedreason: {EVIL}x0.25{EVIL}bx (evaluated at)0.5"
    told = Trial(5, {"x": 0.25}, {}, "finished", value=2.0, std=0.1)
    assert read_html(told._repr_html_())[1] == "Trial 5: finished, value 2 ± 0.1x0.25"


def test_corrections_and_branches_in_which_all_trials_failed_are_named():
    model = oc.Choice({"a": {}, "b": {"k": oc.Int(1, 3)}})
    study = oc.Optimizer(oc.Space({"x": oc.Float(0, 1), "model": model}), seed=0)
    trial = study.add({"x": 0.5, "model": "a"}, 2.0)
    study.enqueue({"x": 0.5, "model": "b", "model.b.k": 1})
    study.fail(study.ask(), "KeyError: 'k'")
    _, text = read_html(study._repr_html_())
    assert "the only trial of model=b failed, most often: KeyError: 'k'" in text
    _, text = read_html(study.amend(trial, value=3.0, reason="a typing error")._repr_html_())
    assert text == "Trial 0: finished, value 3was 2.0: a typing errorx0.5modela"


def test_a_recommendation_says_how_sure_it_is():
    optimizer = oc.Optimizer(SPACE, seed=0)
    optimizer.add([{"x": x, EVIL: "b"} for x in (0.1, 0.5, 0.7)], [3.0, 1.0, 2.0])
    held = optimizer.recommend()
    _, text = read_html(held._repr_html_())
    assert text.startswith("Recommendation: trial 1mean 1")
    assert f"probability {held.probability:.2f}x0.5{EVIL}b" in text


def test_a_study_whose_store_is_gone_shows_what_was_known(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    study = oc.Study(SPACE, name="a", storage=url, method="random", seed=0)
    study.tell(study.ask(), 1.0)
    oc.delete_study("a", url)
    with pytest.raises(oc.errors.StudyError):
        _ = study.trials
    assert repr(study).startswith("Study('a', 1 trials, ")
    assert "trials: 1 (1 finished)" in read_html(study._repr_html_())[1]
