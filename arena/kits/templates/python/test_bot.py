"""python3 test_bot.py: the codec against the golden frames, and a whole match against itself for each game."""

import json
import sys
from pathlib import Path

import msgpack

HERE = Path(__file__).parent


def check_frames() -> int:
    """Read every golden frame and write it again; return how many there are."""
    lines = [line for line in (HERE / "golden_frames.txt").read_text().splitlines() if line and line[0] != "#"]
    for line in lines:
        name, hexadecimal, text = line.split(" ", 2)
        frame = bytes.fromhex(hexadecimal)
        value = msgpack.unpackb(frame[4:])
        assert value == json.loads(text), f"{name}: read as {value}"
        body = msgpack.packb(value)
        assert len(body).to_bytes(4, "big") + body == frame, f"{name}: written differently"
    return len(lines)


def play_itself(game: str) -> None:
    """Play a match in this process."""
    from arena.botkit.selfplay import self_play

    import bot

    def choose(seat, turn, asked_at):
        return bot.choose(seat.info.game, seat.state, seat.clock(turn["clock"], asked_at))

    if self_play(choose, None, None, ["--selfplay", game, "--quiet"]) != 0:
        sys.exit(1)  # it has said why


if __name__ == "__main__":
    print(f"{check_frames()} frames are read and written as they should be")
    for game in sys.argv[1:] or json.loads('@GAMES@'):
        play_itself(game)
