import json
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest

from arena.base.errors import BotError, LateError, MatchStateError, StoreError
from arena.base.live_match import LiveMatch
from arena.base.records import TimeControl
from arena.match.players.player import Answer, ScriptedPlayer
from arena.match.referee import Referee
from arena.match.replay import ReplayError, check_record, states_of
from arena.protocol.messages import Wants
from tests.matches import paper_bots, small_match

TINY = {"size": 2}
"""Differences on two by two: seat 0 places one mark, then seat 1 the only other one."""


def spec(game="differences", options=TINY, players=2, opening=(), time_control=None):
    fields = {"opening": 0, "opening_actions": tuple(opening), "rng_seed": 42, "game": game, "options": options}
    control = time_control or TimeControl(per_action_seconds=1.0)
    return small_match(*paper_bots(players), match=7, time_control=control, **fields)


def play(*players, **kwargs):
    return Referee(spec(players=len(players), **kwargs), players).play()


def test_a_match_is_played_in_turn_to_its_end():
    record = play(ScriptedPlayer([(1, 2)]), ScriptedPlayer([(2, 1)]))
    check_record(record)
    assert len(list(states_of(record))) == 3
    assert record.actions == ([0, (1, 2)], [1, (2, 1)])
    assert (record.scores, record.ranks, record.termination, record.faults) == ((1, 1), (1, 1), "normal", ())
    assert (record.match, record.tournament, record.bots, record.rng_seed) == (7, "t", ("bot0@1", "bot1@1"), 42)


def test_a_player_is_told_only_what_is_new_to_it():
    zero, one = ScriptedPlayer([(1, 1), (3, 3), (5, 5)]), ScriptedPlayer([(2, 2), (4, 4)])
    play(zero, one, options={"size": 5})
    asked = {seat: [r.actions for name, r in p.calls if name == "ask"] for seat, p in enumerate((zero, one))}
    assert asked == {
        0: [[], [[0, (1, 1)], [1, (2, 2)]], [[0, (3, 3)], [1, (4, 4)]]],
        1: [[[0, (1, 1)]], [[1, (2, 2)], [0, (3, 3)]]],
    }


def test_a_player_is_given_what_it_wants_and_no_more():
    frugal = ScriptedPlayer([(1, 1)], Wants(legal=False, observation=False))
    curious = ScriptedPlayer([(2, 2)], Wants(legal=True, observation=True, updates=True))
    play(frugal, curious)
    (request,) = [value for name, value in frugal.calls if name == "ask"]
    assert (request.observation, request.legal) == (None, None)
    (request,) = [value for name, value in curious.calls if name == "ask"]
    assert request.observation == {"heights": [1, 0]}
    assert list(request.legal) == [(2, 2)]
    found = [value for name, value in curious.calls if name == "update"]
    assert found == [(1, [[0, (1, 1)]]), (2, [[1, (2, 2)]])]
    assert not [1 for name, _ in frugal.calls if name == "update"]


def test_the_opening_is_played_for_the_bots_and_counts_as_plies():
    one = ScriptedPlayer([(2, 2)])
    record = play(ScriptedPlayer([]), one, opening=[(1, 1)])
    assert record.actions == ([0, (1, 1)], [1, (2, 2)])
    assert record.opening_plies == 1
    assert record.wall_seconds[0] is None
    (request,) = [value for name, value in one.calls if name == "ask"]
    assert (request.ply, request.actions) == (1, [[0, (1, 1)]])


@pytest.mark.parametrize("opening", [[(5, 5)], [(1, 1), (2, 2)]])
def test_a_bad_opening_is_our_own_mistake(opening):
    with pytest.raises(MatchStateError, match="opening 0"):
        play(ScriptedPlayer([]), ScriptedPlayer([]), opening=opening)


@pytest.mark.parametrize("kind", ["exit", "timeout", "protocol", "limit"])
def test_a_fault_forfeits(kind):
    faulty = ScriptedPlayer([BotError(kind, "what happened")])
    record = play(ScriptedPlayer([(1, 1)]), faulty)
    (fault,) = record.faults
    assert (fault.seat, fault.kind, fault.ply, fault.detail) == (1, kind, 1, "what happened")
    assert (record.ranks, record.termination) == ((1, 2), "forfeit")
    assert ("fault", fault) in faulty.calls


@pytest.mark.parametrize(
    ("action", "sentence"),
    [((1, 1), "already has"), (True, "pair"), ([1.0, 2], "integers"), ((3, 1), "off the board"), (None, "pair")],
)
def test_an_illegal_action_forfeits_with_the_rule(action, sentence):
    record = play(ScriptedPlayer([(1, 1)]), ScriptedPlayer([action]))
    (fault,) = record.faults
    assert fault.kind == "illegal"
    assert sentence in fault.detail
    assert record.actions == ([0, (1, 1)],)


def test_a_bot_that_does_not_start_forfeits_before_the_first_action():
    other = ScriptedPlayer([(1, 1)])
    record = play(other, ScriptedPlayer([], fails_to_start=BotError("start", "no such program")))
    assert (record.faults[0].seat, record.faults[0].ply) == (1, 0)
    assert record.ranks == (1, 2)
    assert not [1 for name, _ in other.calls if name == "ask"]


def test_of_two_forfeits_the_earlier_one_is_last():
    error = BotError("start", "no")
    record = play(ScriptedPlayer([], fails_to_start=error), ScriptedPlayer([], fails_to_start=error))
    assert record.ranks == (2, 1)


def test_with_more_players_a_forfeit_ends_the_match_where_the_rules_know_no_elimination():
    """Multiplication for three: after seat 0 has jumped 9 x 9, seat 1 forfeits."""
    diagonal = [(x, x) for x in range(1, 11)]
    marks = [diagonal[0::3], diagonal[1::3], diagonal[2::3]]
    moves = [*marks[0], (10, 10)], [*marks[1], BotError("exit", "gone")], marks[2]
    record = play(*map(ScriptedPlayer, moves), game="multiplication", options={"players": 3, "size": 10})
    assert record.scores == (81, 0, 0)
    assert record.ranks == (1, 3, 2)


def test_coprimality_goes_on_without_a_seat_that_forfeited():
    """Seat 1 fails at its first action; seat 2 writes the 3, and the match goes on with seat 0's 4 and 5."""

    def first_legal(request):
        return request.legal[0]

    players = map(ScriptedPlayer, (first_legal, [BotError("timeout", "late")], first_legal))
    record = play(*players, game="coprimality", options={"players": 3, "size": 4})
    seats = [seat for seat, _ in record.actions]
    assert seats[:5] == [0, 1, 2, 0, 0]
    assert record.actions[1] == [1, None]
    assert seats.count(1) == 1
    assert record.ranks[1] == 3
    assert sorted(record.ranks) in ([1, 1, 3], [1, 2, 3])
    assert record.termination == "forfeit"
    check_record(record)


def late(is_disturbed=False):
    """A player of whom nobody can say whether it kept its time."""
    return ScriptedPlayer(Mock(side_effect=LateError("the arena looked 0.400 s after a deadline", is_disturbed)))


def after(*void_tries, off_turn="auto"):
    return replace(spec(time_control=TimeControl(per_action_seconds=1.0, off_turn=off_turn)), void_tries=void_tries)


@pytest.mark.parametrize(
    ("void_tries", "off_turn", "is_disturbed", "seat"),
    [
        *((tries, "auto", False, 1) for tries in ((), (1,), (0, 1), (1, 0), (None, None, 1))),
        ((1, 1, 1), "auto", True, None),  # it is never charged
        ((1, 1), "run", False, 1),  # it may be another's doing where bots may work off turn
    ],
)
def test_a_late_arena_is_nobodys_fault_at_first(void_tries, off_turn, is_disturbed, seat):
    with pytest.raises(LateError) as raised:
        Referee(after(*void_tries, off_turn=off_turn), [ScriptedPlayer([(1, 1)]), late(is_disturbed)]).play()
    assert raised.value.seat == seat


def test_a_late_arena_is_the_fault_of_the_bot_that_was_to_act_every_time():
    record = Referee(after(1, None, 1), [ScriptedPlayer([(1, 1)]), late()]).play()
    assert [(fault.seat, fault.kind) for fault in record.faults] == [(1, "timeout")]
    assert "for the third time" in record.faults[0].detail
    assert record.ranks == (1, 2)


def test_the_bank_runs_down_and_the_increment_fills_it():
    control = TimeControl(per_action_seconds=None, bank_seconds=10.0, increment_seconds=2.0, margin_seconds=0.5)
    zero = ScriptedPlayer([Answer((1, 1), 4.0), Answer((3, 3), 1.0)])
    record = play(zero, ScriptedPlayer([(2, 2)]), options={"size": 3}, time_control=control)
    asked = [request for name, request in zero.calls if name == "ask"]
    assert [(request.seconds, request.bank_seconds) for request in asked] == [(10.0, 10.0), (8.0, 8.0)]
    assert record.seats[0].wall_seconds == 5.0


def test_the_lower_limit_of_action_and_bank_holds_and_the_margin_is_forgiven():
    control = TimeControl(per_action_seconds=3.0, bank_seconds=4.0, margin_seconds=0.5)
    zero = ScriptedPlayer([Answer((1, 1), 3.4), Answer((3, 3), 1.2)])
    record = play(zero, ScriptedPlayer([(2, 2)]), options={"size": 3}, time_control=control)
    asked = [request for name, request in zero.calls if name == "ask"]
    assert asked[0].seconds == 3.0
    assert asked[1].seconds == pytest.approx(0.6)
    (fault,) = record.faults
    assert (fault.kind, fault.seat, fault.ply) == ("timeout", 0, 2)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        *(("scores", [1, 2], "scores"), ("ranks", [1, 2], "ranks"), ("termination", "forfeit", "termination")),
        ("actions", [[0, (1, 2)]], "ends before"),
        ("actions", [[0, (1, 2)], [1, (1, 1)]], "ply"),
        ("actions", [[1, (1, 2)], [0, (2, 1)]], "ply"),
    ],
)
def test_a_record_that_was_tampered_with_is_found_out(field, value, sentence):
    record = play(ScriptedPlayer([(1, 2)]), ScriptedPlayer([(2, 1)]))
    with pytest.raises(ReplayError, match=sentence):
        check_record(replace(record, **{field: value}))


MILLISECOND = timedelta(milliseconds=1)
WANTS = Wants(legal=True, observation=False)
BANK = TimeControl(per_action_seconds=2.0, bank_seconds=3.0, increment_seconds=0.25)


def referee_of(choose, game="differences", size=4, time_control=BANK, opening=(), **fields):
    played = spec(game, {"size": size}, opening=opening, time_control=time_control)
    return Referee(played, [ScriptedPlayer(choose, WANTS), ScriptedPlayer(choose, WANTS)], **fields)


def test_while_a_bot_thinks_its_position_clock_and_seat_are_seen():
    seen, asked_at = [], []

    def choose(request):
        asked_at.append(datetime.now(UTC))
        seen.append(referee.live())
        while datetime.now(UTC) < asked_at[-1] + 2 * MILLISECOND:
            pass
        return Answer(request.legal[0], 1.5 if request.ply < 3 else 0.0, 0.5)

    referee = referee_of(choose, opening=[(1, 1)])
    record = referee.play()
    assert [live.actions for live in seen] == [record.actions[:plies] for plies in range(1, len(record.actions))]
    assert seen[0].wall_seconds == (None,)
    assert seen[2].wall_seconds == (None, 1.5, 1.5)
    assert seen[2].cpu_seconds == (None, 0.5, 0.5)
    assert [live.seat for live in seen[:3]] == [1, 0, 1]
    assert [live.bank_seconds for live in seen[:3]] == [(3.0, 3.0), (3.0, 1.75), (1.75, 1.75)]
    assert [live.allowed_seconds for live in seen[:3]] == [2.0, 2.0, 1.75]
    assert {live.started_at for live in seen} == {record.started_at}
    since = [datetime.fromisoformat(live.since) for live in seen]
    assert all(one <= asked for one, asked in zip(since, asked_at, strict=True))
    assert all(one + MILLISECOND >= answered for one, answered in zip(since[1:], asked_at, strict=False))


def test_before_the_first_question_and_after_the_last_answer_no_seat_is_asked():
    seen = []
    note = {"before_asking": lambda: seen.append(referee.live().seat)}
    referee = referee_of(lambda request: request.legal[0], opening=[(1, 1)], **note)
    assert (referee.live().seat, referee.live().actions) == (None, ())
    record = referee.play()
    live = referee.live()
    assert seen == [seat for seat, _ in record.actions[1:]]
    assert (live.seat, live.actions, live.since) == (None, record.actions, record.started_at)


def test_another_thread_never_sees_half_an_action():
    """It may look between any two lines of the referee and of its clocks; what it sees agrees with the record."""
    bank = TimeControl(per_action_seconds=None, bank_seconds=100.0)
    referee = referee_of(lambda request: Answer(request.legal[0], 1.0 + request.ply), "plusminus", 5, bank)
    seen = []

    def look(frame, event, argument):
        if not frame.f_code.co_filename.endswith(("referee.py", "clock.py")):
            return None
        seen.append(referee.live())
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        record = referee.play()
    finally:
        sys.settrace(before)
    for live in seen:
        plies = len(live.actions)
        assert live.actions == record.actions[:plies]
        assert live.wall_seconds == record.wall_seconds[:plies]
        if live.seat is not None:
            assert live.seat == record.actions[plies][0]
            used = [sum(1.0 + ply for ply in range(plies) if record.actions[ply][0] == seat) for seat in (0, 1)]
            assert live.bank_seconds == tuple(100.0 - seconds for seconds in used)
    assert {len(live.actions) for live in seen} == set(range(len(record.actions) + 1))
    assert len(seen) > 10 * len(record.actions)


def stored(**changes):
    values = {
        "match": 7,
        "started_at": "2026-01-01T00:00:00.000+00:00",
        "actions": [[0, [1, 1]], [1, [2, 2]]],
        "wall_seconds": [None, 0.5],
        "cpu_seconds": [None, None],
        "left_out": 0,
        "faults": [{"seat": 1, "kind": "timeout", "ply": 2, "detail": "late"}],
        "seat": 0,
        "since": "2026-01-01T00:00:01.000+00:00",
        "allowed_seconds": 1.0,
        "bank_seconds": [3.0, 2.5],
    }
    return {**values, **changes}


def test_its_json_is_read_as_it_was_written():
    assert json.loads(json.dumps(LiveMatch.from_json(stored()).to_json())) == stored()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seat": 2}, "seat is not one of the seats"),
        ({"seat": "0"}, "seat = '0'"),
        ({"wall_seconds": [0.5]}, "differ in number"),
        ({"actions": [[0, [1, 1]], [2, [2, 2]]]}, "an action is not of one of the seats"),
        ({"actions": [[0, [1, 1]], [1]]}, "an action is not of one of the seats"),
        ({"faults": [{"seat": 2, "kind": "timeout", "ply": 2, "detail": ""}]}, "a fault is not of one of the seats"),
        ({"bank_seconds": "none"}, "bank_seconds = 'none'"),
        ({"colour": "red"}, "a field 'colour'"),
    ],
)
def test_malformed_json_is_refused(changes, message):
    with pytest.raises(StoreError, match=message):
        LiveMatch.from_json(stored(**changes))
