from types import SimpleNamespace

import pytest

from arena.analysis.measures.balance import MATCH_OVERHEAD_SECONDS, GameTimes, bound_seconds, estimate, times_of
from arena.analysis.measures.game_statistics import BotTimes, bot_times
from arena.analysis.measures.rounds_played import rounds_played
from arena.analysis.text.duration_text import measured_rows, time_sentences
from arena.base.enums import DisqualifiedMatches
from arena.base.records import SeatReport, TimeControl
from arena.tournament.corrections.entrants import disqualify, withdraw
from arena.tournament.rounds import ranking_of
from tests.site import matches
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
    play(home, contest(bots, format="swiss", settings={"rounds": 2}), max_matches=7)
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
    play(home, contest(bots[:4], format="knockout", settings={"seeding": "entrants"}))
    winner = shown(home).bracket.winner
    disqualify(home.store, "t", winner, reason="x", matches=DisqualifiedMatches.KEEP)
    assert shown(home).status == f"winner: {winner} (disqualified)"


def times(*seconds, actions=24, players=2, game="plaid"):
    return GameTimes(game=game, players=players, seconds=seconds, actions=(actions,) * len(seconds))


def test_the_interval_is_students_and_never_below_the_shortest_match():
    """Of 1 to 5: mean 3, standard error √0.5, and the table has 2.776 for four degrees of freedom."""
    found = estimate([times(1.0, 2.0, 3.0, 4.0, 5.0)], [10])
    assert found.seconds == pytest.approx(30)
    assert found.interval == pytest.approx((30 - 10 * 2.776 * 0.5**0.5, 30 + 10 * 2.776 * 0.5**0.5), abs=0.01)
    # twice the same game: the error grows by √2, the degrees of freedom are those of the smaller sample
    found = estimate([times(1.0, 2.0, 3.0, 4.0, 5.0), times(1.0, 2.0, 3.0, 4.0, 5.0)], [10, 10])
    assert found.seconds == pytest.approx(60)
    assert found.interval[1] - 60 == pytest.approx(10 * 2.776, abs=0.01)
    assert estimate([times(10.0, 14.0)], [1]).interval[0] == 10.0
    assert estimate([times(10.0, 14.0)], [1]).interval[1] == pytest.approx(12 + 12.706 * 2, abs=0.01)
    assert estimate([times(10.0)], [3]).interval is None


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        (TimeControl(per_action_seconds=1.0), 100 * 24),
        (TimeControl(per_action_seconds=None, bank_seconds=5.0, increment_seconds=0.1), 100 * (2 * 5 + 24 * 0.1)),
        (TimeControl(per_action_seconds=1.0, bank_seconds=5.0), 100 * 10),
        (TimeControl(per_action_seconds=0.1, bank_seconds=5.0), 100 * 2.4),
        (TimeControl(per_action_seconds=None), None),
    ],
)
def test_the_bound_is_what_the_time_control_allows(control, expected):
    assert bound_seconds([times(0.5, 0.7)], [100], control) == (expected and pytest.approx(expected))


def test_the_time_of_a_match_is_that_of_its_bots_actions_and_adds_up_over_matches_and_seats():
    found = times_of([SimpleNamespace(wall_seconds=(None, None, 0.25, 0.5))], "plaid", 2, start_seconds=1.0)
    assert (found.seconds, found.actions) == ((1.75 + MATCH_OVERHEAD_SECONDS,), (2,))
    records = [
        record(["a@1", "b@1"], [0, 1, 0], [None, 0.5, 0.25], [(0.25, 0.1, 0.0), (0.5, 0.4, 2.0)]),
        record(["b@1", "a@1"], [0, 1], [0.75, 0.125], [(0.75, 0.3, 1.0), (0.125, 0.1, 0.5)]),
    ]
    found = bot_times(records)
    assert found == [BotTimes("b@1", 2, 2, 1.25, 0.7, 3.0, 0.75), BotTimes("a@1", 2, 2, 0.375, 0.2, 0.5, 0.25)]
    (line,) = bot_times([record(["a@1", "a@1"], [0, 1], [1.0, 2.0], [(1.0, 1.0, 0.0), (2.0, 2.0, 0.0)])])
    assert (line.matches, line.actions, line.wall_seconds, line.longest_seconds) == (2, 2, 3.0, 2.0)


def test_the_sentences_name_the_time_its_interval_and_its_bound():
    own = [times(1.0, 2.0, 3.0, 4.0, 5.0)]
    assert time_sentences(own, [1200], 2, TimeControl(), "5 matches played now") == [
        "expected time: 30.0 minutes with 2 at a time (measured for a match: plaid 3000.0 ms)",
        "95 % interval: 10.4 minutes to 49.6 minutes, from 5 matches played now",
        "by the time control alone: at most 4.0 hours, if bots used all their time",
    ]
    assert time_sentences(own, None, 2, TimeControl(), "5 matches played now") == [
        "expected time: without end; a match takes plaid 3000.0 ms",
        "about 2,400 matches an hour with 2 at a time, from 5 matches played now",
    ]
    alone = time_sentences([times(3.0)], [1200], 2, TimeControl(per_action_seconds=None), "1 match played now")
    assert alone[1:] == [
        "from 1 match played now: too few for an interval",
        "no bound: the time control does not limit actions",
    ]
    (row,) = measured_rows([times()], [10], 2)
    assert (row["measured_matches"], row["matches"]) == (0, 10)
    assert all(row[key] is None for key in ("seconds_a_match", "expected_seconds", "low_seconds", "high_seconds"))


def record(bots, actions, wall, seats):
    played = [[seat, None] for seat in actions]
    reports = [SeatReport(wall_seconds=on, cpu_seconds=cpu, off_turn_cpu_seconds=off) for on, cpu, off in seats]
    return matches.record(played, bots=bots, wall_seconds=wall, seats=reports)
