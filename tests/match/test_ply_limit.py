from __future__ import annotations

import re
from dataclasses import replace

import pytest

from arena.base.errors import BotError, UsageError
from arena.base.records import DEFAULT_PLY_LIMIT, MAX_PLY_LIMIT, MatchRecord, MatchSpec
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from arena.match.replay import ReplayError, check_record
from arena.match.single_match import play_match
from arena.protocol.messages import Wants
from arena.store.results.rows import row_of
from arena.store.results.statements import record_from
from arena.tournament.definition import make_definition
from tests.conftest import BOTS
from tests.matches import paper_bots, small_match


def spec(game="tests.mistaken_games:Endless", options=None, players=2, **values) -> MatchSpec:
    return small_match(*paper_bots(players), game=game, options=options or {}, **values)


def play(spec: MatchSpec, *players: ScriptedPlayer) -> MatchRecord:
    seated = players or [ScriptedPlayer(lambda request: request.legal[0]) for _ in spec.bots]
    return Referee(spec, seated).play()


def test_a_match_without_end_ends_at_the_limit() -> None:
    record = play(spec(ply_limit=5))
    assert (len(record.actions), record.ply_limit) == (5, 5)
    assert (record.termination, record.scores, record.ranks, record.faults) == ("adjudication", (0, 0), (1, 1), ())
    check_record(record)


def test_the_scores_as_they_stand_decide() -> None:
    """After a1, b3 and d5 the columns a and b are neighbours, 2 apart; no two of the rows 1, 3 and 5 are."""
    marks = ScriptedPlayer([(1, 1), (4, 5)]), ScriptedPlayer([(2, 3)])
    record = play(spec("differences", {"size": 5}, ply_limit=3), *marks)
    assert (record.termination, record.scores, record.ranks) == ("adjudication", (1, 0), (1, 2))
    check_record(record)


def test_a_match_that_is_over_with_the_last_ply_ends_by_its_rules() -> None:
    record = play(spec("differences", {"size": 2}, ply_limit=2))
    assert (len(record.actions), record.termination) == (2, "normal")
    check_record(record)


def test_the_opening_counts() -> None:
    record = play(spec(ply_limit=3, opening=0, opening_actions=(1, 1)))
    assert [seat for seat, _ in record.actions] == [0, 1, 0]
    assert record.wall_seconds[:2] == (None, None)


def test_a_forfeit_stays_a_forfeit() -> None:
    players = ScriptedPlayer([1, 1]), ScriptedPlayer([1, BotError("exit", "exit status 1")])
    record = play(spec(ply_limit=4), *players)
    assert (record.termination, record.ranks) == ("forfeit", (1, 2))


def test_a_match_that_goes_on_after_a_forfeit_ends_at_the_limit_too() -> None:
    players = [ScriptedPlayer([BotError("exit", "exit status 1")])]
    players += [ScriptedPlayer(lambda request: request.legal[0], Wants()) for _ in range(3)]
    record = play(spec("coprimality", {"size": 6, "players": 4}, players=4, ply_limit=4), *players)
    assert (len(record.actions), record.termination) == (4, "forfeit")
    assert record.ranks[0] == 4
    check_record(record)


def test_bots_hear_of_the_limit_and_of_the_end() -> None:
    players = [ScriptedPlayer(lambda request: 1) for _ in range(2)]
    play(spec(ply_limit=5), *players)
    for player in players:
        assert player.calls[0][1].ply_limit == 5
        assert player.calls[-1] == ("end", ((1, 1), (0, 0), "adjudication"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ply_limit": 6}, "the record ends before the match is over, without a forfeit"),
        ({"ply_limit": 4}, "the record has 5 actions, but its limit is 4 plies"),
        ({"ply_limit": None}, "the record ends before the match is over, without a forfeit"),
        ({"termination": "normal"}, "termination are recorded as normal, but by the rules they are adjudication"),
        ({"ranks": (1, 2)}, "ranks are recorded as"),
    ],
)
def test_a_record_that_ends_otherwise_is_found(change, message) -> None:
    with pytest.raises(ReplayError, match=message):
        check_record(replace(play(spec(ply_limit=5)), **change))


def test_a_record_of_an_earlier_version_has_no_limit() -> None:
    row = row_of(play(spec("differences", {"size": 2})))
    earlier = re.sub(r'"ply_limit":\s*10000,\s*', "", row.record)
    assert earlier != row.record
    record = record_from(7, earlier)
    assert record.ply_limit is None
    check_record(record)


@pytest.mark.parametrize("limit", [0, -1, 2, MAX_PLY_LIMIT + 1])
def test_a_single_match_with_a_wrong_limit_is_refused(limit) -> None:
    with pytest.raises(UsageError, match=f"ply_limit = {limit}: expected a number from 3 to 1,000,000"):
        play_match("differences", BOTS / "minimal", BOTS / "minimal", opening_actions=[(1, 1), (2, 2)], ply_limit=limit)


def definition(**keys):
    entrants = {"a": str(BOTS / "minimal"), "b": str(BOTS / "greedy")}
    return make_definition("t", "differences", entrants, isolation="none", **keys)


def test_the_default_changes_nothing_of_a_tournament_and_another_limit_is_another_one() -> None:
    plain = definition()
    assert plain.ply_limit == DEFAULT_PLY_LIMIT
    assert plain == definition(ply_limit=DEFAULT_PLY_LIMIT)
    assert "ply_limit" not in plain.identity()
    assert "ply_limit" not in plain.to_json()
    short = definition(ply_limit=4)
    assert short.identity() == plain.identity() | {"ply_limit": 4}
    assert type(short).from_json("t", short.to_json()).ply_limit == 4
