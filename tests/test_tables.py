"""Tables: numbers to the right, texts as they are, and nothing a bot wrote does anything."""

import json

import pytest

from arena.report.tables import FORMATS, Column, printable, render_table

COLUMNS = [Column("bot", "bot", is_number=False), Column("mu", "mu", 2), Column("matches", "matches")]


@pytest.mark.parametrize("table_format", FORMATS)
def test_names_that_look_like_numbers_are_not_touched(table_format):
    names = ["1e5", "007", "nan", "1_000", "0x10", "inf", "1."]
    text = render_table(COLUMNS, [{"bot": name, "mu": 1.0, "matches": 1} for name in names], table_format)
    for name in names:
        assert name.replace("_", r"\_" if table_format == "latex" else "_") in text
    assert "100000" not in text


def test_a_column_of_numbers_is_right_aligned_and_of_texts_left():
    rows = [{"bot": "a", "mu": 1.005, "matches": 7}, {"bot": "longer", "mu": -12.5, "matches": 1234}]
    assert render_table(COLUMNS, rows).splitlines() == [
        "bot         mu  matches",
        "------  ------  -------",
        "a         1.00        7",
        "longer  -12.50     1234",
    ]


def test_what_is_missing_is_a_dash_and_null_in_json():
    rows = [{"bot": "a", "mu": None, "matches": 0}]
    assert "-" in render_table(COLUMNS, rows).splitlines()[2]
    assert json.loads(render_table(COLUMNS, rows, "json")) == rows


def test_an_empty_table_is_its_headings():
    assert render_table(COLUMNS, []).split() == ["bot", "mu", "matches", "---", "--", "-------"]


def test_control_characters_and_direction_marks_are_escaped():
    assert printable("\x1b[31mred\x07 \u202e\u2028\n") == r"\x1b[31mred\x07 \u202e\u2028\n"
    assert printable("Grüße, 世界 ±") == "Grüße, 世界 ±"


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x"])
def test_a_formula_is_disarmed_in_csv(name):
    assert render_table(COLUMNS, [{"bot": name, "mu": -1.0, "matches": 1}], "csv").splitlines()[1] == f"'{name},-1.0,1"


def test_markup_is_escaped_where_it_would_be_markup():
    rows = [{"bot": "<b>|x|</b>", "mu": 1.0, "matches": 1}]
    assert "<td>&lt;b&gt;" in render_table(COLUMNS, rows, "html")
    assert r"<b>\|x\|</b>" in render_table(COLUMNS, rows, "github")
