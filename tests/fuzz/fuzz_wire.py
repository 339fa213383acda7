"""A coverage-guided fuzzer on everything that touches a bot's bytes: the codec, the messages, the rules.

    pip install -e '.[fuzz]' && python tests/fuzz/fuzz_wire.py -max_total_time=60

Bytes either end as a message or as a FrameError or BotError; an action either is legal or an IllegalActionError.
Anything else stops the fuzzer with the input that did it.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["arena", "msgpack"]):
    from arena.base.enums import FaultKind
    from arena.base.errors import BotError, IllegalActionError
    from arena.games import GAMES, make_game
    from arena.protocol.frames import FrameError, body_length, decode_body, encode_frame
    from arena.protocol.messages import read_action, read_ready, shortened

RULES = [make_game(name) for name in GAMES]
SEEDS = (
    encode_frame({"type": "ready", "protocol": 1, "wants": {"legal": False}, "name": "x"})[4:],
    encode_frame({"type": "action", "ply": 3, "action": [1, 2], "note": {"why": [1.5, None, True]}})[4:],
    encode_frame({"type": "action", "ply": 3, "action": ["v", 2]})[4:],
    encode_frame({"type": "action", "ply": 3, "action": "+", "note": "é"})[4:],
)


def test_one_input(data):
    if len(data) >= 4:
        try:
            assert 0 < body_length(data[:4]) <= 65536
        except FrameError as error:
            assert error.kind in FaultKind
    try:
        message = decode_body(data)
    except FrameError as error:
        assert error.kind in FaultKind
        assert str(error).isprintable()
        return
    assert decode_body(encode_frame(message)[4:]) == message
    for read in (read_ready, lambda answer: read_action(answer, 3)):
        try:
            read(message)
        except BotError as error:
            assert error.kind in FaultKind
            assert error.detail.isprintable()
    action = message.get("action")
    assert shortened(action).isprintable()
    for game in RULES:
        state = game.initial_state()
        try:
            after = game.apply(state, action)
        except IllegalActionError as error:
            assert error.reason
        else:
            assert game.parse_action(game.format_action(action)) is not None
            assert hash(after) is not None


def main():
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS):
            Path(corpus, str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, corpus], test_one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
