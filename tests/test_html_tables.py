from hypothesis import given, settings
from hypothesis import strategies as st

from outcrop.html_tables import bar, facts, folded, page, short, table
from tests.html_pages import read_html

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=40)


@given(TEXT, TEXT, TEXT)
@settings(max_examples=30)
def test_every_text_is_read_as_it_was_written(title, name, value):
    parts = page(title, value, facts({name: value}), folded(title, table([name], [[value]])))
    _, text = read_html(parts)
    assert text == title + value + name + value + title + name + value


def test_a_long_text_is_shortened_and_numbers_have_six_digits():
    assert short(123456789.0) == "1.23457e+08"
    assert short("é" * 80) == "é" * 80
    assert len(short("é" * 81)) == 80
    assert (short(3), short(True), short(None), short((1, "a"))) == (
        "3",
        "True",
        "None",
        "(1, 'a')",
    )


def test_numbers_are_at_the_right_of_a_column_that_holds_only_numbers():
    html = table(["n", "mixed", "text"], [[1, 2.5, "a"], [30, "b", "c"], ["", 1, True]])
    assert html.count("text-align: right") == 4  # the name and the cells of the first column


def test_a_bar_says_how_much_is_done():
    assert bar(3, 40).startswith('<progress value="3" max="40"')
