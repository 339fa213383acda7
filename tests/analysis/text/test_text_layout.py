import pytest

from arena.analysis.text.tables import Column, fitted_table, render_table
from arena.analysis.text.text_layout import wrapped

cells = pytest.importorskip("wcwidth", reason="needs wcwidth").wcswidth

COLUMNS = [
    Column("rank", "rank"),
    Column("bot", "bot", is_number=False),
    Column("mu", "mu", 2, drop_order=1),
    Column("wins", "W", drop_order=3),
    Column("losses", "L", drop_order=3),
    Column("points", "points", 1, drop_order=4),
    Column("faults", "faults", is_number=False, drop_order=2),
]
ROWS = [
    {"rank": 1, "bot": "greedy", "mu": 31.5, "wins": 10, "losses": 2, "points": 10.0, "faults": ""},
    {"rank": 2, "bot": "minimal", "mu": 18.5, "wins": 2, "losses": 10, "points": 2.0, "faults": "1 exit"},
]


def drawn(text):
    return [line.removeprefix("    |") for line in text.strip("\n").splitlines() if line.strip()]


def fitted(width, columns=COLUMNS, rows=ROWS):
    text, left_out = fitted_table(columns, rows, width)
    return text.splitlines(), left_out


def test_the_least_important_columns_are_left_out_those_of_one_kind_together():
    assert fitted(44) == (render_table(COLUMNS, ROWS).splitlines(), [])
    assert fitted(43)[1] == ["points"]
    assert fitted(36)[1] == ["points"]
    assert fitted(35) == (
        drawn("""
    |rank  bot         mu  faults
    |----  -------  -----  ------
    |   1  greedy   31.50
    |   2  minimal  18.50  1 exit
    """),
        ["W", "L", "points"],
    )
    assert fitted(20)[1] == ["W", "L", "points", "faults"]
    assert fitted(19)[1] == ["mu", "W", "L", "points", "faults"]
    assert fitted(43, rows=[row | {"faults": ""} for row in ROWS])[1] == ["faults"], "an empty one before any other"


def test_columns_stand_in_line_under_wide_characters():
    rows = [ROWS[0] | {"bot": "世界棋手"}, ROWS[1] | {"bot": "🦊fox"}, ROWS[1] | {"bot": "e\u0301e"}]
    lines = fitted(None, COLUMNS[1:3], rows)[0]
    assert lines[:4] == drawn("""
    |bot          mu
    |--------  -----
    |世界棋手  31.50
    |🦊fox     18.50
    """)
    assert cells(lines[4]) == 15


def test_long_names_are_shortened_in_the_middle_and_one_does_not_cost_all_columns():
    rows = [ROWS[0] | {"bot": "deep_thought_for_differences_2026"}, ROWS[1] | {"bot": "deep_thought_for_plaid_2026"}]
    lines, left_out = fitted(20, rows=rows)
    assert left_out == ["mu", "W", "L", "points", "faults"]
    assert lines == drawn("""
    |rank  bot
    |----  --------------
    |   1  deep_th…s_2026
    |   2  deep_th…d_2026
    """)
    rows = [ROWS[0] | {"bot": f"{'a' * 30}{letter}{'a' * 30}"} for letter in "xyz"]
    names = [line.split()[1] for line in fitted(20, rows=rows)[0][2:]]
    assert names == ["aaaaaaaaaaaa…1", "aaaaaaaaaaaa…2", "aaaaaaaaaaaa…3"]
    rows = [ROWS[0] | {"bot": "n" * 64}, ROWS[1]]
    lines, left_out = fitted(74, rows=rows)
    assert left_out == []
    assert [cells(line) for line in lines[2:4]] == [74 - len("  faults"), 74]
    assert lines[2].split()[1] == f"{'n' * 18}…{'n' * 18}"


TEXTS = [
    Column("name", "game", is_number=False),
    Column("players", "players", drop_order=2),
    Column("summary", "in short", is_number=False, drop_order=1, wraps=True),
]
TEXT_ROWS = [
    {"name": "plaid", "players": 2, "summary": "Draw lines across a sheet; every m-th rectangle scores for you."},
    {"name": "surds", "players": 2, "summary": "Short."},
]


def test_texts_are_wrapped_and_crosstables_printed_in_parts_before_anything_is_left_out():
    assert fitted(48, TEXTS, TEXT_ROWS) == (
        drawn("""
    |game   players  in short
    |-----  -------  --------------------------------
    |plaid        2  Draw lines across a sheet; every
    |                m-th rectangle scores for you.
    |surds        2  Short.
    """),
        [],
    )
    assert fitted(38, TEXTS, TEXT_ROWS)[1] == ["players"]
    lines, left_out = fitted(48, MATRIX, MATRIX_ROWS)
    assert left_out == []
    assert lines == drawn("""
    |#  bot        1      2      3  points
    |-  -----  -----  -----  -----  ------
    |1  bot_1  1.5/2  1.5/2  1.5/2     6.0
    |2  bot_2  1.5/2  1.5/2  1.5/2     6.0
    |
    |#  bot        4      5  points
    |-  -----  -----  -----  ------
    |1  bot_1  1.5/2  1.5/2     6.0
    |2  bot_2  1.5/2  1.5/2     6.0
    """)
    assert "" not in fitted(51, MATRIX, MATRIX_ROWS)[0]


MATRIX = [
    Column("rank", "#"),
    Column("bot", "bot", is_number=False),
    *(Column(f"against_{number}", str(number), is_parted=True) for number in range(1, 6)),
    Column("points", "points", 1, drop_order=1),
]
MATRIX_ROWS = [
    {"rank": number, "bot": f"bot_{number}", "points": 6.0, **{f"against_{k}": "1.5/2" for k in range(1, 6)}}
    for number in (1, 2)
]


@pytest.mark.parametrize("width", range(20, 120, 3))
@pytest.mark.parametrize("bots", [0, 1, 24])
def test_nothing_is_wider_than_the_terminal(width, bots):
    names = [["世界棋手" * 9, "x" * 64, "b c d", f"bot-{number}"][number % 4] for number in range(bots)]
    for columns, row in ((COLUMNS, ROWS[1]), (MATRIX, MATRIX_ROWS[1])):
        lines, left_out = fitted(width, columns, [row | {"bot": name} for name in names])
        assert max(map(cells, lines)) <= width
        assert len(left_out) < len(columns)
        assert all(column.title not in left_out for column in columns if not column.drop_order)


def test_sentences_are_wrapped_between_words_and_never_before_a_percent_sign():
    assert wrapped("Seat 0 scores 51.2 % of all.", 18) == ["Seat 0 scores", "51.2 % of all."]
    assert wrapped("", 20) == [""]
    assert wrapped("    an indented text", 14) == ["    an", "indented text"]  # the lines of a tree
    assert wrapped("      +", 7) == ["      +"]  # the third and the fourth line of a tree look different
    assert wrapped("a 世界 棋手", 6) == ["a 世界", "棋手"]
