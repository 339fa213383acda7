import json
import re
import sys
from dataclasses import asdict
from pathlib import Path

import msgpack
import pytest

from arena.base.records import Bot, Fault, TimeControl
from arena.base.version import __version__
from arena.games import GAMES, make_game
from arena.match.bot_pool import BotPool
from arena.protocol import frames, messages
from tests.matches import small_match
from tests.written_bots import write_bot

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "protocol.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"```{kind}([^\n]*)\n(.*?)```", TEXT, re.DOTALL)


def test_the_frame_in_hex_is_the_frame_of_the_message():
    ((name, text),) = blocks("hex")
    assert name.strip() == "ready"
    written = bytes.fromhex(" ".join(_hex_lines(text)))
    assert frames.encode_frame({"type": "ready", "protocol": 1}) == written
    assert frames.decode_body(written[4:]) == {"type": "ready", "protocol": 1}


def _hex_lines(text):
    """Keep the bytes of each line: pairs of hex digits up to the explanation."""
    for line in text.strip().splitlines():
        pairs = []
        for word in line.split():
            if not re.fullmatch(r"[0-9a-f]{2}", word):
                break
            pairs.append(word)
        yield " ".join(pairs)


EXAMPLES = blocks("example")


@pytest.mark.parametrize(("head", "body"), EXAMPLES, ids=[head.split()[0] for head, _ in EXAMPLES])
def test_an_example_of_a_game_is_true(head, body):
    name, options = head.split(maxsplit=1)
    game = make_game(name, **json.loads(options))
    after, observation, observation_hex, action, action_hex = (line.split(" ", 1)[1] for line in body.splitlines())
    state = game.initial_state()
    for text in after.split():
        state = game.apply(state, game.parse_action(text))
    assert game.observation(state) == json.loads(observation)
    assert msgpack.packb(game.observation(state)) == bytes.fromhex(observation_hex)
    assert msgpack.packb(json.loads(action)) == bytes.fromhex(action_hex)
    game.apply(state, json.loads(action))


def test_every_game_has_an_example_and_the_limits_are_those_in_force():
    assert {head.split()[0] for head, _ in EXAMPLES} == set(GAMES)
    for figure in (
        frames.MAX_BYTES_TO_BOT,
        frames.DEFAULT_LIMITS.message_bytes,
        frames.DEFAULT_LIMITS.message_depth,
        frames.DEFAULT_LIMITS.message_nodes,
        frames.DEFAULT_LIMITS.note_bytes,
    ):
        assert re.search(rf"\| {figure:,}\b", TEXT)


def documented_fields(message):
    section = re.search(rf"^`{message}`:.*?\n\n(\|.*?)\n\n", TEXT, re.DOTALL | re.MULTILINE)
    cells = [line.split("|")[1] for line in section[1].splitlines()[2:]]
    return {field for cell in cells for field in re.findall(r"`(\w+)`", cell)}


def test_every_field_that_is_or_may_be_sent_is_documented_and_no_other():
    seating = messages.Seating(1, "plaid", {}, 2, 0, 5, TimeControl())
    act = messages.act(1, 0, [], 1.0, None) | {"observation": {}, "legal": []}
    sent = {
        "hello": messages.hello(__version__),
        "match": messages.match(seating),
        "act": act,
        "update": messages.update(1, 1, []),
        "end": messages.end(1, [], [], "normal", []),
        "fault": messages.fault("exit", "gone"),
    }
    for name, message in sent.items():
        assert message["type"] == name
        assert documented_fields(name) == message.keys() - {"type"}
    assert set(messages.match(seating)["time_control"]) <= set(asdict(TimeControl()))
    (fault,) = messages.end(1, [], [], "forfeit", [Fault(seat=0, kind="exit", ply=1, detail="x")])["faults"]
    assert all(f"`{field}`" in TEXT for field in fault)
    assert documented_fields("ready") == {"protocol", "wants", *messages.TEXT_FIELDS}
    assert all(f"`{switch}` (default {str(on).lower()})" in TEXT for switch, on in messages.Wants()._asdict().items())
    assert documented_fields("action") == {"ply", "action", "note"}


LISTENER = """
import json, sys
from _wire import receive, send

answers = iter({answers!r})
while (message := receive())["type"] != "quit":
    print(json.dumps(message), file=sys.stderr, flush=True)
    if message["type"] in ("hello", "act"):
        send(next(answers))
print(json.dumps(message), file=sys.stderr, flush=True)
"""


def test_the_whole_conversation_happens_as_written(tmp_path):
    """The bot in it is played by a program that answers with the page's own lines and keeps what it is sent."""
    ((_, text),) = blocks("conversation")
    lines = [(line[0], json.loads(line[2:])) for line in text.strip().splitlines()]
    answers = [message for way, message in lines if way == "←"]
    bot = tmp_path / "bot.py"
    write_bot(bot, LISTENER.format(answers=answers))
    minimal, example = (
        Bot(name=place.name, version="1", command=(sys.executable, "bot.py"), directory=str(place))
        for place in (ROOT / "bots" / "minimal", tmp_path)
    )
    heard = ""
    with BotPool() as pool:
        record = pool.play(small_match(minimal, example, tournament="", options={"size": 2}))
        heard += record.seats[1].stderr.for_operator()
        player = next(player for player in pool.players.values() if player.bot is example)
        player.close()
        heard += player.last_report.stderr.for_operator()
    expected = [message for way, message in lines if way == "→"]
    expected[0]["arena"] = __version__
    assert [json.loads(line) for line in heard.splitlines()] == expected
