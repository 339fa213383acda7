"""Counts and values in sentences."""

import tomllib

import pytest

from arena.text import MAX_SHOWN_CHARACTERS, counted, toml_value


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (1, "encounter", "1 encounter"),
        (0, "encounter", "0 encounters"),
        (2, "match", "2 matches"),
        (1, "match", "1 match"),
        (3, "ply", "3 plies"),
        (2, "day", "2 days"),
        (12345, "process", "12,345 processes"),
    ],
)
def test_a_count_stands_with_its_noun(count, noun, text):
    assert counted(count, noun) == text


@pytest.mark.parametrize(
    "text",
    [
        "1",
        "-5",
        "1.5",
        "inf",
        "nan",
        "true",
        "2020-01-01",
        "07:32:00",
        "1979-05-27T07:32:00+00:00",
        "'a'",
        '"it\'s"',
        *["[1, 2]", "{}", "[]", "{ a = 1, b = { c = [true] } }", '"\\u0000"', '"\\n"', "1e+100"],
    ],
)
def test_a_value_is_shown_as_toml_has_it(text):
    assert toml_value(tomllib.loads(f"x = {text}")["x"]) == text


@pytest.mark.parametrize("text", [f"'{'x' * 500}'", f"[{'[' * 50}{']' * 50}]", f"[{'1,' * 500}]", "9" * 200])
def test_a_long_value_is_cut(text):
    assert len(toml_value(tomllib.loads(f"x = {text}")["x"])) <= MAX_SHOWN_CHARACTERS
