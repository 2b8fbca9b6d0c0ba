"""Names of earlier versions: stored methods and programs that use them go on."""

import importlib
import json
import subprocess
import sys
import warnings

import pytest

import outcrop as oc
from outcrop.former_names import FORMER, FORMER_FIELDS, FORMER_VALUES, current
from outcrop.strategies import Method, method_json, pending
from outcrop.strategies.method_text import described, difference, restored, worded

STORED = {  # as written before classes were renamed
    "version": 1,
    "class": "strategies.Method",
    "surrogate": None,
    "inference": None,
    "acquisition": {"class": "strategies.TopPaths", "count": 2},
    "pending": {"class": "pending.PLAyBOOK", "kind": "L", "constants": "paths"},
    "initial": {"class": "initial.OnePerPath", "size": 5},
    "maximiser": {"class": "strategies.EachPath"},
}
SAME = Method(
    acquisition=oc.strategies.TopBranches(count=2),
    pending=pending.PLAyBOOK("L", constants="draws"),
    initial=oc.initial.OnePerBranch(size=5),
    maximiser=oc.strategies.EachBranch(),
)


def module_of(package):
    nested = {"durations": "study.simulation.", "initial": "strategies.", "pending": "strategies."}
    return importlib.import_module(f"outcrop.{nested.get(package, '')}{package}")


@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_still_imports_and_warns_with_the_name_now(former):
    package, _, name = former.rpartition(".")
    home, _, now = FORMER[former].rpartition(".")
    with pytest.warns(DeprecationWarning, match=rf"{name} is now called outcrop\.{home}\.{now}"):
        kind = getattr(module_of(package), name)
    assert kind is getattr(module_of(home), now)


@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_denotes_nothing_else_today(former):
    package, _, name = former.rpartition(".")
    assert name not in module_of(package).__all__
    assert current(FORMER[former]) == FORMER[former]


def test_the_warning_points_at_the_line_that_uses_the_name():
    with pytest.warns(DeprecationWarning, match="OnePerBranch") as caught:
        from outcrop.strategies.initial import OnePerPath
    assert OnePerPath is oc.initial.OnePerBranch
    assert {warning.filename for warning in caught} == {__file__}


def test_a_name_that_never_was_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'outcrop\.strategies\.initial' .*'TwoPerPath'"):
        _ = oc.initial.TwoPerPath


def test_importing_outcrop_warns_of_nothing():
    subprocess.run([sys.executable, "-W", "error", "-c", "import outcrop"], check=True)


@pytest.mark.parametrize("former", [f for f in FORMER if FORMER[f] in method_json._classes()])
def test_a_stored_class_is_read_under_its_former_name(former):
    assert method_json.renamed({"class": former}) == {"class": FORMER[former]}


def test_a_method_stored_with_former_names_is_read_and_written_with_those_of_today():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        method = restored(STORED)
    assert method.to_json() == SAME.to_json()
    assert not any(former in json.dumps(method.to_json()) for former in FORMER)


def test_a_method_stored_with_former_names_does_not_differ_from_the_same_method():
    assert difference(STORED, described(SAME)) == []
    assert difference(described(SAME), STORED) == []
    assert worded(STORED) == worded(described(SAME))


def test_differences_are_told_with_the_names_of_today():
    other = {**STORED, "initial": {"class": "initial.OnePerPath", "size": 6}}
    assert difference(other, described(SAME)) == ["initial.size: 6 stored, 5 given"]
    other = {**STORED, "initial": {"class": "initial.Uniform", "size": 6}}
    line = "initial: RandomDesign(size=6) stored, OnePerBranch(size=5) given"
    assert difference(other, described(SAME)) == [line]


@pytest.mark.parametrize(("name", "field"), FORMER_VALUES)
def test_a_former_value_is_accepted_with_a_warning(name, field):
    kind = method_json._classes()[name]
    for former, now in FORMER_VALUES[name, field].items():
        with pytest.warns(DeprecationWarning, match=f"{former}.*is now written.*{now}"):
            made = kind(**{field: former})
        assert made == kind(**{field: now})


@pytest.mark.parametrize(("name", "field"), FORMER_FIELDS)
def test_a_stored_method_with_a_former_field_is_read(name, field):
    stored = {"version": 1, "class": name, field: None}
    assert getattr(method_json.from_json(stored), FORMER_FIELDS[name, field]) is None
