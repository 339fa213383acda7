"""A repro sends a bot, byte by byte, what the match sent it.

The bot itself reports, on stderr, all that it reads: once in the match, and once in the repro.
"""

import sys

import pytest

from arena.base.enums import ClockKind
from arena.base.records import Bot, Limits, TimeControl
from arena.match.bot_pool import BotPool
from arena.match.players.manifest import load_bot
from arena.match.players.process_player import ProcessPlayer
from arena.match.repro import repeat, whom_to_repeat
from arena.sandbox.isolation.levels import choose_isolation
from arena.store.results.rows import row_of
from arena.store.results.statements import record_from
from benchmarks import zoo_bots as zoo
from tests.matches import small_match
from tests.written_bots import write_bot

LIMITS = Limits(message_bytes=5000, message_depth=9, message_nodes=333, note_bytes=77)

RECORDER = """
import os, sys, time
from _wire import answer, send
import msgpack

def read(count):
    data = b""
    while len(data) < count:
        chunk = os.read(0, count - len(data))
        if not chunk:
            sys.exit(0)
        data += chunk
    return data

while True:
    header = read(4)
    body = read(int.from_bytes(header, "big"))
    print((header + body).hex(), file=sys.stderr, flush=True)
    message = msgpack.unpackb(body)
    if message["type"] == "hello":
        send({{"type": "ready", "protocol": 1, "wants": {wants}}})
    elif message["type"] == "act":
        time.sleep(0.003)  # so that the bank differs from turn to turn
        {at_act}
    elif message["type"] == "quit":
        sys.exit(0)
"""


def recorder(directory, wants, at_act="send(answer(message))"):
    file = directory / "recorder.py"
    write_bot(file, RECORDER.format(wants=wants, at_act=at_act))
    return Bot(name="recorder", version="1", command=(sys.executable, str(file)), directory=str(directory))


def play(bots, clock=ClockKind.WALL, **changes):
    time_control = TimeControl(per_action_seconds=20.0, bank_seconds=60.0, increment_seconds=0.25, clock=clock)
    spec = small_match(*bots, match=7, time_control=time_control, **changes)
    with BotPool(choose_isolation("limits"), LIMITS) as pool:
        row = row_of(pool.play(spec))
    return record_from(row.match, row.record)


def again_of(record, bot, seat, ply):
    return repeat(record, ProcessPlayer(bot, choose_isolation("limits"), LIMITS, keeps_sent=True), seat, ply)


def frames_of(stderr):
    return [bytes.fromhex(line) for line in stderr.split()]


def kinds(frames):
    return [kind for frame in frames for kind in KINDS if b"\xa4type" + bytes([0xA0 + len(kind)]) + kind in frame[:20]]


KINDS = (b"hello", b"match", b"act", b"update", b"end", b"fault", b"quit")
GOOD = load_bot(zoo.BOTS / "minimal")

MATCHES = {
    "updates": ("{'updates': True}", {}),
    "nothing but actions": ("{'legal': True, 'observation': False}", {}),
    "an opening": ("{'updates': True}", {"opening": 1, "opening_actions": ([1, 4], [2, 2])}),
    "the CPU clock": ("{'updates': True}", {"clock": ClockKind.CPU}),
}


@pytest.mark.parametrize("name", MATCHES)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_repro_sends_the_bytes_of_the_match(tmp_path, name, seat):
    wants, changes = MATCHES[name]
    bots = [GOOD, GOOD]
    bots[seat] = recorder(tmp_path, wants)
    record = play(tuple(bots), **changes)
    sent = frames_of(record.seats[seat].stderr.for_operator())
    assert not record.faults
    found = (kinds(sent)[:2], kinds(sent)[-1], b"update" in kinds(sent))
    assert found == ([b"hello", b"match"], b"end", "updates" in wants)

    again = again_of(record, bots[seat], seat, len(record.actions) - 1)
    assert again.is_same
    assert again.frames == sent
    assert frames_of(again.stderr) == [*sent, again.transcript.frames()[-1].data]  # and quit


def test_a_repro_stops_where_the_bot_failed(tmp_path):
    """The bot that wants updates exits at its second action: the match sent it nothing after that question."""
    at_act = "send(answer(message)) if message['ply'] < 2 else sys.exit(7)"
    bot = recorder(tmp_path, "{'updates': True}", at_act)
    record = play((bot, GOOD))
    sent = frames_of(record.seats[0].stderr.for_operator())
    assert kinds(sent) == [b"hello", b"match", b"act", b"update", b"update", b"act"]
    seat, ply = whom_to_repeat(record, None, None)
    again = again_of(record, bot, seat, ply)
    assert (seat, ply, again.is_same) == (0, 2, True)
    assert again.frames == sent == frames_of(again.stderr)


def test_a_repro_to_an_earlier_ply_sends_the_beginning(tmp_path):
    bot = recorder(tmp_path, "{'updates': True}")
    record = play((bot, GOOD))
    again = again_of(record, bot, 0, 2)
    sent = frames_of(record.seats[0].stderr.for_operator())
    assert kinds(again.frames) == [b"hello", b"match", b"act", b"update", b"update", b"act"]
    assert again.frames == sent[: len(again.frames)]
