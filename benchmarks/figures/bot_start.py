"""Milliseconds from launching an isolated Python bot until its first answer, beside ``python -c pass``.

The bots are confined at the level that "auto" chooses. One imports nothing, one has only msgpack (``bots/minimal``),
one uses ``arena.botkit``, and one does so with ``warm = true``. Cold bots are also started by the same command without
the arena: what is above that is the arena's, the rest is the bot's own imports. Medians of 30 starts of each, in turn.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from math import nan
from pathlib import Path

import arena
from arena.base.records import DEFAULT_LIMITS, Bot
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.protocol.frames import encode_frame
from arena.sandbox.isolation.levels import choose_isolation

RUNS = 30
READY = encode_frame({"type": "ready", "protocol": 1, "name": "bare"})
HELLO, QUIT = encode_frame({"type": "hello", "protocol": 1}), encode_frame({"type": "quit"})
FIND_ARENA = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("arena", "{0}/__init__.py", submodule_search_locations=["{0}"])
sys.modules["arena"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["arena"])
"""
"""For bots of a version of the arena that is not the one installed for this Python."""

BARE_BOT = f"""
import sys

for answer in ({READY!r}, b""):
    sys.stdin.buffer.read(int.from_bytes(sys.stdin.buffer.read(4), "big"))
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
"""

BOTKIT_BOT = """
from arena.botkit import run

run(lambda game, state, clock: game.legal_actions(state)[0])
"""


def measure():
    minimal = Path(__file__).parents[2] / "bots" / "minimal"
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        botkit = _found_arena() + BOTKIT_BOT
        bots = {
            "without imports": _bot(Path(directory, "bare"), BARE_BOT),
            "with msgpack": load_bot(minimal),
            "with botkit": _bot(Path(directory, "cold"), botkit),
        }
        if "warm" in Bot.__dataclass_fields__:
            bots["warm"] = _bot(Path(directory, "warm"), botkit, "warm = true")
        taken = _measure(bots)
    figures = {f"start of a Python bot, {name}, ms": taken.get(name, nan) for name in (*bots, "warm")}
    for name in _cold(bots):
        figures[f"… {name}, beside python -c pass"] = taken[name] / taken["pass"]
        figures[f"… {name}, beside the same without the arena"] = taken[name] / taken[f"{name}, alone"]
    return {"python -c pass, ms": taken["pass"], **figures}


def _cold(bots):
    return [name for name in bots if name != "warm"]


def _bot(directory, program, line=""):
    directory.mkdir()
    (directory / "bot.py").write_text(program)
    (directory / "bot.toml").write_text(f'name = "{directory.name}"\ncommand = ["python3", "bot.py"]\n{line}\n')
    return load_bot(directory)


def _found_arena():
    """Return what a bot needs to do to find this version of the arena."""
    find = [sys.executable, "-c", "import arena; print(arena.__file__)"]
    found = subprocess.run(find, cwd="/", env={}, capture_output=True, text=True, check=False).stdout
    return "" if found.strip() == arena.__file__ else FIND_ARENA.format(Path(arena.__file__).parent)


def _measure(bots):
    isolation = choose_isolation("auto")
    cold = _cold(bots)
    taken = {name: [] for name in ("pass", *bots, *(f"{name}, alone" for name in cold))}
    for bot in bots.values():
        _start_ms(bot, isolation)
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        taken["pass"].append((time.perf_counter() - started) * 1e3)
        for name, bot in bots.items():
            taken[name].append(_start_ms(bot, isolation))
            if name in cold:
                taken[f"{name}, alone"].append(_alone_ms(bot))
    return {name: statistics.median(values) for name, values in taken.items()}


def _alone_ms(bot):
    started = time.perf_counter()
    command = [sys.executable, *bot.command[1:]]
    with subprocess.Popen(command, cwd=bot.directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(HELLO)
        process.stdin.flush()
        process.stdout.read(4)
        taken = (time.perf_counter() - started) * 1e3
        process.communicate(QUIT)
    return taken


def _start_ms(bot, isolation):
    started = time.perf_counter()
    connection = BotConnection(bot, isolation, DEFAULT_LIMITS)
    connection.ask(HELLO, 10.0)
    taken = (time.perf_counter() - started) * 1e3
    connection.end(QUIT, 1.0)
    return taken
