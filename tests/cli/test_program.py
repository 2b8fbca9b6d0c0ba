"""Programs as objectives, with real processes."""

from __future__ import annotations

import json
import sys
import threading
import time

import pytest

from outcrop.cli import process
from outcrop.cli.program import Program, ProgramFailed
from outcrop.cli.spec import SpecError
from tests.cli.specs import MODEL, NU, program_of, spec_of, trial_of

ECHO = "import json, os, sys; print(json.dumps(sys.argv[1:]), file=sys.stderr); print(1)"
NASTY = [
    "a b",
    'it\'s "quoted"',
    "$HOME",
    "; touch hacked",
    "two\nlines",
    "{nu}",
    "*",
    "`id`",
    "é☃",
]
TEXTS = f'[parameters.text]\ntype = "categorical"\nchoices = {json.dumps(NASTY)}\n'


def seen(program, number=0):
    """The arguments that an `ECHO` program got."""
    return json.loads((program.spec.output / f"{number:06d}-1" / "stderr").read_text())


def failure(program, trial=None):
    with pytest.raises(ProgramFailed) as caught:
        program.evaluate(trial or trial_of())
    assert "\n" not in str(caught.value)
    return str(caught.value)


# What the program gets


@pytest.mark.parametrize("text", NASTY)
def test_a_value_arrives_literally_since_there_is_no_shell(tmp_path, text):
    program = program_of(tmp_path, ECHO, "{text}", "--x={text}!", tables=TEXTS)
    assert program.evaluate(trial_of(text=text)) == 1.0
    assert seen(program) == [text, f"--x={text}!"]
    assert not (tmp_path / "hacked").exists()


def test_a_float_arrives_with_all_its_digits(tmp_path):
    program = program_of(tmp_path, "import sys; print(float(sys.argv[1]).hex())", "{nu}")
    value = 0.1 + 0.2
    failure(program, trial_of(nu=value))
    text = (program.spec.output / "000000-1" / "stdout").read_text()
    assert float.fromhex(text) == value


def test_arguments_and_variables_of_inactive_parameters_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("LAYERS", "left over")
    program = program_of(
        tmp_path,
        ECHO.replace("sys.argv[1:]", "[sys.argv[1:], os.environ.get('LAYERS')]"),
        "{model}",
        "--layers={model.mlp.layers}",
        ["-n", "{model.mlp.layers}"],
        "end",
        top='env = { LAYERS = "{model.mlp.layers}" }',
        tables=MODEL,
    )
    program.evaluate(trial_of(0, model="mlp", model__mlp__layers=3))
    program.evaluate(trial_of(1, model="linear"))
    assert seen(program, 0) == [["mlp", "--layers=3", "-n", "3", "end"], "3"]
    assert seen(program, 1) == [["linear", "end"], None]


def test_the_offered_placeholders_say_where_and_which(tmp_path):
    names = ["{trial}", "{folder}", "{params}", "{here}", "{python}"]
    program = program_of(tmp_path, ECHO, *names)
    program.evaluate(trial_of(12, nu=0.25))
    folder = tmp_path / "study-output" / "000012-1"
    assert seen(program, 12) == [
        "12", str(folder), str(folder / "params.json"), str(tmp_path), sys.executable,
    ]  # fmt: skip
    assert json.loads((folder / "params.json").read_text()) == {"nu": 0.25}
    record = json.loads((folder / "command.json").read_text())
    assert record["command"][3:5] == ["12", str(folder)]
    assert record["cwd"] == str(tmp_path)


def test_the_program_runs_beside_the_spec_or_where_cwd_says(tmp_path):
    code = "import os, sys; print(os.getcwd(), file=sys.stderr); print(1)"
    (tmp_path / "sub").mkdir()
    for number, (top, expected) in enumerate(
        [
            ("", tmp_path),
            ('cwd = "sub"', tmp_path / "sub"),
            ('cwd = "{folder}"', tmp_path / "study-output" / "000002-1"),
        ]
    ):
        program = program_of(tmp_path, code, top=top)
        program.evaluate(trial_of(number))
        stderr = program.spec.output / f"{number:06d}-1" / "stderr"
        assert stderr.read_text().strip() == str(expected)


def test_the_environment_is_that_of_the_caller_with_the_specs_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("KEPT", "1.5")
    monkeypatch.setenv("CHANGED", "no")
    code = "import os; print(float(os.environ['KEPT']) + float(os.environ['CHANGED']))"
    program = program_of(tmp_path, code, "{nu}", top='env = { CHANGED = "{nu}" }')
    assert program.evaluate(trial_of(nu=0.25)) == 1.75


def test_standard_input_is_empty(tmp_path):
    program = program_of(tmp_path, "import sys; print(len(sys.stdin.read()))")
    assert program.evaluate(trial_of()) == 0.0


def test_a_folder_is_never_used_twice(tmp_path):
    program = program_of(tmp_path, ECHO)
    for attempt in (1, 1, 2, 1):
        program.evaluate(trial_of(7, attempt))
    folders = sorted(folder.name for folder in program.spec.output.iterdir())
    assert folders == ["000007-1", "000007-1.2", "000007-1.3", "000007-2"]


# Its value


@pytest.mark.parametrize(
    ("objective", "content"),
    [
        ('path = "out/r.txt"', "noise\nloss: 0.5"),
        ('path = "{folder}/out/r.txt"', "0.5"),
        ('path = "out/r.txt", field = "a.loss"', '{"a": {"loss": 0.5}}'),
    ],
)
def test_the_value_can_be_in_a_file_in_the_trials_folder(tmp_path, objective, content):
    code = f"import os; os.mkdir('out'); open('out/r.txt', 'w').write({content!r}); print(7)"
    top = f'cwd = "{{folder}}"\nobjective = {{from = "file", {objective}}}'
    assert program_of(tmp_path, code, top=top).evaluate(trial_of()) == 0.5


def test_a_missing_result_file_fails(tmp_path):
    top = 'objective = {from = "file", path = "r.txt"}'
    assert "wrote no file 'r.txt'" in failure(program_of(tmp_path, "print(3)", top=top))
    top = 'cwd = "{folder}"\n' + top
    code = "import os; os.mkdir('r.txt')"
    message = failure(program_of(tmp_path, code, top=top))
    assert "the file r.txt cannot be read: Is a directory" in message


def test_the_timeout_includes_the_reading_of_the_value(tmp_path, monkeypatch):
    deadlines = []

    def slowly(objective, folder, values, deadline):
        deadlines.append(deadline)
        raise process.TimedOut

    monkeypatch.setattr("outcrop.cli.program.read_value", slowly)
    before = time.monotonic()
    program = program_of(tmp_path, "print(3)", top="timeout = 600")
    assert "timeout after 600 s" in failure(program)
    assert before + 600 <= deadlines[0] <= time.monotonic() + 600


def test_a_program_that_prints_no_number_fails_and_its_output_is_named(tmp_path):
    folder = tmp_path / "study-output" / "000000-1"
    assert failure(program_of(tmp_path, "print(3); print('done')")) == (
        "the last line of stdout is 'done', expected one number, alone or after ':' or '='; "
        f"output in {folder}"
    )


def test_ten_megabytes_of_output_are_kept_and_read(tmp_path):
    line = "x" * 99
    code = f"import sys\nfor i in range(100_000): print({line!r})\nprint('loss: 0.5')"
    program = program_of(tmp_path, code)
    assert program.evaluate(trial_of()) == 0.5
    assert (program.spec.output / "000000-1" / "stdout").stat().st_size == 10_000_010
    top = 'objective = {from = "json", field = "loss"}'
    program = program_of(tmp_path, code.replace("'loss: 0.5'", "'{\"loss\": 0.5}'"), top=top)
    assert program.evaluate(trial_of(1)) == 0.5


def test_output_that_is_not_utf8_does_no_harm(tmp_path):
    code = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe caf\\xe9\\n\\xff: 0.5\\n')"
    assert program_of(tmp_path, code).evaluate(trial_of()) == 0.5
    code = "import sys; sys.stderr.buffer.write(b'bad \\xff byte\\x1b[0m\\n'); sys.exit(3)"
    assert "bad \ufffd byte" in failure(program_of(tmp_path, code))


# Its failures


def test_a_bad_exit_code_is_told_with_the_end_of_stderr_and_the_place_of_the_output(tmp_path):
    code = (
        "import sys; print(5); print('one\\ntwo\\n\\nthree\\nfour', file=sys.stderr); sys.exit(3)"
    )
    folder = tmp_path / "study-output" / "000000-1"
    assert failure(program_of(tmp_path, code)) == (
        f"exit code 3, the last lines of stderr: two / three / four; output in {folder}"
    )
    assert "exit code 2, the last lines of stdout: 5;" in failure(
        program_of(tmp_path, "import sys; print(5); sys.exit(2)")
    )
    assert "exit code 1, no output;" in failure(program_of(tmp_path, "import sys; sys.exit(1)"))


def test_a_program_that_is_killed_is_told_with_the_signal(tmp_path):
    code = "import os; os.kill(os.getpid(), 9)"
    assert "killed by signal 9 (SIGKILL)" in failure(program_of(tmp_path, code))


def test_a_program_that_deletes_its_own_output_fails_and_no_more(tmp_path):
    code = "import os, sys; os.remove('stdout'); os.remove('stderr'); sys.exit(int(sys.argv[1]))"
    top = 'cwd = "{folder}"'
    tables = NU + '[parameters.code]\ntype = "int"\nlow = 0\nhigh = 9\n'
    program = program_of(tmp_path, code, "{code}", "{params}", top=top, tables=tables)
    assert "exit code 3, no output" in failure(program, trial_of(code=3))
    assert "wrote no file 'stdout'" in failure(program, trial_of(code=0))


def test_programs_that_cannot_be_started_fail_with_the_reason(tmp_path):
    script = tmp_path / "sim"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    program = Program(spec_of(tmp_path, 'command = ["./sim", "{nu}"]'))
    program.check()  # the file is there
    assert f'command "{script}" could not be started: No such file' in failure(program)
    program = program_of(tmp_path, "print(1)", "a\0b", "{nu}")
    assert "could not be started: embedded null byte" in failure(program)
    script.unlink()
    program = Program(spec_of(tmp_path, 'command = ["./sim", "{nu}"]'))
    assert 'command "./sim" was not found' in failure(program)


def test_an_output_folder_that_cannot_be_made_fails(tmp_path):
    (tmp_path / "study-output").write_text("a file")
    program = program_of(tmp_path, "print(1)")
    assert "cannot store its output: Not a directory" in failure(program)
    with pytest.raises(SpecError, match=r"output folder .* cannot be created: File exists"):
        program.check()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ('"outcrop-simm"', 'command "outcrop-simm" was not found; install it, or give its path'),
        ('"plain.py"', 'was not found; install it, or write "./plain.py"'),
        ('"./simm"', 'command "./simm" was not found at .*/simm; correct the path'),
        ('"./plain.py"', 'not executable; write command = \\["{python}", "./plain.py", …\\]'),
        ('"./plain"', "not executable; allow it with: chmod \\+x"),
        ('"./folder"', "is a folder"),
    ],
)
def test_a_command_that_cannot_be_found_is_refused_before_the_study_starts(
    tmp_path, command, words
):
    (tmp_path / "folder").mkdir()
    for name in ("plain", "plain.py"):
        (tmp_path / name).write_text("print(1)")
    program = Program(spec_of(tmp_path, f'command = [{command}, "{{nu}}"]'))
    with pytest.raises(SpecError, match=f"^spec.toml: .*{words}"):
        program.check()
    assert not program.spec.output.exists()


def test_a_working_folder_that_is_not_there_is_refused_before_the_study_starts(tmp_path):
    with pytest.raises(SpecError, match=r'cwd is "nowhere", but .*/nowhere is not a folder'):
        program_of(tmp_path, "print(1)", top='cwd = "nowhere"').check()


def test_a_program_may_be_chosen_by_a_parameter(tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        script = tmp_path / f"sim-{name}"
        script.write_text(f"#!/bin/sh\necho {value}\n")
        script.chmod(0o755)
    tables = '[parameters.which]\ntype = "categorical"\nchoices = ["a", "b"]\n'
    program = Program(spec_of(tmp_path, 'command = ["./sim-{which}"]', tables))
    program.check()
    assert [program.evaluate(trial_of(which=which)) for which in "ab"] == [1.0, 2.0]


def test_a_program_is_searched_along_the_path_of_its_own_environment(tmp_path):
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "outcrop-test-sim"
    script.write_text("#!/bin/sh\necho 4\n")
    script.chmod(0o755)
    top = f'command = ["outcrop-test-sim", "{{nu}}"]\nenv = {{ PATH = "{script.parent}" }}'
    program = Program(spec_of(tmp_path, top))
    program.check()
    assert program.evaluate(trial_of()) == 4.0


def test_threads_keep_their_trials_apart(tmp_path):
    code = "import json, sys; print(json.load(open(sys.argv[1]))['nu'])"
    program = program_of(tmp_path, code)
    values = {}

    def work(number):
        for i in range(3):
            n = 3 * number + i
            values[n] = program.evaluate(trial_of(n, nu=n / 100))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == {n: n / 100 for n in range(12)}
