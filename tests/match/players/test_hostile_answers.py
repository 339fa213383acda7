"""Whatever a bot sends ends as a record that can be stored and replayed: never as an exception of ours."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.enums import FaultKind
from arena.base.errors import BotError
from arena.base.records import Bot, MatchRecord, MatchSpec
from arena.games import GAMES
from arena.match.players.player import Answer, ScriptedPlayer
from arena.match.referee import Referee
from arena.match.replay import check_record
from arena.protocol.frames import FrameError, decode_body, encode_frame
from arena.protocol.messages import read_action
from arena.store.results.rows import row_of
from tests.protocol.test_frames import VALUES

NEARLY_ACTIONS = st.lists(st.integers(-2, 8) | st.sampled_from(["v", "h", "+", True, 1.0, None]), max_size=3)
ACTIONS = VALUES | NEARLY_ACTIONS | st.sampled_from(["+", "-", "v1", ""])


def first_legal(request):
    return request.legal[0]


@pytest.mark.parametrize("game", GAMES)
@settings(max_examples=60, deadline=None)
@given(action=ACTIONS, note=st.none() | VALUES, at=st.integers(0, 3))
def test_any_answer_ends_as_a_record(game, action, note, at):
    def hostile(request):
        if request.ply // 2 < at:
            return first_legal(request)
        try:
            message = decode_body(
                encode_frame({"type": "action", "ply": request.ply, "action": action, "note": note})[4:]
            )
        except FrameError as error:
            raise BotError("protocol", str(error)) from error
        sent, kept = read_action(message, request.ply)
        return Answer(sent, 0.0, None, kept)

    bots = (
        Bot(name="a", version="1", command=("x",), directory="/"),
        Bot(name="b", version="1", command=("x",), directory="/"),
    )
    record = Referee(
        MatchSpec(match=1, tournament="t", game=game, options={}, bots=bots, rng_seed=1),
        [ScriptedPlayer(hostile), ScriptedPlayer(first_legal)],
    ).play()
    assert all(fault.kind in FaultKind and fault.detail.for_operator().isprintable() for fault in record.faults)
    check_record(MatchRecord.from_json(json.loads(row_of(record).record)))
