import gzip
import json
import re
from dataclasses import replace

import pytest

from arena.base.bot_text import OPERATOR
from arena.base.errors import UnknownNameError
from arena.base.live_match import LiveMatch
from arena.base.seeds import pick_below
from arena.site.matches.match import build_match
from arena.site.matches.match_model import MatchPage, MatchParameters
from arena.site.matches.viewed_match import viewed_match
from arena.store.home import ArenaHome
from arena.store.results.live_state import PlayedNow, RunProgress
from arena.tournament.corrections.entrants import disqualify
from tests.analysis.text.tournaments import play
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
    assert found == [("/tournaments/t", "_top"), ("/tournaments/t/matches/3", "_top"), ("/games/differences", "_top")]
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
