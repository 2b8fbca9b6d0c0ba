"""Spec files: what they say, and what is said of wrong ones."""

from __future__ import annotations

import pytest
import sqlalchemy
from sqlalchemy.engine import make_url

from outcrop.cli.placeholders import fill, names, written
from outcrop.cli.program_output import ValueSource
from outcrop.cli.spec import SpecError, read_spec
from outcrop.space import Categorical, Choice, Fixed, Float, Int, Ordinal, Space
from tests.cli.specs import MODEL, NU, spec_of, write_spec

COMMAND = 'command = ["./sim", "--nu={nu}"]'
FULL = """
name = "full"
command = ["./sim", "--nu={nu}", ["-n", "{model.mlp.layers}"], "{batch}", "{act}", "{size}", "{k}"]
env = { SEED = "{trial}", LAYERS = "{model.mlp.layers}", MODEL = "{model}" }
cwd = "{folder}"
direction = "maximize"
method = "random"
timeout = 12
storage = "sqlite:///other.db"
seed = 7
noise = 0.5

[objective]
from = "file"
path = "result.json"
field = "metrics.loss"

[parameters]
nu = { type = "float", low = 1e-3, high = 1, log = true }
batch = { type = "int", low = 16, high = 64, step = 16 }
act = { type = "categorical", choices = ["relu", 2, true, [1, 2]] }
size = { type = "ordinal", values = ["small", "large"] }
k = { type = "fixed", value = 3 }
model = { type = "choice", options = { linear = {}, mlp = { layers = { type = "int", low = 1, high = 4 } } } }
"""  # noqa: E501


FIELD = """
[parameters]
north = { type = "float", low = 0, high = 500 }
east = { type = "float", low = 0, high = 300 }
"""


def block(names, matrix):
    return f"\n[[input_covariance]]\nnames = {names}\nmatrix = {matrix}\n"


def refusal(tmp_path, top=COMMAND, tables=NU):
    with pytest.raises(SpecError) as caught:
        spec_of(tmp_path, top, tables)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{tmp_path / 'spec.toml'}")
    return message.removeprefix(f"{tmp_path / 'spec.toml'}").removeprefix(": ")


def test_every_key_is_read(tmp_path):
    spec = read_spec(write_spec(tmp_path, FULL))
    assert spec.name == "full"
    assert spec.command[:3] == (("./sim",), ("--nu={nu}",), ("-n", "{model.mlp.layers}"))
    assert spec.env == {"SEED": "{trial}", "LAYERS": "{model.mlp.layers}", "MODEL": "{model}"}
    assert (spec.cwd, spec.direction, spec.method) == ("{folder}", "maximize", "random")
    assert (spec.timeout, spec.seed, spec.noise) == (12.0, 7, 0.5)
    assert spec.objective == ValueSource("metrics.loss", "result.json")
    assert spec.folder == tmp_path
    assert spec.output == tmp_path / "full-output"
    assert spec.space == Space(
        {
            "nu": Float(1e-3, 1, log=True),
            "batch": Int(16, 64, step=16),
            "act": Categorical(["relu", 2, True, (1, 2)]),
            "size": Ordinal(["small", "large"]),
            "k": Fixed(3),
            "model": Choice({"linear": {}, "mlp": {"layers": Int(1, 4)}}),
        }
    )


def test_the_time_for_a_suggestion_is_a_key(tmp_path):
    assert spec_of(tmp_path, COMMAND).ask_seconds == 5.0
    assert spec_of(tmp_path, f"{COMMAND}\nask_seconds = 2").ask_seconds == 2.0


def test_a_number_may_be_one_that_is_only_met_by_chance(tmp_path):
    spec = spec_of(tmp_path, COMMAND, f"{NU}\ninput_std = 0.05")
    assert spec.space.parameters["nu"].input_std == 0.05
    assert not spec.robust
    assert spec_of(tmp_path, f"{COMMAND}\nrobust = true", f"{NU}\ninput_std = 0.05").robust


def test_numbers_may_be_met_by_chance_together(tmp_path):
    top = 'command = ["./fly", "{params}"]\nrobust = true'
    spec = spec_of(tmp_path, top, FIELD + block('["north", "east"]', "[[4, 1.5], [1.5, 9.0]]"))
    assert spec.robust
    assert spec.space == Space(
        {"north": Float(0, 500), "east": Float(0, 300)},
        input_covariance={("north", "east"): [[4.0, 1.5], [1.5, 9.0]]},
    )


def test_constraints_among_parameters_are_read(tmp_path):
    top = 'command = ["./fly", "{params}"]\nconstraints = ["north + east <= 400"]'
    spec = spec_of(tmp_path, top, FIELD)
    declared = {"north": Float(0, 500), "east": Float(0, 300)}
    assert spec.space == Space(declared, constraints=["north + east <= 400"])


def test_what_is_left_out_has_the_defaults_of_a_study(tmp_path):
    spec = spec_of(tmp_path, COMMAND)
    assert (spec.direction, spec.method, spec.objective) == ("minimize", "auto", ValueSource())
    assert (spec.timeout, spec.seed, spec.noise, spec.env, spec.cwd) == (None, None, None, {}, ".")
    assert make_url(spec.storage).database == str(tmp_path / "study.db")


@pytest.mark.parametrize("folder", ["plain", "with space", "per%20cent", "what?", "a#b", "{brace}"])
def test_a_relative_store_is_beside_the_spec_whatever_its_folder_is_called(tmp_path, folder):
    (tmp_path / folder).mkdir()
    text = f'{COMMAND}\nstorage = "sqlite:///runs.db"'
    if folder == "what?" and sqlalchemy.__version__.startswith("2.0."):
        with pytest.raises(SpecError, match=r"cannot write as a URL; rename the folder"):
            spec_of(tmp_path / folder, text)
    else:
        spec = spec_of(tmp_path / folder, text)
        assert make_url(spec.storage).database == str(tmp_path / folder / "runs.db")


def test_other_stores_are_kept_with_their_password(tmp_path):
    url = "postgresql://me:secret@host/db"
    assert spec_of(tmp_path, f'{COMMAND}\nstorage = "{url}"').storage == url


def test_an_absolute_store_stays_where_it_is(tmp_path):
    spec = spec_of(tmp_path, f'{COMMAND}\nstorage = "sqlite:////var/x.db?timeout=3"')
    assert make_url(spec.storage).database == "/var/x.db"
    assert make_url(spec.storage).query == {"timeout": "3"}


def test_a_relative_path_of_the_spec_gives_whole_paths(tmp_path, monkeypatch):
    write_spec(tmp_path, f'name = "study"\n{COMMAND}\n{NU}')
    monkeypatch.chdir(tmp_path)
    assert read_spec("spec.toml").folder == tmp_path


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ('comand = ["./sim"]', ["comand", "unknown key", "did you mean 'command'?"]),
        ("", ["command is missing", 'write command = ["./sim"']),
        ("command = []", ["command is empty"]),
        ('command = [""]', ["command[0] names no program"]),
        ('command = [["", "{nu}"]]', ["command[0] names no program"]),
        ('command = ["./sim", 3]', ["command[1] is 3", "expected a string", 'write "3"']),
        ('command = "./sim --nu={nu}"', ['write command = ["./sim", "--nu={nu}"]']),
        ('command = "./sim \'open"', ["expected a list", 'write command = ["./sim"']),
        (f"{COMMAND}\nenv = 3", ["env is 3", "expected a table"]),
        (f"{COMMAND}\nenv = {{ N = 1 }}", ["env.N is 1", "expected a string", 'write "1"']),
        (f'{COMMAND}\nenv = {{ "A=B" = "1" }}', ['env."A=B"', "rename"]),
        (f'{COMMAND}\ndirection = "minimise"', ['"minimise"', "did you mean 'minimize'?"]),
        (f'{COMMAND}\ndirection = ""', ['direction is ""', "'maximize'"]),
        (f'{COMMAND}\ndirection = ["minimize"]', ["direction is", "expected a string"]),
        (f'{COMMAND}\nmethod = "randon"', ['method is "randon"', "did you mean 'random'?"]),
        (f'{COMMAND}\ntimeout = "1 h"', ['timeout is "1 h"', "expected a number"]),
        (f"{COMMAND}\ntimeout = 0", ["timeout is 0", "above 0"]),
        (f"{COMMAND}\ntimeout = true", ["timeout is true", "expected a number"]),
        (f"{COMMAND}\ntimeout = nan", ["timeout is NaN", "above 0"]),
        (f"{COMMAND}\nseed = -1", ["seed must be a whole number", "-1"]),
        (f"{COMMAND}\nask_seconds = 0", ["ask_seconds must be a number of seconds above 0"]),
        (f'{COMMAND}\nnoise = "some"', ["noise must be", "'some'"]),
        (f"{COMMAND}\nrobust = 1", ["robust is 1", "true or false", "write robust = true"]),
        (
            f"{COMMAND}\nrobust = true",
            ["robust is true", "has input noise", "input_std = 2.0"],
        ),
        (f"{COMMAND}\ninput_covariance = 3", ["input_covariance is 3", "[[input_covariance]]"]),
        (f"{COMMAND}\ninput_covariance = [3]", ["input_covariance[0] is 3", "expected a table"]),
        (f'{COMMAND}\nconstraints = "nu < 1"', ["constraints is", "expected a list", "= ["]),
        (f"{COMMAND}\nconstraints = [3]", ["constraints[0] is 3", "expected a string"]),
        (f'{COMMAND}\nconstraints = ["mu < 1"]', ["'mu < 1'", "expected 'nu'"]),
        (f'{COMMAND}\nstorage = "runs.db"', ['"runs.db"', 'write "sqlite:///study.db"']),
        (f'{COMMAND}\nstorage = "sqlite://"', ["lost when the command ends"]),
        (f'{COMMAND}\nstorage = "sqlite:///:memory:"', ["lost when the command ends"]),
        (f'{COMMAND}\ncwd = "{{nu}}"', ['cwd is "{nu}"', "{folder}"]),
        (f"{COMMAND}\nobjective = 3", ["objective is 3", "expected a table"]),
        (f'{COMMAND}\nobjective.from = "jsn"', ['"jsn"', "did you mean 'json'?"]),
        (f'{COMMAND}\nobjective.from = "json"', ["objective.field is missing"]),
        (f'{COMMAND}\nobjective = {{from = "json", field = ""}}', ["objective.field is empty"]),
        (f'{COMMAND}\nobjective.from = "file"', ["objective.path is missing"]),
        (f'{COMMAND}\nobjective.field = "loss"', ["objective.field", 'write from = "json"']),
        (f'{COMMAND}\nobjective.path = "a.txt"', ["objective.path", 'write from = "file"']),
        (f'{COMMAND}\nobjective.fild = "loss"', ["objective.fild", "did you mean 'field'?"]),
    ],
)
def test_a_wrong_key_is_one_line_that_names_it_and_what_to_do(tmp_path, top, words):
    message = refusal(tmp_path, top)
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ("", ["parameters is missing or empty"]),
        ("[parameters]\nnu = 3", ["parameters.nu is 3", '{type = "fixed", value = 3}']),
        ("[parameters.nu]\nlow = 1", ["parameters.nu.type is missing"]),
        ('[parameters.nu]\ntype = "flot"', ['type is "flot"', "did you mean 'float'?"]),
        (NU.replace("low", "lw"), ["parameters.nu.lw", "did you mean 'low'?"]),
        (NU.replace("low = 0.001", ""), ["parameters.nu.low is missing"]),
        (NU.replace("0.001", '"1"'), ['parameters.nu.low is "1"', "expected a number"]),
        (NU.replace("0.001", "2"), ["parameters.nu", "low is above high; swap them"]),
        (NU.replace("0.001", "0"), ["parameters.nu", "a log scale needs low above 0"]),
        (NU.replace("log = true", 'log = "yes"'), ['log is "yes"', "expected true or false"]),
        (NU + "timeout = 3", ["parameters.nu.timeout", "top-level key"]),
        ("[parameters]\ntimeout = 3", ["parameters.timeout is 3", "top-level key"]),
        (NU + '[parameters."a.b"]\ntype="fixed"\nvalue=1', ["'a.b'", "dot", "'a_b'"]),
        (NU + '[parameters.trial]\ntype="fixed"\nvalue=1', ["parameters.trial", "rename it"]),
        (NU + '[parameters.c]\ntype="categorical"\nchoices=["a"]', ["parameters.c", "only one"]),
        (NU + '[parameters.c]\ntype="categorical"\nchoices="ab"', ["parameters.c.choices"]),
        (NU + '[parameters.c]\ntype="categorical"\nvalues=["a","b"]', ["unknown", "'choices'"]),
        (NU + '[parameters.c]\ntype="choice"\noptions=["a","b"]', ["options", "categorical"]),
        (NU + '[parameters.c]\ntype="choice"\noptions={a=1}', ["parameters.c.options.a is 1"]),
        (
            NU + MODEL.replace("high = 4", "high = 0"),
            ["parameters.model.options.mlp.layers", "low is above high"],
        ),
        (NU + '[parameters.k]\ntype="fixed"\nvalue=2020-01-01', ["parameters.k.value", "2020"]),
        (
            NU + '[parameters.k]\ntype="fixed"\nvalue=2',
            ["parameters.k is not used", "{k}", "{params}"],
        ),
        (
            NU + MODEL,
            ["parameters.model.options.mlp.layers is not used", "{model.mlp.layers}"],
        ),
    ],
)
def test_a_wrong_parameter_is_one_line_that_names_it_and_what_to_do(tmp_path, tables, words):
    message = refusal(tmp_path, tables=tables)
    assert [word for word in words if word not in message] == [], message


BOTH, TWO = '["north", "east"]', "[[4.0, 1.5], [1.5, 9.0]]"


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (block("[3]", "[[1]]"), ["input_covariance[0].names[0] is 3", "expected a string"]),
        (block('"north"', "[[1]]"), ['names is "north"', 'write names = ["north", "east"]']),
        (block(BOTH, 3), ["input_covariance[0].matrix is 3", "expected a list"]),
        (block(BOTH, f"{TWO}\nstd = 2"), ["input_covariance[0].std is an unknown key"]),
        ("\n[[input_covariance]]\nmatrix = [[1]]", ["input_covariance[0].names is missing"]),
        (2 * block(BOTH, TWO), ["input_covariance[1].names", "for the second time"]),
        (block(BOTH, TWO) + block('["east"]', "[[1]]"), ["input_covariance: 'east'", "twice"]),
        (block('["north", "west"]', TWO), ["input_covariance: 'west' is not a parameter"]),
        (block(BOTH, "[[4.0, 1.5], [0.0, 9.0]]"), ["input_covariance of", "not symmetric"]),
        (block(BOTH, "[[4.0]]"), ["input_covariance of", "one row per name"]),
    ],
)
def test_a_wrong_covariance_is_one_line_that_names_it_and_what_to_do(tmp_path, tables, words):
    message = refusal(tmp_path, 'command = ["./fly", "{params}"]', FIELD + tables)
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ('command = ["./sim", "--nu={nuu}"]', ['command[1] is "--nu={nuu}"', "did you mean 'nu'?"]),
        ('command = ["./sim", "{layers}", "{nu}"]', ["did you mean 'model.mlp.layers'?"]),
        ('command = ["./sim", "{nu:.3f}"]', ["formats are not supported", "write {nu}"]),
        ('command = ["./sim", "{}", "{nu}"]', ["{} is not a parameter", "expected one of 'nu'"]),
        ('command = ["./sim", "{nu}", "{"]', ["single {", "write {{"]),
        ('command = ["./sim", "{nu}", "a}"]', ["single }", "write }}"]),
        ('command = ["./sim", ["-n", "{nu}", "{x}"]]', ["command[1][2]", "{x} is not a parameter"]),
        (
            f'{COMMAND}\nenv = {{ A = "{{mu}}" }}',
            ["env.A", "{mu} is not a parameter; expected one of 'nu'"],
        ),
        ('command = ["./{model.mlp.layers}", "{nu}"]', ["command[0]", "not active in every trial"]),
        (
            'command = ["./sim", "{params}"]\n'
            'objective = {from = "file", path = "r-{model.mlp.layers}"}',
            ["objective.path", "not active in every trial"],
        ),
    ],
)
def test_a_placeholder_that_stands_for_nothing_is_refused_with_the_nearest(tmp_path, top, words):
    message = refusal(tmp_path, top, NU + MODEL)
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize("path", ["/tmp/result.txt", "../result.txt", "{here}/result.txt", ""])
def test_a_result_file_that_trials_would_share_is_refused(tmp_path, path):
    top = f'command = ["./sim", "{{params}}"]\nobjective = {{from = "file", path = "{path}"}}'
    assert "expected a file in the trial's folder" in refusal(tmp_path, top)


def test_a_result_file_of_which_the_program_cannot_know_is_refused(tmp_path):
    objective = 'objective = {from = "file", path = "result.txt"}'
    assert 'cwd = "{folder}"' in refusal(tmp_path, f"{COMMAND}\n{objective}")
    assert spec_of(tmp_path, f'{COMMAND}\n{objective}\ncwd = "{{folder}}"').cwd == "{folder}"


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ('["./sim", "{model}", "{model.mlp.layers}"]', True),
        ('["./sim", "{model.mlp.layers}"]', True),  # its absence means the other option
        ('["./sim", "{model}"]', False),
        ('["./sim", "{params}"]', True),
    ],
)
def test_a_choice_is_used_if_the_program_can_tell_its_options_apart(tmp_path, command, allowed):
    if allowed:
        assert spec_of(tmp_path, f"command = {command}", MODEL).space.parameters["model"]
    else:
        assert "is not used" in refusal(tmp_path, f"command = {command}", MODEL)


def test_two_options_that_open_nothing_are_told_apart_by_the_choice_only(tmp_path):
    tables = MODEL + "[parameters.model.options.tree]\n"
    top = 'command = ["./sim", "{model.mlp.layers}"]'
    assert "parameters.model is not used" in refusal(tmp_path, top, tables)


def test_names_that_cannot_be_files_are_refused(tmp_path):
    for name in ("a/b", "", ".hidden", "a\\\\b", "a\\nb", " a"):
        file = write_spec(tmp_path, f'name = "{name}"\n{COMMAND}\n{NU}')
        with pytest.raises(SpecError, match="cannot be part of a file name"):
            read_spec(file)
    assert read_spec(write_spec(tmp_path, f'name = "Wärme 2.1"\n{COMMAND}\n{NU}')).name
    with pytest.raises(SpecError, match="name is missing; write name = "):
        read_spec(write_spec(tmp_path, COMMAND))


def test_invalid_toml_is_shown_with_its_line(tmp_path):
    with pytest.raises(SpecError, match=r'not valid TOML: .*line 2, column 8.*: "seed = x"'):
        read_spec(write_spec(tmp_path, 'name = "a"\nseed = x\n'))
    with pytest.raises(SpecError, match="not valid TOML"):
        read_spec(write_spec(tmp_path, "name = ["))


def test_a_spec_that_is_nested_too_deeply_is_refused(tmp_path):
    with pytest.raises(SpecError, match="nested too deeply"):
        read_spec(write_spec(tmp_path, "name = " + "[" * 5000))


def test_files_that_cannot_be_read_are_refused(tmp_path):
    write_spec(tmp_path, "")
    with pytest.raises(SpecError, match=r"sepc.toml was not found; did you mean 'spec.toml'\?"):
        read_spec(tmp_path / "sepc.toml")
    with pytest.raises(SpecError, match=r"was not found; its folder has 'spec.toml'"):
        read_spec(tmp_path / "x")
    with pytest.raises(SpecError, match="was not found; give the path"):
        read_spec(tmp_path / "nowhere" / "spec.toml")
    with pytest.raises(SpecError, match="is a folder"):
        read_spec(tmp_path)
    with pytest.raises(SpecError, match="cannot be read: Not a directory"):
        read_spec(tmp_path / "spec.toml" / "x")
    (tmp_path / "latin.toml").write_bytes('name = "Wärme"'.encode("latin-1"))
    with pytest.raises(SpecError, match=r"not UTF-8 text \(byte 9\)"):
        read_spec(tmp_path / "latin.toml")


def test_values_are_written_so_that_nothing_is_lost():
    for value in (0.1, 1 / 3, 1e-300, 1.7976931348623157e308, 5e-324, -2.5):
        assert float(written(value)) == value
    assert [written(value) for value in (3, True, "a b", (1, "x"), "é")] == [
        "3", "true", "a b", '[1, "x"]', "é",
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["{nu}", "{{", "$HOME; rm", "\\1", "a\nb", "'\"", ""])
def test_a_value_is_put_in_literally_and_only_once(value):
    assert fill("<{nu}{{}}{nu}>", {"nu": value}) == f"<{value}{{}}{value}>"


def test_doubled_braces_are_braces_even_beside_a_placeholder():
    assert names('{{"a": {nu}}}') == ["nu"]
    assert fill('{{"a": {nu}}}', {"nu": "1"}) == '{"a": 1}'
    assert fill("{{nu}}", {}) == "{nu}"
    assert fill("--n={nu}", {}) is None
