"""Counts and values in sentences."""

import tomllib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.base.text import MAX_SHOWN_CHARACTERS, counted, toml_text, toml_value


@pytest.mark.parametrize("text", ["1 encounter", "0 encounters", "2 matches", "3 plies", "2 days", "12,345 processes"])
def test_a_count_stands_with_its_noun(text):
    count, noun = text.split()
    nouns = {"matches": "match", "plies": "ply", "processes": "process"}
    assert counted(int(count.replace(",", "")), nouns.get(noun, noun.removesuffix("s"))) == text


VALUES_OF_TOML = [
    "1", "-5", "1.5", "inf", "nan", "true", "2020-01-01", "07:32:00", "1979-05-27T07:32:00+00:00", "'a'", '"it\'s"',
    "[1, 2]", "{}", "[]", "{ a = 1, b = { c = [true] } }", '"\\u0000"', '"\\n"', "1e+100",
]  # fmt: skip


@pytest.mark.parametrize("text", VALUES_OF_TOML)
def test_a_value_is_shown_as_toml_has_it(text):
    assert toml_value(tomllib.loads(f"x = {text}")["x"]) == text


@pytest.mark.parametrize("text", [f"'{'x' * 500}'", f"[{'[' * 50}{']' * 50}]", f"[{'1,' * 500}]", "9" * 200])
def test_a_long_value_is_cut(text):
    assert len(toml_value(tomllib.loads(f"x = {text}")["x"])) <= MAX_SHOWN_CHARACTERS


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(VALUES)
@example(["\x7f\x00\n", 'it\'s "so"', "\u2028"])
def test_what_is_written_as_toml_is_read_as_it_was(value):
    assert tomllib.loads(f"x = {toml_text(value)}")["x"] == value


def test_toml_has_no_null():
    with pytest.raises(ValueError, match="no null"):
        toml_text({"a": [None]})
