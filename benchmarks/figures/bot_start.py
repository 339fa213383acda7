"""Milliseconds from launching an isolated Python bot until its first answer, beside ``python -c pass``.

The bots are confined at the level that "auto" chooses. One has only msgpack (``bots/minimal``), one uses
``arena.botkit``, and one does so with ``warm = true``. Medians of 30 starts of each, taken in turn; the times beside
them are those of the same Python without the arena.
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
HELLO, QUIT = encode_frame({"type": "hello", "protocol": 1}), encode_frame({"type": "quit"})
FIND_ARENA = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("arena", "{0}/__init__.py", submodule_search_locations=["{0}"])
sys.modules["arena"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["arena"])
"""
"""For bots of a version of the arena that is not the one installed for this Python."""

BOTKIT_BOT = """
from arena.botkit import run

run(lambda game, state, clock: game.legal_actions(state)[0])
"""


def measure():
    minimal = Path(__file__).parents[2] / "bots" / "minimal"
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        bots = {"with msgpack": load_bot(minimal), "with botkit": _botkit_bot(Path(directory, "cold"))}
        if "warm" in Bot.__dataclass_fields__:
            bots["warm"] = _botkit_bot(Path(directory, "warm"), "warm = true")
        taken = _measure(bots)
    figures = {f"start of a Python bot, {name}, ms": taken.get(name, nan) for name in (*bots, "warm")}
    for name in ("with msgpack", "with botkit"):
        figures[f"… {name}, beside python -c pass"] = taken[name] / taken["pass"]
    return {"python -c pass, ms": taken["pass"], **figures}


def _botkit_bot(directory, line=""):
    directory.mkdir()
    (directory / "bot.py").write_text(_found_arena() + BOTKIT_BOT)
    (directory / "bot.toml").write_text(f'name = "{directory.name}"\ncommand = ["python3", "bot.py"]\n{line}\n')
    return load_bot(directory)


def _found_arena():
    """Return what a bot needs to do to find this version of the arena."""
    find = [sys.executable, "-c", "import arena; print(arena.__file__)"]
    found = subprocess.run(find, cwd="/", env={}, capture_output=True, text=True, check=False).stdout
    return "" if found.strip() == arena.__file__ else FIND_ARENA.format(Path(arena.__file__).parent)


def _measure(bots):
    isolation = choose_isolation("auto")
    taken = {name: [] for name in ("pass", *bots)}
    for bot in bots.values():
        _start_ms(bot, isolation)
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        taken["pass"].append((time.perf_counter() - started) * 1e3)
        for name, bot in bots.items():
            taken[name].append(_start_ms(bot, isolation))
    return {name: statistics.median(values) for name, values in taken.items()}


def _start_ms(bot, isolation):
    started = time.perf_counter()
    connection = BotConnection(bot, isolation, DEFAULT_LIMITS)
    connection.ask(HELLO, 10.0)
    taken = (time.perf_counter() - started) * 1e3
    connection.end(QUIT, 1.0)
    return taken
