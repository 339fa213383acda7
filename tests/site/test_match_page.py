import gzip
import json
import re
from dataclasses import replace
from math import gcd

import pytest

from arena.base.bot_text import OPERATOR
from arena.base.enums import Termination
from arena.base.errors import GameError, UnknownNameError
from arena.base.live_match import LiveMatch
from arena.base.records import TimeControl
from arena.base.seeds import pick_below
from arena.games import Drawing
from arena.games.checked_game import checked_game
from arena.games.differences import Differences
from arena.site.matches import viewed_match as match_boards
from arena.site.matches.match import build_match
from arena.site.matches.match_model import Asked, MatchPage, MatchParameters
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome
from arena.store.results.live_state import PlayedNow, RunProgress
from arena.tournament.corrections.entrants import disqualify
from tests.analysis.text.tournaments import play
from tests.lab.played import at_random, random_record, record_of
from tests.site.matches import FULL, fault, record
from tests.site.parsed import rendered, text_in, tree

HOSTILE = "</script><img src=x onerror=alert(1)>]]>\x1b[31m\u202eevil\u2028'\"&amp;{{7*7}}"
"""Ends an element, begins another, colours a terminal, turns the direction of writing, ends a line of JavaScript."""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("home")) as home:
        play(home, "league", ["alpha", "beta"], encounters=2, note="depth 9")
        yield home


def page_of(shown, ply=None, embed=False, links=None, **changed):
    fixed = {
        "tournament": "t", "is_recorded": shown.termination is not None, "shown": shown,
        "ply": shown.plies if ply is None else ply, "encounter": 1, "rng_seed": 7, "isolation": "none", "versions": {},
        "time_rules": "1 s an action (wall time)", "started_at": "", "previous": None, "following": 4,
    }  # fmt: skip
    model = MatchPage(**{**fixed, **changed})
    return rendered(
        "match", model, MatchParameters(tournament=model.tournament, match=shown.match, ply=ply, embed=embed), links
    )


def by_id(html, wanted):
    return next(one for one in tree(html).iter() if one.get("id") == wanted)


def test_a_recorded_match_is_shown_at_its_end_or_the_ply_of_its_address_and_an_unknown_one_named(home):
    model = build_match(home, MatchParameters(tournament="league", match=2))
    assert (model.is_recorded, model.ply, model.shown.plies) == (True, 5, 5)
    assert (model.previous, model.following) == (1, 3)
    assert model.shown.positions[5].notes == ("depth 9",)
    found = [build_match(home, MatchParameters(tournament="league", match=1, ply=ply)).ply for ply in (0, 3, 99)]
    assert found == [0, 3, 5]
    with pytest.raises(UnknownNameError, match=r"unknown match '5'.*1 to 4"):
        build_match(home, MatchParameters(tournament="league", match=5))


def test_a_match_without_a_record_is_shown_before_its_first_action(home, monkeypatch):
    monkeypatch.setattr(type(home.store), "find_record", lambda *_: None)
    model = build_match(home, MatchParameters(tournament="league", match=1))
    assert (model.is_recorded, model.shown.termination) == (False, None)
    assert [position.ply for position in model.shown.positions] == list(range(model.shown.opening_plies + 1))
    assert "data-live" in rendered("match", model, MatchParameters(tournament="league", match=1))


def live_of():
    return LiveMatch(
        match=1, started_at="2026-01-01T00:00:00+00:00", actions=([0, [1, 1]], [1, [2, 3]], [0, [3, 2]]),
        wall_seconds=(None, 0.25, 0.5), cpu_seconds=(None, 0.125, None), seat=1, since="2026-01-01T00:00:09+00:00",
        allowed_seconds=0.75, bank_seconds=(None, None),
    )  # fmt: skip


@pytest.fixture
def open_home(home, monkeypatch):
    monkeypatch.setattr(type(home.store), "find_record", lambda *_: None)
    tournament = home.store.tournament("league")
    monkeypatch.setattr(type(home.store), "tournament", lambda *_: replace(tournament, finished_at=None))
    monkeypatch.setattr(type(home.store), "directors", lambda *_: {"league": "here"})
    yield home
    home.store.live_state(tournament).clear()


def first_match(home):
    return build_match(home, MatchParameters(tournament="league", match=1))


def test_a_watched_match_is_shown_as_far_as_it_is_or_said_to_be_too_large(open_home):
    open_home.store.live_state(open_home.store.tournament("league")).show([live_of()])
    model = first_match(open_home)
    assert (model.is_recorded, model.ply, model.shown.plies) == (False, 3, 3)
    assert model.shown.result == "This match is being played."
    assert [position.text for position in model.shown.positions] == ["", "a1", "b3", "c2"]
    html = rendered("match", model, MatchParameters(tournament="league", match=1))
    seats = [one for one in tree(html).iter("li") if one.get("data-seat")]
    clocks = {one.get("data-seat"): next(inner for inner in one.iter("b")) for one in seats}
    assert clocks["1"].get("data-clock-seconds") == "0.75"
    assert clocks["1"].get("data-clock-since") == "2026-01-01T00:00:09+00:00"
    assert clocks["0"].get("data-clock-seconds") is None
    assert by_id(html, "match-data").get("data-live") is not None
    opening = open_home.store.scheduled_match(open_home.store.tournament("league"), 1).opening_actions
    open_home.store.live_state(open_home.store.tournament("league")).show([live_of().without_actions()])
    model = first_match(open_home)
    sentence = "This match is being played. Its 3 plies so far are too large to be shown before its end."
    assert model.shown.result == sentence
    assert len(model.shown.positions) == len(opening) + 1


def test_of_a_match_that_is_not_seen_a_sentence_says_why(open_home, monkeypatch):
    tournament = open_home.store.tournament("league")
    state, counts = open_home.store.live_state(tournament), {"recorded": 0, "scheduled": 4}
    state.write_progress(RunProgress(**counts, playing=(PlayedNow(match=1, since="2026-01-01T00:00:00+00:00"),)))
    assert first_match(open_home).shown.result == "This match is being played; its plies will appear here."
    state.write_progress(RunProgress(**counts, shows_matches=False))
    assert first_match(open_home).shown.result == (
        "This match has no result yet. Its tournament is played on other machines: plies of a match played there aren’t"
        " shown live."
    )
    state.show([live_of()])
    monkeypatch.setattr(type(open_home.store), "directors", lambda *_: {})  # the one that was killed has left this
    assert first_match(open_home).shown.result == "This match has not been played yet."
    monkeypatch.setattr(type(open_home.store), "tournament", lambda *_: replace(tournament, finished_at="now"))
    assert first_match(open_home).shown.result == "This match was not played."


def test_a_match_that_a_correction_took_out_of_the_schedule_says_so(tmp_path):
    with ArenaHome(tmp_path) as home:
        play(home, "league", ["alpha", "beta", "gamma"], encounters=2)
        disqualify(home.store, "league", "gamma", reason="cheated")
        pages = [build_match(home, MatchParameters(tournament="league", match=match)) for match in range(1, 13)]
    taken_out = [page.shown.result == "Correction 1 took this match out of the schedule." for page in pages]
    assert taken_out == ["gamma@1" in page.shown.bots for page in pages]
    assert sum(taken_out) == 8  # of twelve: the pairs with gamma, two of three


def test_the_page_has_the_board_of_its_ply_a_link_to_every_other_and_is_small():
    html = page_of(viewed_match(record(FULL), {}), ply=2)
    board = by_id(html, "board")
    assert [one.get("class") for one in board.iter("{http://www.w3.org/2000/svg}use")] == ["seat0", "seat1"]
    assert board.get("aria-label") == "Board: beta@2 plays c2; scores 0 : 1; alpha@1 is to act."
    links = {one.get("data-go"): one.get("href") for one in by_id(html, "controls").iter("a")}
    address = "/tournaments/t/matches/3?ply="
    assert links == {name: f"{address}{ply}" for name, ply in (("first", 0), ("back", 1), ("next", 3), ("last", 4))}
    of_first = by_id(page_of(viewed_match(record(FULL), {}), ply=0), "controls").iter("a")
    assert [one.get("href") for one in of_first] == [None, None, f"{address}1", f"{address}4"]
    actions = [(text_in(one), one.get("href"), one.get("aria-current")) for one in by_id(html, "actions").iter("a")]
    assert actions == [
        ("1a1500 ms", f"{address}1", None),
        ("2c2500 ms", f"{address}2", "step"),
        ("3b4500 ms", f"{address}3", None),
        ("4d3500 ms", f"{address}4", None),
    ]
    assert text_in(by_id(html, "text-board")).startswith("4 . . . . 3 . . . . 2 . .[B].")
    # Of the largest board that has so many.
    actions = [[ply % 2, "+-"[pick_below(2, ply)]] for ply in range(144)]
    played = record(actions, game="plusminus", options={"size": 73}, wall_seconds=[k / 997 for k in range(144)])
    assert len(gzip.compress(page_of(viewed_match(played, {})).encode(), 6)) <= 60_000


def test_a_fault_is_explained_and_an_embedded_page_has_neither_header_nor_footer():
    shown = viewed_match(record(FULL[:2], faults=(fault(),), termination="forfeit"), {}, audience=OPERATOR)
    html = page_of(shown, tournament="it's one")
    assert "no answer within 1 s" in text_in(tree(html))
    assert """arena bot repro 'it'"'"'s one/3'""" in text_in(tree(html))
    shown = viewed_match(record(FULL), {})
    html = page_of(shown, embed=True)
    assert {one.tag for one in tree(html).iter()} & {"header", "footer"} == set()
    assert "ply=1&amp;embed=True" in html
    outward = [one for one in tree(html).iter("a") if one.get("href") and "embed" not in one.get("href")]
    found = [(one.get("href"), one.get("target")) for one in outward]
    pages = ["/tournaments/t", "/tournaments/t/matches/3", "/games/differences", "/games/differences#options"]
    assert found == [(page, "_top") for page in pages]
    assert MatchParameters(tournament="t", match=3, embed=True).may_be_framed
    assert not MatchParameters(tournament="t", match=3).may_be_framed


def test_nothing_that_a_bot_writes_is_more_than_text():
    hostile = record(
        FULL,
        bots=(f"{HOSTILE}@1", "beta@2"),
        notes=([0, HOSTILE], [3, {HOSTILE: HOSTILE}]),
        faults=(fault(detail=HOSTILE),),
        options={"size": 4, "scoring": "distinct"},
    )
    shown = viewed_match(hostile, {})
    for ply in (1, 4):
        html = page_of(shown, ply, tournament=HOSTILE)
        assert not re.search("[\x1b\u202e\u2028]", html)
        found = tree(html)
        assert {one.tag for one in found.iter("img")} == set()
        assert all(not name.startswith("on") for one in found.iter() if one.attrib for name in one.attrib)
        assert json.loads(by_id(html, "match-data").text)["bots"][0] == f"{HOSTILE}@1"
        assert "49" not in text_in(by_id(html, "said"))
    unreplayed = page_of(viewed_match(record([[0, HOSTILE]]), {}), 0)
    assert "onerror=alert(1)" in text_in(tree(unreplayed))
    assert {one.tag for one in tree(unreplayed).iter("img")} == set()


def test_every_ply_is_there_with_its_scores_and_a_sentence_also_while_it_is_played():
    noted = record(FULL, notes=([2, {"depth": 9}],))
    shown = viewed_match(noted, {"alpha@1": "alpha", "beta@2": "beta"}, audience=OPERATOR)
    assert (shown.plies, shown.first_ply, shown.problem, shown.names) == (4, 0, "", ("alpha", "beta"))
    assert [position.text for position in shown.positions] == ["", "a1", "c2", "b4", "d3"]
    assert [position.due for position in shown.positions] == [0, 1, 0, 1, None]
    # heights 1 4 2 3 differ by 3 2 1; from the bottom row up the columns 1 3 4 2 by 2 1 2
    assert [position.scores for position in shown.positions] == [(0, 0), (0, 0), (0, 1), (2, 1), (3, 2)]
    assert [position.said for position in shown.positions] == [
        "The beginning; scores 0 : 0; alpha is to act.",
        "alpha plays a1; scores 0 : 0; beta is to act.",
        "beta plays c2; scores 0 : 1; alpha is to act.",
        "alpha plays b4; scores 2 : 1; beta is to act.",
        "beta plays d3; scores 3 : 2.",
    ]
    assert [position.notes for position in shown.positions] == [(), (), (), ("depth 9",), ()]
    asked = Asked(seat=0, since="2026-01-01T00:00:00+00:00", allowed_seconds=1.0)
    shown = viewed_match(record(FULL[:2]), {}, unfinished="This match is being played.", asked=asked)
    assert (shown.termination, shown.scores, shown.ranks) == (None, (), ())
    assert shown.result == "This match is being played."
    assert shown.asked.seat == 0


def test_marks_come_one_by_one_and_of_long_matches_and_large_boards_few_are_there(monkeypatch):
    board = viewed_match(record(FULL), {}).board
    come = [[board.shapes[number] for number in frame.come] for frame in board.frames[1:]]
    places = [(0.5, 0.5), (2.5, 1.5), (1.5, 3.5), (3.5, 2.5)]
    assert come == [[("mark", x, y, 0.34, ply % 2, str(ply + 1))] for ply, (x, y) in enumerate(places)]
    assert [frame.gone for frame in board.frames] == [()] * 5
    assert board.outlines[0] is None
    assert board.outlines[2] == pytest.approx(("rect", 2.03, 1.03, 0.94, 0.94, "last"))
    monkeypatch.setattr(match_boards, "MAX_POSITIONS", 3)
    shown = viewed_match(record(FULL), {}, ply=2)
    assert (shown.first_ply, [position.ply for position in shown.positions]) == (1, [1, 2, 3])
    assert [board_marks(shown.board, index) for index in range(3)] == [["1"], ["1", "2"], ["1", "2", "3"]]
    assert [clock.wall_seconds for clock in shown.clocks] == [0.5, 0.0]
    too_much = Drawing(1, 1, (("disc", 0, 0, 1, "mark"),) * 20_001)
    monkeypatch.setattr(Differences, "drawing", lambda game, state: too_much)
    shown = viewed_match(record(FULL), {}, ply=2)
    assert [position.ply for position in shown.positions] == [2]
    assert "no board" in shown.board.shapes[0][4]


def test_clocks_count_up_and_banks_down():
    rules = TimeControl(per_action_seconds=None, bank_seconds=3.0, increment_seconds=0.1)
    shown = viewed_match(record(FULL, time_control=rules, wall_seconds=(None, 0.5, 1.0, 0.25)), {})
    seats = [(position.seat, position.clock and position.clock.wall_seconds) for position in shown.positions]
    assert seats == [(None, None), (0, 0.0), (1, 0.5), (0, 1.0), (1, 0.75)]
    banks = [position.clock.bank_seconds for position in shown.positions[1:]]
    assert banks == pytest.approx([3.0, 2.6, 2.1, 2.45])
    assert [clock.bank_seconds for clock in shown.clocks] == [3.0, 3.0]


@pytest.mark.parametrize(
    ("changed", "result"),
    [
        ({}, "beta wins 3 : 2."),
        ({"scores": (2, 2), "ranks": (1, 1)}, "alpha and beta tie 2 : 2."),
        (
            {"termination": Termination.FORFEIT, "faults": (fault(),), "ranks": (1, 2)},
            "alpha wins: beta forfeits (timeout at ply 2).",
        ),
        (
            {"termination": Termination.FORFEIT, "faults": (fault(0), fault(1))},
            "No bot played it to the end: alpha forfeits (timeout at ply 2) and beta forfeits (timeout at ply 2).",
        ),
        ({"termination": Termination.ADJUDICATION, "ply_limit": 4}, "beta wins 3 : 2, at the limit of 4 plies."),
    ],
)
def test_how_it_ended_is_a_sentence(changed, result):
    assert viewed_match(record(FULL, **changed), {"alpha@1": "alpha", "beta@2": "beta"}).result == result


def test_among_three_the_winner_is_named_with_the_others_and_since_when_it_was_ahead():
    """By the scores that the positions show."""
    names = {"alpha@1": "alpha", "beta@2": "beta", "gamma@3": "gamma"}
    played = record_of("multiplication", {"players": 3, "size": 10}, at_random(9), bots=tuple(names))
    scores, ranks = played.scores, played.ranks
    assert len(set(scores)) == 3
    shown = viewed_match(played, names)
    winner, second, third = sorted(range(3), key=lambda seat: ranks[seat])
    called = list(names.values())
    leads = [max(range(3), key=position.scores.__getitem__) for position in shown.positions]
    tied = [position.scores.count(max(position.scores)) > 1 for position in shown.positions]
    behind = [ply for ply, leader in enumerate(leads) if leader != winner or tied[ply]]
    assert shown.decided_ply == behind[-1] + 1
    assert shown.result == (
        f"{called[winner]} wins with {scores[winner]}, before {called[second]} {scores[second]} and {called[third]}"
        f" {scores[third]}. The winner was ahead from ply {behind[-1] + 1} on."
    )


@pytest.mark.parametrize(
    ("ranks", "said"), [((2, 2, 3), " wins 1 : 2 : 3."), ((3, 2, 1), "gamma wins with 3, before beta 2 and alpha 1.")]
)
def test_a_record_of_three_with_no_first_or_with_more_bots_than_seats_is_shown(ranks, said):
    names = {"alpha@1": "alpha", "beta@2": "beta", "gamma@3": "gamma"}
    shown = viewed_match(record(FULL, bots=tuple(names), scores=(1, 2, 3), ranks=ranks), names)
    assert (shown.result, shown.decided_ply) == (said, None)


class GoesOut(Differences):
    out = ()

    def seats_out(self, state):
        return self.out


@pytest.mark.parametrize("out", [{0}, 1, (51,), (True,), "ab"])
def test_seats_that_there_are_not_are_a_mistake_of_the_game(out, monkeypatch):
    monkeypatch.setattr(GoesOut, "out", out)
    path = f"{__name__}:GoesOut"
    assert viewed_match(record(FULL, game=path), {}).result == "beta@2 wins 3 : 2."
    game = checked_game(GoesOut(size=4), path)
    with pytest.raises(GameError, match="returned no tuple of seats from 0 to 1"):
        game.seats_out(game.initial_state())


def test_a_record_that_breaks_the_rules_is_shown_up_to_there():
    shown = viewed_match(record([*FULL[:2], [0, [1, 4]], [1, [4, 3]]]), {})
    assert [position.text for position in shown.positions] == ["", "a1", "c2"]
    assert "ply 2" in shown.problem
    assert shown.unplayed == ("[1, 4]", "[4, 3]")
    assert len(shown.board.frames) == 3
    for game in ("chess", "no.such.module:Game"):  # which is not here
        shown = viewed_match(record(FULL, game=game), {})
        assert shown.board is None
        assert game.partition(":")[0].partition(".")[0] in shown.problem
        assert (shown.plies, len(shown.positions), len(shown.unplayed)) == (4, 1, 4)


@pytest.mark.parametrize(("coming", "drawn"), [(17, 1000), (40, 17)])
def test_boards_that_are_too_large_are_fewer(monkeypatch, coming, drawn):
    """A board of four by four has 15 shapes, and one more with each mark."""
    monkeypatch.setattr(match_boards, "MAX_COMING_SHAPES", coming)
    monkeypatch.setattr(match_boards, "MAX_DRAWN_SHAPES", drawn)
    shown = viewed_match(record(FULL), {}, ply=2)
    assert [position.ply for position in shown.positions] == [1, 2]
    assert len(shown.board.frames) == len(shown.board.outlines) == 2


def board_marks(board, index):
    there = set()
    for frame in board.frames[: index + 1]:
        there = (there | set(frame.come)) - set(frame.gone)
    return sorted(board.shapes[number][-1] for number in there if board.shapes[number][0] == "mark")


@pytest.mark.parametrize("seed", range(4))
def test_it_says_who_was_eliminated_when_and_by_whom(seed):
    """The first number beside one that it shares a factor with, found here by the squares alone."""
    played = random_record("coprimality", seed, size=6)
    numbers = {(1, 6): 1}
    for ply, (seat, (x, y)) in enumerate(played.actions, 1):
        numbers[x, y] = number = len(numbers) + 1
        beside = [numbers.get(square, 1) for square in ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))]
        if any(gcd(number, other) > 1 for other in beside):
            expected = f"{('alpha', 'beta')[seat]} was eliminated at ply {ply}, by its own {'abcdef'[x - 1]}{y}."
            break
    assert viewed_match(played, {"a@1": "alpha", "b@1": "beta"}).result.endswith(f". {expected}")
