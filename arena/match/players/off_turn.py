"""Off turn, a bot leaves the processor to the one that is to act: this module detects and stops work off turn.

Between its matches a bot is frozen. While no bot is asked, because a person thinks or no match is played, a thread
watches all bots: they keep to their limits, and those that have to be idle are frozen.

On a fast turn no other bot is checked. In a turn that takes longer than ``FIRST_CHECK_SECONDS`` the others are checked,
and again with every sample of the acting bot, ten times a second: a bot that works off turn is frozen until it is
asked. That bounds what a bot may use of another's time, from the first turn on, at next to no cost.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator

from arena.match.players.subprocess import Subprocess
from arena.sandbox.metering.resource_monitor import SAMPLE_SECONDS, ResourceMonitor

FIRST_CHECK_SECONDS = 0.02
"""After this long in a turn, the other bots are checked for the first time."""

WORK_SECONDS = 0.001
"""A bot that uses more CPU time than this between its turns works there; a runtime's own threads use less."""

FROZEN_SECONDS = 0.03
"""A frozen bot that uses more CPU time than this has found a way to continue: no honest bot comes near."""

WATCH_SECONDS = SAMPLE_SECONDS
"""The pause between two checks of the bots while none is asked."""

MAX_WATCH_SECONDS = 60.0
"""The longest pause between two checks: it doubles while all bots are shown to be stopped."""


class OffTurnControl:
    """Keeps one bot from working off turn.

    Attributes:
        is_required: whether the bot must leave the processor to others while it is not asked.
        cpu_at_start: the CPU seconds it had used when its last turn ended; None before its first match.
        has_worked: whether it has ever worked off turn.
        fault: what the bot did although it was frozen, or which limit it broke meanwhile; None without a fault.
    """

    def __init__(self, process: Subprocess) -> None:
        self.is_required = True
        self.cpu_at_start: float | None = None
        self.has_worked = False
        self.fault: str | None = None
        self._process = process
        self._cpu_when_frozen = 0.0

    @property
    def monitor(self) -> ResourceMonitor:
        """The monitor that samples the bot."""
        return self._process.monitor

    def cpu_seconds(self) -> float:
        """Return the CPU time that the bot has used off turn although it must not."""
        if not self.is_required or self.cpu_at_start is None:
            return 0.0
        return self.monitor.possible_cpu_seconds() - self.cpu_at_start

    def account_for_children(self, wall_seconds: float, main_cpu_before: float) -> None:
        """Sample the CPU time after a turn in which children may have worked: it does not count as work off turn.

        This is needed only without a control group, and if children may have worked: the turn took longer
        than the bot's own process worked, or so long that a sample costs next to nothing.
        """
        if self.monitor.exact_clock is not None:
            return
        main_seconds = self.monitor.read_main_cpu_seconds() - main_cpu_before
        if wall_seconds >= FIRST_CHECK_SECONDS or wall_seconds - main_seconds > WORK_SECONDS:
            self.monitor.sample_cpu()

    def enforce(self) -> None:
        """Freeze the bot if it works off turn; if that does not stop it, kill it."""
        if not self.is_required or self.cpu_at_start is None or self._is_at_fault():
            return
        self.monitor.sample_cpu()
        if not self._process.is_frozen:
            if self.cpu_seconds() > WORK_SECONDS or self.monitor.has_new_processes:
                self.has_worked = True
                self.freeze()
        elif self.monitor.possible_cpu_seconds() - self._cpu_when_frozen > FROZEN_SECONDS:
            self._stop_frozen()

    def watch(self) -> bool:
        """Keep the bot to its limits while no bot is asked, and frozen if it must be idle.

        Returns:
            Whether it is shown to be stopped: it was frozen before, has used no CPU time since, and the system shows
            that nothing of it runs or has set a timer that could continue it.
        """
        if self.monitor.is_bot_reaped or self._is_at_fault():
            return self._process.is_stopped()
        with contextlib.suppress(OSError):  # a process may vanish at any time
            self.fault = self.monitor.sample()
        if self._is_at_fault() or not self.is_required:
            return False
        if not self._process.is_frozen:
            self.freeze()
            return False
        if self.monitor.possible_cpu_seconds() - self._cpu_when_frozen > FROZEN_SECONDS:
            self._stop_frozen()
            return False
        if self._process.is_stopped():
            return True
        self._process.freeze()  # a child that was stopped a moment later may have continued it
        return False

    def _is_at_fault(self) -> bool:
        """Return whether the bot has committed a fault; what is left of it, such as children of its own, is killed."""
        if self.fault is None:
            return False
        self._process.kill()
        return True

    def freeze(self) -> None:
        """Freeze the bot until it is asked again."""
        self._process.freeze()
        self._cpu_when_frozen = self.monitor.possible_cpu_seconds()

    def _stop_frozen(self) -> None:
        """Freeze the processes of a bot that works although its group is frozen; if they are frozen too, kill it."""
        used_seconds = self.monitor.possible_cpu_seconds() - self._cpu_when_frozen
        self._cpu_when_frozen += used_seconds
        if not self._process.has_frozen_members:
            self._process.freeze_members()
            return
        self._process.kill()
        self.fault = f"{used_seconds:.2f} s of CPU time after it had been stopped, while it was not to act"


class RunningBots:
    """All bots that run side by side, of which one is to act and the others are off turn."""

    def __init__(self) -> None:
        self._enforced_at = -math.inf
        self._bots: list[OffTurnControl] = []

    def add(self, bot: OffTurnControl) -> None:
        """Add a bot that has been launched."""
        self._bots.append(bot)

    def remove(self, bot: OffTurnControl) -> None:
        """Remove a bot that is about to be ended."""
        if bot in self._bots:
            self._bots.remove(bot)

    def enforce(self, acting: OffTurnControl | None) -> None:
        """Freeze all bots but the acting one that work although they must not."""
        for bot in self._bots:
            if bot is not acting:
                bot.enforce()

    def enforce_if_due(self, acting: OffTurnControl | None) -> None:
        """Call ``enforce`` if the last call was a while ago: on a fast turn no other bot is checked."""
        if time.perf_counter() - self._enforced_at >= FIRST_CHECK_SECONDS:
            self.enforce(acting)
            self._enforced_at = time.perf_counter()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Watch all bots while none of them is asked; nothing else may deal with them meanwhile.

        While all bots are shown to be stopped, checks become rarer, so bots that are kept for days cost nothing.
        """
        is_over = threading.Event()

        def watch() -> None:
            pause_seconds = WATCH_SECONDS
            while not is_over.wait(pause_seconds):
                are_stopped = sum(not bot.watch() for bot in self._bots) == 0  # unlike all(), it checks every bot
                pause_seconds = min(2 * pause_seconds, MAX_WATCH_SECONDS) if are_stopped else WATCH_SECONDS

        thread = threading.Thread(target=watch, name="watch-bots", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def sample_cpu(self) -> None:
        """Measure the CPU time of all bots."""
        for bot in self._bots:
            bot.monitor.sample_cpu()

    def possible_cpu_seconds(self) -> float:
        """Return the CPU time that all bots together may have used."""
        return sum(bot.monitor.possible_cpu_seconds() for bot in self._bots)

    def taken_seconds(self, acting: OffTurnControl | None) -> float:
        """Return the CPU time that all bots but the acting one have used although they must not."""
        return sum(bot.cpu_seconds() for bot in self._bots if bot is not acting)
