import pytest

from arena.analysis.measures.rounds_played import rounds_played
from arena.base.enums import DisqualifiedMatches
from arena.tournament.corrections.entrants import disqualify, withdraw
from arena.tournament.rounds import ranking_of
from tests.tournament.corrections.contest import contest, play, write_bots

SIX = ("ann", "bob", "cid", "dan", "eve", "fay")


@pytest.fixture
def bots(tmp_path):
    return write_bots(tmp_path / "bots", SIX)


def shown(home, *arguments):
    return rounds_played(home.store, home.store.tournament("t"), *arguments)


def numbers(found):
    return [played.number for played in found.rounds]


def test_rounds_are_those_asked_for(home, bots):
    play(home, contest(bots[:5], encounters=2), max_matches=13)  # 2 pairs a round in 2 matches: the fourth has begun
    found = shown(home)
    assert (numbers(found), found.last, found.current, found.status) == ([*range(1, 11)], 10, 4, "round 4 of 10")
    assert [played.is_complete for played in found.rounds] == [True] * 3 + [False] * 7
    assert [sum(meeting.recorded for meeting in played.meetings) for played in found.rounds[:5]] == [4, 4, 4, 1, 0]
    assert all(len(played.byes) == 1 for played in found.rounds)
    assert {played.byes[0] for played in found.rounds} == set(SIX[:5])
    assert numbers(shown(home, 0)) == [4]
    assert numbers(shown(home, -1)) == [3, 4]
    assert numbers(shown(home, -99)) == [1, 2, 3, 4]
    assert numbers(shown(home, 9)) == [9, 10]
    assert numbers(shown(home, 2, 3)) == [2, 3]


def test_a_meeting_of_three_has_the_points_of_all_three(home, bots):
    play(home, contest(bots[:4], players=3))
    (played,) = shown(home).rounds
    found = [sorted(meeting.bots) for meeting in played.meetings]
    assert found == [["ann", "bob", "cid"], ["ann", "bob", "dan"], ["ann", "cid", "dan"], ["bob", "cid", "dan"]]
    assert all(sum(meeting.points) == 4.5 for meeting in played.meetings), "three matches of 1.5 points each"
    assert played.byes == ()


def test_a_withdrawn_entrant_of_a_swiss_is_marked_and_absent(home, bots):
    definition = contest(bots, format="swiss", settings={"rounds": 3})
    play(home, definition, max_matches=6)  # the first round
    withdraw(home.store, "t", "ann", reason="x")
    play(home, definition)
    found = shown(home)
    assert found.departed == {"ann": "withdrawn"}
    assert [played.absent for played in found.rounds] == [(), ("ann",), ("ann",)]
    (card,) = (card for card in found.cards if card.bot == "ann")
    assert [line.rival for line in card.rounds][1:] == [None, None]
    assert [line.score for line in card.rounds][1:] == [0.0, 0.0]
    pairs = [{*meeting.bots} for meeting in found.rounds[1].meetings if meeting.scheduled]
    assert all("ann" not in pair for pair in pairs)


def test_the_matches_of_a_disqualified_bot_are_not_played(home, bots):
    definition = contest(bots, format="swiss", settings={"rounds": 2})
    play(home, definition, max_matches=7)
    disqualify(home.store, "t", "bob", reason="x")
    found = shown(home)
    assert found.departed == {"bob": "disqualified"}
    states = {meeting.scheduled for played in found.rounds for meeting in played.meetings if "bob" in meeting.bots}
    assert states == {0}


def test_the_rival_of_a_withdrawn_bot_has_a_walkover(home, bots):
    definition = contest(bots[:4], format="knockout", settings={"seeding": "entrants"})
    play(home, definition, max_matches=1)
    withdraw(home.store, "t", "dan", reason="x")  # the rival of ann in the draw 1-4, 2-3
    play(home, definition)
    found = shown(home)
    duel = found.bracket.stages[0][0]
    assert (duel.bots, duel.seeds, duel.winner, str(duel.decided_by)) == (("ann", "dan"), (1, 4), "ann", "walkover")
    assert found.departed == {"dan": "withdrawn"}
    assert found.status == f"winner: {found.bracket.winner}"
    assert ranking_of(home.store, home.store.tournament("t"))[0][0] == found.bracket.winner


def test_a_disqualified_winner_is_named_so(home, bots):
    definition = contest(bots[:4], format="knockout", settings={"seeding": "entrants"})
    play(home, definition)
    winner = shown(home).bracket.winner
    disqualify(home.store, "t", winner, reason="x", matches=DisqualifiedMatches.KEEP)
    assert shown(home).status == f"winner: {winner} (disqualified)"
