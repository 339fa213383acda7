import re
from dataclasses import replace

import pytest

from arena.analysis.measures.rounds_played import PlayedMeeting, PlayedRound, bracket_of, round_cards_of
from arena.analysis.text.rounds_text import Style, bracket_text, round_cards_text, rounds_text
from arena.analysis.text.text_layout import cell_count
from arena.tournament.formats.format import Meeting
from tests.tournament.test_formats import DATA, made, published, result, scored

WIDE, NARROW, ASCII = Style(width=80), Style(width=40), Style(width=80, is_ascii=True)
SIX = ("ada", "bob", "cleo", "dan", "eve", "fay")


def named(format_, names):
    format_.field = replace(format_.field, names=tuple(names))
    return format_


def six():
    """The two best have byes; dan beats eve but not ada, fay surprises cleo and then bob; the final is open."""
    format_ = named(made("knockout", 6, seeding="entrants"), SIX)
    format_.add_results([scored((3, 4), 1.0), scored((2, 5), 0.0)])
    format_.add_results([scored((0, 3), 1.0), scored((1, 5), 0.0)])
    return format_


def test_six_entrants_with_byes_have_a_bracket_or_a_list_where_it_is_too_wide():
    drawn = """\
quarterfinals  semifinals  final  winner
               1 ada  1 ─┐
                         ├ ada ─┐
4 dan     1 ─┐           │      │
             ├ dan    0 ─┘      │
5 eve     0 ─┘                  │
                                ├ ?
               2 bob  0 ─┐      │
                         ├ fay ─┘
3 cleo    0 ─┐           │
             ├ fay    1 ─┘
6 fay     1 ─┘"""
    assert bracket_text(bracket_of(six()), WIDE) == drawn
    plain = drawn.translate({ord(line): letter for line, letter in zip("─┐┘├│", "-+++|", strict=True)})
    assert bracket_text(bracket_of(six()), ASCII) == plain
    assert bracket_text(bracket_of(six()), Style(width=32)).split("\n\n") == [
        "quarterfinals\n  ada: bye\n  dan 1–0 eve\n  bob: bye\n  cleo 0–1 fay",
        "semifinals\n  ada 1–0 dan\n  bob 0–1 fay",
        "final\n  ada – fay",
    ]


def test_what_encounters_did_not_decide_is_explained():
    """Best of two: bob wins an encounter by two points, ada one by one point; then nothing but draws."""
    by_points = named(made("knockout", 2, encounters=2, tie_encounters=0, seeding="entrants"), ("ada", "bob"))
    one_more = Meeting((0, 1), (result((0, 1), (1, 1)), result((1, 0), (2, 1))))
    for meeting in (scored((0, 1), 0.0), one_more):
        by_points.add_results([meeting])
    assert bracket_text(bracket_of(by_points), WIDE).splitlines()[-1] == "ada 1–1 bob: decided by points, 1½–2½"
    by_seed = named(made("knockout", 2, tie_encounters=0, seeding="entrants"), ("ada", "bob"))
    by_seed.add_results([scored((0, 1), 0.5)])
    assert bracket_text(bracket_of(by_seed), ASCII).splitlines() == [
        "final        winner",
        "1 ada 0.5 -+",
        "           + ada",
        "2 bob 0.5 -+",
        "",
        "ada 0.5-0.5 bob: the better seed advances",
    ]


@pytest.mark.parametrize("entrants", [2, 6, 17])
def test_a_bracket_is_never_wider_than_it_may_be(entrants):
    names = [f"{'長' * (k % 5)} quite a long name {k}" for k in range(entrants)]
    format_ = named(made("knockout", entrants, seeding="entrants"), names)
    while (upcoming := format_.next_round()) is not None:
        format_.add_results([scored(pairing, 1.0) for pairing in upcoming.pairings])
        for width in range(40, 140, 7):
            lines = bracket_text(bracket_of(format_), Style(width=width)).splitlines()
            assert max(map(cell_count, lines)) <= width


def test_a_name_can_not_write_to_the_terminal():
    format_ = named(made("knockout", 2, seeding="entrants"), ("\x1b[2Jada", "bob\nbob"))
    for width in (80, 40, 20):
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", bracket_text(bracket_of(format_), Style(width=width)))
    text = bracket_text(bracket_of(format_), WIDE)
    assert r"\x1b[2Jada" in text
    assert r"bob\nbob" in text


def published_swiss():
    table = published("swiss_lichess_qlmfflbq.txt")
    swiss = named(made("swiss", 9, rounds=9, tie_breaks=("SB",)), [f"bot {k}" for k in range(1, 10)])
    for number in range(9):
        lines = [(k, card[number]) for k, (_, _, card) in enumerate(table) if card[number].rival is not None]
        swiss.add_results([scored((k, rival), score) for k, (rival, score, _) in lines if k < rival])
    lines = (DATA / "swiss_lichess_qlmfflbq.txt").read_text().splitlines()
    return swiss, [line.split() for line in lines if not line.startswith("#")]


def test_round_cards_are_the_published_crosstable_by_rounds_cut_into_blocks_where_it_is_wide():
    swiss, lines = published_swiss()
    text = round_cards_text(round_cards_of(swiss), WIDE).splitlines()
    assert text[0].split() == ["#", "bot", *"123456789", "total"]
    for number, (_, score, *cells) in enumerate(lines, 1):
        upper, lower = (text[2 * number - 1].split(), text[2 * number].split())
        cells = [cell.replace("=", "½").replace("U", "bye") for cell in cells]
        assert upper == [str(number), "bot", str(number), *cells, score.replace(".5", "½")]
        assert lower[-1] == upper[-1]
        assert len(lower) == 9
    cards = round_cards_of(swiss)
    narrow = round_cards_text(cards, NARROW)
    assert max(map(len, narrow.splitlines())) <= 40
    heads = [line.split() for line in narrow.splitlines() if line.startswith("#")]
    assert [cell for head in heads for cell in head[2:-1]] == list("123456789")
    plain = round_cards_text(cards, Style(width=200, is_ascii=True))
    assert plain.isascii()
    assert "2:0.5" in plain
    lines = round_cards_text(round_cards_of(swiss), WIDE, {"bot 3": "withdrawn"}).splitlines()
    assert lines[6].split()[0] == "withdrawn"
    assert sum("withdrawn" in line for line in lines) == 1


def meeting(*bots, points=(), recorded=2, scheduled=2):
    return PlayedMeeting(bots=bots, points=points or (0.0,) * len(bots), recorded=recorded, scheduled=scheduled)


def test_rounds_are_listed_with_points_byes_and_what_is_still_open_and_a_meeting_of_three_in_a_line():
    played = PlayedRound(
        number=3,
        games=("plaid",),
        meetings=(
            meeting("ada", "bob", points=(1.5, 0.5)),
            meeting("cleopatra", "dan", points=(1.0, 0.0), recorded=1),
            meeting("eve", "fay", recorded=0),
            meeting("gil", "hal", recorded=0, scheduled=0),
        ),
        byes=("ivo",),
        absent=("joy",),
    )
    assert rounds_text([played], WIDE, has_several_games=True).splitlines() == [
        "round 3, plaid: 3 of 6 matches",
        "  ada        1½ – ½   bob",
        "  cleopatra   1 – 0   dan  (1 of 2)",
        "  eve           –     fay",
        "  gil           –     hal  (not played)",
        "  bye: ivo",
        "  absent: joy",
    ]
    three = meeting("ada", "bob", "cleo", points=(2.5, 1.25, 0.75), recorded=3, scheduled=3)
    played = PlayedRound(number=1, games=("plaid",), meetings=(three,), byes=(), absent=())
    assert rounds_text([played], WIDE).splitlines() == ["round 1", "  ada 2½, bob 1¼, cleo ¾"]
    assert rounds_text([played], ASCII).splitlines() == ["round 1", "  ada 2.5, bob 1.25, cleo 0.75"]
