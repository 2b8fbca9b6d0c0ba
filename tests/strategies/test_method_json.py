import json
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings

from outcrop import kernels, priors
from outcrop.acquisition import EI, LCB, UCB
from outcrop.errors import MethodError
from outcrop.inference import Slice
from outcrop.kernels import Matern52, Scaled
from outcrop.params import Per, free
from outcrop.priors import Normal, Shifted
from outcrop.strategies import Method, method_json
from outcrop.strategies.initial import Sobol
from outcrop.strategies.method_json import from_json, to_json
from outcrop.strategies.pending import Believer
from outcrop.surrogates import GP
from tests.strategies.method_examples import classes_of_parts, exact, examples_of, some_surrogates

EVERY_PART = classes_of_parts()


class Pair(tuple[int, ...]):
    """A tuple that would come back as another one."""


def text(value):
    return json.dumps(to_json(value), allow_nan=False)


def inner(value):
    """How `value` is stored as a field of a part."""
    return json.loads(text(Shifted(value, 0.0)))["prior"]


def read(data):
    """What is made of `data` as a field of a part."""
    stored = {"version": 1, "class": "priors.Shifted", "prior": data, "by": 0.0}
    return from_json(json.dumps(stored)).prior


@pytest.mark.parametrize("kind", EVERY_PART, ids=EVERY_PART.get)
def test_every_public_part_comes_back_from_json(kind):
    for part in examples_of(kind):
        assert exact(from_json(text(part))) == exact(part)


@pytest.mark.parametrize("kind", EVERY_PART, ids=EVERY_PART.get)
def test_a_part_is_stored_under_its_public_name_beside_its_fields(kind):
    for part in examples_of(kind):
        data = json.loads(text(part))
        fields = [name for name in vars(part) if name != "effort"]  # that of one suggestion
        assert list(data) == ["version", "class", *fields]
        assert data["class"] == EVERY_PART[kind]


@given(some_surrogates)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_models_of_any_build_come_back_from_json(surrogate):
    again = from_json(text(surrogate))
    assert exact(again) == exact(surrogate)
    assert text(again) == text(surrogate)


@pytest.mark.parametrize("member", Per)
def test_enumerations_come_back_as_the_same_member(member):
    assert from_json(text(member)) is member
    assert from_json(text(free(Normal(), size=member))).size is member


def test_of_two_names_of_one_class_either_is_read():
    assert to_json(LCB(3.0))["class"] == "acquisition.UCB"
    assert exact(read({"class": "acquisition.LCB", "kappa": 3.0})) == exact(UCB(3.0))


def test_a_method_comes_back_whole_from_an_object_and_from_its_text():
    method = Method(
        GP(Matern52([0.1, 0.2]), noise=1e-3), Slice(3), EI(best=0.1), Believer(), Sobol(5)
    )
    for data in (method.to_json(), json.dumps(method.to_json())):
        assert exact(Method.from_json(data)) == exact(method)
    assert exact(read(inner(method))) == exact(method)


def test_fields_that_an_older_release_did_not_have_get_their_defaults():
    assert exact(read({"class": "priors.LogNormal", "location": 2.0})) == exact(
        priors.LogNormal(2.0)
    )
    older = {"version": 1, "class": "strategies.Method"}
    assert exact(Method.from_json(older)) == exact(Method())


def test_only_what_cannot_be_stored_is_named_instead_and_all_else_is_kept():
    class Own(Matern52):
        """A user's kernel is not ours, even if it is a kind of ours."""

    kernel = Scaled(free(priors.LogNormal()), Own([0.3]))
    data = Method(surrogate=GP(kernel), acquisition=EI()).to_json()
    assert data["surrogate"]["kernel"]["variance"]["prior"]["class"] == "priors.LogNormal"
    assert data["surrogate"]["kernel"]["kernel"] == {"custom": Own.__qualname__}
    assert data["acquisition"] == {"class": "acquisition.EI", "best": None}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (lambda x: x, "<lambda>"),
        (np.array([object()]), "ndarray"),
        (np.zeros(2, dtype=np.longdouble), "ndarray"),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        ({1: 2}, "dict"),
        ({"set"}, "set"),
        (1j, "complex"),
        (b"", "bytes"),
        (Pair(), "Pair"),
        (Pair, "Pair"),
        (np.random.default_rng(0), "Generator"),
    ],
)
def test_whatever_json_cannot_bring_back_is_named(value, name):
    data = inner(value)
    assert list(data) == ["custom"]
    assert data["custom"].endswith(name)
    with pytest.raises(MethodError, match=rf"holds .*{name}, .*; pass method= again"):
        read(data)


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "subprocess.Popen",
        "builtins.eval",
        "kernels.__builtins__",
        "kernels.__name__",
        "kernels.__class__",
        "kernels.base.Kernel",
        "kernels.stationary.Matern52",
        "kernels.compose",
        "outcrop.kernels.Matern52",
        "kernels.Kernel",
        "acquisition.Acquisition",
        "initial.Space",
        "initial.design_size",
        "params.free",
        "params.np",
        "inference.slice_sweep",
        "data.Observations",
        "method.Method",
        "strategies.ModelBased",
        "strategies.Sequence",
        "strategies.method_json",
        "__class__",
        "Matern52",
        "",
        ".",
        None,
        3,
        ["kernels.Matern52"],
        {"class": "kernels.Matern52"},
    ],
)
def test_nothing_but_a_public_dataclass_of_ours_is_ever_made(name):
    with pytest.raises(MethodError, match=r"unknown class .*newer release"):
        read({"class": name, "lengthscales": [1.0]})


def test_a_public_class_that_is_abstract_is_not_made_either():
    with pytest.raises(MethodError, match=r"initial\.Design .*abstract"):
        read({"class": "initial.Design", "size": 3})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"class": "initial.Sobol", "size": 3, "base": 2}, r"initial\.Sobol .*\['base'\].* newer"),
        ({"class": "initial.Sobol", "__init__": 3}, r"unknown fields \['__init__'\]"),
        ({"class": "initial.Sobol", "size": 0}, "Sobol .*cannot be made .*at least 1"),
        ({"class": "initial.Sobol", "size": "many"}, "Sobol .*cannot be made"),
        ({"class": "kernels.Matern52"}, "Matern52 .*cannot be made .*lengthscales"),
        ({"class": "params.Per", "member": "TRIAL"}, r"params\.Per .*'TRIAL'.*newer"),
        ({"class": "params.Per"}, r"params\.Per .*no member"),
        ({"class": "params.Per", "member": ["DIMENSION"]}, "cannot be read"),
        ({"float": "many"}, "cannot be read"),
        ({"array": {}}, "cannot be read"),
        ({"array": {"dtype": "float64", "shape": [3], "values": [1]}}, "cannot be read"),
        ({"tuple": 3}, "cannot be read"),
    ],
)
def test_a_stored_part_that_is_not_as_it_should_be_is_refused_with_the_reason(data, message):
    with pytest.raises(MethodError, match=message):
        read(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object with its version"),
        (None, "expected an object with its version"),
        ({}, "expected an object with its version"),
        ({"version": 2}, "version 2, .*up to 1; a newer release"),
        ({"version": "1"}, "version '1'"),
        ({"version": True}, "version True"),
        ({"version": 1}, "cannot be read: KeyError"),
        (
            {"version": 1, "class": "strategies.Method", "budget": 3},
            r"\['budget'\]; a newer release",
        ),
        ({"version": 1, "class": "strategies.Method", "acquisition": 3}, "acquisition=3"),
        ({"version": 1, "class": "initial.Sobol"}, r"a stored Method: .*Sobol\(size=None\)"),
        ({"version": 1, "custom": "Own"}, "Own, of which only the name was stored"),
    ],
)
def test_a_stored_method_that_cannot_be_read_is_refused_with_the_reason(data, message):
    with pytest.raises(MethodError, match=message):
        Method.from_json(data)


def test_a_part_made_public_later_needs_no_change_of_the_codec(monkeypatch):
    @dataclass(frozen=True)
    class Later:
        kind: str = "a field may be called as it likes"
        derived: float = field(init=False, default=0.0)

    monkeypatch.setattr(kernels, "Later", Later, raising=False)
    monkeypatch.setattr(kernels, "__all__", [*kernels.__all__, "Later"])
    for table in (method_json._classes, method_json._names):
        table.cache_clear()
    try:
        assert from_json(text(Later("b"))) == Later("b")
        assert read({"class": "kernels.Later"}) == Later()
    finally:
        monkeypatch.undo()
        for table in (method_json._classes, method_json._names):
            table.cache_clear()
    with pytest.raises(MethodError, match=r"unknown class 'kernels\.Later'"):
        read({"class": "kernels.Later"})
