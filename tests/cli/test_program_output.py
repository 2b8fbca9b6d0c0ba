"""The value in what a program wrote."""

from __future__ import annotations

import pytest

from outcrop.cli.program_output import NoValue, ValueSource, last_lines, read_value


def value_of(folder, written, field=None):
    (folder / "stdout").write_bytes(written.encode())
    return read_value(ValueSource(field), folder, {})


def refusal(folder, written, field=None):
    with pytest.raises(NoValue) as caught:
        value_of(folder, written, field)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.31", 0.31),
        ("step 1: 7\n-3\n\n  \n", -3.0),
        ("loss: 0.31", 0.31),
        ("final loss=1e-3\r\n", 1e-3),
        ("L2 error = 3.1D-02", 0.031),
        ("log10(error): -4", -4.0),
        ("inf norm |u|: +.5", 0.5),
        ("progress\r50\r100\r0.25", 0.25),
        ("résultat: 4.", 4.0),
        ("x" * 100_000 + "\n0.5", 0.5),
        ("\r".join(["50 %"] * 100_000) + "\r0.5", 0.5),
    ],
    ids=lambda each: str(each)[:20],
)
def test_the_last_line_is_a_number_alone_or_after_a_label(tmp_path, written, value):
    assert value_of(tmp_path, written) == value


@pytest.mark.parametrize(
    "line",
    ["done", "0.31 s", "step 200: 0.31", "0.1 0.2", "a: b", "12:30:45", "1_000", "0x1f", "٣"],
)
def test_a_last_line_that_is_not_clearly_a_value_is_refused(tmp_path, line):
    assert f"the last line of stdout is {line!r}" in refusal(tmp_path, f"3\n{line}\n")


@pytest.mark.parametrize("written", ["", "\n \n"])
def test_no_output_is_refused(tmp_path, written):
    assert refusal(tmp_path, written) == "stdout is empty, expected a number in its last line"


@pytest.mark.parametrize("written", ["nan", "loss: -inf", "NaN", "1e999", "x = Infinity"])
def test_a_value_that_is_not_finite_is_refused(tmp_path, written):
    assert "not a finite number" in refusal(tmp_path, written)


@pytest.mark.parametrize(
    ("written", "field", "value"),
    [
        ('{"loss": 0.5}', "loss", 0.5),
        ('log\n{"loss": 1}\nmore\n{"loss": 2}\ndone', "loss", 2.0),
        ('{\n "a": [\n {\n "loss": 9}\n ],\n "loss": 3\n}\n', "loss", 3.0),
        ('start\n{\n "a": [\n {\n "loss": 9}\n ],\n "m": {"loss": 3}\n}\nend', "m.loss", 3.0),
        ('{"a.b": 1, "a": {"b": 2}}', "a.b", 1.0),
        ('{broken\n{"loss": 4}', "loss", 4.0),
        ("[" * 100_000 + '\n{"loss": 4}', "loss", 4.0),
    ],
    ids=lambda each: str(each)[:20],
)
def test_a_field_of_the_last_json_object_is_the_value(tmp_path, written, field, value):
    assert value_of(tmp_path, written, field) == value


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('{"los": 1}', ["no field 'm.loss'", "it has 'los'"]),
        ('{"m": {"lss": 1}}', ["no field 'm.loss'", "did you mean 'lss'?"]),
        ('{"m": 3}', ["no field 'm.loss'", "it is not an object"]),
        ('{"m": {"loss": "1"}}', ["is '1', expected a number"]),
        ('{"m": {"loss": true}}', ["is True, expected a number"]),
        ('{"m": {"loss": null}}', ["is None, expected a number"]),
        ('{"m": {"loss": NaN}}', ["not a finite number"]),
        (f'{{"m": {{"loss": {10**400}}}}}', ["larger than 1.8e308"]),
        ("no json", ["no JSON object in stdout"]),
        ("[1, 2]", ["it is not an object"]),
    ],
    ids=lambda each: str(each)[:20],
)
def test_json_without_the_field_is_refused(tmp_path, written, words):
    message = refusal(tmp_path, written, "m.loss")
    assert [word for word in words if word not in message] == [], message


def test_the_end_of_a_file_is_quoted_on_one_line(tmp_path):
    file = tmp_path / "stderr"
    file.write_bytes(b"one\ntwo\n\n\x1b[31mthree\x1b[0m\n  fo\tur \n")
    assert last_lines(file, 3) == "two / [31mthree [0m / fo ur"
    file.write_text("x" * 1000)
    assert last_lines(file, 3) == "…" + "x" * 300
    assert last_lines(tmp_path / "nowhere", 3) == ""
