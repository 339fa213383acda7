import json
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import msgpack
import pytest

from arena.base.errors import BotError, IllegalActionError, VoidMatchError
from arena.base.records import Bot, Fault, Limits, MatchSpec, TimeControl
from arena.base.version import __version__
from arena.games import GAMES, make_game
from arena.match.bot_pool import BotPool
from arena.protocol import frames, messages
from arena.protocol.frames import FrameError, decode_body
from tests.conftest import ROOT
from tests.matches import small_match
from tests.mistaken_games import nested
from tests.written_bots import write_bot

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
    act = messages.act(1, messages.Request(0, [], 1.0, None, 0.0, {}, []))
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
    write_bot(tmp_path / "bot.py", LISTENER.format(answers=answers))
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


PROSE = " ".join(TEXT.split())

HEARER = """
import json, sys
from _wire import answer, receive, send

while True:
    message = receive()
    print(json.dumps(message), file=sys.stderr, flush=True)
    if message["type"] == "hello":
        send({"type": "ready", "protocol": 1, "wants": {"updates": True}})
    elif message["type"] == "act":
        send(answer(message))
    elif message["type"] == "quit":
        sys.exit(0)
"""


def statement_of(sentence):
    assert " ".join(sentence.split()) in PROSE


@pytest.fixture
def listener(tmp_path):
    """A bot that wants updates and writes everything it is sent to stderr."""
    file = tmp_path / "listener.py"
    write_bot(file, HEARER)
    return Bot(name="listener", version="1", command=(sys.executable, str(file)), directory=str(tmp_path))


def heard(text):
    return [json.loads(line) for line in text.splitlines()]


def of_type(kind, conversation):
    return [message for message in conversation if message["type"] == kind]


def match_with_opening(listener, number=1, control=None):
    return MatchSpec(
        match=number,
        tournament="t",
        game="differences",
        options={"size": 5},
        bots=(listener, listener),
        rng_seed=5,
        opening=0,
        opening_actions=([1, 1], [2, 2]),
        time_control=control or TimeControl(per_action_seconds=20),
    )


def test_updates_are_sent_again_in_act_and_an_opening_is_no_update(listener):
    statement_of("the next `act` lists again what the bot has been sent in `update`.")
    statement_of("The actions of an opening don't: they were played before `match`, and are in the bot's first `act`.")
    statement_of("The bot's own actions come as updates too, and so does the last action of a match, before `end`.")
    with BotPool() as pool:
        record = pool.play(match_with_opening(listener))
    assert len(record.actions) == 5
    second = heard(record.seats[1].stderr.for_operator())
    assert " ".join(message["type"] for message in second) == "hello match update act update update end"
    assert [(update["ply"], update["actions"]) for update in of_type("update", second)] == [
        (ply, [record.actions[ply - 1]]) for ply in (3, 4, 5)
    ]
    assert [act["actions"] for act in of_type("act", second)] == [list(record.actions[:3])]
    first = heard(record.seats[0].stderr.for_operator())
    assert [act["actions"] for act in of_type("act", first)] == [list(record.actions[:2]), list(record.actions[2:4])]


def test_a_bot_of_a_void_match_is_sent_quit_and_the_same_match_again(listener):
    statement_of("The bots of a void match are sent no `end`. They are sent `quit`")
    statement_of("new processes are sent `hello` and the same `match`, with the same number, seat and `rng_seed`")

    def stands_still(game, state, actions):
        if len(actions) == 4:
            raise VoidMatchError("the machine stood still")

    with BotPool() as pool:
        players = []
        take = pool.take
        pool.take = lambda place: players.append(take(place)) or players[-1]
        with pytest.raises(VoidMatchError):
            pool.play(match_with_opening(listener, 7), stands_still)
        void = [heard(player.last_report.stderr.for_operator()) for player in players]
        record = pool.play(match_with_opening(listener, 7))
    for seat in (0, 1):
        again = heard(record.seats[seat].stderr.for_operator())
        kinds = [message["type"] for message in void[seat]]
        assert (kinds[:2], kinds[-1], "end" in kinds) == (["hello", "match"], "quit", False)
        assert of_type("match", void[seat]) == of_type("match", again)
        assert of_type("match", again)[0]["match"] == 7


def test_the_end_of_the_input_means_quit(listener):
    statement_of("The end of the input means the same as `quit`.")
    hello = frames.encode_frame(messages.hello("0"))
    for program in ((*listener.command,), (sys.executable, str(ROOT / "bots" / "random_legal" / "bot.py"))):
        done = subprocess.run(program, input=hello, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0
        assert decode_body(done.stdout[4:])["type"] == "ready"


def packed(message):
    return decode_body(msgpack.packb(message))


def test_the_limits_count_as_the_page_says():
    statement_of("The bytes of a message are those after the four bytes of length.")
    assert frames.body_length((65_536).to_bytes(4, "big")) == 65_536
    with pytest.raises(FrameError) as bytes_refused:
        frames.body_length((65_537).to_bytes(4, "big"))
    statement_of("The message is the first level, a list in one of its fields the second")
    packed({"type": "action", "action": nested(15)})
    with pytest.raises(FrameError, match="nested deeper than 16 levels") as levels_refused:
        packed({"type": "action", "action": nested(16)})
    packed({"type": "action", "action": [*nested(14), "numbers and strings are no level"]})
    statement_of("Keys don't count.")
    packed({"type": "action", "values": [0] * (4096 - 3)})  # the message, the type, the list, and what is in it
    with pytest.raises(FrameError, match="more than 4096 values") as values_refused:
        packed({"type": "action", "values": [0] * (4096 - 2)})
    packed({"type": "action", "values": {str(number): 0 for number in range(4096 - 3)}})
    statement_of("is a `limit` fault")
    assert {refused.value.kind for refused in (bytes_refused, levels_refused, values_refused)} == {"limit"}
    (example,) = re.findall(r"`(\{[^`]+\})` has six\.", PROSE)
    body = msgpack.packb(json.loads(example))
    decode_body(body, Limits(message_nodes=6))
    with pytest.raises(FrameError):
        decode_body(body, Limits(message_nodes=5))


def test_a_note_is_measured_by_itself_as_short_as_it_can_be_and_may_hold_floats():
    statement_of("A note may contain floats as well, of 32 or 64 bits.")
    for number in (b"\xca\x3f\x00\x00\x00", b"\xcb\x3f\xe0" + bytes(6)):
        note = decode_body(b"\x82\xa4type\xa6action\xa4note\x81\xa1v" + number)["note"]
        assert messages.read_action({"type": "action", "ply": 0, "action": 0, "note": note}, 0)[1] == {"v": 0.5}
    statement_of("A note is measured by itself, in the shortest msgpack encoding.")
    longest = "x" * (4096 - 3)  # three bytes say that it is a string, and how long
    long_winded = b"\x83\xa4type\xa6action\xa3ply\x00\xa6action\xc0"[:1].replace(b"\x83", b"\x84")
    long_winded += b"\xa4type\xa6action\xa3ply\x00\xa6action\xc0\xa4note\xdb" + len(longest).to_bytes(4, "big")
    message = decode_body(long_winded + longest.encode())
    assert messages.read_action(message, 0) == (None, longest)
    message["note"] += "x"
    with pytest.raises(BotError, match="a note of 4097 bytes; note_bytes allows 4096") as refused:
        messages.read_action(message, 0)
    assert refused.value.kind == "limit"


def numbers_in(value):
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, list | tuple | type({}.values())):
        return [number for part in value for number in numbers_in(part)]
    return [value] if type(value) in (int, float) else []


def test_seconds_are_always_floats_and_everything_else_the_arena_sends_is_an_integer(listener):
    statement_of("Seconds are always floats, of 64 bits: `1.0`, never `1`.")
    control = TimeControl(per_action_seconds=20, bank_seconds=600, increment_seconds=1, margin_seconds=1)
    with BotPool() as pool:
        conversation = heard(pool.play(match_with_opening(listener, control=control)).seats[0].stderr.for_operator())
    seconds = of_type("match", conversation)[0]["time_control"] | of_type("act", conversation)[0]["clock"]
    assert len(numbers_in(seconds)) == 5
    assert {type(number) for number in numbers_in(seconds)} == {float}
    for message in conversation:
        message.pop("time_control", None)
        message.pop("clock", None)
        assert {type(number) for number in numbers_in(message)} <= {int}


@pytest.mark.parametrize("name", GAMES)
def test_numbers_in_a_game_have_the_type_the_page_says(name):
    statement_of("`scores` are floats in plaid, `0.0` too, and integers in the other games here.")
    statement_of("The numbers in observations, legal actions and options of these games are integers.")
    game = make_game(name)
    state = game.initial_state()
    assert {type(number) for number in numbers_in(game.options)} == {int}
    while not game.is_over(state):
        assert {type(score) for score in game.scores(state)} == {float if name == "plaid" else int}
        assert {type(number) for number in numbers_in([game.observation(state), game.legal_actions(state)])} <= {int}
        state = game.apply(state, game.legal_actions(state)[0])
    assert {type(score) for score in game.scores(state)} == {float if name == "plaid" else int}


def test_one_is_no_float_and_true_is_no_number():
    statement_of("`1.0` and `true` are refused: in `protocol` and `ply` as a `protocol` fault")
    statement_of("in an action as an `illegal` one")
    for one in (1.0, True, "1"):
        for read, message in (
            (messages.read_ready, {"type": "ready", "protocol": one}),
            (lambda message: messages.read_action(message, 1), {"type": "action", "ply": one, "action": None}),
        ):
            with pytest.raises(BotError) as refused:
                read(message)
            assert refused.value.kind == "protocol"
    for name, action in (("differences", [1, 1]), ("plaid", ["v", 1]), ("multiplication", [1, 1])):
        game = make_game(name)
        state = game.initial_state()
        game.apply(state, action)
        for one in (1.0, True):
            with pytest.raises(IllegalActionError):
                game.apply(state, [one if part == 1 else part for part in action])


@pytest.mark.parametrize(
    "integer", ["00", "cc00", "cd0000", "ce00000000", "cf" + 16 * "0", "d000", "d10000", "d200000000", "d3" + 16 * "0"]
)
def test_an_integer_may_be_of_any_width(integer):
    statement_of("are integers of any width, from −2⁶³ to 2⁶⁴ − 1")
    body = b"\x83\xa4type\xa6action\xa3ply" + bytes.fromhex(integer) + b"\xa6action\xc0"
    assert messages.read_action(decode_body(body), 0) == (None, None)


def test_a_game_from_outside_goes_by_its_dotted_name(listener, monkeypatch):
    statement_of("for an external game its dotted path, as in the tournament file: `package.module:Class`")
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "examples"))
    name = "domineering:Domineering"
    source = Path(listener.command[1])
    tell = "import os; print(json.dumps({'type': 'place', 'place': os.environ['ARENA_GAME']}), file=sys.stderr)\n"
    source.write_text(source.read_text().replace("while True:", f"{tell}while True:", 1))
    with BotPool() as pool:
        spec = MatchSpec(
            match=1, tournament="t", game=name, options={"width": 2, "height": 2}, bots=(listener, listener), rng_seed=5
        )
        conversation = heard(pool.play(spec).seats[0].stderr.for_operator())
    assert of_type("match", conversation)[0]["game"] == name
    statement_of("(`module=/its/place`)")
    place = ROOT / "docs" / "examples" / "domineering.py"
    assert of_type("place", conversation)[0]["place"] == f"domineering={place}"
    assert "game" not in of_type("hello", conversation)[0]
