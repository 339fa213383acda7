"""What ``arena check`` surrounds a bot with."""

import time

from arena.conformance.check import busy_bot
from arena.isolation.sandbox_policy import Isolation
from arena.players.subprocess import Subprocess
from arena.records import DEFAULT_LIMITS


def test_a_busy_bot_uses_the_processor():
    with Subprocess(busy_bot(), Isolation(), DEFAULT_LIMITS) as process:
        deadline = time.monotonic() + 20.0
        while process.monitor.cpu_seconds() < 0.2 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert process.monitor.cpu_seconds() >= 0.2
