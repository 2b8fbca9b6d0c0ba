"""The value in what a program wrote."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress

import pytest

from outcrop.cli.process import TimedOut
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


# Time and place: each of these took minutes, waited for ever or left the trial's folder.


@pytest.mark.parametrize(
    "line",
    ["1" * 65_000 + "x", "1" * 65_000 + "a: x", "1." * 32_000, ": " * 32_000, "1e" * 32_000],
    ids=lambda line: line[:5],
)
def test_a_long_last_line_is_read_once(tmp_path, line):
    assert "the last line of stdout is" in refusal(tmp_path, line)


def test_a_number_may_have_any_number_of_digits(tmp_path):
    assert value_of(tmp_path, f"{'a1' * 30_000}: 0.{'3' * 5_000}") == pytest.approx(1 / 3)


UNFINISHED = {
    "lists": '{"a": [' + "1, " * 500 + "\n",
    "objects": '{"a":\n',
    "strings": '{"a": "' + '\\"' * 500 + "\n",
    "braces": "{\n",
}


@pytest.mark.parametrize("piece", UNFINISHED.values(), ids=UNFINISHED)
def test_unfinished_objects_are_not_read_again_and_again(tmp_path, piece):
    assert "no JSON object in stdout" in refusal(tmp_path, piece * 4_000, "a")
    assert value_of(tmp_path, piece * 4_000 + '{"a": 5}\n', "a") == 5.0


def test_nested_braces_that_are_not_json_are_given_up(tmp_path):
    written = "{x\n" * 20_000 + '{"a": 5}' + "}\n" * 20_000
    assert "too many blocks in braces that are not JSON" in refusal(tmp_path, written, "a")


def searched_from_every_line(text):
    """The last object by its definition: decoded at every line that is not inside of another."""
    found, done, start = None, 0, 0
    for line in text.split("\n"):
        place = start + len(line) - len(line.lstrip(" "))
        if place >= done and text[place : place + 1] == "{":
            with suppress(ValueError):
                found, done = json.JSONDecoder().raw_decode(text, place)
        start += len(line) + 1
    return found


def test_the_last_object_is_that_of_a_search_from_every_line(tmp_path, rng):
    pieces = ['{"a": 1}', '{"a": 2, "b": {"a": 3}}', "{", "}", '"', '{"a": "}"', '"a":', "[{"]
    pieces += ["\n", "\n", "\n  ", ",", '{"a":', "\\", "x ", "5", "]}"]
    values = []
    for _ in range(250):
        text = "".join(rng.choice(pieces, size=rng.integers(1, 25))) + "\nend"
        expected = searched_from_every_line(text)
        try:
            found = value_of(tmp_path, text, "a")
        except NoValue:
            found = None
        value = expected.get("a") if isinstance(expected, dict) else None
        assert found == (value if isinstance(value, int) else None), text
        values.append(found)
    assert {None, 1.0, 2.0} <= {*values}


def test_reading_ends_with_the_time_of_the_trial(tmp_path):
    (tmp_path / "stdout").write_text('{broken}\n{"a": 1}\n')
    with pytest.raises(TimedOut):
        read_value(ValueSource("a"), tmp_path, {}, deadline=time.monotonic() - 1.0)


def test_a_pipe_in_the_place_of_a_result_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "result")
    with pytest.raises(NoValue, match="it is not a regular file"):
        read_value(ValueSource(path="result"), tmp_path, {})


@pytest.mark.parametrize("value", ["../secret", "/etc/hostname", "a/../../secret", "link", ".."])
def test_no_value_leads_out_of_the_folder_of_a_trial(tmp_path, value):
    folder = tmp_path / "000000-1"
    folder.mkdir()
    (tmp_path / "secret").write_text("42")
    (folder / "link").symlink_to("../secret")
    with pytest.raises(NoValue, match="outside the trial's folder"):
        read_value(ValueSource(path="{c}"), folder, {"c": value})


@pytest.mark.parametrize("value", ["result", "./result", "a/../result"])
def test_a_value_may_name_a_file_of_the_folder(tmp_path, value):
    (tmp_path / "result").write_text("42")
    assert read_value(ValueSource(path="{c}"), tmp_path, {"c": value}) == 42.0
