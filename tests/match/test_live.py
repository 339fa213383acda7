import json
import sys
from datetime import UTC, datetime

import pytest

from arena.base.errors import StoreError
from arena.base.live_match import LiveMatch
from arena.base.records import Bot, MatchSpec, TimeControl
from arena.match.players.player import Answer, ScriptedPlayer
from arena.match.referee import Referee
from arena.protocol.messages import Wants

WANTS = Wants(legal=True, observation=False)
BOTS = [Bot(name=name, version="1", command=("x",), directory="/") for name in "ab"]
BANK = TimeControl(per_action_seconds=2.0, bank_seconds=3.0, increment_seconds=0.25)


def referee_of(choose, game="differences", size=4, time_control=BANK, opening=(), **fields):
    spec = MatchSpec(
        match=7,
        tournament="t",
        game=game,
        options={"size": size},
        bots=tuple(BOTS),
        rng_seed=1,
        time_control=time_control,
        opening_actions=tuple(opening),
    )
    return Referee(spec, [ScriptedPlayer(choose, WANTS), ScriptedPlayer(choose, WANTS)], **fields)


def test_while_a_bot_thinks_its_position_clock_and_seat_are_seen():
    seen = []

    def choose(request):
        seen.append(referee.live())
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


def test_since_is_when_the_seat_was_asked():
    before = datetime.now(UTC)
    seen = []

    def choose(request):
        seen.append((before, datetime.fromisoformat(referee.live().since), datetime.now(UTC)))
        return request.legal[0]

    referee = referee_of(choose)
    referee.play()
    millisecond = 0.001
    assert all(start.timestamp() - millisecond <= since.timestamp() <= now.timestamp() for start, since, now in seen)


def test_before_the_first_question_and_after_the_last_answer_no_seat_is_asked():
    referee = referee_of(lambda request: request.legal[0], opening=[(1, 1)])
    assert (referee.live().seat, referee.live().actions) == (None, ())
    record = referee.play()
    live = referee.live()
    assert (live.seat, live.actions, live.since) == (None, record.actions, record.started_at)


def test_who_is_called_before_each_question_sees_the_seat_that_is_asked_next():
    seen = []
    referee = referee_of(lambda request: request.legal[0], before_asking=lambda: seen.append(referee.live().seat))
    record = referee.play()
    assert seen == [seat for seat, _ in record.actions]


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
