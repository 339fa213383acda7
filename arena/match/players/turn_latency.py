"""How exact the clock is here: what a bot is charged for a turn that takes it no time."""

from __future__ import annotations

from typing import NamedTuple

from arena.base.machine import available_cores, run_on
from arena.base.records import DEFAULT_LIMITS
from arena.match.players.connection import BotConnection
from arena.sandbox.isolation.interpreters import own_program
from arena.sandbox.isolation.levels import choose_isolation

WARM_TURNS = 50
SECONDS = 10.0


class TurnTimes(NamedTuple):
    """Microseconds that were charged for a turn."""

    where: str
    p50_us: float
    p99_us: float
    max_us: float


def measure_turns(turns: int) -> list[TurnTimes]:
    """Measure on one core, as tournaments are played, and left to the scheduler."""
    cores = available_cores()
    times = []
    try:
        for where, allowed in (("on one core", {min(cores)}), ("left to the scheduler", cores)):
            run_on(allowed)
            times.append(_measure(where, turns))
    finally:
        run_on(cores)
    return times


def _measure(where: str, turns: int) -> TurnTimes:
    bot = own_program("arena.match.players.echo_bot", "-I", "-S")
    with BotConnection(bot, choose_isolation("auto"), DEFAULT_LIMITS) as connection:
        for _ in range(WARM_TURNS):
            connection.ask(b"question", SECONDS)
        seconds = sorted(connection.ask(b"question", SECONDS)[1] for _ in range(turns))
    return TurnTimes(where, seconds[turns // 2] * 1e6, seconds[turns * 99 // 100] * 1e6, seconds[-1] * 1e6)
