"""What tables, statistics and the report show of a corrected tournament."""

import csv
import io
import json
import re

import pytest

from arena.analysis.measures.leaderboards import history_over_tournaments
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.text.verdict import cycle_text, standings_footer
from arena.base.enums import DisqualifiedMatches
from arena.store.results.store import Store
from arena.tournament.corrections.corrected_tournament import void_matches
from arena.tournament.corrections.entrants import disqualify, withdraw
from tests.cli.calls import calling, printed
from tests.tournament.corrections.contest import contest, play


@pytest.fixture
def kept(home, bots):
    play(home, contest(bots, encounters=2))
    disqualify(home.store, "t", "bob", reason="copied", matches=DisqualifiedMatches.KEEP)
    return home


COMMANDS = [["standings"], ["stats"], ["stats", "--json"], ["stats", "--table", "nash"], ["crosstable"], ["matches"]]


@pytest.fixture
def arena(home, capsys):
    return lambda *arguments: printed(calling(home.directory, capsys), *arguments)


def test_every_table_of_a_tournament_with_a_disqualified_bot_is_printed(kept, arena):
    for command, *options in COMMANDS:
        assert "ann" in arena(command, "t", *options)
    rows = csv.DictReader(io.StringIO(arena("crosstable", "t", "--format", "csv")))
    points = {row["bot"]: float(row["points"]) for row in rows}
    assert points == {line.bot: line.points for line in standings_of(kept.store, "t").lines}
    assert len(points) == 3
    nash = json.loads(arena("stats", "t", "--table", "nash", "--json"))
    assert {row["bot"] for row in nash} == {"ann", "bob@1", "cid", "dan"}


def test_a_cycle_through_a_disqualified_bot_is_written():
    assert cycle_text(["a@1", "b@1"], {"a@1": "a"}) == "a > b@1 > a"


def test_a_bot_that_is_disqualified_wherever_it_played_is_in_no_leaderboard(kept, bots, arena):
    assert [line.label for line in standings_of(kept.store).lines if line.label == "bob@1"] == []
    (snapshot,) = history_over_tournaments(kept.store)
    assert {line.label for line in snapshot.lines} == {"ann@1", "cid@1", "dan@1"}
    assert re.search("^differences  t .* of 3 ", arena("show", "ann"), re.MULTILINE)
    play(kept, contest(bots, name="u"))
    assert {line.label for line in standings_of(kept.store).lines} == {"ann@1", "bob@1", "cid@1", "dan@1"}


def test_the_profile_of_a_disqualified_bot_says_so(kept, arena):
    shown = arena("show", "bob")
    assert "It has no line in any table or leaderboard; see its corrections below." in shown
    assert "Correction 1 of t: bob@1 is disqualified; its matches count for its rivals. Reason: copied" in shown
    arena("undo", "t", "--reason", "it was not")
    assert "Correction" not in arena("show", "bob")


def test_a_match_that_is_void_twice_is_one_voided_match(home, bots):
    definition = contest(bots)
    play(home, definition)
    for reason in ("asleep", "asleep again"):
        void_matches(home.store, "t", [3], reason=reason)
        play(home, definition)
    assert "Corrected: 1 voided match (" in standings_footer(standings_of(home.store, "t"))


MEANWHILE = "the ratings are not compared, because matches were recorded meanwhile"


def test_verify_compares_no_ratings_while_matches_are_recorded(home, bots, monkeypatch, arena):
    definition = contest(bots, encounters=2)
    play(home, definition, max_matches=7)
    read = Store.record_texts

    def read_while_a_director_plays(store, tournament):
        yield from list(read(store, tournament))
        play(home, definition)

    monkeypatch.setattr(Store, "record_texts", read_while_a_director_plays)
    assert arena("verify", "t") == f"t: 7 of 24 matches checked: all records hold; {MEANWHILE}\n"


def test_the_log_says_when_on_a_line_of_its_own(home, bots, arena):
    play(home, contest(bots))
    void_matches(home.store, "t", [3, 5], reason="asleep")
    first, when, reason = arena("corrections", "t").splitlines()
    assert (first, reason) == ("  1. 2 matches void: 3, 5", "     Reason: asleep")
    assert re.fullmatch(r" {5}[-0-9]{10} [0-9]{2}:[0-9]{2} UTC, 2 records set aside", when)


def test_void_matches_that_can_not_be_played_again_are_counted(home, bots, arena):
    """Bob has withdrawn after everybody has met; each of the others has met it twice."""
    play(home, contest(bots, encounters=2), max_matches=12)
    withdraw(home.store, "t", "bob", reason="moved away")
    out = arena("void", "t", *range(1, 13), "--reason", "the power failed")
    assert "6 matches can't be played again, because a bot has left the tournament." in out


def test_ratings_are_not_compared_while_matches_are_recorded(home, bots, arena, monkeypatch):
    """The table may have matches that were recorded after the others were checked."""
    definition = contest(bots, encounters=2)
    play(home, definition, max_matches=12)

    def standings_later(*args, **kwargs):
        play(home, definition, max_matches=4)
        return standings_of(*args, **kwargs)

    monkeypatch.setattr("arena.analysis.measures.verification.standings_of", standings_later)
    assert MEANWHILE in arena("verify", "t")
